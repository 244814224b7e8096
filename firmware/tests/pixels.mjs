// Runs the PIO program that sends to WS2812 LEDs in an emulator of the RP2040, on the machine that the board uses.
//
//   node pixels.mjs MODULES < job
//
// The job is JSON: `words`, `wrap` and `options` of the program, `pin`, `send` (the words for the queue), and an interrupt:
// `after` so many of these nobody fills the queue for `cycles`. The answer: each pulse as [cycle, cycles high], the
// cycles for which the sender waited for room in the queue, and the line's level while the machine waits for words.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const require = createRequire(path.join(path.resolve(process.argv[2]), "package.json"));
const { RP2040 } = require("rp2040js");
const { FIFO } = require(path.join(path.dirname(require.resolve("rp2040js")), "utils/fifo.js"));
const job = JSON.parse(fs.readFileSync(0, "utf8"));

const [CTRL, TXF3, MEMORY] = [0x0, 0x1c, 0x48];
const THIRD = 0xc8 + 0x18 * 3;
const [EXECCTRL, SHIFTCTRL, INSTR, PINCTRL] = [0x4, 0x8, 0x10, 0x14];
const SET_PINDIRS_1 = 0xe081;

const chip = new RP2040();
const pio = chip.pio[1];
pio.run = () => {}; // it is stepped here, and nowhere else
const write = (register, value) => chip.writeUint32(0x50300000 + register, value >>> 0);
const { autopull, pull_thresh, out_shiftdir, fifo_join } = job.options;
job.words.forEach((word, index) => write(MEMORY + 4 * index, word));
write(THIRD + EXECCTRL, (job.wrap[1] << 12) | (job.wrap[0] << 7));
write(THIRD + SHIFTCTRL, (fifo_join << 30) | (pull_thresh << 25) | (out_shiftdir << 19) | (autopull << 17));
write(THIRD + PINCTRL, (1 << 26) | (1 << 20) | (job.pin << 5) | job.pin);
const machine = pio.machines[3];
if (fifo_join === 1) machine.txFIFO = new FIFO(8); // the emulator does not join queues by itself
write(THIRD + INSTR, SET_PINDIRS_1);
write(CTRL, (1 << 7) | (1 << 3)); // restarted: nothing is left to shift out

const level = () => (pio.pinDirections & pio.pinValues) >>> job.pin & 1;
const [pulses, idle] = [[], []];
let [index, waited, busy, rose] = [0, 0, 0, null];
let cycle = 0;
for (let quiet = 0; quiet < 100; ) {
  if (busy > 0) busy--;
  else if (index < job.send.length) {
    if (machine.txFIFO.full) waited++;
    else {
      write(TXF3, job.send[index++]);
      if (index === job.after) busy = job.cycles;
    }
  }
  // The emulator carries an instruction out at once, and counts the cycles that it takes.
  if (machine.due === undefined || cycle >= machine.due) {
    const before = machine.cycles;
    machine.step();
    machine.due = cycle + Math.max(1, machine.waiting ? 1 : machine.cycles - before);
    if (level() && rose === null) rose = cycle;
    if (!level() && rose !== null) {
      pulses.push([rose, cycle - rose]);
      rose = null;
    }
  }
  if (machine.waiting) idle.push(level());
  quiet = machine.waiting && index === job.send.length ? quiet + 1 : 0;
  cycle++;
}
console.log(JSON.stringify({ pulses, waited, idle: [...new Set(idle)] }));
