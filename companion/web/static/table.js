// The composition root of a live page: joins the stream, the swapping and the taps. The page is whole without it.

import { Attention } from "./attention.js";
import { Awake } from "./awake.js";
import { localise, timeOfDay } from "./clock.js";
import { Elements } from "./elements.js";
import { Glide } from "./glide.js";
import { Guide } from "./guide.js";
import { Live } from "./live.js";
import { Notifier } from "./notifier.js";
import { Picker } from "./pick.js";
import { sharing } from "./share.js";
import { Sound } from "./sound.js";
import { Speaker } from "./speaker.js";
import { swap } from "./swap.js";

const root = document.getElementById("live");
const notice = document.getElementById("notice");

const GOOD_NEWS = 4000; // milliseconds; what asks for nothing goes away by itself, above all from a television
let fading = 0;
let outage = ""; // what is wrong with the connection; it stays on the page until the page is current again

/** Say something about the last tap, and what is asked about it. */
function say(text, asks = "") {
  const words = text || (asks ? "" : outage), all = [words, asks].filter(Boolean).join("\n");
  clearTimeout(fading);
  if (notice.textContent !== all) {
    notice.replaceChildren(words, ...(asks ? [question(words ? `\n${asks}` : asks)] : []));
    if (all) speaker.speak(all);
  }
  notice.toggleAttribute("data-asks", Boolean(asks));
  const armed = asks && root.querySelector("button[data-armed]")?.getBoundingClientRect();
  notice.toggleAttribute("data-low", Boolean(armed) && armed.top < notice.getBoundingClientRect().height);
  if (asks) return; // it stays for as long as the tap is awaited
  if (words && [root.dataset.wordsAgain, root.dataset.wordsCopied].includes(words) || (outage && words !== outage)) fade();
}

function question(words) {
  const asked = document.createElement("strong");
  asked.textContent = words;
  return asked;
}

function fade() {
  fading = setTimeout(() => say(""), GOOD_NEWS);
}

function connection(state, since) {
  const { wordsAgain, wordsFailed, wordsFull, wordsOffline, wordsStale } = root.dataset;
  if (state === "again" || state === "current") {
    const showed = outage;
    outage = "";
    if (state === "again" && showed) say(wordsAgain);
    else if (notice.textContent === wordsFailed) fade();
    return;
  }
  outage = { full: wordsFull, offline: wordsOffline, stale: wordsStale.replace("{at}", timeOfDay(since)) }[state];
  say(outage);
}

function reload() {
  location.replace(location.pathname); // without the notice of an earlier post
}

function address() {
  const url = new URL(root.dataset.stream, location.href);
  url.searchParams.set("seen", root.dataset.seen);
  url.searchParams.set("mark", root.dataset.mark);
  return url;
}

// The same news come twice, by the answer to a post and by the stream, and the older may come last.
function known(id) {
  const [boot, serial] = root.dataset.seen.split(".");
  const [newBoot, newSerial] = id.split(".");
  return boot === newBoot && Number(newSerial) <= Number(serial);
}

function news({ id, version, mark, regions }) {
  if (known(id)) return;
  // A version before this page's, from another process, is that of a backup.
  if (mark !== root.dataset.mark || version < Number(root.dataset.version)) return reload();
  root.dataset.seen = id;
  root.dataset.version = version;
  swap(regions, localise, () => {
    picker.rearm();
    attention?.look();
    guide.look();
    speaker.look();
  });
}

const picker = new Picker(root, { news, say });
const mute = document.querySelector("button[data-sound]"); // a temple's page calls nobody
const forAll = root.dataset.layout === "screen";
const notifier = mute && new Notifier(document.querySelector("button[data-notify]"), !forAll);
const attention = mute && new Attention(root, new Sound(mute, forAll), notifier);
if (mute) new Awake(document.querySelector("button[data-awake]"), forAll);
new Elements(root, { say });
new Glide(root);
const guide = new Guide(root);
const speaker = new Speaker(root, document.getElementById("spoken"));
sharing(root, say);
const live = new Live(
  address,
  {
    regions: news,
    reload,
    state: connection,
  },
  () => Boolean(notifier?.on),
);

localise(root);
if (!document.hidden) live.open();
document.documentElement.dataset.scripted = "";
