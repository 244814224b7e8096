"""Connects the controller to the outside: pins, boards, disk, broker and terminal."""
