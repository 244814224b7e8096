"""The games: one folder each, pure rules made with `kit`, and the pages that show them."""
