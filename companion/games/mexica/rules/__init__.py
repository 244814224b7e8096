"""The rules of Mexica: turns, sacrifices, the apocalypse, and the full game with its board, battles and cards."""
