// Shows the house rules that matter for a preset as soon as it is chosen; without it a button does the same.

const form = document.getElementById("new-form");
let asked = 0;

form?.addEventListener("change", async (event) => {
  if (event.target.name !== "preset") return;
  const mine = ++asked;
  const fields = new URLSearchParams(new FormData(form));
  const answer = await fetch(`${location.pathname}?${fields}`).catch(() => null);
  if (!answer?.ok || mine !== asked) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const rules = document.getElementById("house-rules");
  const fresh = page.getElementById("house-rules");
  fresh.open = rules.open;
  rules.replaceWith(fresh);
});

document.documentElement.dataset.scripted = "";
