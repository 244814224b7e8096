"""Mexica as the rulebook tells it: turns, sacrifices and the apocalypse. No IO, no clock, no randomness."""
