"""Builds an image for a Raspberry Pi's card, which needs no Raspberry Pi and no loop device."""
