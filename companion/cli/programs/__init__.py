"""Programs that a launch or a club starts, watches and ends, and what it prints."""
