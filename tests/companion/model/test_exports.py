"""A table as a file: whole when it is over, silent about what its reader may not know, and played again as it was."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.cli.data.replay import replay
from companion.games import registry
from companion.games.kit import Game, Move, Refusal, Seat
from companion.games.mexica import GAME
from companion.games.mexica.rules.hands import card, pile_of, unseen
from companion.model.entries import Begin, Sit, Undo, decode, encode
from companion.model.exports import Export, ExportError, exported, read, written
from companion.model.history import BrokenLog, ReplayStep, ends, replay_log, turns
from companion.model.table import COMPANION, Charter, Entry
from tests.companion.conftest import EVENING
from tests.games.playouts import Combination, playout

GAMES = {"mexica": GAME}


def charter(game: Game[Any], preset: str, players: int = 3, **options: str | int) -> Charter:
    here = Combination(game, preset, game.seatings[players])
    return Charter(
        "secret-id", "CODE23", "Sunday", game.name, 1, preset, here.options(**options), here.seats, EVENING
    )


def log(charter: Charter, game: Game[Any], seed: int, longest: int = 3000) -> list[Entry]:
    """Return the log of a random game, with people who sat down and a request id in each post."""
    entries = [
        Entry(1, EVENING, COMPANION, Sit("east", "Ana")),
        Entry(2, EVENING, COMPANION, Begin()),
    ]
    opening = game.rules.setup(charter.options, charter.seats)
    for step in playout(game, opening, Random(seed), longest):
        entries.append(Entry(len(entries) + 1, EVENING, step.seat, step.move, f"request{len(entries)}"))
    return entries


def export(
    charter: Charter, game: Game[Any], entries: Iterable[Entry], *seats: Seat
) -> tuple[str, list[ReplayStep], dict[str, Any]]:
    stages = list(replay_log(charter, game, entries))
    text = written(exported(charter, game, stages, seats))
    return text, stages, json.loads(text)


@pytest.mark.parametrize(("game", "preset"), [(GAME, "temple_only"), (GAME, "evening")])
def test_a_finished_game_is_exported_whole_and_folds_to_the_same_state(game: Game[Any], preset: str) -> None:
    own = charter(game, preset)
    text, stages, value = export(own, game, log(own, game, 7))
    assert stages[-1].after.phase == "over"
    back = read(text, {game.name: game})
    assert value["whole"]
    assert back.hidden == frozenset()
    *_, last = replay_log(back.charter, game, back.entries)
    assert last.after.state == stages[-1].after.state
    assert game.rules.notation(last.after.state) == back.state
    assert [each.lines for each in last.after.logged] == [each.lines for each in stages[-1].after.logged]


def test_a_file_names_the_table_and_keeps_its_keys(tmp_path: Path) -> None:
    own = charter(GAME, "temple_only")
    text, _, value = export(own, GAME, log(own, GAME, 3))
    assert value["names"] == {"east": "Ana"}
    assert value["options"] == own.options
    assert [entry["n"] for entry in value["entries"]] == list(range(1, len(value["entries"]) + 1))
    for secret in ("CODE23", "secret-id", "request"):
        assert secret not in text


def running(seed: int) -> tuple[Charter, list[Entry], list[ReplayStep]]:
    """Return a full game that runs, in which cards are cheap and everybody keeps them."""
    own, random = charter(GAME, "classic", god_card_cost=1), Random(seed)
    entries = [Entry(1, EVENING, COMPANION, Begin())]
    state = GAME.rules.setup(own.options, own.seats)
    while sum(any(not card(state, each).sign for each in tribe.hand) for tribe in state.laid.tribes) < 3:
        seat = random.choice(GAME.rules.to_act(state))
        moves = GAME.rules.moves(state, seat)
        move = random.choice([each for each in moves if each.name not in ("play", "propose")] or moves)
        entries.append(Entry(len(entries) + 1, EVENING, seat, move))
        after = GAME.rules.play(state, seat, move)
        assert not isinstance(after, Refusal)
        state = after
    return own, entries, list(replay_log(own, GAME, entries))


def hidden(stages: Sequence[ReplayStep], of: Seat) -> Iterator[tuple[Seat, str]]:
    """Yield the cards in other hands than this seat's that were never open and never this seat's."""
    seen: set[str] = set()
    for stage in stages:
        if stage.after.state is not None:
            board = stage.after.state.laid
            seen.update(board.discards, board.tribes[stage.after.state.index(of)].hand)
    last = stages[-1].after.state
    for seat, tribe in zip(last.seats, last.laid.tribes, strict=True):
        for each in tribe.hand:
            if seat != of and each not in seen and not each.startswith("week"):
                yield seat, each


@pytest.mark.parametrize("seed", range(3))
def test_a_card_in_another_hand_is_in_nobody_elses_file(seed: int) -> None:
    own, entries, stages = running(seed)
    assert stages[-1].after.phase == "running"
    for seat in own.seats:
        kept = list(hidden(stages, seat))
        text, _, value = export(own, GAME, entries, seat)
        assert kept, "or nothing was hidden from this seat"
        assert not value["whole"]
        assert value["state"] == ""
        assert any(entry.get("hidden") for entry in value["entries"])
        for holder, each in kept:
            assert f'"{each}"' not in text, f"{holder}'s {each} stands in {seat}'s file"
            assert f'"{each}"' in export(own, GAME, entries, holder)[0]
    spectator = export(own, GAME, entries)[0]
    assert not [each for seat in own.seats for _, each in hidden(stages, seat) if f'"{each}"' in spectator]


@pytest.mark.parametrize("seed", range(3))
def test_another_hidden_card_in_its_place_changes_no_byte_of_others_files(seed: int) -> None:
    own, entries, stages = running(seed)
    state = stages[-1].after.state
    swapped = 0
    for seat in own.seats:
        for holder, each in hidden(stages, seat):
            named = {arg for entry in entries for arg in encode(entry.action)[1:]}
            others = [
                other for other in unseen(state, pile_of(each)) if other not in named and not card(state, other).sign
            ]
            if card(state, each).sign or not others:
                continue
            permuted = [
                Entry(e.n, e.at, e.by, decode([others[0] if a == each else a for a in encode(e.action)]))
                for e in entries
            ]
            assert export(own, GAME, permuted, seat)[0] == export(own, GAME, entries, seat)[0]
            assert export(own, GAME, permuted, holder)[0] != export(own, GAME, entries, holder)[0]
            swapped += 1
            break
    assert swapped


def test_what_ends_a_full_game_cannot_be_taken_back_once_its_file_is_whole() -> None:
    """Ruling M21: or whoever ended it could read every hand, and play on."""
    ends = 0
    for seed in range(5):
        own = charter(GAME, "evening")
        for step in playout(GAME, GAME.rules.setup(own.options, own.seats), Random(seed)):
            if step.after.over:
                assert not GAME.rules.undoable(step.before, step.seat, step.move)
                ends += 1
    assert ends >= 5


def test_an_end_that_can_be_taken_back_is_whole_where_nothing_is_hidden() -> None:
    own = charter(GAME, "temple_only")
    entries = [Entry(1, EVENING, COMPANION, Begin()), Entry(2, EVENING, "east", Move("settle", ("east",)))]
    _, stages, value = export(own, GAME, entries)
    assert stages[-1].after.undo_refused("east") is None
    assert value["whole"]


def test_a_log_is_reported_in_turns_and_a_turn_taken_back_in_two_parts() -> None:
    own = charter(GAME, "temple_only")
    moves = [
        (COMPANION, Begin()),
        ("east", Move("sacrifice", ("tlaloc", 1))),
        ("east", Move("sacrifice", ("tlaloc", 2))),
        ("east", Move("end_turn")),
        ("east", Undo()),
        ("east", Move("end_turn")),
    ]
    entries = [Entry(n, EVENING, by, move) for n, (by, move) in enumerate(moves, 1)]
    replayed = list(turns(replay_log(own, GAME, entries)))
    assert [(turn.n, turn.seat, turn.last) for turn in replayed] == [
        (0, "", 1),
        (1, "east", 4),
        (2, "north", 5),
        (1, "east", 6),
    ]
    assert [line.facts.get("n") for line in replayed[1].logged[0].lines] == [3]


@pytest.mark.parametrize(("game", "preset"), [(GAME, "temple_only"), (GAME, "evening")])
def test_charts_of_the_ends_of_turns_show_all_that_every_entry_would(game: Game[Any], preset: str) -> None:
    own = charter(game, preset)
    stages = list(replay_log(own, game, log(own, game, 2)))
    at_ends = [game.page.view(table.state, None) for table in ends(stages)]
    everything = [game.page.view(stage.after.state, None) for stage in stages if stage.after.steps]
    assert len(at_ends) < len(everything) / 2
    assert [view["turn"] for view in at_ends] == list(range(1, len(at_ends) + 1))
    assert game.page.charts(at_ends) == game.page.charts(everything)


# Replay on a terminal


def play_again(tmp_path: Path, text: str, *, states: bool = True) -> tuple[int, str]:
    path, out = tmp_path / "table.json", io.StringIO()
    path.write_text(text, encoding="utf-8")
    return replay(path, registry.load(()), out, states=states), out.getvalue()


def finished() -> str:
    own = charter(GAME, "temple_only", apocalypse_tokens=13)
    return export(own, GAME, log(own, GAME, 11))[0]


def test_a_whole_file_is_played_again_with_each_state(tmp_path: Path) -> None:
    text = finished()
    code, said = play_again(tmp_path, text)
    assert code == 0
    assert "Ana sits down: East" in said
    assert json.loads(text)["state"] in said
    assert f"The whole log stands: {len(json.loads(text)['entries'])} entries. The game is over." in said
    assert len(play_again(tmp_path, text, states=False)[1]) < len(said) / 2


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    value = json.loads(finished())
    change(value)
    return json.dumps(value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda value: value["entries"][4].update(move=["fly", "east"]), "Entry 5 cannot stand"),
        (
            lambda value: value["entries"][4].update(move=["sacrifice", "tlaloc", 99], by="east"),
            "Entry 5 cannot stand",
        ),
        (lambda value: value["entries"].pop(5), "entry 6 has the number 7"),
        (lambda value: value["entries"][2].update(move="end_turn"), "entry 3: move is 'end_turn'"),
        (lambda value: value["entries"][2].update(at="yesterday"), "entry 3: time is 'yesterday'"),
        (lambda value: value["entries"].insert(2, 7), "entry 3 is 7; expected an object"),
        (lambda value: value["entries"][0].update(move=["@sit", "moon", "Eve"]), "Entry 1 cannot stand"),
        (lambda value: value.update(state="elsewhere"), "does not lead where it says"),
        (lambda value: value.update(game="chess"), "game is 'chess'; expected one of"),
        (lambda value: value.update(seats=["east"]), "expected a seating of mexica"),
        (lambda value: value["options"].update(countdown="rounds14"), "option countdown is 'rounds14'"),
        (lambda value: value["options"].update(cheat="on"), "options hold 'cheat'"),
        (lambda value: value["options"].pop("week_cards_pay"), "option week_cards_pay is None"),
        (lambda value: value.update(version=2), "expected 'templo-mayor table' in version 1"),
        (lambda value: value.pop("title"), "title is None; expected text"),
        (lambda value: value["entries"][3].update(hidden=True), "Entry 4 is hidden"),
    ],
)
def test_a_broken_file_says_where_it_breaks(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    code, words = play_again(tmp_path, changed(change))
    assert code == 1
    assert said in words


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, "\ufeff{}", "null"])
def test_what_is_no_export_is_named(tmp_path: Path, text: str) -> None:
    code, words = play_again(tmp_path, text)
    assert code == 1
    assert "table.json: " in words


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    out = io.StringIO()
    assert replay(tmp_path / "nothing.json", registry.load(()), out) == 1
    assert "nothing.json" in out.getvalue()


def test_a_broken_log_names_its_entry() -> None:
    own = charter(GAME, "temple_only")
    with pytest.raises(BrokenLog, match=r"entry 2 is \['fly'\]; expected a move of rules 1"):
        list(replay_log(own, GAME, [Entry(1, EVENING, COMPANION, Begin()), Entry(2, EVENING, "east", Move("fly"))]))


def test_only_what_read_returns_is_believed() -> None:
    back = read(finished(), GAMES)
    assert isinstance(back, Export)
    with pytest.raises(ExportError):
        read(finished(), {})
