"""Simulated tokens in a chute: what its beam sees, and what the real controller counts."""
