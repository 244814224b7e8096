"""The commands on tables, temples, seats and moves."""
