"""The temple on a microcontroller, and its tests. Only its own tests import it."""
