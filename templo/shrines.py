"""Which side each shrine is on: the one constant that printed temple, wiring, screens and printed pages follow."""

LEFT_TO_RIGHT = ("tlaloc", "huitzilopochtli")
"""Facing the stairs. In Tenochtitlan these faced west: Tlaloc's shrine stood in the north, the other in the south."""
