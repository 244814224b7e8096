"""The games: one folder each, pure rules on `kernel` and the faces that show them."""
