import { builds, load } from "./load.js";
import { measure } from "./measure.js";
import { pixels } from "./pixels.js";
import { digits } from "./strokes.js";

const $ = (id) => document.getElementById(id);
const pad = $("pad");
const names = { simd128: "flex, simd128", scalar: "flex, scalar", plain: "plain JavaScript" };

let strokes = []; // lists of points, in pixels of the pad
let example; // the stored digit that was drawn last; replaced by another, or when a person draws
let classifier;
let flex;

// ---- the pad

function draw() {
  const ink = pad.getContext("2d");
  ink.clearRect(0, 0, pad.width, pad.height);
  Object.assign(ink, { strokeStyle: getComputedStyle(pad).color, lineWidth: pad.width / 14, lineCap: "round", lineJoin: "round" });
  for (const stroke of strokes) {
    ink.beginPath();
    ink.moveTo(...stroke[0]);
    for (const point of stroke) ink.lineTo(...point);
    ink.stroke();
  }
}

function positions(event) {
  const box = pad.getBoundingClientRect();
  const events = event.getCoalescedEvents?.() ?? [];
  return (events.length > 0 ? events : [event]).map((e) => [
    ((e.clientX - box.left) * pad.width) / box.width,
    ((e.clientY - box.top) * pad.height) / box.height,
  ]);
}

pad.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  if (example) clear();
  pad.setPointerCapture(event.pointerId);
  strokes.push(positions(event));
  changed();
});
pad.addEventListener("pointermove", (event) => {
  if (!pad.hasPointerCapture(event.pointerId)) return;
  strokes.at(-1).push(...positions(event));
  changed();
});

function clear() {
  example = undefined;
  strokes = [];
  delete pad.dataset.drawn;
  changed();
}
$("clear").addEventListener("click", clear);

/** Draws a stored digit, one point per frame. */
async function play(digit) {
  clear();
  const mine = (example = Symbol(digit));
  for (const stroke of digits[digit]) {
    strokes.push([]);
    for (const [x, y] of between(stroke)) {
      strokes.at(-1).push([(x * pad.width) / 100, (y * pad.height) / 100]);
      changed();
      await new Promise(requestAnimationFrame);
      if (example !== mine) return;
    }
  }
  pad.dataset.drawn = "yes";
}

/** The points of a stroke, about as far apart as when drawn by hand. */
function* between(stroke) {
  for (const [i, [x, y]] of stroke.entries()) {
    const [fromX, fromY] = stroke[Math.max(i - 1, 0)];
    const steps = Math.max(1, Math.round(Math.hypot(x - fromX, y - fromY) / 7));
    for (let s = 1; s <= steps; s++) yield [fromX + ((x - fromX) * s) / steps, fromY + ((y - fromY) * s) / steps];
  }
}

for (const digit of digits.keys()) {
  const button = document.createElement("button");
  button.textContent = digit;
  button.addEventListener("click", () => play(digit));
  $("examples").append(button);
}

// ---- the prediction

const bars = digits.map((_, digit) => {
  const item = document.createElement("li");
  item.innerHTML = `<span>${digit}</span><span class="bar"><i></i></span><span>0 %</span>`;
  $("bars").append(item);
  return item;
});

let asked = false;
/** Draws and reads once, at the next frame, whatever happens until then. */
function changed() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    draw();
    read();
  });
}

function read() {
  if (!classifier) return;
  const start = performance.now();
  const input = pixels(strokes);
  const probabilities = strokes.length > 0 ? classifier.probabilities(input) : new Float32Array(10);
  const took = performance.now() - start;
  const best = probabilities.indexOf(Math.max(...probabilities));
  const sure = strokes.length > 0;
  $("prediction").textContent = $("prediction").dataset.digit = sure ? best : "";
  $("took").textContent = sure ? `Read in ${took.toFixed(1)} ms.` : "";
  bars.forEach((item, digit) => {
    const percent = 100 * probabilities[digit];
    item.classList.toggle("best", sure && digit === best);
    item.querySelector("i").style.width = `${percent}%`;
    item.lastChild.textContent = `${percent.toFixed(percent < 9.95 && percent >= 0.05 ? 1 : 0)} %`;
  });
  show(input);
}

function show(input) {
  const cells = $("seen").getContext("2d");
  const side = $("seen").width / 8;
  cells.clearRect(0, 0, 8 * side, 8 * side);
  cells.fillStyle = getComputedStyle($("seen")).color;
  input.forEach((value, i) => {
    cells.globalAlpha = value / 16;
    cells.fillRect((i % 8) * side, Math.floor(i / 8) * side, side, side);
  });
}

// ---- speed

function table(results) {
  $("results").replaceChildren(
    ...results.map(({ title, ms }) => {
      const part = document.createElement("div");
      const longest = Math.max(...Object.values(ms));
      const rows = Object.entries(ms).map(([way, t]) => {
        const times = ms.plain && way !== "plain" ? ` <small>${(ms.plain / t).toFixed(1)} ×</small>` : "";
        return `<dt>${names[way]}</dt><dd class="bar ${way}"><i style="width: ${(100 * t) / longest}%"></i></dd>
          <dd class="figure">${t.toPrecision(3)} ms${times}</dd>`;
      });
      part.innerHTML = `<h3>${title}</h3><dl>${rows.join("")}</dl>`;
      return part;
    }),
  );
}

$("measure").addEventListener("click", async () => {
  $("measure").disabled = true;
  const results = await measure(table).catch((e) => ($("results").textContent = e.message));
  $("results").dataset.results = JSON.stringify(results);
  $("measure").disabled = false;
});

// ---- the module

try {
  flex = await load(builds[0]);
  classifier = new flex.Digits();
  $("loaded").textContent = `This browser runs the build ${builds[0] === "simd128" ? "with vectors (simd128)" : "without vectors"}.`;
  $("measure").disabled = false;
  changed();
} catch (e) {
  $("loaded").textContent = `It can't be loaded: ${e.message ?? e}`;
}
document.documentElement.dataset.ready = classifier ? "yes" : "no";
