"""The instructions of the real programs: at their start, at rest, and for what they do then."""
