// Keeps the organiser's pages as things are, without a stream: the page is fetched again every few seconds.
//
// What is marked with data-fresh and an id is mended, or replaced where the mark itself is another. Forms stay as they
// are under one mark: somebody may be typing.

import { mend } from "./mend.js";

const EVERY_MS = 5000;

async function look() {
  if (!document.hidden) {
    const { page } = document.querySelector("[data-page]").dataset; // after a refusal the address is that of a form
    const answer = await fetch(page, { cache: "no-store" }).catch(() => null);
    const text = answer?.ok ? await answer.text().catch(() => "") : "";
    const now = new DOMParser().parseFromString(text, "text/html");
    for (const shown of document.querySelectorAll("[data-fresh]")) {
      const fresh = now.getElementById(shown.id);
      if (!fresh) continue;
      if (fresh.dataset.fresh !== shown.dataset.fresh) shown.replaceWith(fresh);
      else if (!shown.matches("form")) mend(shown, fresh);
    }
  }
  setTimeout(look, EVERY_MS);
}

setTimeout(look, EVERY_MS);
