"""Who may connect, how often, and the server itself."""
