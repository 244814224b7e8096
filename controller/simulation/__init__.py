"""Simulated beams that follow a scenario file, in real time or as fast as possible."""
