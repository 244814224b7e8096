"""Runs playtests: the lab plays many games with a table's rules in a low-priority process, one playtest at a time.

Reports are stored in a folder, which holds only the newest few.
"""

from __future__ import annotations

import importlib.util
import os
import re
import resource
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from companion.games.kit import Value
from companion.model.table import ServiceError

GAMES = 200
"""Games of one playtest, and as many of the unchanged preset if other rules were chosen."""

MINUTES = 20
"""After this time no more games are begun; the report covers those that were played."""

HARDEST_S = 2 * 60 * MINUTES
"""Seconds of processor time after which the system ends a playtest."""

MOST = 10
"""How many reports are kept."""

NEEDED = ("matplotlib", "scipy")
"""The packages that the lab needs besides the companion's own."""

ROOT = Path(__file__).resolve().parents[2]
"""The folder in which this program and the lab are installed."""

Phase: TypeAlias = Literal["running", "done", "failed"]

_ID = re.compile(r"[0-9a-f]{12}")


class Playtest(msgspec.Struct, frozen=True, kw_only=True):
    """What is played: a game, a preset, the number of players, and options that differ from the preset.

    `texts` are the keys of those options that take a whole text.
    """

    id: str
    game: str
    preset: str
    seats: int
    chosen: Mapping[str, Value]
    texts: tuple[str, ...] = ()


class Playtests:
    """The playtests of one companion, in `folder`; `game_folders` are those of games from elsewhere."""

    def __init__(
        self,
        folder: Path,
        game_folders: Sequence[Path | str] = (),
        python: Sequence[str] = (sys.executable, "-P"),
        needed: Sequence[str] = NEEDED,
    ) -> None:
        self.folder, self._game_folders = folder, [Path(each).expanduser().resolve() for each in game_folders]
        self._python, self._needed = tuple(python), tuple(needed)
        self._lock = threading.Lock()
        self._running: tuple[str, subprocess.Popen[bytes]] | None = None

    @property
    def missing(self) -> list[str]:
        """The packages that the lab needs and that are not installed."""
        every = ("lab", *self._needed)
        return [name for name in every if importlib.util.find_spec(name) is None]

    @property
    def how_to_install(self) -> str:
        """The command that installs what is missing, for the way in which this companion is installed."""
        if (ROOT / "tools" / "environment").is_file():
            return "tools/environment companion,lab"
        if ROOT.is_relative_to("/usr/share"):
            return " ".join(("sudo apt install", *(f"python3-{name}" for name in self._needed)))
        return " ".join(("pip install", *self._needed))

    def start(
        self, game: str, preset: str, seats: int, chosen: Mapping[str, Value], texts: Mapping[str, str]
    ) -> Playtest:
        """Start a playtest; `texts` are the options that take a whole text.

        Raises `ServiceError` ``playtest_missing`` if packages are not installed, ``playtest_busy`` while another one
        runs.
        """
        if self.missing:
            raise ServiceError("playtest_missing")
        with self._lock:
            if self._now() is not None:
                raise ServiceError("playtest_busy")
            made = Playtest(
                id=secrets.token_hex(6),
                game=game,
                preset=preset,
                seats=seats,
                chosen=dict(chosen),
                texts=tuple(texts),
            )
            folder = self.folder / made.id
            folder.mkdir(parents=True, mode=0o700)
            (folder / "playtest.json").write_bytes(msgspec.json.encode(made))
            for key, text in texts.items():
                (folder / f"{key}.txt").write_text(text, encoding="utf-8")
            self._drop_oldest()
            self._running = made.id, self._begun(made, folder)
        return made

    def every(self) -> list[Playtest]:
        """Return all stored playtests, the newest first, except those that a power cut left half written."""
        return [each for each in map(_read, self._files()) if each is not None]

    def get(self, playtest_id: str) -> Playtest:
        """Return one; raises `ServiceError` ``unknown_playtest``."""
        try:
            return next(each for each in self.every() if each.id == playtest_id)
        except StopIteration:
            raise ServiceError("unknown_playtest") from None

    def stage(self, playtest: Playtest) -> Phase:
        """Return the stage of one; if it is not running and has no report, it has failed."""
        with self._lock:
            running = self._now()
        if running == playtest.id:
            return "running"
        return "done" if self._reports(playtest) else "failed"

    @property
    def running(self) -> str:
        """The id of the running playtest, or an empty string."""
        with self._lock:
            return self._now() or ""

    def progress(self, playtest: Playtest) -> tuple[int, int]:
        """Return how many games are over, and how many there will be."""
        with suppress(OSError, ValueError):
            done, total = (self.folder / playtest.id / "progress").read_text("ascii").split()
            return int(done), int(total)
        return 0, GAMES * (2 if playtest.chosen or playtest.texts else 1)

    def report(self, playtest: Playtest, language: str) -> bytes:
        """Return the report, one page of HTML, in a language, or in another if it was not written in that one.

        Raises `ServiceError` ``unknown_playtest`` if there is none.
        """
        written = {path.name: path for path in self._reports(playtest)}
        if not written:
            raise ServiceError("unknown_playtest")
        return written.get(f"report.{language}.html", next(iter(written.values()))).read_bytes()

    def close(self) -> None:
        """End the one that runs."""
        with self._lock:
            if self._running is not None:
                process = self._running[1]
                process.kill()
                process.communicate()
                self._running = None

    def _files(self) -> list[Path]:
        """Return the file of each stored playtest, the newest first."""
        found = [folder / "playtest.json" for folder in self.folder.glob("*") if _ID.fullmatch(folder.name)]
        return sorted((path for path in found if path.is_file()), key=lambda path: -path.stat().st_mtime_ns)

    def _now(self) -> str | None:
        if self._running is None:
            return None
        playtest_id, process = self._running
        if process.poll() is None:
            return playtest_id
        process.communicate()
        self._running = None
        return None

    def _reports(self, playtest: Playtest) -> list[Path]:
        """Return the report in each language."""
        return sorted((self.folder / playtest.id).glob("report.*.html"))

    def _begun(self, playtest: Playtest, folder: Path) -> subprocess.Popen[bytes]:
        chosen = [f"{key}={value}" for key, value in playtest.chosen.items()]
        chosen += [f"{key}=@{folder / f'{key}.txt'}" for key in playtest.texts]
        command = [*self._python, "-m", "lab", "run", playtest.game, playtest.preset, "--seats", str(playtest.seats)]
        command += [f"--set={each}" for each in chosen]
        command += [f"--folder={each}" for each in self._game_folders]
        command += ["--games", str(GAMES), "--minutes", str(MINUTES), "--processes", "1", "--beside", "--attended"]
        command += [f"--{study}=0" for study in ("options", "habits", "cards", "strengths")]
        command += ["--progress", str(folder / "progress"), "--report", str(folder / "report.html")]
        command += ["--language", "every"]
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": str(ROOT),
            "MPLCONFIGDIR": str(self.folder / "matplotlib"),
            "OPENBLAS_NUM_THREADS": "1",
        }
        with (folder / "log").open("wb") as log:
            # When this process ends, however it ends, the child's standard input is closed, and the child ends too.
            process = subprocess.Popen(  # noqa: S603  # our own program; what people chose was judged by its options
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder, env=environment
            )
        with suppress(OSError):  # it may be over already
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (HARDEST_S, HARDEST_S))
            # If the machine runs out of memory, the kernel ends this process first, and no table.
            Path(f"/proc/{process.pid}/oom_score_adj").write_text("1000", encoding="ascii")
        return process

    def _drop_oldest(self) -> None:
        for each in self._files()[MOST:]:
            shutil.rmtree(each.parent, ignore_errors=True)


def _read(file: Path) -> Playtest | None:
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(file.read_bytes(), type=Playtest)
    return None
