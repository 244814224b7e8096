"""The same temple on a microcontroller, and how it is proved: imported by nobody but its own tests."""
