"""What each page shows, as data."""
