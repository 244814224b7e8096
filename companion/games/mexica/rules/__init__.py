"""Mexica's rules: turns, sacrifices and the apocalypse. No IO, no clock, no randomness."""
