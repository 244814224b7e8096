"""``templo-companion new-game``: writes the folder of a game that runs at once, for its author to go on from."""
