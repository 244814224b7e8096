"""The tenants at one companion: those that are in use, and what is remembered about the others."""
