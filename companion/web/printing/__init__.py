"""Pages for the printer, and exports for makers: imported when one of them is wanted, never at the start."""
