// Puts times of day into the reader's own zone; without it they stand in the zone of the companion's machine.

const format = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "numeric", minute: "2-digit" });

const formatted = new Map(); // by minute: to format is slow, and a log names a few minutes over and over

/** Return a time of day as the page writes it. */
export function timeOfDay(at) {
  return format.format(at);
}

/** Rewrite every clock within an element or a fragment. */
export function localise(within) {
  for (const clock of within.querySelectorAll("time.clock")) {
    const at = new Date(clock.dateTime);
    const minute = Math.floor(at.valueOf() / 60_000);
    if (Number.isNaN(minute)) continue;
    if (!formatted.has(minute)) formatted.set(minute, format.format(at));
    if (clock.textContent !== formatted.get(minute)) clock.textContent = formatted.get(minute);
  }
}
