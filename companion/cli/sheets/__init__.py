"""Printable pages as PDFs, and images of the pieces for printing services and virtual tables."""
