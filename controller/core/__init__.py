"""How a temple counts, records and publishes, without input or output of its own."""
