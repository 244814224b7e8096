"""What codes mean, in plain English for the command line: a beam's condition, what is wrong with it, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from templo.contract import God

BEAMS = {
    "unproved": "clear, and not yet proved by a token",
    "clear": "clear",
    "jammed": "blocked: clear the chute",
    "dark": "dark from the start: is its sensor plugged in, and nothing before it?",
    "flicker": "flickering: look for sunlight or a loose plug",
    "unknown": "unknown",
}

TROUBLES = {
    "ledger_full": "the disk is full: tokens wait in memory",
    "ledger_read_only": "the ledger may only be read: tokens wait in memory",
    "ledger_failing": "the ledger fails: tokens wait in memory",
    "ledger_newer": "a newer release wrote the ledger: update this program; tokens wait in memory",
    "ledger_restored": "the companion knows later tokens: the ledger came from a backup",
    "name_taken": "another temple uses this name at the broker: give one of them another with --temple",
    "deaf": "no beam gives a signal: a thread has died, or the counting board is away; 'selftest' says more",
}

NOTICES = {
    "ledger_restored": "the ledger came from a backup; everything that falls counts under a new source",
    "backup_restored": "a backup was restored; everything that falls counts under a new source",
    "ledger_cloned": "another temple works with a copy of this ledger; this one counts under a new source",
    "ledger_damaged": "the ledger was damaged and a new one was begun; the old file was kept beside it",
    "ledger_missing": "the ledger was gone and a new one was begun",
}
"""What happened to a ledger, until a person dismisses it."""

EMITTERS = {
    "switched": "switched off and on: each receiver was asked for its answer",
    "busy": "not switched, as something fell a moment ago: ask again in a second",
    "fixed": "always on: only a token proves that a receiver is plugged in",
}

FINDINGS = {
    "deaf": (
        "its level changes without an edge ({unheard} times)",
        "restart the controller; if it comes back, choose another pin for it in the settings",
    ),
    "flicker": (
        "it flickers, {per_s} times a second",
        "shade the receiver from the sun and from lamps, then press its plug home",
    ),
    "weak_supply": (
        "both beams flicker at once, {per_s} times a second",
        "look at what feeds both: a stronger supply, or a shorter and thicker cable",
    ),
    "flickered": ("it flickered {times} times, the last {ago_s} s ago", "shade the receiver and press its plug home"),
    "reversed": (
        "it is dark at rest, and bright when it should be broken",
        "the polarity is the wrong way round: set beams.broken to the other of low and high",
    ),
    "no_light": (
        "it stays dark with its emitter switched on",
        "clear what is before it, press the emitter's plug home, and point the two at each other",
    ),
    "no_answer": (
        "it stays clear with its emitter switched off",
        "press the receiver's plug home, and see that the emitter hangs on the pin of beams.emitters",
    ),
    "dark": (
        "it has been dark since the start, for {for_s} s",
        "press the emitter's plug home, and clear what is before the beam",
    ),
    "blocked": (
        "it has been dark for {for_s} s, after {tokens} tokens",
        "clear the chute; if it is clear, press the emitter's plug home",
    ),
    "both_dark": (
        "both beams went dark at once, {for_s} s ago",
        "look at what feeds both emitters: the supply and its plug",
    ),
    "hop": (
        "{glitches} spells were too short beside {tokens} tokens, up to {widest_ms} ms: tokens hop over or graze it",
        "seat the chute and the roof, lower the beam to 4 to 6 mm above the floor, or calibrate",
    ),
    "overlap": (
        "{overlaps} of the last {tokens} spells were wide enough for two tokens",
        "let tokens fall one at a time; two at once can be counted as one",
    ),
    "outside_band": (
        "{outside} of the last {tokens} spells, about {middle_ms} ms, left the learned {narrow_ms} to {band_ms} ms",
        "calibrate with the tokens that you play with",
    ),
    "was_deaf": (
        "its level changed {unheard} times without an edge; edges came again {ago_s} s ago",
        "nothing, unless it comes back; a token that fell while it was deaf is missing",
    ),
    "missed_edges": (
        "{missed} edges were lost on their way",
        "the machine is too busy or a cable too long; look at what else runs on it",
    ),
    "no_board": (
        "the counting board is not there (error {errno}; the log says which port)",
        "plug the board in, or name its port after serial: (ls /dev/serial/by-id lists what is plugged in)",
    ),
    "board_silent": (
        "the counting board has said nothing for {for_s} s",
        "press its reset button; if it stays silent, write its program onto it again",
    ),
    "foreign_device": (
        "something is plugged in, and it is no counting board of this temple ({bytes} bytes, none of them a line)",
        "name another port after serial:, or write the temple's program onto this board",
    ),
    "other_protocol": (
        "the counting board speaks version {speaks} of its language; expected {expected}",
        "write the program that came with this release onto the board",
    ),
    "board_worn": (
        "a cell of the counting board's memory no longer keeps what is written",
        "exchange the board: it has counted its millions",
    ),
    "line_noise": (
        "{bad} lines from the counting board were garbled in the last minute; each was sent again",
        "use a shorter USB cable, away from motors and lamps",
    ),
    "no_time": (
        "the board does not know the time yet, and refuses commands: no time server and no companion gave it",
        "drop a token, so that the companion answers; or name a time server of your own network in its settings",
    ),
    "unproved": (
        "it reads clear, and nothing has proved it since the start",
        "drop one test token; if nothing happens, press the receiver's plug home",
    ),
}
"""What was seen, and what to do, by a finding's code."""


def selftest_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield a self-test in lines, a beam at a time."""
    if trouble := result.get("trouble"):
        yield f"  Attention        {TROUBLES.get(trouble, trouble)}"
    if words := EMITTERS.get(str(result.get("emitters"))):
        yield f"  Emitters         {words}"
    for god in God:
        beam = result["beams"][god]
        facts = [
            f"reads {beam['reads']}",
            _number(beam["tokens"], "token"),
            _number(beam["glitches"], "glitch", "es"),
        ]
        if widths := beam["widths_ms"]:
            facts.append(f"{widths['lowest']:g} to {widths['highest']:g} ms wide, {widths['middle']:g} in the middle")
        yield f"  {god.capitalize():<16} {', '.join(facts)}"
        for finding in beam["findings"]:
            what, remedy = FINDINGS[finding["code"]]
            yield f"    {finding['code']}: {what.format_map(finding)}"
            yield f"      -> {remedy}"
        if not beam["findings"]:
            yield "    nothing is wrong"


def calibration_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield what known tokens propose, in lines."""
    widths = sorted(result["widths_ms"])
    yield f"  Widths           {', '.join(f'{width:g}' for width in widths)} ms"
    for key, count in (
        ("glitches", "too short to be a token"),
        ("spoilt", "of no use: stuck, or an edge was missed"),
    ):
        if result[key]:
            yield f"  Beside them      {result[key]} {count}"
    for name, value in result["proposed"].items():
        if (before := result["limits"][name]) != value:
            yield f"  {name:<16} {'none' if before is None else f'{before:g}'} -> {value:g}"
    if result["overruled"]:
        yield f"  Not changed      {', '.join(result['overruled'])}: the settings name a value"


def _number(number: int, word: str, plural: str = "s") -> str:
    return f"{number} {word}{'' if number == 1 else plural}"
