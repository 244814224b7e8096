// Passes a result on: by the phone's own sheet where it has one, else into the clipboard. Without it a link opens the text.
//
// navigator.share and navigator.clipboard are for secure pages only; plain http has the selection of a field.

export function sharing(root, say) {
  root.addEventListener("click", async (event) => {
    const link = event.target.closest('[data-share="text"]');
    if (!link) return;
    event.preventDefault();
    const text = await fetch(link.href).then((answer) => (answer.ok ? answer.text() : ""), () => "");
    if (!text) return say(root.dataset.wordsFailed);
    if (navigator.share) return navigator.share({ text }).catch(() => {}); // closed by the reader
    if (copied(text)) say(root.dataset.wordsCopied);
    else location.assign(link.href);
  });
}

function copied(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "for-reader";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
