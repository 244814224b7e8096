"""What is true of the printable temple, shown on its meshes, its physics and its wiring."""
