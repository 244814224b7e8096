"""The guide names every finding, and its pictures exist."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from controller.app.explanations import FINDINGS
from hardware import steps
from hardware.bill import bill
from hardware.catalogue import WAR, pieces
from hardware.parameters import TEMPLE
from templo.lake import KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_guide_says_what_to_do_for_every_finding() -> None:
    guide = (DOCS / "build.md").read_text("utf-8")
    assert {code for code in FINDINGS if f"\n| `{code}` |" not in guide} == set()


def test_every_picture_of_the_guide_is_there() -> None:
    guide = (DOCS / "build.md").read_text("utf-8")
    names = [piece.split(")")[0] for piece in guide.split("](pictures/")[1:]]
    assert names
    assert [name for name in names if not (DOCS / "pictures" / name).exists()] == []


def test_the_bill_the_pictures_and_the_guide_show_the_same_board() -> None:
    chosen = [piece.name for piece in pieces(TEMPLE) if piece.instead == "tray" and piece.chosen]
    assert chosen == [f"tray_{TEMPLE.controller}"]
    cables = [item.what for item in bill()["wires"] if item.what.startswith("cable of six wires")]
    assert bool(cables) == (TEMPLE.controller == "outside")
    guide = (DOCS / "build.md").read_text("utf-8")
    assert ("made from the assembly, with the board outside" in guide) == (TEMPLE.controller == "outside")


def test_the_guide_says_from_how_many_tokens_on_the_lake_is_to_be_levelled() -> None:
    heap = {kind.name: kind.heap for kind in KINDS}
    words = "from {bead_10} beads of 10 mm on one side on, {bean} beans, {bead_12} beads of 12 mm or {skull} skulls"
    assert words.format_map(heap) in (DOCS / "build.md").read_text("utf-8")


def test_the_guide_shows_a_picture_of_every_step() -> None:
    guide = (DOCS / "build.md").read_text("utf-8")
    missing = [
        name for name in steps.STEPS if f"](pictures/temple/step-{name}.png) | {name.split('-')[0]}. **" not in guide
    ]
    assert missing == []


def test_the_guide_shows_a_picture_of_every_care() -> None:
    guide = (DOCS / "build.md").read_text("utf-8")
    assert [name for name in steps.CARE if f"](pictures/temple/care-{name}.png) | **" not in guide] == []


def test_the_guide_names_the_heights_at_which_the_filament_is_changed() -> None:
    guide = (DOCS / "build.md").read_text("utf-8")
    kit = {piece.name: piece for piece in pieces(TEMPLE)}
    ((white, _),) = kit["roof_tlaloc"].changes
    reds = [f"{height:.1f}" for height, colour in kit["shell"].changes if colour == WAR]
    assert f"white from {white:g} mm on" in guide
    assert f"red from {', '.join(reds[:-1])} and {reds[-1]} mm on" in guide


def test_the_film_shows_every_picture_in_twenty_seconds(tmp_path: Path) -> None:
    pictures = []
    for n in range(4):
        pictures.append(tmp_path / f"{n}.png")
        Image.new("RGB", (40 + 10 * n, 30), (60 * n, 0, 0)).save(pictures[-1])
    with Image.open(steps.film(pictures, tmp_path / "film.gif")) as film:
        assert (film.n_frames, film.size) == (4, steps.FRAME)
        lasted = 0
        for n in range(4):
            film.seek(n)
            lasted += film.info["duration"]
    assert lasted == pytest.approx(1000 * steps.FILM, abs=50)
