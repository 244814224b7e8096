"""Draws figures as SVG inside the page, so that nothing is fetched when it is opened."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import escape

from companion.games.kit import Heat
from lab.figures import Effect, Share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RED, BLUE, GREY, INK = "#a8202f", "#2f7f9e", "#4a3b33", "#231815"
"""The colours of the site's pages by day: war, rain, soot and ink."""


def seats(shares: Mapping[str, Share], expected: float, unit: str, label: str) -> str:
    """Return each seat's share of the wins with its interval, beside what equal seats would have."""
    figure = _figure(6, 0.5 * len(shares) + 0.8)
    axes = figure.subplots()
    for at, (seat, found) in enumerate(shares.items()):
        axes.barh(at, 100 * found.share, color=BLUE, height=0.6)
        axes.plot([100 * found.low, 100 * found.high], [at, at], color=INK, linewidth=1.5)
        axes.text(-1, at, seat, ha="right", va="center")
    axes.axvline(100 * expected, color=RED, linestyle="--", linewidth=1)
    axes.set(yticks=[], xlabel=unit, xlim=(0, None))
    axes.invert_yaxis()
    return _svg(figure, label)


def board(heat: Heat, counts: Mapping[str, int], counted: str) -> str:
    """Return a game's own board, each place the redder the more often it was touched; its title says how often."""
    found = [counts.get(name, 0) for name in heat.places]
    least, most = min(found), max(found)
    line = f'fill="none" stroke="{INK}" stroke-width="{heat.width / 200:.2f}"'
    parts = [f'<svg role="img" aria-label="{escape(counted)}" viewBox="0 0 {heat.width:g} {heat.height:g}" ']
    parts.append('width="720" text-anchor="middle">')
    for (name, path), count in zip(heat.places.items(), found, strict=True):
        part = ((count - least) / (most - least or 1)) ** 0.5
        parts.append(f'<path d="{path}" fill="{RED}" fill-opacity="{0.85 * part:.3f}" stroke="{GREY}" ')
        parts.append(f'stroke-width="{heat.width / 1000:.2f}"><title>{escape(name)}: {count}</title></path>')
    parts.append(f'<path d="{heat.lines}" {line}/>' if heat.lines else "")
    for name, x, y in heat.names:
        parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{heat.width / 50:.1f}">{escape(name)}</text>')
    return "".join((*parts, "</svg>"))


def lengths(turns: Sequence[int], units: tuple[str, str], label: str) -> str:
    """Return how many games lasted how many turns, nothing where all lasted as long."""
    if len({*turns}) < 2:
        return ""
    figure = _figure(6, 2.4)
    axes = figure.subplots()
    least, most = min(turns), max(turns)
    axes.hist(turns, bins=40 if most - least > 40 else [n - 0.5 for n in range(least, most + 2)], color=BLUE)
    axes.set(xlabel=units[0], ylabel=units[1], xlim=(max(0, least - 2), most + 2))
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True, nbins=10)
    return _svg(figure, label)


def effects(found: Mapping[str, Effect], unit: str, scale: float = 1) -> str:
    """Return differences with their intervals, one below the other; those that may be chance are grey."""
    figure = _figure(7.5, 0.28 * len(found) + 0.9)
    axes = figure.subplots()
    for at, effect in enumerate(found.values()):
        color = (RED if effect.difference < 0 else BLUE) if effect.certain else GREY
        axes.plot([scale * effect.low, scale * effect.high], [at, at], color=color, linewidth=1.5)
        axes.plot(scale * effect.difference, at, "o", color=color, markersize=4)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set(yticks=range(len(found)), yticklabels=[*found], xlabel=unit)
    axes.invert_yaxis()
    return _svg(figure, unit)


def _figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches. Matplotlib takes a second to load, and is loaded for the first."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "templo", "font.size": 10})
    mpl.rcParams.update(
        dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
    )
    mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True})
    return Figure((width, height))


def _svg(figure: Figure, label: str) -> str:
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None, "Title": label})
    return drawn.getvalue().partition("<svg")[1] + drawn.getvalue().partition("<svg")[2]
