// Times the same workloads in each build of flex and in plain JavaScript.
import { builds, load } from "./load.js";
import * as plain from "./plain.js";

const BATCHES = 12;
const BATCH_MS = 25; // browsers round clocks to about 0.1 ms

/** Milliseconds per run: the shortest mean of a batch. */
async function shortest(run) {
  let runs = 1;
  let best = Infinity;
  for (let batch = 0; batch < BATCHES; ) {
    await new Promise((next) => setTimeout(next)); // keeps the page responsive
    const start = performance.now();
    for (let i = 0; i < runs; i++) run();
    const elapsed = performance.now() - start;
    if (elapsed < BATCH_MS) runs *= 2;
    else {
      best = Math.min(best, elapsed / runs);
      batch++;
    }
  }
  return best;
}

/** Numbers from -1 to 1, the same each time. */
function numbers(length) {
  let state = 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  });
}

const [n, rows, columns] = [256, 512, 1024];
const works = [
  {
    title: `Matrix product, ${n} × ${n}`,
    inputs: [[numbers(n * n), [n, n]], [numbers(n * n).reverse(), [n, n]]],
    flex: (a, b) => a.matmul(b),
    plain: (a, b) => plain.matmul(a, b, n, n, n),
  },
  {
    title: `Softmax, ${rows} × ${columns}`,
    inputs: [[numbers(rows * columns), [rows, columns]]],
    flex: (x) => x.softmax(-1),
    plain: (x) => plain.softmax(x, rows, columns),
  },
];

function expectClose(title, got, want) {
  const wrong = want.findIndex((x, i) => !(Math.abs(got[i] - x) <= 1e-4 * Math.max(1, Math.abs(x))));
  if (wrong >= 0) throw new Error(`${title}: flex says ${got[wrong]} at ${wrong}, JavaScript ${want[wrong]}`);
}

/** For each workload, its title and the milliseconds of each implementation, passed to `report` as they are measured. */
export async function measure(report) {
  const results = [];
  for (const work of works) {
    const result = { title: work.title, ms: {} };
    results.push(result);
    const arrays = work.inputs.map(([values]) => values);
    const want = work.plain(...arrays);
    for (const build of builds) {
      const { Tensor } = await load(build);
      const tensors = work.inputs.map(([values, shape]) => new Tensor(values, Uint32Array.from(shape)));
      const got = work.flex(...tensors);
      expectClose(`${work.title}, ${build}`, got.values(), want);
      got.free();
      result.ms[build] = await shortest(() => work.flex(...tensors).free());
      tensors.forEach((t) => t.free());
      report(results);
    }
    result.ms.plain = await shortest(() => work.plain(...arrays));
    report(results);
  }
  return results;
}
