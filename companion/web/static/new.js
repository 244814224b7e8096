// Shows the house rules that matter for a preset as soon as it is chosen; without it a button does the same.

const form = document.getElementById("new-form");
let asked = 0;

form?.addEventListener("change", async (event) => {
  if (event.target.name !== "preset") return;
  const mine = ++asked;
  const body = new URLSearchParams([...new FormData(form)].filter(([name]) => !/^(file|text)\./.test(name)));
  const answer = await fetch(form.querySelector(".same-rules").formAction, { method: "POST", body }).catch(() => null);
  if (!answer?.ok || mine !== asked) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const rules = document.getElementById("house-rules");
  const fresh = page.getElementById("house-rules");
  fresh.open = rules.open;
  for (const brought of rules.querySelectorAll("input[type=file], textarea")) {
    const place = fresh.querySelector(`[name="${brought.name}"]`);
    if (place) place.replaceWith(brought);
    else fresh.querySelector(`#${brought.closest("fieldset").id}`)?.append(brought);
  }
  rules.replaceWith(fresh);
});

document.documentElement.dataset.scripted = "";
