"""The HTTP server, and who may connect to it and how often."""
