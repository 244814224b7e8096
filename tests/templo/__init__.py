"""What both programs share, each piece by itself."""
