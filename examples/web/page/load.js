// The builds of flex: with vectors, and without for browsers that have none.

// A module with one function, which makes a vector and drops it: valid where simd128 is known.
const withVector = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 9, 1, 7, 0, 65, 0, 253, 15, 26, 11);

/** What this browser can run, best first. */
export const builds = WebAssembly.validate(withVector) ? ["simd128", "scalar"] : ["scalar"];

/** The classes of a build. Each build has a memory of its own. */
export async function load(build) {
  const flex = await import(`./${build}/flex_web.js`);
  await flex.default();
  return flex;
}
