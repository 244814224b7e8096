"""How fast the rules, the app players and a table's pages are, and how well the app plays."""
