"""Tests of the code that both programs share, each module by itself."""
