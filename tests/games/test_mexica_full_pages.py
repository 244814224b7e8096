"""What each region of the full game shows: to the tribe that must act, to the others, and to nobody."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import companion.games.mexica
from companion.games.kit import CHANCE, Choice, Move
from companion.games.mexica import GAME
from companion.games.mexica.page import calendar_board
from companion.games.mexica.page.regions import regions
from companion.games.mexica.rules.calendar import SIGNS, STARTS
from companion.games.mexica.rules.cards import game_deck
from companion.web.rendering.texts import LANGUAGES
from tests.games.full_sitting import RAIN_GOD, WAR_GOD, Full, fighting, quiet
from tests.games.sitting import Sitting
from tests.games.texts import LIBRARY as TEXTS

DECK = game_deck()

BATTLE_CARD, RAIN_CARD, FLOWER = "war-1", "rain-1", "day-flower-3"


def page(sitting: Full, *held: str, temple: str = "") -> Any:
    """Return the regions of a phone that holds these seats, as the platform has them cut."""
    state = sitting.state
    due = GAME.rules.chance(state)
    acting = due.seat if due and due.seat in held else next((s for s in GAME.rules.to_act(state) if s in held), "")
    acting = acting or (held[0] if held else "")
    view: dict[str, Any] = {
        **GAME.page.view(state, acting or None),
        "acting": acting,
        "temple": temple,
        "chance": None,
    }
    view["choices"] = written(GAME.rules.choices(state, acting)) if acting else []
    view["also"] = {seat: written(GAME.rules.choices(state, seat)) for seat in held if seat != acting}
    if due:
        may = bool(held) and (not due.secret or due.seat in held)
        view["chance"] = {"may": may, "choices": written(GAME.rules.choices(state, CHANCE)) if may else []}
    return json.loads(json.dumps(regions(view)))


def written(choices: list[Choice]) -> list[dict[str, Any]]:
    return [
        {
            "key": each.key,
            "facts": dict(each.facts),
            "element": each.element,
            "move": each.move.to_json() if each.move else None,
            "group": each.group,
            "confirm": each.confirm,
        }
        for each in choices
    ]


# The board


def test_the_calendar_runs_counter_clockwise_from_just_above_three_o_clock() -> None:
    spaces = {space.sign: space.glyph for space in calendar_board.spaces()}
    middle = calendar_board.CENTRE
    assert [*spaces] == [*SIGNS]
    assert spaces["crocodile"].x > middle + 400
    assert middle - 100 < spaces["crocodile"].y < middle
    assert spaces["wind"].y < spaces["crocodile"].y
    assert (spaces["serpent"].x > middle, spaces["serpent"].y < 100) == (True, True)
    assert (spaces["dog"].x < 100, spaces["dog"].y < middle) == (True, True)
    assert (spaces["eagle"].x < middle, spaces["eagle"].y > 900) == (True, True)
    assert (spaces["flower"].x > 900, spaces["flower"].y > middle) == (True, True)
    assert [each.seat for each in calendar_board.quadrants()] == sorted(
        STARTS, key=lambda seat: STARTS[seat] % 20 or 99
    )


def test_the_style_sheet_puts_a_tribe_where_the_drawing_has_its_space() -> None:
    folder = Path(companion.games.mexica.__file__).parent
    css = (folder / "static" / "calendar-board.css").read_text(encoding="utf-8")
    placed = {
        sign: (float(left), float(top))
        for sign, left, top in re.findall(r"\.on-(\w+) \{\s*left: ([\d.]+)%;\s*top: ([\d.]+)%;", css)
    }
    assert placed == {space.sign: (space.tribe.left, space.tribe.top) for space in calendar_board.spaces()}


def test_every_day_sign_and_every_die_is_drawn_once() -> None:
    art = Path(companion.games.mexica.__file__).parents[2] / "art"
    drawn = re.findall(r'<symbol id="([\w-]+)"', "".join(path.read_text("utf-8") for path in art.glob("*.svg")))
    assert len(drawn) == len(set(drawn))
    assert {f"sign-{sign}" for sign in SIGNS} <= {*drawn}
    assert {f"die-{n}" for n in range(7)} <= {*drawn}


@pytest.mark.parametrize("tokens", range(14))
def test_a_space_shows_thirteen_dots_whatever_was_taken(tokens: int) -> None:
    left, gone = calendar_board.pips(7, tokens)
    assert (left.count("M"), gone.count("M")) == (tokens, 13 - tokens)


def test_a_space_shows_its_day_its_holder_and_who_stands_there() -> None:
    sitting = Full().space(14, 8).hold(14, "west").lay("east", place=14)
    board = page(sitting)["board"]
    jaguar = board["spaces"][13]
    assert (jaguar["sign"], jaguar["day"], jaguar["left"]) == ("jaguar", 5, 8)
    assert (jaguar["holder"], jaguar["held"], jaguar["now"]) == ("west", True, True)
    assert {"seat": "east", "sign": "jaguar", "day": 5, "nth": 1, "of": 1} in board["pieces"]
    row = page(sitting)["spaces"]["spaces"][13]
    assert (row["day"], row["left"], row["holder"], row["here"]) == (5, 8, "west", ["east"])


def test_tribes_on_one_space_stand_side_by_side() -> None:
    pieces = page(Full(players=3).lay("east", place=9).lay("north", place=9))["board"]["pieces"]
    assert [(each["nth"], each["of"]) for each in pieces] == [(1, 2), (2, 2), (1, 1)]


@pytest.mark.parametrize(("god", "doom"), [(RAIN_GOD, "flood"), (WAR_GOD, "war")])
def test_flood_and_war_are_seen_on_the_board_while_they_bite(god: str, doom: str) -> None:
    assert page(Full())["board"]["bite"] == ""
    board = page(Full().bite(god))["board"]
    assert board["biting"] == doom
    assert board["bite"].startswith("M")


# What comes next


@pytest.mark.parametrize(
    ("war", "said"),
    [
        ("drain", "each landing costs its space one more token"),
        ("netzero", "whoever lands loses the token it takes"),
        ("cortez5", "Cortez fights whoever lands"),
    ],
)
def test_the_war_is_told_as_the_table_plays_it(war: str, said: str) -> None:
    shown = page(Full(war=war).bite(WAR_GOD))
    words = TEXTS.words("en", "mexica")
    assert said in words(f"omen.bites.{shown['omen']['bite']}")
    assert said in words(f"board.biting.{shown['board']['says']}")


def test_tokens_of_tonantzin_that_count_are_counted_on_every_page() -> None:
    sitting = quiet(mary_counts="on", apocalypse_tokens=52).lay("east", tokens=13).land(3).do("tonantzin")
    shown = page(sitting)
    assert (shown["omen"]["left"], shown["clock"]["total"], shown["clock"]["threshold"]) == (45, 7, 52)


def test_feeding_tonantzin_asks_twice_where_that_wakes_the_gods() -> None:
    sitting = quiet(mary_counts="on", apocalypse_tokens=13).lay("east", tokens=14).land(3)

    def asks() -> bool:
        return next(each.confirm for each in GAME.rules.choices(sitting.state, "east") if each.key == "tonantzin")

    assert not asks()
    sitting.do("tonantzin").draw(FLOWER)
    assert asks()


@pytest.mark.parametrize(("order", "last"), [("text", True), ("flower_war", False)])
def test_nothing_says_that_the_card_step_ends_a_turn_that_goes_on(order: str, last: bool) -> None:
    sitting = quiet(turn_order=order).lay("east", hand=(BATTLE_CARD,), tokens=1).land(3)
    if sitting.due[0] == "sacrifice":
        sitting.do("pass")
    assert sitting.due == ("cards", "east")
    assert page(sitting, "east")["next"]["last"] == last
    for language in LANGUAGES:
        words = TEXTS.words(language, "mexica")
        for key in ("why.cards", "due_why.cards", "guide.why.cards", "guide.about.cards"):
            assert not re.search(r"over|termina", words(key))


@pytest.mark.parametrize(("die", "said"), [("natural", "its own die shows"), ("modified", "its own sum")])
def test_a_battle_says_whether_bonuses_change_what_it_costs(die: str, said: str) -> None:
    battle = page(fighting(loot_die=die))["battle"]
    assert said in TEXTS.words("en", "mexica")(f"battle.loot.{battle['loot']}")


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, ["ring is full", "Each turn after that", "If rain prevails", "If war prevails"]),
        (
            {"countdown": "rounds13", "doom_by": "least", "apocalypse_trigger": "disc1"},
            ["as many week cards", "each of its turns", "If rain was given less", "If war was given less"],
        ),
        ({"doom_effects": "doom"}, ["ring is full", "Each turn after that"]),
    ],
)
def test_the_drawer_says_how_the_age_ends_at_this_table(chosen: dict[str, str], said: list[str]) -> None:
    entries = regions({**Sitting(**chosen).view, "acting": ""})["drawer"]["guide"]
    words = TEXTS.words("en", "mexica")
    texts = [words(f"guide.{each['entry']}.{each['text']}") for each in entries][1:-1]
    assert len(texts) == len(said)
    assert all(each in text for each, text in zip(said, texts, strict=True))


def test_the_tribe_on_turn_rolls_and_everybody_else_knows_it() -> None:
    sitting = Full()
    own, other, screen = (page(sitting, *held)["next"] for held in (("east",), ("west",), ()))
    assert (own["due"], own["mine"], own["may"], len(own["dice"])) == ("roll", True, True, 6)
    assert (other["due"], other["seat"], other["mine"], other["may"]) == ("roll", "east", False, True)
    assert (screen["mine"], screen["may"], screen["dice"]) == (False, False, [])


def test_only_the_phone_whose_card_it_is_may_draw_it_or_type_it() -> None:
    sitting = Full().land(3)
    own, other = (page(sitting, seat)["next"] for seat in ("east", "west"))
    assert (own["due"], own["pile"], own["typed"]["facts"]["pick"]) == ("draw", "day", "draw")
    assert (other["may"], other["typed"]) == (False, None)


def test_a_drawn_day_card_is_found_by_its_sign_and_its_number() -> None:
    state = Full().land(3).state
    signs = GAME.rules.choices(state, CHANCE, ("draw",))
    assert [each.facts["space"] for each in signs] == [*SIGNS]
    numbers = GAME.rules.choices(state, CHANCE, ("draw", "jaguar"))
    assert [each.move for each in numbers] == [Move("draw", ("day", f"day-jaguar-{n}")) for n in range(1, 14)]
    assert GAME.rules.choices(state, CHANCE, ("draw", "nothing")) == []


def test_the_last_step_ends_the_turn_and_the_others_go_on() -> None:
    sitting = Full().lay("east", tokens=3).space(3, 5).land(3)
    first = page(sitting, "east")["next"]
    assert (first["due"], first["last"], first["main"]["key"]) == ("sacrifice", False, "pass")
    last = page(sitting.do("pass"), "east")["next"]
    assert (last["due"], last["main"]["key"]) == ("cards", "end_turn")


def test_the_steps_of_a_turn_are_followed_one_by_one() -> None:
    sitting = Full().lay("east", tokens=3)
    seen = [page(sitting)["steps"]["step"]]
    seen.append(page(sitting.land(3))["steps"]["step"])
    seen.append(page(sitting.draw("day-wind-1"))["steps"]["step"])
    seen.append(page(sitting.do("pass"))["steps"]["step"])
    assert seen == ["roll", "landing", "sacrifice", "cards"]
    assert page(Full(turn_order="flower_war"))["steps"]["steps"] == ["roll", "landing", "cards", "sacrifice"]


# Hands


def test_a_hand_is_on_its_own_phone_alone_and_says_why_a_card_waits() -> None:
    sitting = Full().lay("east", hand=(FLOWER, BATTLE_CARD))
    hand = page(sitting, "east")["hand"]
    assert [(card["id"], card["when"], card["choice"]) for card in hand["cards"]] == [
        (FLOWER, "sign", None),
        (BATTLE_CARD, "attacking", None),
    ]
    assert hand["cards"][1]["words"]["en"]["title"] == DECK.words["en"][f"card.{BATTLE_CARD}.title"]
    for held in (("west",), ()):
        shown = json.dumps(page(sitting, *held), default=dict)
        assert BATTLE_CARD not in shown
        assert FLOWER not in shown
    west = next(each for each in page(sitting, "west")["tribes"]["tribes"] if each["seat"] == "east")
    assert west["cards"] == [{"pile": "day", "n": 1}, {"pile": "war", "n": 1}]


def test_what_can_be_played_now_comes_first_in_the_hand() -> None:
    sitting = Full().lay("east", hand=(FLOWER, RAIN_CARD)).lay("east", place=1).roll(3)
    assert sitting.due == ("bless", "east")
    first = page(sitting, "east")["hand"]["cards"][0]
    assert (first["id"], first["choice"]["move"], first["choice"]["confirm"]) == (
        RAIN_CARD,
        ["play", RAIN_CARD],
        True,
    )


def test_on_a_shared_phone_the_hand_lies_under_a_cover_of_its_tribe() -> None:
    sitting = Full().lay("east", hand=(FLOWER,))
    shared = page(sitting, "east", "west")["hand"]
    assert (shared["covered"], shared["seat"]) == (True, "east")
    assert page(sitting, "east")["hand"]["covered"] is False


def test_open_hands_are_shown_with_their_tribes() -> None:
    sitting = Full(open_hands="on").lay("east", hand=(BATTLE_CARD,))
    east = next(each for each in page(sitting, "west")["tribes"]["tribes"] if each["seat"] == "east")
    assert [card["id"] for card in east["open"]] == [BATTLE_CARD]


# Battle and sacrifice


def test_a_battle_shows_both_sides_to_everybody() -> None:
    sitting = Full().lay("west", place=4, tokens=5).space(4, 5).hold(8, "east").land(4)
    for held in (("east",), ("west",), ()):
        battle = page(sitting, *held)["battle"]
        assert [(side["seat"], side["role"], side["die"], side["awaited"]) for side in battle["sides"]] == [
            ("east", "attacker", 0, True),
            ("west", "defender", 0, False),
        ]
        assert (battle["loot"], battle["space"]) == ("lower.natural", "lizard")
    sides = page(sitting.roll(6), "west")["battle"]["sides"]
    assert [(side["die"], side["awaited"]) for side in sides] == [(6, False), (0, True)]
    assert page(sitting.roll(2))["battle"]["sides"] == []


def test_a_battle_shows_what_cards_add_to_a_die() -> None:
    sitting = Full().lay("west", place=4, tokens=5).space(4, 5).lay("east", hand=(BATTLE_CARD,)).land(4)
    assert sitting.due == ("arm", "east")
    assert page(sitting, "east")["next"]["cards"] == 1
    sitting.do("play", BATTLE_CARD)
    east = page(sitting.roll(3))["battle"]["sides"][0]
    assert (east["bonus"], east["sum"]) == (1, 4)


def test_a_sacrifice_says_what_is_missing_for_a_card() -> None:
    sitting = Full().lay("east", tokens=12).space(3, 5).land(3)
    sitting.do("sacrifice", RAIN_GOD, 5)
    step = page(sitting, "east")["offering"]
    rain, war = step["gods"]
    assert (rain["toward"], rain["price"], rain["missing"], rain["pile"]) == (5, 7, 2, "rain")
    assert [tap["facts"]["n"] for tap in rain["taps"]] == [1, 2]
    assert [tap["facts"]["n"] for tap in war["taps"]] == [1, 7]
    assert (step["tonantzin"]["choice"], step["tonantzin"]["why"]) == (None, "temple")
    other = page(sitting, "west")["offering"]
    assert (other["mine"], other["gods"][0]["taps"], other["gods"][0]["missing"]) == (False, [], 2)


def test_a_step_that_went_to_tonantzin_is_closed_to_the_temple() -> None:
    sitting = Full().lay("east", tokens=16).space(3, 5).land(3).do("tonantzin").draw(FLOWER)
    step = page(sitting, "east")["offering"]
    assert [side["open"] for side in step["gods"]] == [False, False]
    assert step["tonantzin"]["choice"]["move"] == ["tonantzin"]
    assert page(sitting)["stores"]["tonantzin"] == 7


def test_what_lies_beside_the_board_is_counted() -> None:
    sitting = Full(tribute_debt="on").land(3).draw("day-wind-1").lay(debts=(("east", "west"),))
    stores = page(sitting)["stores"]
    assert stores["reserve"] == 100
    assert {"pile": "day", "left": 259, "used": 1} in stores["piles"]
    assert stores["debts"] == [{"debtor": "east", "creditor": "west"}]


def test_at_the_end_only_the_tribes_are_left() -> None:
    sitting = Full().lay("east", hand=("rain-40", "war-40")).land(3).do("pass").do("pass").draw(FLOWER)
    end = page(sitting, "east")
    assert (end["board"]["shown"], end["next"]["due"], end["steps"]["step"]) == (False, "", "")
    assert end["battle"]["sides"] == []
    assert end["offering"]["seat"] == ""


def test_the_first_week_card_wakes_the_gods_without_all_of_them_being_out() -> None:
    line = Sitting(apocalypse_trigger="disc1").do("issue").lines[-1]
    assert TEXTS.words("en", "mexica")("log.triggered", **line.facts) == (
        "The apocalypse begins: enough week cards are out"
    )


def test_a_token_that_no_tribe_could_give_does_not_say_that_nobody_sacrificed() -> None:
    """East is in its sacrifice step, which went to Tonantzin."""
    sitting = quiet().lay("east", tokens=9).land(3).do("tonantzin").draw(FLOWER)
    assert sitting.due == ("sacrifice", "east")
    sitting.falls(WAR_GOD)
    waiting = page(sitting, "east")["unclaimed"]["token"]
    assert TEXTS.words("en", "mexica")(f"doubt.{waiting['doubt']}") == "It fell while no tribe could give one."
