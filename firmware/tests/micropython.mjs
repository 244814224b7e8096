// Runs Python files under a real MicroPython (its WebAssembly port), with sockets of node's beneath.
//
//   node micropython.mjs MODULES SCRIPT FOLDER
//
// MODULES is where the port was installed; SCRIPT is a Python file that defines `begin(job)`, given FOLDER/job.json as
// text, and `step()`, which gives seconds to wait or, at the end, a string that is printed. The folders of the Pico's
// files, the stand-ins and these tests are on its path.
import { createRequire } from "node:module";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import crypto from "node:crypto";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

const [modules, script, folder] = process.argv.slice(2).map((word) => path.resolve(word));
const require = createRequire(path.join(modules, "package.json"));
const port = require.resolve("@micropython/micropython-webassembly-pyscript/micropython.mjs");
const { loadMicroPython } = await import(pathToFileURL(port).href);

const sockets = [];
const bridge = {
  connect(host, number) {
    const one = { data: [], closed: false, socket: net.connect(number, host) };
    one.socket.setNoDelay(true);
    one.socket.on("data", (data) => one.data.push(data.toString("hex")));
    one.socket.on("error", () => (one.closed = true));
    one.socket.on("close", () => (one.closed = true));
    sockets.push(one);
    return sockets.length - 1;
  },
  send: (id, hex) => sockets[id].socket.write(Buffer.from(hex, "hex")),
  recv(id) {
    const one = sockets[id];
    return one.data.length ? one.data.shift() : one.closed ? "closed" : "";
  },
  close: (id) => sockets[id].socket.end(),
  random: (n) => crypto.randomBytes(n).toString("hex"),
  wall: () => performance.now() / 1000,
  epoch: () => String(Date.now()), // a number of this size would lose its upper bits on its way
  words: () => words.shift() || "",
};
const words = []; // what whoever started this says, a line at a time
process.stdin.on("data", (data) => words.push(...data.toString().trim().split("\n")));

const mp = await loadMicroPython({
  heapsize: 192 * 1024, // about what a Pico W leaves to its programs; here it grows where that is not enough
  stdout: (line) => console.error(line),
  linebuffer: true,
});
mp.registerJsModule("bridge", bridge);
const here = import.meta.dirname;
mp.FS.mkdir("/lib");
for (const from of [path.join(here, "../micropython"), path.join(here, "standins"), here])
  for (const name of fs.readdirSync(from))
    if (name.endsWith(".py")) mp.FS.writeFile(`/lib/${name}`, fs.readFileSync(path.join(from, name)));
if (fs.existsSync(path.join(here, "../../tests/templo/contract/vectors"))) {
  mp.FS.mkdir("/vectors");
  for (const name of fs.readdirSync(path.join(here, "../../tests/templo/contract/vectors")))
    mp.FS.writeFile(`/vectors/${name}`, fs.readFileSync(path.join(here, "../../tests/templo/contract/vectors", name)));
}
mp.FS.writeFile("/job.json", fs.readFileSync(path.join(folder, "job.json")));
mp.runPython("import sys\nsys.path[:] = ['/lib']");
mp.runPython(fs.readFileSync(script, "utf8"));

function turn() {
  for (let i = 0; i < 40; i++) {
    const wait = mp.globals.get("step")();
    if (typeof wait === "string") {
      console.log(wait);
      setTimeout(() => process.exit(0), 50);
      return;
    }
    if (wait > 0.001) {
      setTimeout(turn, wait * 1000);
      return;
    }
  }
  setImmediate(turn);
}
turn();
