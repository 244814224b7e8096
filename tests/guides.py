"""A device whose owner has played before: no game's guide of a first turn is shown."""

SKIPPED = """for (const game of ["market", "mexica", "moctezuma", "siege"]) {
  try { localStorage.setItem(`guide:${game}`, "done"); } catch {}
}"""
