// Shows how far a playtest is, and its report as soon as it is there; without it the page loads itself again.

const EVERY_MS = 2000;

async function look() {
  const shown = document.getElementById("playtest");
  const answer = await fetch(location.href).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("playtest");
    if (fresh.dataset.stage !== shown.dataset.stage) {
      shown.replaceWith(fresh);
      return;
    }
    // Only what moves is touched, so that a screen reader keeps its place.
    shown.querySelector("progress").value = fresh.querySelector("progress").value;
    shown.querySelector("[role=status]").textContent = fresh.querySelector("[role=status]").textContent;
  }
  setTimeout(look, EVERY_MS);
}

setTimeout(look, EVERY_MS);
