"""``python -m lab``: run, compare, deck, strategy, replay and all."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from companion.games.kit import Value
from lab import balance, duels, lake, matches, names, report, runs, studies, verdicts
from lab.figures import Effect
from lab.matches import LONGEST, Setup, SetupError, game_of, games
from lab.sentences import LANGUAGES, Language
from lab.studies import OWNER, Sizes
from templo import __version__
from templo.quoting import counted

ALL_MINUTES = 60
"""How long `lab all` plays by default: its next run goes on where this one stopped."""

EVERY = "every"
"""The word for all languages of a report."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 2 where nothing could be played."""
    arguments = make_parser().parse_args(argv)
    if arguments.attended:
        _end_with_input()
    try:
        status: int = arguments.command(arguments)
    except (SetupError, ValueError, OSError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return status


def run(arguments: argparse.Namespace) -> int:
    """Play a preset and write the report of it."""
    setup = _setup(arguments)
    findings = studies.study(setup, _sizes(arguments), _runner(arguments), arguments.first, arguments.beside)
    _report(findings, arguments.report, arguments)
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """Play the same seeds with two setups, the second with the options of ``--with``, and print what differs."""
    setup = _setup(arguments)
    other = replace(setup, chosen={**setup.chosen, **_chosen(setup, arguments.other)})
    _print_comparison(setup, other, arguments)
    return 0


def deck(arguments: argparse.Namespace) -> int:
    """Compare a deck of one's own with the game's, then write the report of the preset with it."""
    usual = _setup(arguments)
    setup = replace(usual, chosen={**usual.chosen, "deck": Path(arguments.deck).read_text(encoding="utf-8")})
    _print_comparison(usual, setup, arguments)
    findings = studies.study(setup, _sizes(arguments), _runner(arguments), arguments.first)
    _report(findings, arguments.report, arguments)
    return 0


def strategy(arguments: argparse.Namespace) -> int:
    """Print what each habit does for the one seat that has it."""
    setup, play = _setup(arguments), _runner(arguments)
    (base,) = play([runs.jobs_of(setup, arguments.games, arguments.first, studies.BASE)])
    for each in sorted(studies.probed(setup, base, play), key=lambda change: -change.wins[OWNER].difference):
        print(f"{_change_text(each)}  {each.name}")
    return 0


def duel(arguments: argparse.Namespace) -> int:
    """Print how often one player wins against others, of all games that are won."""
    setup, play = _setup(arguments), _runner(arguments)
    (records,) = play([duels.job(setup, arguments.one, arguments.other, arguments.games, arguments.first)])
    found = duels.judged(setup, records)
    print(
        f"{arguments.one} won {found.won.count} of {counted(found.won.of, 'win')} in {counted(found.games, 'game')}: "
        f"{100 * found.won.share:.1f} % ({100 * found.won.low:.1f} to {100 * found.won.high:.1f}); "
        f"equal players {100 * found.fair:.0f} %, p = {found.p:.3g}"
    )
    return 0


def fit(arguments: argparse.Namespace) -> int:
    """Search constants that win against another player, and print them."""
    setup, play = _setup(arguments), _runner(arguments)
    games = arguments.games, arguments.first
    print("best:", duels.fitted(setup, arguments.one, arguments.other, play, *games, partial(print, flush=True)))
    return 0


def even(arguments: argparse.Namespace) -> int:
    """Print how even the seats of each preset of a game are, as its ``data/balance.toml`` holds it."""
    known = games(tuple(arguments.folder))
    if arguments.game not in known:
        raise SetupError(f"game is {arguments.game!r}; expected {' or '.join(known)}")
    every = balance.setups(arguments.game, tuple(arguments.folder))
    found = balance.measured(every, arguments.games, arguments.first, _runner(arguments))
    command = f"python -m lab balance {arguments.game} --games {arguments.games} --first {arguments.first}"
    print(balance.written(found, command), end="")
    return 0


def levelled(arguments: argparse.Namespace) -> int:
    """Print how often a temple calls for a hand that levels its lake."""
    for row in lake.table(arguments.game, arguments.games, arguments.first):
        print(row, flush=True)
    return 0


def replay(arguments: argparse.Namespace) -> int:
    """Print every move of one game."""
    setup = _setup(arguments)
    players = matches.players(setup, arguments.seed)
    for n, (_, seat, move, _, _) in enumerate(matches.steps(setup, arguments.seed, players), 1):
        print(n, seat, *move.to_json())
    return 0


def everything(arguments: argparse.Namespace) -> int:
    """Write a report of every preset of every game that plays by itself, at its largest table."""
    folders = tuple(arguments.folder)
    every = [
        Setup(game=game.name, preset=preset, seats=max(game.seatings), folders=folders, longest=arguments.longest)
        for game in games(folders).values()
        for preset in game.presets
    ]
    setups = [each for each in every if games(folders)[each.game].playtest.plays(matches.options_of(each))]
    ends = time.monotonic() + 60 * (arguments.minutes or ALL_MINUTES)
    for left, setup in zip(range(len(setups), 0, -1), setups, strict=True):
        name = f"{setup.game}-{setup.preset}"
        print(f"{name} ...", file=sys.stderr, flush=True)
        path = arguments.into / f"{name}.jsonl"
        until = time.monotonic() + (ends - time.monotonic()) / left
        play = _Shared(partial(runs.run, path=path, processes=arguments.processes, progress=_bar()), until)
        findings = studies.study(setup, _sizes(arguments), play, arguments.first)
        _report(findings, arguments.into / f"{name}.html", arguments)
    return 0


class _Shared:
    """Plays a study's games in a bounded time; each question gets an equal share of what is left of it."""

    def __init__(self, run: Callable[..., list[list[matches.Record]]], until: float) -> None:
        self._run, self._until, self._left = run, until, studies.QUESTIONS

    def __call__(self, jobs: Sequence[runs.Job]) -> list[list[matches.Record]]:
        now = time.monotonic()
        share, self._left = (self._until - now) / max(1, self._left), self._left - 1
        return self._run(jobs, until=now + share)


def _print_comparison(one: Setup, other: Setup, arguments: argparse.Namespace) -> None:
    game_of(other)
    play = _runner(arguments)
    seeds = tuple(range(arguments.first, arguments.first + arguments.games))
    before, after = play([runs.Job("one", one, seeds), runs.Job("other", other, seeds)])
    change, called = studies.compared(one, before, after), names.of(game_of(one), LANGUAGES[0])
    print(*verdicts.effects(change, Language(), called), sep="\n")
    print()
    print(f"turns a game: {_pair(change.length, 1)}")
    for seat, wins in change.wins.items():
        print(f"{seat} won, %: {_pair(wins, 100)}")
    for end, found in change.ends.items():
        print(f"{verdicts.ending(end, Language(), lambda _, code: code)}, %: {_pair(found, 100)}")
    print(f"pairs of games: {change.length.pairs}")


def _pair(effect: Effect, scale: float) -> str:
    return f"{scale * effect.before:.1f} and {scale * effect.after:.1f}, {_difference(effect, scale)}"


def _difference(effect: Effect, scale: float) -> str:
    low, high = scale * effect.low, scale * effect.high
    return f"{scale * effect.difference:+.1f} ({low:+.1f} to {high:+.1f})"


def _change_text(change: studies.Change) -> str:
    wins = change.wins[OWNER]
    return (
        f"{100 * wins.before:5.1f} -> {100 * wins.after:5.1f} %  {_difference(wins, 100):26} "
        f"{change.verdict or 'may be chance':13}"
    )


def _setup(arguments: argparse.Namespace) -> Setup:
    setup = Setup(
        game=arguments.game,
        preset=arguments.preset,
        seats=0,
        folders=tuple(arguments.folder),
        habits=tuple(arguments.player),
        longest=arguments.longest,
    )
    known = games(setup.folders)
    if arguments.game in known:
        setup = replace(setup, seats=arguments.seats or max(known[arguments.game].seatings))
        setup = replace(setup, chosen=_chosen(setup, arguments.set))
    game_of(setup)
    return setup


def _chosen(setup: Setup, pairs: Sequence[str]) -> dict[str, Value]:
    """Read ``key=value``: a whole number where the option takes it, ``key=@FILE`` for the text of a file."""
    options = {option.key: option for option in games(setup.folders)[setup.game].options}
    chosen: dict[str, Value] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise SetupError(f"option is {pair!r}; expected KEY=VALUE")
        value: Value = Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
        number = int(text) if text.lstrip("-").isdigit() else None
        if number is not None and key in options and options[key].accepts(number):
            value = number
        chosen[key] = value
    return chosen


def _sizes(arguments: argparse.Namespace) -> Sizes:
    n = arguments.games
    given = {name: getattr(arguments, name) for name in ("options", "habits", "cards", "strengths")}
    return Sizes(n, **{name: min(n, getattr(Sizes(), name) if it is None else it) for name, it in given.items()})


def _runner(arguments: argparse.Namespace) -> studies.Runner:
    until = time.monotonic() + 60 * arguments.minutes if arguments.minutes else None
    progress = partial(runs.to_file, arguments.progress) if arguments.progress else _bar()
    return partial(runs.run, path=arguments.records, processes=arguments.processes, progress=progress, until=until)


def _bar() -> runs.Progress | None:
    return runs.Bar(sys.stderr) if sys.stderr.isatty() else None


def _end_with_input() -> None:
    """End this process as soon as its standard input is closed: whoever started it is gone."""

    def watch() -> None:
        while os.read(0, 1024):  # not sys.stdin: its lock would block an ordinary exit
            pass
        os._exit(130)

    threading.Thread(target=watch, daemon=True).start()


def _report(findings: studies.Findings, path: Path, arguments: argparse.Namespace) -> None:
    """Write the report in the language that was asked for, or a page for each: ``report.en.html``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for each in verdicts.watch(findings, Language()):
        print(f"Watch: {each}")
    every = arguments.language == EVERY
    for language in LANGUAGES if every else (arguments.language,):
        page = path.with_suffix(f".{language}{path.suffix}") if every else path
        page.write_text(report.written(findings, arguments.pace, language), encoding="utf-8")
        print(f"wrote {page}")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m lab", description="Plays games of app players for designers.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    counts, setup, page = _count_flags(), _setup_flags(), _page_flags()
    shared = _shared_flags(counts)
    records, to, players = (argparse.ArgumentParser(add_help=False) for _ in range(3))
    records.add_argument("--records", type=Path, metavar="FILE", help="keep records there, and go on from them")
    to.add_argument(
        "--report", type=Path, default=Path("build/lab/report.html"), help="the page to write (%(default)s)"
    )
    players.add_argument("--one", default="app strong", help="who sits in one seat (%(default)s)")
    players.add_argument("--other", default="app practised", help="who sits in the others (%(default)s)")

    made = commands.add_parser("run", parents=[setup, shared, records, page, to], help="play, and write a report")
    made.add_argument("--beside", action="store_true", help="also play the preset as it comes, and say what differs")
    made.set_defaults(command=run)
    made = commands.add_parser("compare", parents=[setup, shared, records], help="two setups on the same seeds")
    made.add_argument(
        "--with",
        dest="other",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        required=True,
        help="an option of the other setup",
    )
    made.set_defaults(command=compare)
    made = commands.add_parser("deck", parents=[shared, records, page, to], help="a deck beside the game's own")
    made.add_argument("deck", metavar="FILE", help="the deck")
    made.add_argument("--preset", default="classic", help="which of Mexica's presets (%(default)s)")
    made.add_argument("--seats", type=int, help="how many sit down (the largest table)")
    made.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an option; @FILE for a text")
    made.set_defaults(command=deck, game="mexica", player=[])
    made = commands.add_parser("strategy", parents=[setup, shared, records], help="one habit pushed, each in turn")
    made.set_defaults(command=strategy)
    made = commands.add_parser("duel", parents=[setup, shared, records, players], help="one player against others")
    made.set_defaults(command=duel)
    made = commands.add_parser("fit", parents=[setup, shared, records, players], help="search better constants")
    made.set_defaults(command=fit)
    made = commands.add_parser(
        "balance", parents=[shared, records], help="what each seat wins at every preset, as TOML"
    )
    made.add_argument("game", metavar="GAME", help="the game, such as mexica")
    made.set_defaults(command=even)
    made = commands.add_parser(
        "lake", parents=[counts], help="how often a temple calls for a hand that levels its lake, by kind of token"
    )
    made.add_argument("game", metavar="GAME", help="the game, such as mexica")
    made.set_defaults(command=levelled, attended=False)
    made = commands.add_parser("replay", parents=[setup, shared], help="print every move of one game")
    made.add_argument("--seed", type=int, required=True, help="the seed of the game")
    made.set_defaults(command=replay)
    made = commands.add_parser("all", parents=[shared, page], help="a report of every preset of every game")
    made.add_argument("--into", type=Path, default=Path("build/lab"), help="the folder of the reports (%(default)s)")
    made.set_defaults(command=everything)
    return parser


def _count_flags() -> argparse.ArgumentParser:
    counts = argparse.ArgumentParser(add_help=False)
    counts.add_argument("--games", type=_count, default=Sizes().games, help="how many games (%(default)s)")
    counts.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed (%(default)s)")
    return counts


def _shared_flags(counts: argparse.ArgumentParser) -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False, parents=[counts])
    shared.add_argument("--processes", type=_count, help="how many at once (one for each core)")
    shared.add_argument("--longest", type=_count, default=LONGEST, help="moves of a game at most (%(default)s)")
    shared.add_argument("--folder", action="append", default=[], help="a game folder from elsewhere; may be repeated")
    shared.add_argument(
        "--minutes", type=float, help="begin no more games after so long, and say what was found by then"
    )
    shared.add_argument("--progress", type=Path, metavar="FILE", help="say there how many games are over")
    shared.add_argument("--attended", action="store_true", help="end as soon as the standard input is closed")
    return shared


def _setup_flags() -> argparse.ArgumentParser:
    setup = argparse.ArgumentParser(add_help=False)
    setup.add_argument("game", metavar="GAME", help="the game, such as mexica")
    setup.add_argument(
        "preset", nargs="?", default="classic", metavar="PRESET", help="which of its presets (%(default)s)"
    )
    setup.add_argument("--seats", type=int, help="how many sit down (the largest table)")
    setup.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an option; @FILE for a text")
    setup.add_argument(
        "--player",
        action="append",
        default=[],
        help="who plays the next seat: app, app LEVEL, app CONSTANT=VALUE, random, eager MOVE, never MOVE",
    )
    return setup


def _page_flags() -> argparse.ArgumentParser:
    page = argparse.ArgumentParser(add_help=False)
    page.add_argument("--options", type=int, metavar="N", help="games for each value of an option (100; 0: none)")
    page.add_argument("--habits", type=int, metavar="N", help="games for each habit (100; 0: none)")
    page.add_argument(
        "--cards", type=int, metavar="N", help="games of which each drawn card is blanked (60; 0: none)"
    )
    page.add_argument("--strengths", type=int, metavar="N", help="games of players who draw any move (100; 0: none)")
    page.add_argument(
        "--pace", type=_count, help=f"seconds of a turn at the table ({report.PACE_S}, or what the game says)"
    )
    page.add_argument(
        "--language",
        choices=(*LANGUAGES, EVERY),
        default=LANGUAGES[0],
        help=f"of the report, {EVERY} for a page in each (%(default)s)",
    )
    return page


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)
