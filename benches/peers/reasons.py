"""Why flex is behind in some rows: what was measured and tried. Rows are matched by the beginning of `family: name`."""

REASONS = {
    "call overhead: slice": "a Python object with a lock of its own, and a layout in a block of its own: six atomic operations",
    "call overhead: transpose": "as for slice; a third of the core's half are stores that are read back at another width",
    "loops in Python: a dynamic program": "slices of each row, which cost twice NumPy's (call overhead: slice)",
    "reductions: mean, 16M": "reads from memory as sum does, which took 1.9 ms for as many bytes",
    "recurrent layers: lstm, 64 steps of 32": "its products run at nine tenths of the multiply-add peak; the gates' exponentials "
    "are the rest",
    "convolution: depthwise, stride 2": "three loads and a permutation for two multiply-adds: a vector of every second column takes two",
    "convolution: first layer": "its products take seven tenths of the time, at the multiply-add peak; sorting and packing "
    "the image the rest",
    "convolution: stride 2, 1x128": "its products take three quarters of the time, at the multiply-add peak; packing every "
    "second element the rest",
    "softmax, norms: rms_norm of a sum": "flex returns the sum, too: as many bytes again to write",
    "convolution: MobileNetV2": "the product of 24 terms takes as long as its bias and activation, which pass over its tiles in L1",
    "convolution: 1x1, 1x512x7x7": "49 columns take four vectors, of which a quarter of the lanes multiplies padding",
    "fusion: gelu by polynomials, 1M": "thirty passes over a tile in L1, where a compiler keeps values in registers",
    "fusion: layer norm by hand": "passes over blocks in L1 between the reductions; the built-in one needs fewer",
    "fusion: softmax by hand": "as for layer norm",
    "linear algebra: cholesky": "two fifths are products; panels are factored on one thread, and their columns copied",
    "linear algebra: solve": "panels are factored on one thread, a third of the time at 512 rows; panels row by row took twice as long, "
    "since each step writes all of a panel",
    "linear algebra: inv": "half are products; the panels of LU are factored on one thread",
    "linear algebra: qr": "six tenths are products, 32 deep or 32 wide; panels are factored on one thread",
    "linear algebra: eigh": "a quarter are products, a fifth those of the matrix and a vector, bound by the cache, a seventh the secular "
    "equation",
    "einsum: bii->b": "each element is on a cache line of its own, and packed before it is summed",
    "linear algebra: svdvals": "the bidiagonal reduction reads the matrix from a cache for each column, nine tenths of the time",
    "linear algebra: eigvalsh": "two fifths are products of a matrix and a vector, bound by the cache, a fifth the iteration without "
    "roots; panels of 24 and 32 columns were slower than those of 16",
    "matmul, skinny: 8x1024x4096": "reading B takes three quarters of the time; prefetching it and shorter sums gained nothing",
    "casts: float64 to float16": "rounded once, by rounding to odd in between: four operations a vector more",
    "casts: bfloat16": "at the bandwidth of the last cache; shorter blocks gained a tenth on two threads and lost a fifth elsewhere",
    "math: pow, 1M": "computed in float64, for errors below .501 units in the last place",
    "math: sqrt": "the CPU's square root, 12 cycles for 16 numbers on Intel's, at any width; torch corrects an approximation",
    "elementwise in cache: sqrt": "as for math: sqrt",
    "math: tanh, 256K": "as for 1M",
    "math: tanh, 1M": "both branches and a division: 15 cycles a vector",
    "activations of models: gelu(a)": "a sixth of the numbers lies below -4, where an exponential and a division are computed for a whole "
    "block: .76 instead of .32 ns a number",
    "layers: linear and gelu": "as for gelu(a): a quarter of the sums lies below -4",
    "softmax, norms: log_softmax of channels": "half of the time is packing and unpacking blocks of columns, from and to memory; the rest "
    "passes over them in L1, a third of these exponentials",
    "gradients, backward alone: softmax of channels": "three quarters of the time is packing and unpacking columns, 33 MiB of memory; "
    "blocks of 512 bytes to 8 KiB of a row were tried",
    "gradients, backward alone: attention's bias": "two fifths are products; the mask's addition, softmax and its gradient pass "
    "over blocks in L2, and the result is copied",
    "fft: rfft, 655 of 400": "nine tenths are butterflies, which MKL's do in three fifths of the time on Intel's CPUs",
    "ONNX models: ResNet-50, int8": "products take half of the time, at three quarters of VNNI's peak; sums are requantised, images packed",
    "ONNX models: EfficientNet-B0": "products take a quarter of the time, silu an eighth, and for a tenth threads wait for each other",
    "ONNX models: MobileNetV3": "products take two fifths of the time, at three quarters of the multiply-add peak, depthwise layers "
    "an eighth",
    "losses: poisson_nll_loss": "eight passes over blocks in L1",
    "losses: kl_div": "reads 32 MiB from memory, and takes a logarithm of half of it",
    "indexing: gather, axis 1": "two and a half cycles an element: a position and its check, a load and a store",
    "indexing: scatter_add": "a third is the table of offsets, a third the sums, which have an order",
    "fusion: (a + b) * a * b, 32x32": "finding the program and its loops costs more than three additions of 4 KiB",
}


# The part of the ceiling from which on it is the reason.
_NEAR = 0.8


def reason(workload: str, ceiling: float | None = None) -> str:
    """What is known about a row, which reaches this part of the ceiling; or nothing."""
    known = next((text for start, text in REASONS.items() if workload.startswith(start)), "")
    if not known and ceiling and ceiling >= _NEAR:
        return "at the ceiling of what memory or arithmetic allow"
    return known
