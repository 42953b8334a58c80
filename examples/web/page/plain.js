// The baseline: loops over typed arrays, in memory order.

/** [m, k] times [k, n]. */
export function matmul(a, b, m, k, n) {
  const c = new Float32Array(m * n);
  for (let i = 0; i < m; i++) {
    const to = i * n;
    for (let p = 0; p < k; p++) {
      const x = a[i * k + p];
      const from = p * n;
      for (let j = 0; j < n; j++) c[to + j] += x * b[from + j];
    }
  }
  return c;
}

/** Along the last axis of [rows, columns]. */
export function softmax(x, rows, columns) {
  const y = new Float32Array(rows * columns);
  for (let start = 0; start < rows * columns; start += columns) {
    const end = start + columns;
    let max = -Infinity;
    for (let i = start; i < end; i++) max = Math.max(max, x[i]);
    let sum = 0;
    for (let i = start; i < end; i++) sum += y[i] = Math.exp(x[i] - max);
    for (let i = start; i < end; i++) y[i] /= sum;
  }
  return y;
}
