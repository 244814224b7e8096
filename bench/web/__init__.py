"""What many who look and one who attacks cost the companion's pages."""
