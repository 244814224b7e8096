// Passes a result on: by the phone's own sheet where it has one, else the text into the clipboard and the picture into
// a file. Without it links open the text and the drawing.
//
// navigator.share and navigator.clipboard are for secure pages only; plain http has the selection of a field. Messengers
// and albums show no SVG: what is passed on is drawn into a PNG here.

export function sharing(root, say) {
  const ways = { text: (link) => text(link, root, say), picture: (link) => picture(link, root) };
  root.addEventListener("click", (event) => {
    const link = event.target.closest("[data-share]");
    if (!link) return;
    event.preventDefault();
    ways[link.dataset.share](link);
  });
}

async function text(link, root, say) {
  const words = await fetch(link.href).then((answer) => (answer.ok ? answer.text() : ""), () => "");
  if (!words) return say(root.dataset.wordsFailed);
  if (navigator.share) return sheet({ text: words });
  if (copied(words)) say(root.dataset.wordsCopied);
  else location.assign(link.href);
}

async function picture(link, root) {
  const drawing = await drawn(link.href).catch(() => null);
  if (!drawing) return location.assign(link.href);
  const file = new File([drawing], `${root.dataset.title}.png`, { type: drawing.type });
  if (navigator.canShare?.({ files: [file] })) return sheet({ files: [file] });
  const saved = document.createElement("a");
  saved.href = URL.createObjectURL(file);
  saved.download = file.name;
  saved.click();
  setTimeout(() => URL.revokeObjectURL(saved.href), 60_000); // a browser may still be asking where to put it
}

function sheet(what) {
  return navigator.share(what).catch(() => {}); // closed by the reader
}

/** Return a drawing as a PNG. */
async function drawn(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function copied(words) {
  const field = document.createElement("textarea");
  field.value = words;
  field.className = "for-reader";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
