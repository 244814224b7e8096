"""Explains codes in plain English for the command line: a beam's condition, what is wrong with it, and what to do."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from controller.core.learned_limits import near_limits
from templo.contract import God
from templo.quoting import counted

_TEXTS = tomllib.loads(files("controller.app").joinpath("explanations.toml").read_text("utf-8"))

BEAMS: Mapping[str, str] = _TEXTS["beams"]
TROUBLES: Mapping[str, str] = _TEXTS["troubles"]
NOTICES: Mapping[str, str] = _TEXTS["notices"]
EMITTERS: Mapping[str, str] = _TEXTS["emitters"]
FINDINGS: Mapping[str, tuple[str, str]] = {
    code: (found["seen"], found["remedy"]) for code, found in _TEXTS["findings"].items()
}
"""For each code of a finding, what was seen and what to do."""


def selftest_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a self-test, beam by beam."""
    if trouble := result.get("trouble"):
        yield f"  Attention        {TROUBLES.get(trouble, trouble)}"
    if emitters := EMITTERS.get(str(result.get("emitters"))):
        yield f"  Emitters         {emitters}"
    for god in God:
        beam = result["beams"][god]
        facts = [
            f"reads {beam['reads']}",
            counted(beam["tokens"], "token"),
            counted(beam["glitches"], "glitch", "glitches"),
        ]
        if widths := beam["widths_ms"]:
            facts.append(f"{widths['lowest']:g} to {widths['highest']:g} ms wide, {widths['middle']:g} in the middle")
        if below := beam.get("below"):
            facts.append(f"second beam reads {below['reads']}, followed {counted(below['followed'], 'token')}")
        yield f"  {god.capitalize():<16} {', '.join(facts)}"
        for finding in beam["findings"]:
            what, remedy = FINDINGS[finding["code"]]
            numbers = {key: _Count(value) if type(value) is int else value for key, value in finding.items()}
            yield f"    {finding['code']}: {what.format_map(numbers)}"
            yield f"      -> {remedy}"
        if not beam["findings"]:
            yield "    nothing is wrong"


NEAR = {
    "min_break_ms": "narrower tokens may be missed. Check that the chute is black inside with its 2 mm apertures; if "
    "it is, lower counting.min_break_ms and calibrate again.",
    "max_break_ms": "slower tokens count as stuck. Smooth the gutter, or raise counting.max_break_ms, and calibrate "
    "again.",
}
"""What to do if known tokens come close to a limit."""


def calibration_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a calibration's proposal."""
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
    for name in near_limits(widths, result["limits"]):
        yield f"  Close to a limit {name} is {result['limits'][name]:g}: {NEAR[name]}"
    if result["overruled"]:
        yield f"  Not changed      {', '.join(result['overruled'])}: the settings name a value"


class _Count(int):
    """A number that a text counts things with: ``{times:time|times}``."""

    def __format__(self, words: str) -> str:
        return counted(int(self), *words.split("|")) if words else str(int(self))
