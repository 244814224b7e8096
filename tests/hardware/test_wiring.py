from __future__ import annotations

import ast
from pathlib import Path

import pytest
from gpiozero.pins.pi import PiBoardInfo

from controller.core.counting import MS, Limits
from hardware.bill import STARTER, bill
from hardware.parameters import TEMPLE
from hardware.wiring.boards import BOARDS, PI, PICO, Board
from hardware.wiring.breadboard import FREE, LOGIC, STRONG, Link, links, row
from hardware.wiring.joins import DIPS, GODS, GUARD, HALVES, NAMES, PULL_UP, SPIKES, STRIP, WiringError, wiring
from hardware.wiring.pages import PAGES, PICTURES, renewed

PINS = {"receivers": {"huitzilopochtli": 17, "tlaloc": 27}, "emitters": {"switch": 22}}


def test_the_header_of_a_pi_is_numbered_as_its_makers_do() -> None:
    header = PiBoardInfo.from_revision(0xC03114).headers["J8"]
    found = {
        pin.name: f"pin {number} (" + pin.name.replace("GPIO", "GPIO ") + ")" for number, pin in header.pins.items()
    }
    assert all(PI.numbers[gpio] == found[f"GPIO{gpio}"] for gpio in PI.numbers)
    power = {PI.strong: "5V", PI.logic: "3V3", PI.ground: "GND"}
    assert all(header.pins[int(place.split()[1])].name == name for place, name in power.items())


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_every_half_of_a_beam_has_all_its_wires_and_each_comes_from_the_strip(board: Board) -> None:
    joined = wiring(board)
    for god in GODS:
        ends = {half: [wire.end[1] for wire in joined.to(god, half)] for half in HALVES}
        assert ends == {"emitter": ["+", "−"], "receiver": ["+", "−", "signal"]}
    assert all(wire.start[0] == STRIP for wire in joined.from_strip)
    signals = {wire.start[1] for wire in joined.from_strip if wire.end[1] == "signal"}
    assert signals == {NAMES[god] for god in GODS} <= {wire.end[1] for wire in joined.to_strip}


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_no_receiver_is_fed_or_pulled_up_with_more_than_the_board_reads(board: Board) -> None:
    joined = wiring(board)
    fed = {wire.start[1] for wire in joined.from_strip if wire.end == (f"{NAMES['tlaloc']}'s receiver", "+")}
    assert fed == {joined.receivers}
    assert float(joined.receivers.split()[0]) <= joined.board.volts


def test_the_switch_lies_between_the_emitters_and_ground_only_where_there_is_one() -> None:
    def back(pins: dict[str, dict[str, int]]) -> set[str]:
        return {wire.start[1] for wire in wiring(PI, pins).to("tlaloc", "emitter") if wire.end[1] == "−"}

    assert back(PINS) == {"emitters −"}
    assert back({"receivers": PINS["receivers"]}) == {"ground"}


@pytest.mark.parametrize(
    ("name", "pin", "words"),
    [
        ("huitzilopochtli", 99, "expected one of Raspberry Pi's pins"),
        ("huitzilopochtli", 27, "as is tlaloc"),
    ],
)
def test_a_pin_that_is_not_there_or_is_taken_is_named(name: str, pin: int, words: str) -> None:
    with pytest.raises(WiringError, match=words):
        wiring(PI, PINS | {"receivers": PINS["receivers"] | {name: pin}})


def test_the_pages_tables_say_what_the_wiring_says() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert renewed(text) == text, f"{page.name}: python -m hardware.wiring brings it up to date"


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_the_drawings_show_every_pin_that_is_used(board: Board) -> None:
    joined = wiring(board)
    harness, circuit = (
        (PICTURES / f"{kind}-{joined.board.name}.svg").read_text(encoding="utf-8") for kind in ("harness", "circuit")
    )
    for wire in joined.to_strip:
        assert wire.start[1] in harness
    for pin in joined.signals.values():
        assert joined.board.numbers[pin] in circuit
    assert PULL_UP in circuit
    assert circuit.count(GUARD) == len(GODS) + (joined.switch is not None)
    assert circuit.count(SPIKES) == len(GODS)
    assert circuit.count(DIPS) == 1


def test_the_bill_has_a_resistor_for_each_that_the_circuit_shows() -> None:
    counts = {item.what: item.count for name, items in bill().items() if name != STARTER for item in items}
    assert counts["resistor, 10 kΩ"] == len(GODS) + 1
    assert counts[f"resistor, {GUARD}"] == len(GODS) + 1
    assert counts[f"ceramic capacitor, {SPIKES}"] == len(GODS)
    assert counts[f"electrolytic capacitor, {DIPS}, 10 V"] == 1
    assert counts["resistor, 220 Ω"] == len(GODS)
    assert counts["infrared break-beam pair, 5 mm, with leads of 25 cm"] == len(GODS)


@pytest.mark.parametrize("board", ["Pi Zero 2 W", "Pi 3A+", "Pi 4", "Pi 5", "Pico", "Uno"])
def test_the_bill_names_every_controller_and_its_supply(board: str) -> None:
    counts, _, supply, _ = bill()["electronics"]
    assert board.removeprefix("Pi ") in f"{counts.what} {counts.instead}"
    assert board in f"{supply.what} {supply.instead}"


def test_the_bill_has_screws_for_each_board_that_may_lie_inside() -> None:
    holders = next(item for item in bill()["screws"] if item.what == "M2.5 x 6")
    assert [each.name for each in TEMPLE.controllers if each.inside] == ["pi_zero_2w", "pico"]
    assert "a Pi Zero" in holders.purpose
    assert "M2 for a Pico" in holders.instead


def test_the_bill_has_what_each_kind_of_light_and_the_piezo_need_on_every_board_that_drives_them() -> None:
    lights = bill()["lights"]
    for thing in (
        "LED, 5 mm",
        "WS2812B",
        "level shifter",
        "470 µF",
        "passive piezo",
        "heat-shrink",
        "lead with a socket",
    ):
        assert [item for item in lights if thing in item.what], thing
    series = {item.what: f"{item.what} {item.purpose}" for item in lights if item.what.startswith("resistor")}
    assert "Raspberry Pi" in series["resistor, 150 Ω"]
    assert "Pico" in series["resistor, 330 Ω, for LEDs on a Pico"]
    assert next(item.count for item in lights if item.what.startswith("WS2812B")) == len(GODS)
    assert "only on a Raspberry Pi" not in next(item.purpose for item in lights if item.what.startswith("WS2812B"))


def test_what_a_temple_cannot_do_without_can_be_ordered_by_a_number_from_more_than_one_shop() -> None:
    for group, what in (
        ("electronics", "break-beam"), ("wires", "pin header"), ("wires", "socket header"),
        ("lights", "level shifter"),
        ("lights", "piezo"),
    ):  # fmt: skip
        item = next(each for each in bill()[group] if what in each.what)
        shops = [shop for shop in ("Mouser", "DigiKey", "Adafruit", "The Pi Hut", "Pimoroni") if shop in item.order]
        assert len(shops) >= 2, item.what


def test_a_token_may_take_as_long_between_two_beams_as_a_bead_that_starts_from_rest() -> None:
    assert TEMPLE.transit_ms <= Limits().transit / MS <= 1.05 * TEMPLE.transit_ms


# -- the starter's breadboard --


PICO_PROGRAM = Path(__file__).resolve().parents[2] / "firmware" / "micropython" / "settings.py"


def _by_default() -> dict[str, int]:
    """Return the pins that the Pico's program reads unless a setting names others."""
    for statement in ast.parse(PICO_PROGRAM.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "DEFAULTS":
            return {god: ast.literal_eval(statement.value)[god] for god in GODS}
    raise AssertionError(f"{PICO_PROGRAM} has no DEFAULTS")


def _found(kind: str) -> list[Link]:
    return [each for each in links() if each.kind == kind]


def test_the_breadboard_joins_the_pins_that_the_picos_program_reads_by_default() -> None:
    leads = {each.start: each.end for each in _found("lead")}
    for god, pin in _by_default().items():
        assert leads[f"j{row(PICO.numbers[pin])}"] == f"j{FREE[god][0]}"
    assert leads[f"j{row(PICO.strong)}"] == STRONG
    assert leads[f"j{row(PICO.logic)}"] == LOGIC


def test_the_breadboard_has_a_resistor_in_series_and_one_to_3_3_v_for_each_signal_and_none_to_5_v() -> None:
    series = {(each.start[1:], each.end[1:]) for each in _found("guard")}
    assert series == {(str(near), str(far)) for near, far in FREE.values()}
    assert {(each.start[1:], each.end) for each in _found("pull")} == {(str(far), LOGIC) for _, far in FREE.values()}
    signals = {each.end[1:] for each in _found("sensor") if each.start.endswith("signal")}
    assert signals == {str(far) for _, far in FREE.values()}
    powered = {each.start for each in _found("sensor") if each.end == STRONG}
    assert powered == {f"{NAMES[god]}'s emitter, +" for god in GODS}


def test_no_hole_of_the_breadboard_is_taken_twice() -> None:
    holes = [end for each in links() for end in (each.start, each.end) if end[1:].isdigit()]
    assert len(set(holes)) == len(holes)
    rows = [row(PICO.numbers[pin]) for pin in PICO.numbers if int(PICO.numbers[pin].split()[1]) > 20]
    assert max(rows) < min(near for near, _ in FREE.values()), "the signals' rows are beyond the Pico"


def test_a_pin_on_the_picos_left_has_no_row_on_its_right() -> None:
    with pytest.raises(ValueError, match=r"pin is 'pin 1 \(GP0\)'; expected one on the Pico's right side, 21 to 40"):
        row(PICO.numbers[0])


def test_the_starters_bill_has_what_the_breadboard_takes_and_costs_20_to_25_euros() -> None:
    items = bill()[STARTER]
    counts = {item.what: item.count for item in items}
    assert counts["lead with a pin at both ends, 10 to 15 cm"] == len(_found("lead")) == 6
    assert counts[f"resistor, {GUARD}"] == len(_found("guard"))
    assert counts[f"resistor, {PULL_UP}"] == len(_found("pull"))
    assert counts["infrared break-beam pair, 5 mm"] == len(GODS)
    assert 20 <= sum(item.cost for item in items) <= 25
