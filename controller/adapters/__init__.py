"""What connects the controller to the world: pins, boards, disk, broker, terminal."""
