"""What measurements start, drive and read, and how their figures are shown."""
