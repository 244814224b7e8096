"""The physical temple: parts to print, wiring, and the physics of its chutes. Nothing imports it."""
