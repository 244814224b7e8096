"""Plays a game thousands of times for the people who design it, and says what it found in one page."""
