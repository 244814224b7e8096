"""Pages for the printer as PDFs, and images of the pieces for others who print or play."""
