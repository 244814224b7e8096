"""The parts, one module each: a part is drawn as it lies on the bed, with its position in the temple."""
