// Runs a PIO program in an emulator of the RP2040, cycle by cycle: the words that it pushes, and when.
//
//   node pio.mjs MODULES < job
//
// The job is JSON: `words` and `wrap` of the program, `exec` (words that load the registers first), `frequency` in Hz,
// `machines` (a list of pin numbers), `story` (a list of [microseconds, pin, level]), `end_us`, and optionally `blind`,
// a list of [from, to] in microseconds while which nobody takes a word. At a line of the story whose pin is -1 each
// machine is made to carry out the words of `ask`. The answer: for each machine its words as
// [microseconds, word], and whether the emulator said that a full queue made it wait.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const require = createRequire(path.join(path.resolve(process.argv[2]), "package.json"));
const { RP2040 } = require("rp2040js");
const { FIFO } = require(path.join(path.dirname(require.resolve("rp2040js")), "utils/fifo.js"));
const job = JSON.parse(fs.readFileSync(0, "utf8"));

const BASE = 0x50200000;
const [CTRL, FDEBUG, RXF0, MEMORY] = [0x0, 0x8, 0x20, 0x48];
const of = (number, register) => BASE + 0xc8 + 0x18 * number + register;
const [EXECCTRL, SHIFTCTRL, INSTR, PINCTRL] = [0x4, 0x8, 0x10, 0x14];

const chip = new RP2040();
const pio = chip.pio[0];
pio.run = () => {}; // it is stepped here, and nowhere else
const write = (address, value) => chip.writeUint32(address, value >>> 0);
const read = (address) => chip.readUint32(address);

for (const pin of job.machines) {
  chip.gpio[pin].padValue |= 0x40; // the input buffer, which a Pin of MicroPython switches on
  chip.gpio[pin].setInputValue(true);
}
job.words.forEach((word, index) => write(BASE + MEMORY + 4 * index, word));
job.machines.forEach((pin, number) => {
  write(of(number, EXECCTRL), (pin << 24) | (job.wrap[1] << 12) | (job.wrap[0] << 7));
  write(of(number, SHIFTCTRL), 0x80000000 | (1 << 19)); // the queue joined to eight; words come in from the right
  write(of(number, PINCTRL), pin << 15);
  pio.machines[number].rxFIFO = new FIFO(8); // the emulator does not join queues by itself
  for (const word of job.exec) write(of(number, INSTR), word);
});
const story = job.story;
let index = 0;
const happen = (us) => {
  while (index < story.length && story[index][0] <= us) {
    const [, pin, level] = story[index++];
    if (pin >= 0) chip.gpio[pin].setInputValue(!!level);
    else job.machines.forEach((_, number) => job.ask.forEach((word) => write(of(number, INSTR), word)));
  }
};
happen(0);
write(BASE + CTRL, (1 << job.machines.length) - 1);

const found = job.machines.map(() => []);
const stalled = job.machines.map(() => false);
const machines = job.machines.map((_, number) => pio.machines[number]);
const last = (job.end_us * job.frequency) / 1e6;
const blind = job.blind || [];
for (let cycle = 0; cycle < last; cycle++) {
  const us = (cycle * 1e6) / job.frequency;
  if (index < story.length && story[index][0] <= us) happen(us);
  let idle = true;
  for (const machine of machines) {
    machine.step();
    if (!machine.waiting) idle = false;
  }
  const seen = !blind.some(([from, to]) => us >= from && us < to);
  machines.forEach((machine, number) => {
    if (seen && !machine.rxFIFO.empty) {
      found[number].push([Math.round(us), read(BASE + RXF0 + 4 * number) >>> 0]);
      idle = false;
    }
  });
  if (idle) {
    // Both wait for a level: nothing happens before the next change, or before somebody looks.
    let next = index < story.length ? story[index][0] : job.end_us;
    for (const [, to] of blind) if (to > us && to < next) next = to;
    cycle = Math.max(cycle, Math.floor((next * job.frequency) / 1e6) - 1);
  }
}
job.machines.forEach((_, number) => (stalled[number] = !!((read(BASE + FDEBUG) >> number) & 1)));
console.log(JSON.stringify({ words: found, stalled }));
