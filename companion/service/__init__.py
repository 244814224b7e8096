"""What can be done with tables, temples, seats and moves."""
