"""Benchmarks of the running temple beside comparable programs, in one run. They are not tests."""
