"""Tests of the printable temple: its meshes, its physics and its wiring."""
