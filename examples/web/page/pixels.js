// Converts strokes (lists of points [x, y]) to the form of the training digits: 32 x 32 bitmaps, whose bits are counted in 4 x 4 blocks.
// Digits fill the bitmap from top to bottom, narrow ones are widened, and about the same number of bits is set for any digit and pen.

const SIDE = 32;
const BLOCK = 4;
const WIDTH = 0.7; // of a digit as wide as high, relative to the box; otherwise proportional to the root of width / height
const INK = 20 * BLOCK ** 2; // bits to set: the training digits have 19.5 blocks' worth, with a standard deviation of 2.2
const PENS = [1.2, 4.5]; // the smallest and the largest half width of a pen

/** 8 x 8 counts from 0 to 16. */
export function pixels(strokes) {
  const side = SIDE / BLOCK;
  const counts = new Uint8Array(side * side);
  bitmap(strokes).forEach((bit, i) => {
    const [row, column] = [Math.floor(i / SIDE), i % SIDE];
    counts[Math.floor(row / BLOCK) * side + Math.floor(column / BLOCK)] += bit;
  });
  return counts;
}

/** 32 x 32 bytes of 0 or 1. */
function bitmap(strokes) {
  let [thin, thick] = PENS;
  let bits = new Uint8Array(SIDE * SIDE);
  if (strokes.length === 0) return bits;
  for (let step = 0; step < 6; step++) {
    const pen = (thin + thick) / 2;
    bits = marks(strokes, pen);
    if (bits.reduce((sum, bit) => sum + bit) < INK) thin = pen;
    else thick = pen;
  }
  return bits;
}

/** The centre and half the range of numbers. */
function reach(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return [(least + most) / 2, (most - least) / 2];
}

/** The bitmap drawn by a pen of this half width. */
function marks(strokes, pen) {
  const points = strokes.flat();
  const [middleX, reachX] = reach(points.map(([x]) => x));
  const [middleY, reachY] = reach(points.map(([, y]) => y));
  // The drawing keeps its aspect ratio, centred on the origin; its sides are then stretched to the box's.
  const scale = (SIDE / 2 - pen) / Math.max(reachX, reachY, 1e-6);
  const [width, height] = [2 * (scale * reachX + pen), 2 * (scale * reachY + pen)];
  const stretchX = (SIDE * Math.min(1, WIDTH * Math.sqrt(width / height))) / width;
  const stretchY = SIDE / height;

  const bits = new Uint8Array(SIDE * SIDE);
  const cells = (from, to, stretch) => [
    Math.max(0, Math.floor(SIDE / 2 + (Math.min(from, to) - pen) * stretch)),
    Math.min(SIDE - 1, Math.floor(SIDE / 2 + (Math.max(from, to) + pen) * stretch)),
  ];
  const mark = ([ax, ay], [bx, by]) => {
    const [ux, uy] = [bx - ax, by - ay];
    const square = ux * ux + uy * uy;
    const [left, right] = cells(ax, bx, stretchX);
    const [top, bottom] = cells(ay, by, stretchY);
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        const dx = (column + 0.5 - SIDE / 2) / stretchX - ax;
        const dy = (row + 0.5 - SIDE / 2) / stretchY - ay;
        const along = square > 0 ? Math.max(0, Math.min(1, (dx * ux + dy * uy) / square)) : 0;
        if (Math.hypot(dx - along * ux, dy - along * uy) <= pen) bits[row * SIDE + column] = 1;
      }
    }
  };
  for (const stroke of strokes) {
    const line = stroke.map(([x, y]) => [scale * (x - middleX), scale * (y - middleY)]);
    line.forEach((point, i) => mark(line[Math.max(i - 1, 0)], point));
  }
  return bits;
}
