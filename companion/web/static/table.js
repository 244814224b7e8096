// The composition root of a live page: joins the stream, the swapping and the taps. The page is whole without it.

import { localise, timeOf } from "./clock.js";
import { Elements } from "./elements.js";
import { Glide } from "./glide.js";
import { Live } from "./live.js";
import { Picker } from "./pick.js";
import { swap } from "./swap.js";

const root = document.getElementById("live");
const notice = document.getElementById("notice");

const GOOD_NEWS = 4000; // milliseconds; what asks for nothing goes away by itself, above all from a television
let fading = 0;
let saidAt = 0;

function say(words) {
  clearTimeout(fading);
  saidAt = performance.now();
  if (notice.textContent !== words) notice.textContent = words;
  if (words === root.dataset.wordsAgain) fading = setTimeout(() => say(""), GOOD_NEWS);
}

// A tap that did not arrive is old news once the page is known to be current again.
function forget() {
  if (notice.textContent === root.dataset.wordsFailed && performance.now() - saidAt > GOOD_NEWS) say("");
}

function report(state, since) {
  const words = { again: root.dataset.wordsAgain, full: root.dataset.wordsFull, offline: root.dataset.wordsOffline };
  say(words[state].replace("{time}", timeOf(since)));
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
  if (mark !== root.dataset.mark) return reload();
  if (known(id)) return;
  root.dataset.seen = id;
  root.dataset.version = version;
  swap(regions, localise, () => picker.rearm());
}

const picker = new Picker(root, { news, say });
new Elements(root, { say });
new Glide(root);
const live = new Live(address, {
  regions: news,
  current: forget,
  reload,
  state: report,
});

localise(root);
if (!document.hidden) live.open();
document.documentElement.dataset.scripted = "";
