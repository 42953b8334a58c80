//! Collapses the layouts of N operands into as few loops as possible: dimensions are sorted by
//! stride, innermost first, those that run backwards are reversed, and adjacent ones are merged.
//! Almost everything becomes one or two loops.

use smallvec::SmallVec;

/// Operands of a nest, at most: inputs, then outputs.
pub const MAX_OPERANDS: usize = 12;
/// Bytes that stay in the smallest L1 caches of CPUs.
const L1: usize = 32 << 10;

/// A tensor in memory as the loops see it.
#[derive(Clone)]
pub struct LoopOperand {
    /// The first element.
    pub ptr: *mut u8,
    /// Bytes of an element.
    pub size: usize,
    /// Bytes from one index to the next in each dimension of the loops' shape; 0 where broadcast.
    pub strides: SmallVec<[isize; 6]>,
}

impl LoopOperand {
    /// An operand with this `shape` and these `strides` (in elements), broadcast to `rank`
    /// dimensions.
    pub fn new(
        ptr: *mut u8,
        size: usize,
        shape: &[usize],
        strides: &[isize],
        rank: usize,
    ) -> LoopOperand {
        let lead = rank - shape.len();
        let mut bytes = SmallVec::from_elem(0, rank);
        for (k, (n, s)) in shape.iter().zip(strides).enumerate() {
            if *n != 1 {
                bytes[lead + k] = s * size as isize;
            }
        }
        LoopOperand {
            ptr,
            size,
            strides: bytes,
        }
    }
    /// A single value, broadcast to every index.
    pub fn value(ptr: *const u8, size: usize, rank: usize) -> LoopOperand {
        LoopOperand {
            ptr: ptr as *mut u8,
            size,
            strides: SmallVec::from_elem(0, rank),
        }
    }
}

/// One loop: its length, and the step of each operand in bytes.
#[derive(Clone, Copy)]
pub struct Dim {
    /// Iterations.
    pub n: usize,
    /// Bytes from one iteration to the next.
    pub steps: [isize; MAX_OPERANDS],
}

impl Dim {
    /// Advances `ptrs` by `i` iterations.
    #[inline]
    pub(super) fn advance(&self, ptrs: &mut [*mut u8], i: usize) {
        for (p, s) in ptrs.iter_mut().zip(&self.steps) {
            *p = p.wrapping_offset(s * i as isize);
        }
    }
}

/// Loops, innermost first.
pub type Dims = SmallVec<[Dim; 3]>;

/// Advances `ptrs` to iteration `k` of all the loops together, counting the innermost loop fastest.
#[inline]
pub(super) fn seek(dims: &[Dim], mut k: usize, ptrs: &mut [*mut u8]) {
    for d in dims {
        d.advance(ptrs, k % d.n);
        k /= d.n;
    }
}

/// Collapses loops of more than one iteration each into as few as possible. Loops that run
/// `backwards` by their steps are reversed (`ptrs` then start at the other end), loops are sorted
/// with the smallest `key` innermost (equal ones keep their order), and a loop that continues where
/// the one inside it ends is merged into that.
pub(super) fn collapse(
    loops: impl Iterator<Item = Dim>,
    ptrs: &mut [*mut u8],
    backwards: impl Fn(&[isize]) -> bool,
    key: impl Fn(&[isize]) -> usize,
) -> Dims {
    let k = ptrs.len();
    let mut dims = Dims::new();
    for mut dim in loops {
        if backwards(&dim.steps[..k]) {
            dim.advance(ptrs, dim.n - 1);
            dim.steps = dim.steps.map(|s| -s);
        }
        let own = key(&dim.steps[..k]);
        let outer = |e: &Dim| key(&e.steps[..k]) > own;
        let at = dims.iter().position(outer).unwrap_or(dims.len());
        dims.insert(at, dim);
    }
    let mut inner = 0;
    for i in 1..dims.len() {
        let (n, steps) = (dims[inner].n, &dims[inner].steps);
        if (0..k).all(|o| dims[i].steps[o] == steps[o] * n as isize) {
            dims[inner].n *= dims[i].n;
        } else {
            inner += 1;
            dims[inner] = dims[i];
        }
    }
    dims.truncate(inner + 1);
    dims
}

/// A loop nest: at least one loop, innermost first.
#[derive(Clone)]
pub struct Nest {
    /// The loops.
    pub dims: Dims,
    /// First element of each operand.
    pub ptrs: [*mut u8; MAX_OPERANDS],
    /// Bytes of an element of each operand.
    pub sizes: [usize; MAX_OPERANDS],
    /// Number of inputs, which are the first operands.
    pub inputs: usize,
    /// Number of operands: inputs and outputs.
    pub operands: usize,
    /// Total number of iterations.
    pub total: usize,
}
// SAFETY: the pointers are to memory that the driver's caller lends for the whole run (NEST1);
// pieces of a nest on several threads write disjoint elements, since no output repeats an element.
unsafe impl Sync for Nest {}

impl Nest {
    /// Collapses the operands' layouts. Loops are ordered by the strides of the first output, or of
    /// the first operand if there is no output.
    pub fn new(shape: &[usize], inputs: &[LoopOperand], outputs: &[LoopOperand]) -> Nest {
        let operands = inputs.len() + outputs.len();
        assert!(
            operands <= MAX_OPERANDS && operands > 0,
            "{operands} operands; at most {MAX_OPERANDS}"
        );
        let mut nest = Nest {
            dims: Dims::new(),
            ptrs: [core::ptr::null_mut(); MAX_OPERANDS],
            sizes: [1; MAX_OPERANDS],
            inputs: inputs.len(),
            operands,
            total: shape.iter().product(),
        };
        for (i, o) in inputs.iter().chain(outputs).enumerate() {
            nest.ptrs[i] = o.ptr;
            nest.sizes[i] = o.size;
        }
        if nest.total > 0 {
            nest.collapse(shape, inputs, outputs);
        }
        if nest.dims.is_empty() {
            nest.dims.push(Dim {
                n: nest.total,
                steps: nest.sizes.map(|s| s as isize),
            });
        }
        nest
    }
    fn collapse(&mut self, shape: &[usize], inputs: &[LoopOperand], outputs: &[LoopOperand]) {
        let key = if outputs.is_empty() { 0 } else { self.inputs };
        let loops = (0..shape.len()).rev().filter(|d| shape[*d] != 1);
        let loops = loops.map(|d| {
            let mut steps = [0; MAX_OPERANDS];
            for (step, o) in steps.iter_mut().zip(inputs.iter().chain(outputs)) {
                *step = o.strides[d];
            }
            Dim { n: shape[d], steps }
        });
        self.dims = collapse(
            loops,
            &mut self.ptrs[..self.operands],
            |steps| steps.iter().all(|s| *s <= 0) && steps.iter().any(|s| *s < 0),
            |steps| steps[key].unsigned_abs(),
        );
    }
    /// A nest of these loops over operands of these sizes, the first `inputs` of them inputs. It
    /// serves to plan before the operands' addresses are known, and its pointers are placeholders.
    pub(super) fn of_loops(sizes: &[u8], inputs: usize, dims: Dims) -> Nest {
        let mut nest = Nest {
            total: dims.iter().map(|d| d.n).product(),
            dims,
            ptrs: placeholders(),
            sizes: [1; MAX_OPERANDS],
            inputs,
            operands: sizes.len(),
        };
        for (to, size) in nest.sizes.iter_mut().zip(sizes) {
            *to = *size as usize;
        }
        nest
    }
    /// One loop of `n` elements, which lie one after the other in each operand, or are a single value
    /// (`true`).
    #[cfg(feature = "stream")]
    pub(super) fn flat(
        sizes: &[u8],
        inputs: usize,
        n: usize,
        operands: &[(*mut u8, bool)],
    ) -> Nest {
        assert!(
            operands.len() == sizes.len() && sizes.len() <= MAX_OPERANDS,
            "operands are those of the program"
        );
        let mut steps = [0; MAX_OPERANDS];
        for (k, (_, single)) in operands.iter().enumerate() {
            steps[k] = if *single { 0 } else { sizes[k] as isize };
        }
        let mut nest = Nest::of_loops(sizes, inputs, Dims::from_slice(&[Dim { n, steps }]));
        for (to, (ptr, _)) in nest.ptrs.iter_mut().zip(operands) {
            *to = *ptr;
        }
        nest
    }
    /// The same loops before the operands' addresses are known: the pointers are placeholders.
    pub(super) fn without_addresses(self) -> Nest {
        Nest {
            ptrs: placeholders(),
            ..self
        }
    }
    /// If an operand is contiguous along a loop other than the innermost, moves that loop next to
    /// the innermost, so that rectangles of these two are packed from whole cache lines. Unless the
    /// rest of the lines is still in L1 when that loop comes to it, and every second element is
    /// read, which takes no rectangle.
    pub fn pair_transposed(&mut self) {
        let step = |i: usize| self.dims[0].steps[i].unsigned_abs();
        let stays = |d: usize, i: usize| {
            let before: usize = self.dims[..d].iter().map(|d| d.n).product();
            step(i) == 2 * self.sizes[i] && before.saturating_mul(step(i)) <= L1
        };
        let lies = |d: usize, i: usize| {
            self.dims[d].steps[i].unsigned_abs() == self.sizes[i] && !stays(d, i)
        };
        let pair = (0..self.operands)
            .filter(|i| step(*i) > self.sizes[*i])
            .find_map(|i| (0..self.dims.len()).find(|d| lies(*d, i)));
        if let Some(d) = pair {
            self.dims[1..=d].rotate_right(1);
        }
    }
    /// The loop to cut for threads, and the granularity in iterations: the outermost loop that
    /// gives `enough` pieces, or else the one that gives the most.
    pub fn split_dim(&self, enough: usize) -> (usize, usize) {
        let unit = |d: usize| [1024, 32, 1][d.min(2)];
        let pieces = |d: &usize| self.dims[*d].n / unit(*d);
        let all = 0..self.dims.len();
        let most = all.clone().max_by_key(pieces).unwrap_or(0);
        let d = all.rev().find(|d| pieces(d) >= enough).unwrap_or(most);
        (d, unit(d))
    }
    /// The nest restricted to iterations `r` of loop `d`.
    pub fn part(&self, d: usize, r: core::ops::Range<usize>) -> Nest {
        let mut nest = self.clone();
        nest.total = self.total / self.dims[d].n * r.len();
        nest.dims[d].n = r.len();
        self.dims[d].advance(&mut nest.ptrs, r.start);
        nest
    }
}

/// Distinct addresses, which are never used.
fn placeholders() -> [*mut u8; MAX_OPERANDS] {
    core::array::from_fn(|i| core::ptr::without_provenance_mut(64 * (i + 1)))
}

/// Steps through the outer loops of a nest and moves the operands along.
pub struct Odometer<'a> {
    dims: &'a [Dim],
    operands: usize,
    index: SmallVec<[usize; 6]>,
}

impl<'a> Odometer<'a> {
    /// All loops but the `inner` innermost, at their first iteration.
    #[inline]
    pub fn new(nest: &'a Nest, inner: usize) -> Odometer<'a> {
        let dims = nest.dims.get(inner..).unwrap_or(&[]);
        Odometer {
            dims,
            operands: nest.operands,
            index: SmallVec::from_elem(0, dims.len()),
        }
    }
    /// Advances `ptrs` to the next iteration; false after the last.
    #[inline]
    pub fn advance(&mut self, ptrs: &mut [*mut u8; MAX_OPERANDS]) -> bool {
        for (index, dim) in self.index.iter_mut().zip(self.dims) {
            *index += 1;
            let back = if *index < dim.n { 0 } else { dim.n as isize };
            for (p, s) in ptrs[..self.operands].iter_mut().zip(&dim.steps) {
                *p = p.wrapping_offset(s * (1 - back));
            }
            if back == 0 {
                return true;
            }
            *index = 0;
        }
        false
    }
}
