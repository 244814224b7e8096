"""Mexica's page: what a seat may know, and the regions it is drawn from."""
