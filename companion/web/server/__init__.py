"""Who may connect and how often, and the server itself."""
