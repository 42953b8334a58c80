// The builds of flex: with SIMD, and without it for browsers that lack it.

// A module with one function, which creates a vector and drops it: valid if simd128 is supported.
const withVector = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 9, 1, 7, 0, 65, 0, 253, 15, 26, 11);

/** The builds that this browser can run, best first. */
export const builds = WebAssembly.validate(withVector) ? ["simd128", "scalar"] : ["scalar"];

/** The classes of a build. Each build has its own memory. */
export async function load(build) {
  const flex = await import(`./${build}/flex_web.js`);
  await flex.default();
  return flex;
}
