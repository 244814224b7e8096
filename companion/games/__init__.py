"""The games: one folder each, with pure rules built on `kit` and the pages that show them."""
