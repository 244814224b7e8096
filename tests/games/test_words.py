"""A game's codes have words: every line, choice, refusal and option that random play meets, in every language."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from companion.games.kit import CHANCE, Arg, Facts, Game, Refusal, Seat
from companion.games.kit.table import MISFIT
from companion.web.rendering.texts import LANGUAGES
from tests.cases import every_case
from tests.games.playouts import COMBINATIONS, CUT_SHORT, GAMES, Combination, attempts, playout
from tests.games.texts import LIBRARY

REFUSED = 0.05
"""In so many of the states that random play meets, every type of move is tried."""

everywhere = every_case("here", COMBINATIONS)


@everywhere
def test_every_line_that_a_game_reports_has_a_text_in_every_language(here: Combination) -> None:
    said = {(key, *sorted(facts.items())): (key, facts) for key, facts in _said(here)}
    assert len(said) > 3
    for language in LANGUAGES:
        words = LIBRARY.words(language, here.game.name)
        for key, facts in said.values():
            assert words(key, **facts), f"{key} says nothing in {language}"


@every_case("game", GAMES.values(), ids=lambda game: game.name)
@every_case("language", LANGUAGES)
def test_every_seat_option_value_and_preset_has_a_name(game: Game[object], language: str) -> None:
    words = LIBRARY.words(language, game.name)
    keys = ["name", "about"]
    keys += [f"seat.{seat}" for seats in game.seatings.values() for seat in seats]
    keys += [f"preset.{preset}.{part}" for preset in game.presets for part in ("name", "about")]
    keys += [f"option.{option.key}.{part}" for option in game.options for part in ("name", "about")]
    keys += [
        f"option.{option.key}.value.{value}" for option in game.options if not option.high for value in option.values
    ]
    assert [key for key in keys if not words.has(key)] == []


@every_case("game", GAMES.values(), ids=lambda game: game.name)
@every_case("language", LANGUAGES)
def test_every_argument_that_is_refused_has_words_for_it(game: Game[object], language: str) -> None:
    words = LIBRARY.words(language, game.name)
    for row in game.rules.table or ():
        for name, kind in row.args.items():
            if kind.code != MISFIT:
                assert words(f"refusal.{kind.code}", **{name: "7", **kind.facts}), f"{row.name} {name}"


def _said(here: Combination) -> Iterator[tuple[str, Facts]]:
    random, game = Random(f"words {here}"), here.game
    for _ in range(1 if here.lasting else 3):
        opening = game.rules.setup(here.any_options(random), here.seats)
        for step in playout(game, opening, random, 250 if here.lasting else CUT_SHORT):
            for line in game.page.log(step.before, step.seat, step.move, step.after):
                yield f"log.{line.code}", line.facts
            seat = random.choice((*here.seats, CHANCE))
            yield from _offered(game, step.after, seat, ())
            if random.random() < REFUSED:
                for by, move in attempts(here, step.after, random):
                    if isinstance(result := game.rules.play(step.after, by, move), Refusal):
                        yield f"refusal.{result.code}", result.facts


def _offered(game: Game[object], state: object, seat: Seat, picked: tuple[Arg, ...]) -> Iterator[tuple[str, Facts]]:
    for choice in game.rules.choices(state, seat, picked):
        yield f"choice.{choice.key}", choice.facts
        if choice.move is None and len(picked) < 2:
            yield from _offered(game, state, seat, (*picked, choice.facts["pick"]))
