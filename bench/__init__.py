"""Measures the running temple beside its peers, side by side in one run; it decides nothing and is no test."""
