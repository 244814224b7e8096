"""What connects the companion to the world: database, broker, and those who watch a table."""
