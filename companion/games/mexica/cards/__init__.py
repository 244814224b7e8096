"""The cards of Mexica: what they may do, the four decks and the words on them. They are data; the rules play them."""
