"""The command `sheets`: builds PDFs of the games' printable pages, or exports images of their pieces."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from companion.games import registry
from companion.web.printing.paper import DEFAULT, PAPERS, STOCK, Printing
from companion.web.printing.press import Press, SheetsError
from companion.web.printing.tuck_box import THICKEST, THINNEST

OUT = Path("build/sheets")
GAME_CRAFTER, TABLETOP_SIMULATOR = "game-crafter", "tabletop-simulator"


def main(argv: Sequence[str]) -> int:
    """Run ``companion sheets``; returns the exit code."""
    arguments = make_parser().parse_args(argv)
    stock = STOCK if arguments.stock is None else arguments.stock
    printing = Printing(PAPERS[arguments.paper], arguments.low_ink, arguments.fronts, stock)
    try:
        if not THINNEST <= printing.stock <= THICKEST:
            raise SheetsError(f"--stock is {printing.stock:g}; expected {THINNEST:g} to {THICKEST:g} mm")
        press = Press(registry.load())
        _check(arguments)
        if arguments.export:
            export(press, arguments.export, arguments.wanted, arguments.out, arguments.images)
        else:
            build(press, arguments.wanted, arguments.out, printing, arguments.players)
    except (SheetsError, registry.RegistryError) as error:
        print(f"templo-companion sheets: {error}", file=sys.stderr)
        return 2
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="templo-companion sheets", description="Builds PDFs of the games' printable pages."
    )
    parser.add_argument("wanted", nargs="*", metavar="GAME[/SHEET]", help="the pages to build (all)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the output folder ({OUT})")
    parser.add_argument("--paper", choices=list(PAPERS), default=DEFAULT, help=f"the paper size ({DEFAULT})")
    parser.add_argument("--low-ink", action="store_true", help="print areas of colour pale")
    parser.add_argument("--fronts", action="store_true", help="leave out the backs of cards and counters")
    parser.add_argument(
        "--players", type=int, metavar="N", help="build one file of each game with all that N players need"
    )
    parser.add_argument("--stock", type=float, metavar="MM", help=f"how thick a card is, for the boxes ({STOCK:g})")
    parser.add_argument(
        "--export",
        choices=[GAME_CRAFTER, TABLETOP_SIMULATOR],
        help="build images of all pieces and boards instead, for a shop that prints them or a virtual table",
    )
    parser.add_argument(
        "--images",
        default="",
        metavar="DIR",
        help="the whole path of the folder in which a player of Tabletop Simulator will keep the images; "
        "without it they stay where they are written",
    )
    return parser


def _check(arguments: argparse.Namespace) -> None:
    """Refuse flags that do not go together; raises `SheetsError`."""
    if arguments.export:
        if arguments.low_ink or arguments.fronts or arguments.players is not None or arguments.paper != DEFAULT:
            raise SheetsError("--export has no --paper, --low-ink, --fronts or --players: those are for PDFs")
        if arguments.stock is not None:
            raise SheetsError("--export has no --stock: that is for PDFs of boxes")
    if arguments.images and arguments.export != TABLETOP_SIMULATOR:
        raise SheetsError(f"--images goes with --export {TABLETOP_SIMULATOR}")
    if arguments.images and not _absolute(arguments.images):
        raise SheetsError(
            f"--images is {arguments.images!r}; expected a whole path, as /home/ana/images or C:/images"
        )


def _absolute(folder: str) -> bool:
    """Return whether a path is absolute on some player's machine, with a drive on Windows."""
    on_posix = PurePosixPath(folder).is_absolute() and not folder.startswith("//")
    return on_posix or bool(re.match(r"[A-Za-z]:[\\/]", folder))


def build(press: Press, wanted: Sequence[str], out: Path, printing: Printing, players: int | None = None) -> None:
    """Write the PDFs that are wanted into a folder, and say each one's name."""
    for sheet in list(press.sheets(wanted) if players is None else press.everything(players, wanted)):
        path, pdf = out / sheet.file(printing), press.pdf(sheet, printing)
        try:
            out.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pdf)
        except OSError as error:
            raise SheetsError(f"--out is {str(out)!r}; expected a folder to write to ({error})") from error
        print(path, flush=True)


def export(press: Press, where: str, wanted: Sequence[str], out: Path, images: str = "") -> None:
    """Write images of what is wanted into a folder of its own, and say the name of each file."""
    try:
        from companion.web.printing import game_crafter, tabletop_simulator
    except ImportError as error:
        if error.name != "PIL":
            raise
        raise SheetsError(
            "Pillow is not installed; expected the extra [sheets], which 'make sheets' brings"
        ) from None
    chosen = list(press.exported(wanted))
    if where == GAME_CRAFTER:
        written = game_crafter.export(press, chosen, out / where)
    else:
        written = tabletop_simulator.export(press, chosen, out / where, images)
    for path in _writing(written, out):
        print(path, flush=True)


def _writing(written: Iterator[Path], out: Path) -> Iterator[Path]:
    """Yield what is written into a folder; raises `SheetsError` if it cannot be."""
    try:
        yield from written
    except OSError as error:
        raise SheetsError(f"--out is {str(out)!r}; expected a folder to write to ({error})") from error
