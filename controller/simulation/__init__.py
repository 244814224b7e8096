"""Beams that follow a scenario file, in real time or as fast as the machine can."""
