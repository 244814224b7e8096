"""Shared by the controller and the companion; imports neither."""

__version__ = "0.1.0"
