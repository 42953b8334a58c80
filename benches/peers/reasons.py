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
    "softmax, norms: softmax, 4096": "three passes over each row in L1: its largest number, exponentials and their sum, quotients",
    "softmax, norms: log_softmax, 4096": "as for softmax",
    "softmax, norms: layer_norm, 4096": "two passes over each row in L1, for its mean and its variance, and a third that "
    "writes: nine tenths of the time",
    "fusion: layer norm, built in": "as for layer_norm",
    "softmax, norms: layer_norm, 102400x8": "sums, roots and quotients of vectors that hold elements of several rows, whose "
    "lanes are shuffled",
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
    "casts: bfloat16 to int": "widened to float32 in L1 first, as all 16-bit floats are; numbers out of range saturate, which "
    "takes half of the time",
    "casts: float64 to bfloat16": "rounded once: each block is searched for numbers halfway between two bfloat16",
    "casts: float64 to int": "numbers out of range saturate, and NaN becomes 0: four operations more, where torch's results are undefined",
    "casts: float32 to int": "as for float64",
    "math: pow": "computed in float64, for errors below .501 units in the last place",
    "math: sqrt": "the CPU's square root, 12 cycles for 16 numbers on Intel's, at any width; torch corrects an approximation",
    "elementwise in cache: sqrt": "as for math: sqrt",
    "math: tanh": "both branches and a division: 15 cycles a vector of float32",
    "math: erf": "two polynomials for each number, near zero and far, of which it takes one",
    "fusion: gelu by erf": "as for math: erf, and seven more passes over a tile in L1",
    "activations of models: celu": "an exponential minus one, precise near zero",
    "math: log float16": "as for all functions of 16-bit floats, widened and rounded in blocks in L1",
    "elementwise in cache: add float16": "numbers are widened, added and rounded in three passes over blocks in L1",
    "elementwise in cache: add int": ".3 us of 2 to 4 are the call, and handing half over to another thread; the rest is "
    "the bandwidth of L2",
    "elementwise in cache: multiply int": "as for add",
    "elementwise in cache: clip": "nine tenths of the time in its loop, at the bandwidth of L2 and the last cache",
    "broadcast, strided: every second": "half of the time is putting every second number side by side, in L1",
    "broadcast, strided: permuted": "rows of 128 numbers are copied to L1, a third of the time, before they are added",
    "reductions: argmax, axis 1 of 102400x8": "rows of 8 become columns in L1; comparing keys and places takes as long as that",
    "activations of models: gelu(a)": "a sixth of the numbers lies below -4, where an exponential and a division are computed for a whole "
    "block: .76 instead of .32 ns a number",
    "layers: linear and gelu": "as for gelu(a): a quarter of the sums lies below -4",
    "softmax, norms: log_softmax of channels": "half of the time is packing and unpacking blocks of columns, from and to memory; the rest "
    "passes over them in L1, a third of these exponentials",
    "gradients, backward alone: softmax of channels": "three quarters of the time is packing and unpacking columns, 33 MiB of memory; "
    "blocks of 512 bytes to 8 KiB of a row were tried",
    "gradients, backward alone: cross_entropy of pixels": "computes the softmax anew, of which torch kept the logarithm",
    "gradients of convolutions: transposed, 4x128": "products take two thirds of the time, at the multiply-add peak; "
    "unfolding images the rest",
    "gradients, backward alone: attention's bias": "two fifths are products; the mask's addition, softmax and its gradient pass "
    "over blocks in L2, and the result is copied",
    "fft: rfft, 655 of 400": "nine tenths are butterflies, which MKL's do in three fifths of the time on Intel's CPUs",
    "ONNX models: ResNet-50, int8": "products take half of the time, at three quarters of VNNI's peak; sums are requantised, images packed",
    "ONNX models: EfficientNet-B0": "products take a quarter of the time, silu an eighth, and for a tenth threads wait for each other",
    "ONNX models: MobileNetV3": "products take two fifths of the time, at three quarters of the multiply-add peak, depthwise layers "
    "an eighth",
    "losses: poisson_nll_loss": "eight passes over blocks in L1",
    "losses: nll_loss of pixels": "one number of each pixel's classes, which lie 64 KiB apart",
    "pools: p = 2": "squares are stored before they are pooled: two passes more over 25 MiB",
    "small matrices: det": "elimination with pivots is more than half of the time; the formula of three rows needs none",
    "quant, conversions: dequantize, 1K": "two tensors, two views and their Python objects; decoding takes a twentieth",
    "padding: by": "each row of 112 numbers is moved by a call of its own, and reflected numbers one by one",
    "main job: one short text": "products of few rows take two thirds of the time, and read 42 MiB of weights",
    "embeddings: dropout2d": "selects and multiplies in two passes over blocks in L1, for four bytes read and written",
    "sorting: argsort int32": "sorts pairs of a key and its place as int64, eight bytes for four",
    "matmul, skinny: matrix by vector": "reads 64 MiB from memory, as all do",
    "activations of models: gelu(a, approximate='tanh')": "an exponential, and a division for each number",
    "fusion: gelu(a @ w + b) by hand": "two fifths are products, a quarter tanh; the other operations pass over tiles in L1",
    "losses: kl_div": "reads 32 MiB from memory, and takes a logarithm of half of it",
    "indexing: gather, axis 1": "two and a half cycles an element: a position and its check, a load and a store",
    "indexing: gather, axis 0": "half of the time are loads from another row for each number; a quarter checks positions",
    "indexing: a[i, j]": "positions of two arrays are copied, checked and added in L1, half of the time, before a number is loaded",
    "indexing: add rows": "waits for rows of 1.5 KiB that lie anywhere, a quarter of the time, though the next one is prefetched",
    "indexing: scatter_add": "a third is the table of offsets, a third the sums, which have an order",
    "fusion: (a + b) * a * b, 32x32": "finding the program and its loops costs more than three additions of 4 KiB",
}


# The part of the ceiling from which on it is the reason.
_NEAR = 0.7


def reason(workload: str, ceiling: float | None = None) -> str:
    """What is known about a row, which reaches this part of the ceiling; or nothing."""
    known = next((text for start, text in REASONS.items() if workload.startswith(start)), "")
    if not known and ceiling and ceiling >= _NEAR:
        return f"reaches {ceiling:.0%} of what memory or arithmetic allow"
    return known
