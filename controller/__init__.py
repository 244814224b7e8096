"""The temple's daemon: it counts the tokens that break its two beams and tells the table, each exactly once."""

__version__ = "0.1.0"
