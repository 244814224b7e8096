"""This tree measured beside the tree of a git revision."""
