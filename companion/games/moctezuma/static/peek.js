// Shows a secret while a finger, a mouse or a key holds it, and takes taps on the board to their buttons.
//
// The style sheet alone already shows what is held down by a finger; this adds the keyboard, readers, and phones that
// would select or call up a menu instead.

const SHOWN = 4000; // ms for a reader's "click", which cannot be held
const HOLDERS = "[data-hold], [data-hold-all]";
let held = null;

function hold(button) {
  release();
  held = "holdAll" in button.dataset ? document.getElementById("live") : button;
  held.dataset.held = "";
  const secret = held.querySelector(":scope > [data-speak-held]");
  if (secret) speak(secret.textContent.trim());
}

// The page's one live region says the secret while it is held, and forgets it then.
function speak(words) {
  document.getElementById("live").dispatchEvent(new CustomEvent("speak", { detail: words }));
}

function release() {
  if (held) delete held.dataset.held;
  if (held?.querySelector(":scope > [data-speak-held]")) speak("");
  held = null;
}

document.addEventListener("pointerdown", (event) => {
  const button = event.target.closest(HOLDERS);
  if (button) hold(button);
});
for (const over of ["pointerup", "pointercancel", "blur"]) addEventListener(over, release);
document.addEventListener("visibilitychange", release);

document.addEventListener("keydown", (event) => {
  const button = event.target.closest?.(HOLDERS);
  if (!button || event.repeat || (event.key !== " " && event.key !== "Enter")) return;
  event.preventDefault();
  hold(button);
});
document.addEventListener("keyup", release);
document.addEventListener("focusout", release);

document.addEventListener("click", (event) => {
  const button = event.target.closest(HOLDERS);
  // A click that no pointer made comes from a screen reader.
  if (button && event.detail === 0 && event.pointerType === "") {
    hold(button);
    setTimeout(release, SHOWN);
  }
  const tile = event.target.closest(".map [data-tile]");
  if (tile) document.querySelector(`[data-element="place-${tile.dataset.tile}"]`)?.click();
});

document.addEventListener("contextmenu", (event) => {
  if (event.target.closest(HOLDERS)) event.preventDefault();
});
document.addEventListener("touchstart", () => {}, { passive: true }); // Safari gives :active only to pages that listen
