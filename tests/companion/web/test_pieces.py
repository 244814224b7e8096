"""Images of pieces and boards, for The Game Crafter and Tabletop Simulator: every piece once, in the right sizes."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageStat

from companion.cli.command_line import main
from companion.games import registry
from companion.games.mexica.rules.cards import game_deck
from companion.web.printing import game_crafter, pieces, press, tabletop_simulator
from companion.web.printing.paper import Paper, Printing
from companion.web.rendering.texts import LANGUAGES

DECK = game_deck()


class Kept(press.Press):
    """Lays out a page's pieces once for all tests, or only its first leaves."""

    def __init__(self, leaves: int | None = None) -> None:
        super().__init__(registry.load())
        self.leaves = leaves
        self._kept: dict[tuple[str, str, str], bytes] = {}

    def single(self, game: Any, name: str, language: str, width: float, height: float) -> bytes:
        key = game.name, name, language
        if key not in self._kept:
            self._kept[key] = super().single(game, name, language, width, height)
        return self._kept[key]

    def html(self, sheet: press.Sheet, printing: Printing) -> str:
        html = super().html(sheet, printing)
        if self.leaves is None:
            return html
        head, *leaves = html.split('<section class="leaf')
        return '<section class="leaf'.join([head, *leaves[: self.leaves]])


PRESS = Kept()
GAMES = PRESS.games
SETS = [(game, page) for game in GAMES.values() for page in game.printer.pieces]
DRAWN = [
    ("mexica", "week_cards"),
    ("moctezuma", "names"),
    ("moctezuma", "chits"),
    ("market", "tiles"),
    ("market", "buyers"),
    ("market", "tokens"),
    ("market", "coins"),
    ("market", "start"),
    ("market", "turn_card"),
    ("siege", "counters"),
]
LARGE = [("mexica", "day_cards"), ("mexica", "war_cards"), ("mexica", "rain_cards"), ("moctezuma", "decks")]
"""The other sets, of which only the first leaves are drawn: their PDFs take long."""

every_set = pytest.mark.parametrize(("game", "page"), SETS, ids=lambda each: getattr(each, "name", each))
drawn_set = pytest.mark.parametrize(("game", "page"), DRAWN)


@pytest.fixture(scope="module")
def drawn() -> Mapping[tuple[str, str], pieces.PieceSet]:
    """Sets that lay out their PDF once for all tests."""
    return {each: pieces.PieceSet(PRESS, GAMES[each[0]], each[1], "en") for each in DRAWN}


def images(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for path in sorted(folder.rglob("*.png")):
        with Image.open(path) as image:
            found[path.relative_to(folder).as_posix()] = image.size
    return found


def frame(image: Image.Image, width: float, height: float) -> set[Any]:
    """Return the colours of an image's edge, so many pixels wide on the left and right, and above and below."""
    wide, high = int(width), int(height)
    boxes = [
        (0, 0, wide, image.height),
        (image.width - wide, 0, image.width, image.height),
        (0, 0, image.width, high),
        (0, image.height - high, image.width, image.height),
    ]
    colours: set[Any] = set()
    for box in boxes:
        colours |= {colour for _, colour in image.crop(box).getcolors(maxcolors=16) or [(0, "many")]}
    return colours


def test_every_set_is_drawn_whole_or_its_first_leaves() -> None:
    assert sorted(DRAWN + LARGE) == sorted((game.name, page) for game, page in SETS)


# -- pieces --


@every_set
def test_a_page_has_a_leaf_for_each_of_its_pieces_and_one_for_its_back(game: Any, page: str) -> None:
    for language in LANGUAGES:
        kind = game.printer.pieces[page]
        paper = Paper("piece", kind.width, kind.height, margin=0)
        html = PRESS.html(press.Sheet(game, page, language), Printing(paper))
        assert html.count('<section class="leaf') == len(kind.pieces(language)) * (2 if kind.backs else 1)


@every_set
def test_every_face_has_a_name_for_files_and_one_for_people(game: Any, page: str) -> None:
    for language in LANGUAGES:
        found = pieces.PieceSet(PRESS, game, page, language)
        assert found.name
        assert sum(face.copies for face in found.faces) == len(found.pieces)
        for face in found.faces:
            assert re.fullmatch("[a-z0-9-]+", face.piece.face)
            assert face.name
            assert "{" not in face.name


def test_every_card_of_mexica_is_a_face_of_its_own() -> None:
    faces = [
        face
        for page in GAMES["mexica"].printer.pieces
        for face in pieces.PieceSet(PRESS, GAMES["mexica"], page, "en").faces
    ]
    assert [face.piece.face for face in faces] == [card.id for card in DECK]
    assert {face.copies for face in faces} == {1}


@drawn_set
def test_the_edge_of_every_piece_has_one_colour_so_that_it_can_be_carried_on(
    drawn: Mapping[tuple[str, str], pieces.PieceSet], game: str, page: str
) -> None:
    found = drawn[game, page]
    for face in found.faces:
        for leaf in (face.front, face.back):
            if leaf is not None:
                image = found.drawn.image(leaf, 600, 600)
                scale = image.width / found.kind.width
                within = image.crop((2, 2, image.width - 2, image.height - 2))
                edge = found.kind.inset * scale - 3
                assert len(frame(within, edge, edge)) == 1, face.name


def test_a_chit_is_a_disc_of_25_mm_and_its_rim_s_colour_is_all_round_it(
    drawn: Mapping[tuple[str, str], pieces.PieceSet],
) -> None:
    leaf = drawn["moctezuma", "chits"].drawn
    filled, bare = leaf.image(0, 540, 540), copy(leaf)
    bare.rim = 0
    left, top, right, bottom = ImageChops.invert(bare.image(0, 540, 540)).getbbox() or (0, 0, 0, 0)
    assert (right - left) / 20 == pytest.approx(25, abs=0.15)
    assert (bottom - top) / 20 == pytest.approx(25, abs=0.15)
    rim = filled.getpixel((540 // 2, round(leaf.rim * 20)))
    assert rim != pieces.WHITE
    assert {filled.getpixel((x, y)) for x in (0, 539) for y in (0, 539)} == {rim}


@pytest.mark.parametrize(("game", "page"), LARGE)
def test_the_first_cards_of_a_large_deck_can_be_exported_and_their_backs_are_alike(game: str, page: str) -> None:
    kind, leaves = GAMES[game].printer.pieces[page], 6
    drawn = pieces.Drawn(
        Kept(leaves).single(GAMES[game], page, "en", kind.width, kind.height), kind.width, kind.height
    )
    assert len(drawn) == leaves
    for leaf in range(leaves):
        image = drawn.image(leaf, 600, 600)
        edge = kind.inset * image.width / kind.width - 3
        assert len(frame(image.crop((2, 2, image.width - 2, image.height - 2)), edge, edge)) == 1
    shown = [drawn.image(leaf, 200, 200).tobytes() for leaf in range(leaves)]
    assert len(set(shown[1::2])) == 1
    assert not set(shown[::2]) & set(shown[1::2])


@drawn_set
def test_nobody_can_tell_a_card_or_a_chit_by_its_back(
    drawn: Mapping[tuple[str, str], pieces.PieceSet], game: str, page: str
) -> None:
    found = drawn[game, page]
    if found.kind.backs:
        assert found.one_back == (page != "counters"), "a counter's back is the same people, routed"


# -- The Game Crafter --


def test_each_piece_gets_the_template_that_is_nearest_to_it() -> None:
    found = {page: game_crafter.template_of(pieces.PieceSet(PRESS, game, page, "en")).name for game, page in SETS}
    assert found == {
        **dict.fromkeys(("day_cards", "week_cards", "war_cards", "rain_cards"), "EuroPokerDeck"),
        **dict.fromkeys(("decks", "names"), "MiniDeck"),
        "chits": "LargeCircleChit",
        **dict.fromkeys(("tiles", "buyers"), "SmallSquareTile"),
        **dict.fromkeys(("tokens", "coins", "counters"), "MediumSquareChit"),
        "start": "MiniSquareTile",
        "turn_card": "JumboDeck",
    }


def test_a_template_runs_an_eighth_of_an_inch_past_the_cut_at_300_dpi() -> None:
    for each in (*game_crafter.CARDS, *game_crafter.SQUARES, *game_crafter.CIRCLES, *game_crafter.BOARDS):
        for pixels, inches in ((each.width, each.cut_width), (each.height, each.cut_height)):
            assert pixels % 75 == 0
            assert (inches + 0.25) * 300 <= pixels + 0.01
            if each.name != "EuroPokerDeck":
                assert pixels == round((inches + 0.25) * 300)


def test_a_board_is_never_smaller_than_it_is_printed() -> None:
    chosen = {}
    for game in GAMES.values():
        for page, board in game.printer.boards().items():
            template, turned = game_crafter.board_template(board.width, board.height)
            wide, high = template.safe if not turned else tuple(reversed(template.safe))
            assert wide >= board.width
            assert high >= board.height
            chosen[page] = (template.name, turned)
    assert chosen == {
        "calendar": ("MediumSixFoldBoard", False),
        "board": ("LargeSquareBoard", False),
        "whole_full": ("SixFoldBoard", False),
        "whole_skirmish": ("QuadFoldMat", True),
    }
    assert game_crafter.board_template(5000, 200) == (game_crafter.BOARDS[-1], False)


def test_the_guide_names_the_template_of_every_piece_and_board_with_its_size() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "print-and-play.md").read_text(encoding="utf-8")
    used = {game_crafter.template_of(pieces.PieceSet(PRESS, game, page, "en")) for game, page in SETS}
    for game in GAMES.values():
        used |= {
            game_crafter.board_template(board.width, board.height)[0] for board in game.printer.boards().values()
        }
    rows = [line for line in guide.splitlines() if line.startswith("|")]
    for template in used:
        (row,) = [line for line in rows if f"`{template.name}`" in line]
        assert f"{template.width} by {template.height}" in row


@drawn_set
def test_what_matters_lies_in_the_safe_zone_and_colour_runs_to_the_edge_of_the_image(
    drawn: Mapping[tuple[str, str], pieces.PieceSet], game: str, page: str
) -> None:
    found = drawn[game, page]
    template = game_crafter.template_of(found)
    for face in found.faces:
        image = game_crafter.fitted(found.drawn, face.front, template, found.kind.inset)
        assert image.size == (template.width, template.height)
        safe = [length * 300 / 25.4 for length in template.safe]
        edge = (template.width - safe[0]) / 2 - 2, (template.height - safe[1]) / 2 - 2
        assert len(frame(image, *edge)) == 1, face.name


def test_the_shop_gets_each_face_once_with_how_many_and_one_back_for_all(tmp_path: Path) -> None:
    wanted = list(PRESS.exported(["moctezuma/names", "market/tokens", "moctezuma/board"]))
    written = list(game_crafter.export(PRESS, [each for each in wanted if each[2] == "en"], tmp_path))
    assert sorted(written) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    found = images(tmp_path)
    names = {path.split("/")[-1]: size for path, size in found.items() if "/names-MiniDeck/" in path}
    assert set(names.values()) == {(600, 825)}
    assert len(names) == 8 + 1
    assert any(name.endswith("-clue-x3.png") for name in names)
    assert "back.png" in names
    tokens = [path for path in found if "/tokens-MediumSquareChit/" in path]
    assert len(tokens) == 4
    assert all(path.endswith("-x20.png") for path in tokens)
    boards = {path: size for path, size in found.items() if "/board-LargeSquareBoard/" in path}
    assert len(boards) == 2
    assert set(boards.values()) == {(3075, 3075)}
    with Image.open(tmp_path / next(iter(found))) as image:
        assert image.mode == "RGB"
        assert [round(dpi) for dpi in image.info["dpi"]] == [300, 300]


def test_the_list_of_contents_adds_up_to_the_box(tmp_path: Path) -> None:
    list(game_crafter.export(PRESS, [(GAMES["moctezuma"], "names", "es")], tmp_path))
    with (tmp_path / "moctezuma-es" / "names-MiniDeck" / "contents.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(int(row["copies"]) for row in rows if "front" in row["image"]) == 10
    assert {row["image"] for row in rows} == {path.name for path in tmp_path.rglob("*.png")}
    assert "Ciudad de Oro" in {row["name"] for row in rows}


def test_a_page_that_is_exported_again_replaces_its_own_images_and_no_others(tmp_path: Path) -> None:
    coins = tmp_path / "market-en" / "coins-MediumSquareChit"
    coins.mkdir(parents=True)
    (coins / "front-001-coin-x12.png").write_bytes(b"of an earlier export")
    (coins / "notes.txt").write_text("mine")
    (coins.parent / "other-folder").mkdir()
    (coins.parent / "other-folder" / "contents.csv").write_text("")
    written = list(game_crafter.export(PRESS, list(PRESS.exported(["market/start", "market/coins"])), tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"market-en", "market-es"}
    assert {path.name for path in coins.iterdir()} == {"front-001-coin-x16.png", "contents.csv", "notes.txt"}
    rows = (coins / "contents.csv").read_text(encoding="utf-8").splitlines()
    assert rows == ["template,image,copies,name", "MediumSquareChit,front-001-coin-x16.png,16,coin"]
    assert (coins.parent / "other-folder" / "contents.csv").read_text() == ""
    assert len(written) == 2 * 2 * 2, "an image and a list for each page in each language"


# -- Tabletop Simulator --


@pytest.mark.parametrize("faces", [1, 3, 10, 20, 40, 60, 69])
@pytest.mark.parametrize("size", [(63, 88), (44, 63), (95, 130)])
def test_a_grid_holds_its_faces_and_the_hidden_one_within_4096_pixels(faces: int, size: tuple[float, float]) -> None:
    laid = tabletop_simulator.grid(faces, *size)
    assert 2 <= laid.columns <= 10
    assert 2 <= laid.rows <= 7
    assert laid.faces >= faces
    assert max(laid.columns * laid.width, laid.rows * laid.height) <= 4096
    assert laid.width / laid.height == pytest.approx(size[0] / size[1], rel=0.01)
    assert laid.width <= size[0] * 300 / 25.4
    if faces == 69:
        assert (laid.columns, laid.rows) == (10, 7)


def test_a_deck_of_more_than_69_faces_needs_a_second_image() -> None:
    for faces in (0, 70):
        with pytest.raises(ValueError, match="expected 1 to 69"):
            tabletop_simulator.grid(faces, 63, 88)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is written for a virtual table: a deck with copies, a bag of secrets, a bag of tokens, boards."""
    out = tmp_path_factory.mktemp("table")
    wanted = ["moctezuma/names", "moctezuma/chits", "market/tokens", "moctezuma/board"]
    chosen = [each for each in PRESS.exported(wanted) if each[2] == "en"]
    list(tabletop_simulator.export(PRESS, chosen, out))
    return out


def saved(table: Path, name: str) -> dict[str, Any]:
    (path,) = table.rglob(f"{name}.json")
    assert path.with_suffix(".png").is_file(), "the menu shows a picture"
    whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert {"SaveName", "GameMode", "Table", "Sky", "LuaScript", "ObjectStates"} <= set(whole)
    (state,) = whole["ObjectStates"]
    found: dict[str, Any] = state
    return found


def file_of(url: str) -> Path:
    assert url.startswith("file:///")
    return Path("/" + url.removeprefix("file:///"))


def test_a_deck_holds_every_card_once_and_names_its_images(table: Path) -> None:
    deck = saved(table, "Name cards")
    assert deck["Name"] == "DeckCustom"
    assert deck["DeckIDs"] == [card["CardID"] for card in deck["ContainedObjects"]]
    assert Counter(card["Nickname"] for card in deck["ContainedObjects"])["City of Gold"] == 3
    assert len(deck["DeckIDs"]) == 10
    ((number, images),) = deck["CustomDeck"].items()
    assert {card["CardID"] // 100 for card in deck["ContainedObjects"]} == {int(number)}
    assert {card["CardID"] % 100 for card in deck["ContainedObjects"]} == set(range(8))
    assert all(card["CustomDeck"] == deck["CustomDeck"] for card in deck["ContainedObjects"])
    assert len({card["GUID"] for card in deck["ContainedObjects"]}) == 10
    for card in (deck, *deck["ContainedObjects"]):
        assert re.fullmatch("[0-9a-f]{6}", card["GUID"])
        assert card["Transform"]["rotZ"] == 180, "face down"
        assert card["HideWhenFaceDown"] is True
    assert images["NumWidth"] * images["NumHeight"] > 8
    assert file_of(images["BackURL"]).is_file()


def test_the_last_place_of_a_deck_s_image_is_its_back(table: Path) -> None:
    deck = saved(table, "Name cards")
    (images,) = deck["CustomDeck"].values()
    with Image.open(file_of(images["FaceURL"])) as sheet, Image.open(file_of(images["BackURL"])) as back:
        wide, high = sheet.width // images["NumWidth"], sheet.height // images["NumHeight"]
        assert max(sheet.size) <= 4096
        hidden = sheet.crop((sheet.width - wide, sheet.height - high, sheet.width, sheet.height))
        other = ImageChops.difference(hidden, back.resize(hidden.size)).convert("L")
        assert ImageStat.Stat(other).mean[0] < 4
        first = ImageChops.difference(sheet.crop((0, 0, wide, high)), back.resize(hidden.size)).convert("L")
        assert ImageStat.Stat(first).mean[0] > 40


def test_chits_lie_face_down_in_a_bag_and_tokens_face_up(table: Path) -> None:
    bag = saved(table, "Curse chits")
    assert bag["Name"] == "Bag"
    assert Counter(tile["Nickname"] for tile in bag["ContainedObjects"]) == {"cursed": 14, "safe": 11}
    for tile in bag["ContainedObjects"]:
        assert tile["Name"] == "Custom_Tile"
        assert tile["CustomImage"]["CustomTile"]["Type"] == 2, "a circle"
        assert tile["Transform"]["rotZ"] == 180
        assert tile["HideWhenFaceDown"] is True
        assert file_of(tile["CustomImage"]["ImageURL"]).is_file()
        assert tile["CustomImage"]["ImageURL"] != tile["CustomImage"]["ImageSecondaryURL"]
    tokens = saved(table, "The 80 tokens")
    assert len(tokens["ContainedObjects"]) == 80
    assert {tile["Transform"]["rotZ"] for tile in tokens["ContainedObjects"]} == {0}
    assert {tile["CustomImage"]["CustomTile"]["Type"] for tile in tokens["ContainedObjects"]} == {0}


def test_boards_are_locked_and_as_fine_as_they_may_be(table: Path) -> None:
    for number in (1, 2):
        board = saved(table, f"Board and chart {number}")
        assert (board["Name"], board["Locked"]) == ("Custom_Board", True)
        with Image.open(file_of(board["CustomImage"]["ImageURL"])) as image:
            assert max(image.size) <= 4096
            assert image.width / image.height == pytest.approx(204 / 236, rel=0.01)


def test_objects_name_the_folder_in_which_a_player_keeps_the_images(tmp_path: Path) -> None:
    start = [(GAMES["market"], "start", "en")]
    list(tabletop_simulator.export(PRESS, start, tmp_path, "C:\\Games\\Templo Mayor\\"))
    url = saved(tmp_path, "start marker")["CustomImage"]["ImageURL"]
    assert url == "file:///C:/Games/Templo Mayor/market-en/start-start.png"


# -- the command --


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mexica/tallies", "--export", "game-crafter"], "mexica has no pieces 'tallies'; expected one of day_cards"),
        (["chess", "--export", "game-crafter"], "game 'chess' is not there"),
        (["--export", "game-crafter", "--low-ink"], "those are for PDFs"),
        (["--export", "game-crafter", "--images", "C:/x"], "--images goes with --export tabletop-simulator"),
        (["--images", "C:/x"], "--images goes with --export tabletop-simulator"),
        (["--export", "game-crafter", "--stock", "0.4"], "--export has no --stock"),
        (["--export", "tabletop-simulator", "--images", "images"], "expected a whole path"),
        (["--export", "tabletop-simulator", "--images", "C:images"], "expected a whole path"),
        (["--export", "tabletop-simulator", "--images", r"\\server\images"], "expected a whole path"),
    ],
)
def test_a_set_that_cannot_be_exported_is_reported(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sheets", "--out", str(tmp_path / "out"), *words]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["sheets", "market/start", "--export", "game-crafter", "--out", str(tmp_path / "file")]) == 2
    assert "expected a folder to write to" in capsys.readouterr().err


def test_without_pypdfium2_the_command_says_what_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    assert main(["sheets", "market/start", "--export", "game-crafter", "--out", str(tmp_path / "out")]) == 2
    assert "pypdfium2 is not installed; expected the extra [sheets]" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_command_writes_each_export_into_a_folder_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for where in ("game-crafter", "tabletop-simulator"):
        assert main(["sheets", "market/start", "--export", where, "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"game-crafter", "tabletop-simulator"}
    printed = capsys.readouterr().out.splitlines()
    assert all(Path(line).is_file() for line in printed)
