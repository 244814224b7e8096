"""The parts, a module each: a part is drawn as it lies on the bed, and knows where it stands in the temple."""
