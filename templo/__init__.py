"""Shared by the controller and the companion; imports neither."""

__version__ = "1.0.0"
