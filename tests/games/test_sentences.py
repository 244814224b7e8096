"""Sentences of our games agree with what they name."""

from __future__ import annotations

from companion.games.kit import Facts
from tests.cases import every_case
from tests.games.texts import LIBRARY


@every_case(("language", "game", "key", "facts", "sentence"), [
    ("en", "mexica", "log.week_card", {"seat": "east", "space": "death"}, "East takes the week card of Death"),
    ("es", "mexica", "log.week_card", {"seat": "east", "space": "death"}, "Este toma la carta de semana de Muerte"),
    ("es", "mexica", "battle.stake", {"sign": "death"}, "En juego: la carta de semana de Muerte"),
    ("es", "mexica", "preview.week_card_back", {"seat": "east", "space": "house"},
     "Este pierde la carta de semana de Casa."),
    ("en", "market", "market.brings_back", {"n": 1}, "1 goes back"),
    ("es", "market", "log.porters", {"n": 1, "commodity": "jewels"}, "1 de joyas vuelve al vendedor"),
    ("es", "market", "log.governors", {"n": 2, "commodity": "herbs"}, "2 de hierbas van al rey"),
    ("en", "market", "holdings.equal", {}, "the partner has as many"),
    ("es", "market", "aid.score.line_equal", {"n": 3}, "3: su pareja tiene el mismo número"),
    ("en", "siege", "log.routed", {"people": "cortez", "no": 1, "hex": "g7"}, "Cortez 1 on g7: routed"),
    ("es", "siege", "log.rallied", {"people": "cortez", "no": 1, "hex": "g7", "n": 5}, "Cortés 1: reagrupe (5)"),
])  # fmt: skip
def test_a_sentence_agrees_with_what_it_names(
    language: str, game: str, key: str, facts: Facts, sentence: str
) -> None:
    assert LIBRARY.words(language, game)(key, **facts) == sentence
