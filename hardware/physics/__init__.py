"""Tokens that fall through a chute on paper: what its beam sees, and what the real controller makes of that."""
