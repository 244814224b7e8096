"""What a temple counts and publishes, without any input or output of its own."""
