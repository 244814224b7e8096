"""Composes the controller: settings, daemon and command line."""
