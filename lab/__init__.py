"""Plays a game thousands of times for its designers, and reports the results in one page."""
