"""Connects the companion to the outside: database, broker, network, and the event streams of the pages."""
