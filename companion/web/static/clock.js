// Puts times of day into the reader's own zone; without it they stand in the zone of the companion's machine.

const format = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "numeric", minute: "2-digit" });

/** Rewrite every clock within an element. */
export function localise(within) {
  for (const clock of within.querySelectorAll("time.clock")) {
    const at = new Date(clock.dateTime);
    if (!Number.isNaN(at.valueOf())) clock.textContent = format.format(at);
  }
}
