"""The temple as things: parts to print, wires to join, and the physics of its chutes. Nothing imports it."""
