"""Tenants of one installation: nothing of one is read, changed, slowed or left behind by another."""
