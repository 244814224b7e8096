"""A running club: its parts are started in order, watched, and stopped, killed and started by name."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from companion.cli.club.parts import Part, Plan
from companion.cli.programs.children import Child, Signals, end
from companion.cli.programs.starting import LaunchError, reason, started, wait_until, with_log
from templo.quoting import nearest, quoted

PATIENCE_S = 300.0
"""Seconds until a part must answer: dozens of programs may start on one machine."""

ALL = "all"
"""What stands for every part: ``status all``."""

HELP = (
    "  status [NAME ...]   what runs, where, and what has ended",
    "  stop NAME ...       end parts, as their supervisor would",
    "  kill NAME ...       end parts at once, as a power cut does",
    "  start NAME ...      start them again",
    "  log NAME ...        the last lines of their logs",
    "  quit                end everything",
)


class CommandError(Exception):
    """A command that cannot be carried out; the message says why."""


class Club:
    """The programs of a plan. It may be used by the main thread only, with which its programs are to end."""

    def __init__(self, plan: Plan, signals: Signals, report: Callable[[str], None]) -> None:
        """Store the arguments; `start` begins. `report` is given a line for each event that nobody has asked for."""
        self._plan = plan
        self._parts = {part.name: part for part in plan.parts}
        self._signals = signals
        self._report = report
        self._children: dict[str, Child] = {}
        """What was started last as each part."""
        self._ended: dict[str, str] = {}
        """How those of them ended that do not run."""
        self.quit_requested = False

    def start(self) -> None:
        """Start every part; raises `LaunchError` if one does not answer, or `Stopped`."""
        for stage in self._plan.stages:
            self._start(stage, list(self._parts))
            self._report(f"  {_listed([part.name for part in stage])}")

    def output(self, name: str, word: str) -> list[str]:
        """Return what a part has printed since the last call after a word, from each line that begins with it."""
        return self._children[name].news(word)

    def watch(self) -> None:
        """Notice what has ended by itself, and bound the logs of the rest."""
        for name, child in self._children.items():
            if self._runs(name):
                child.bound_logs()
                if how := self._has_ended(name):
                    self._report(f"{name} has {how}: 'start {name}' starts it again.")

    def obey(self, words: Sequence[str]) -> list[str]:
        """Carry out a command, such as ``["stop", "worker-2"]``; return the lines to print.

        Raises `CommandError`, and `Stopped` if somebody asked to end meanwhile.
        """
        if not words:
            return []
        command, *names = words
        if command == "quit":
            self.quit_requested = True
            return ["Ending everything."]
        if command == "status":
            return self._status(self._named(names) if names else list(self._parts.values()))
        actions = {"stop": self._stop, "kill": self._kill, "start": self._start_again, "log": self._log}
        if command not in actions:
            return [*([] if command == "help" else [f"{quoted(command)} is no command. These are:"]), *HELP]
        if not names:
            raise CommandError(f"{command} needs the name of a part, such as {next(reversed(self._parts))}.")
        return actions[command](self._named(names))

    def end(self) -> None:
        """End every part, those of a stage together, the last stage first."""
        self._end(part.name for part in self._plan.parts if self._runs(part.name))

    def _end(self, names: Iterable[str]) -> None:
        """End parts that run, those of a stage together, the last stage first."""
        impatient = False
        for stage in reversed(self._stages(names)):
            children = [self._children[part.name] for part in stage]
            for child in children:
                child.request_end()
            impatient = end(children, self._signals, impatient)

    def _stages(self, names: Iterable[str]) -> list[list[Part]]:
        """Return parts in the order in which they start, each stage with those of them that start together."""
        wanted = set(names)
        stages = ([part for part in stage if part.name in wanted] for stage in self._plan.stages)
        return [stage for stage in stages if stage]

    def _start(self, parts: Sequence[Part], needed: Iterable[str]) -> None:
        """Start parts, and wait until each answers; raises `LaunchError` if one cannot or ends."""

        def check() -> None:
            for name in needed:
                if self._runs(name) and (how := self._has_ended(name)):
                    raise LaunchError(with_log(self._children[name], f"has {how}"))

        for part in parts:
            try:
                self._children[part.name] = started(part.program, self._signals)
            except (OSError, subprocess.SubprocessError) as error:
                raise LaunchError(f"The {part.name} cannot be started: {error}") from None
            self._ended.pop(part.name, None)
        for part in parts:
            child = self._children[part.name]
            wait_until(child, partial(part.answers, child), self._signals, check, PATIENCE_S)

    def _runs(self, name: str) -> bool:
        return name in self._children and name not in self._ended

    def _has_ended(self, name: str) -> str:
        """Return how a part that ran has ended by itself, and note it; empty while it runs."""
        status = self._children[name].ended
        if status is None:
            return ""
        self._ended[name] = f"ended by itself ({reason(status)})"
        return self._ended[name]

    def _named(self, names: Iterable[str]) -> list[Part]:
        found: dict[str, Part] = {}
        for name in names:
            if name == ALL:
                found |= self._parts
            elif name in self._parts:
                found[name] = self._parts[name]
            else:
                meant = nearest(name, self._parts)
                hint = f"did you mean {meant}?" if meant else f"expected one of {', '.join(self._parts)}"
                raise CommandError(f"{quoted(name)} is no part of this club; {hint}")
        return list(found.values())

    def _status(self, parts: Iterable[Part]) -> list[str]:
        width = max(len(name) for name in self._parts)
        return [f"  {part.name:<{width}}  {self._state(part)}" for part in parts]

    def _state(self, part: Part) -> str:
        if self._runs(part.name):
            return f"runs (process {self._children[part.name].pid}), {part.address}"
        return self._ended.get(part.name, "not started")

    def _stop(self, parts: Sequence[Part]) -> list[str]:
        names = [child.program.name for child in self._taken(parts, "stopped")]
        self._end(names)
        return [f"Stopped {_listed(names)}."]

    def _kill(self, parts: Sequence[Part]) -> list[str]:
        children = self._taken(parts, "killed")
        for child in children:
            child.kill()
        return [f"Killed {_listed([child.program.name for child in children])}."]

    def _taken(self, parts: Sequence[Part], how: str) -> list[Child]:
        """Take parts off those that run; raises `CommandError` if none of them does."""
        self.watch()
        names = [part.name for part in parts if self._runs(part.name)]
        if not names:
            verb = "are" if len(parts) > 1 else "is"
            raise CommandError(f"{_listed([part.name for part in parts])} {verb} not running.")
        self._ended |= dict.fromkeys(names, how)
        return [self._children[name] for name in names]

    def _start_again(self, parts: Sequence[Part]) -> list[str]:
        self.watch()
        resting = [part for part in parts if not self._runs(part.name)]
        if not resting:
            verb = "are" if len(parts) > 1 else "is"
            raise CommandError(f"{_listed([part.name for part in parts])} {verb} already running.")
        try:
            for stage in self._stages(part.name for part in resting):
                self._start(stage, [part.name for part in resting])
        except LaunchError as error:
            raise CommandError(str(error)) from None
        return [f"Started {_listed([part.name for part in resting])}."]

    def _log(self, parts: Sequence[Part]) -> list[str]:
        lines = []
        for part in parts:
            child = self._children.get(part.name)
            lines += [f"{part.name}:", *(f"  {line}" for line in (child.last_lines() if child else ()))]
        return lines


def _listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> _listed(["worker-1", "worker-2", "proxy"])
    'worker-1, worker-2 and proxy'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
