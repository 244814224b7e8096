"""The scorekeeper: it keeps the tables, runs the rules of their games, and shows each seat what it may know."""
