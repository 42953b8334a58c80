//! Operations along one axis. Every line of the axis is presented to a function as contiguous
//! slices, one per operand: the memory itself where the axis is contiguous, else a packed copy that
//! is stored back if the operand is written. Neighbouring lines are packed together, so that whole
//! cache lines are read. Lines run on threads, none is cut.

use super::nest::{MAX_OPERANDS, Nest, Operand, seek};
use super::pack::{pack, unpack};
use super::rect::Rect;
use super::view::{View, ViewMut};
use crate::dtype::{DType, Pod};
use crate::error::{Error, Result};
use crate::layout::{Layout, Shape, sort_by_key};
use crate::par::{self, Cost};
use crate::storage::Bytes;
use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use smallvec::SmallVec;

/// Bytes of packed lines that one block aims at: they stay in the second-level cache.
const BLOCK: usize = if cfg!(feature = "std") {
    128 << 10
} else {
    4 << 10
};
/// Packed lines may take this much so that a block is as wide as a cache line.
const WIDE: usize = 64 * BLOCK;
/// Lines of a block where nothing is packed.
const LINES: usize = 64;
/// Bytes that memory moves together.
const CACHE_LINE: usize = 64;

/// What happens with an operand's lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Input,
    Output { read: bool },
    Scratch,
}

struct Arg {
    role: Role,
    memory: Operand,
    /// Elements of a line, and bytes from one to the next.
    len: usize,
    step: isize,
}

impl Arg {
    fn is_packed(&self) -> bool {
        self.role == Role::Scratch || self.len > 1 && self.step != self.memory.size as isize
    }
    /// Bytes of a packed line; `usize::MAX`, which no memory has, where they overflow.
    fn bytes(&self) -> usize {
        self.len.saturating_mul(self.memory.size)
    }
}

/// The lines along one axis of several tensors.
///
/// Lines of different operands may differ in length (`n` values in, `k` out). Off the axis an
/// input's size is the grid's or 1, an output's is the grid's. An operand of rank 1 or 0 beside a
/// grid of higher rank is one line for all.
///
/// ```
/// use flex::{DType, Tensor, exec::lines::Lines, par::Cost};
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let mut y = Tensor::empty(&[1, 2], DType::F32)?;
/// Lines::new(x.shape(), 0).input(x.elements()).output(y.elements_mut()?).run(Cost { bytes: 12, flops: 2 }, |line| {
///     let (x, y): (&[f32], &mut [f32]) = (line.input(0), line.output(0));
///     y[0] = x.iter().sum();
/// })?;
/// assert_eq!(y.to_vec::<f32>()?, [4.0, 6.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub struct Lines<'a> {
    /// The grid: the sizes off the axis.
    grid: Shape,
    axis: usize,
    rank: usize,
    args: SmallVec<[Arg; 4]>,
    _tensors: PhantomData<&'a mut ()>,
}

impl<'a> Lines<'a> {
    /// Lines along `axis` of `shape`, whose size there plays no role. A rank of 0 is one line of
    /// one element.
    pub fn new(shape: &[usize], axis: usize) -> Lines<'a> {
        let mut grid = Shape::from_slice(shape);
        if axis < grid.len() {
            grid.remove(axis);
        }
        Lines {
            grid,
            axis,
            rank: shape.len(),
            args: SmallVec::new(),
            _tensors: PhantomData,
        }
    }
    /// Lines that are read: [`Line::input`] in the order of these calls.
    pub fn input(mut self, x: View<'a>) -> Self {
        self.add(Role::Input, x.as_ptr() as *mut u8, x.size(), x.layout());
        self
    }
    /// Lines that are written, every element of them: [`Line::output`] in the order of these calls.
    pub fn output(mut self, mut y: ViewMut<'a>) -> Self {
        self.add(
            Role::Output { read: false },
            y.as_mut_ptr(),
            y.size(),
            y.layout(),
        );
        self
    }
    /// Lines that are read and written, outputs otherwise.
    pub fn update(mut self, mut y: ViewMut<'a>) -> Self {
        self.add(
            Role::Output { read: true },
            y.as_mut_ptr(),
            y.size(),
            y.layout(),
        );
        self
    }
    /// Room for `len` values of no particular content: [`Line::scratch`] in the order of these
    /// calls.
    pub fn scratch(mut self, len: usize, dtype: DType) -> Self {
        let memory = Operand::value(core::ptr::null(), dtype.size(), self.grid.len());
        self.args.push(Arg {
            role: Role::Scratch,
            memory,
            len,
            step: 0,
        });
        self
    }

    fn add(&mut self, role: Role, ptr: *mut u8, size: usize, t: &Layout) {
        let one_for_all = t.rank() <= 1 && t.rank() < self.rank;
        assert!(
            one_for_all || t.rank() == self.rank,
            "an operand of rank {} beside a grid of rank {}",
            t.rank(),
            self.rank
        );
        let axis = if one_for_all { 0 } else { self.axis };
        let len = t.shape().get(axis).copied().unwrap_or(1);
        let step = t.strides().get(axis).map_or(0, |s| s * size as isize);
        let mut strides = SmallVec::from_elem(0, self.grid.len());
        let off_axis = (0..t.rank()).filter(|k| *k != axis);
        for (k, (grid, stride)) in off_axis.zip(self.grid.iter().zip(&mut strides)) {
            let (n, s) = (t.shape()[k], t.strides()[k]);
            assert!(
                n == *grid || n == 1 && role == Role::Input,
                "size {n} of axis {k} beside a grid of {:?}",
                self.grid
            );
            *stride = if n == 1 { 0 } else { s * size as isize };
        }
        let repeats = self
            .grid
            .iter()
            .zip(&strides)
            .any(|(n, s)| *n > 1 && *s == 0)
            || len > 1 && step == 0;
        assert!(
            role == Role::Input || !repeats,
            "an output repeats elements"
        );
        self.args.push(Arg {
            role,
            memory: Operand { ptr, size, strides },
            len,
            step,
        });
    }

    /// Calls `f` with every line, in any order, on any thread. `cost` is that of one line.
    ///
    /// Errors where scratch memory can't be had.
    pub fn run(self, cost: Cost, f: impl Fn(&mut Line<'_>) + Sync) -> Result<()> {
        if self.grid.contains(&0) {
            return Ok(());
        }
        Plan::new(self)?.run(cost, &f)
    }
    /// The same, one line after the other on this thread: for lines too few to keep the threads
    /// busy, and an `f` that does.
    pub fn run_in_order(self, f: impl Fn(&mut Line<'_>)) -> Result<()> {
        if self.grid.contains(&0) {
            return Ok(());
        }
        let plan = Plan::new(self)?;
        plan.blocks_in(0..plan.blocks * plan.outer(), &f)
    }
}

/// One line of every operand.
pub struct Line<'a> {
    ptrs: [*mut u8; MAX_OPERANDS],
    args: &'a [Arg],
    inputs: usize,
    outputs: usize,
    index: usize,
    /// Outputs and scratch handed out for this line, a bit each (LINE2).
    taken: Cell<u32>,
    _buffers: PhantomData<&'a mut [u8]>,
}

// Invariants of a line, kept by `Plan::block`:
// - LINE1: `ptrs[k]` is the first of `args[k].len` initialised elements of `args[k].memory.size`
//   bytes, aligned as their dtype (a tensor's memory, at most as `u64`), or as a cache line
//   (scratch).
// - LINE2: nothing else reads or writes those of an output or of scratch while the line is
//   presented; inputs are not written.
impl<'a> Line<'a> {
    /// The row-major position of this line in the grid.
    pub fn index(&self) -> usize {
        self.index
    }
    /// Input `k`. `T` has the width of its dtype, and is aligned as `u64` at most: elements are no
    /// more.
    ///
    /// ```compile_fail
    /// fn wider(line: &flex::exec::lines::Line<'_>) -> i128 {
    ///     line.input::<i128>(0)[0]
    /// }
    /// # fn main() { let _: fn(&flex::exec::lines::Line<'_>) -> i128 = wider; }
    /// ```
    #[inline]
    pub fn input<T: Pod>(&self, k: usize) -> &'a [T] {
        assert!(k < self.inputs);
        const { aligned::<T>() }
        match self.len::<T>(k) {
            0 => &[],
            // SAFETY: LINE1 (`T` is aligned as its dtype: `aligned`), LINE2, and any bytes are
            // values of a `Pod` type.
            n => unsafe { core::slice::from_raw_parts(self.ptrs[k] as *const T, n) },
        }
    }
    /// Output `k`, which may be asked for once a line; `T` as for an input.
    #[inline]
    pub fn output<T: Pod>(&self, k: usize) -> &'a mut [T] {
        assert!(k < self.outputs);
        const { aligned::<T>() }
        self.take(self.inputs + k)
    }
    /// Scratch `k`, which may be asked for once a line; `T` may be of any width.
    #[inline]
    pub fn scratch<T: Pod>(&self, k: usize) -> &'a mut [T] {
        self.take(self.inputs + self.outputs + k)
    }
    #[inline]
    fn take<T: Pod>(&self, k: usize) -> &'a mut [T] {
        let n = self.len::<T>(k);
        assert!(
            self.taken.get() >> k & 1 == 0,
            "an output of a line is taken twice"
        );
        self.taken.set(self.taken.get() | 1 << k);
        match n {
            0 => &mut [],
            // SAFETY: LINE1, LINE2, exclusive by the lines above, and any bytes are values of a
            // `Pod` type.
            n => unsafe { core::slice::from_raw_parts_mut(self.ptrs[k] as *mut T, n) },
        }
    }
    #[inline]
    fn len<T: Pod>(&self, k: usize) -> usize {
        let a = &self.args[k];
        assert!(
            size_of::<T>() == a.memory.size,
            "{} bytes for an element of {}",
            size_of::<T>(),
            a.memory.size
        );
        a.len
    }
}

/// A type that tensors' elements may be seen as: `i128` has the width of complex128, but not its
/// alignment.
pub(super) const fn aligned<T: Pod>() {
    assert!(
        align_of::<T>() <= align_of::<u64>(),
        "elements of tensors are aligned as u64 at most"
    );
}

/// How the lines are walked: blocks of neighbours along the nest's first loop.
struct Plan {
    /// The loops over the grid. Operand 0 counts: its address is the line's index. Then the inputs,
    /// then the outputs.
    nest: Nest,
    /// Inputs, outputs, scratch.
    args: SmallVec<[Arg; 4]>,
    inputs: usize,
    outputs: usize,
    /// Lines of a block, and blocks along the first loop.
    block: usize,
    blocks: usize,
    /// Where each packed operand begins in the scratch memory, and its length.
    places: SmallVec<[usize; 4]>,
    memory: usize,
}

impl Plan {
    /// Errors where a block's memory overflows.
    fn new(lines: Lines<'_>) -> Result<Plan> {
        let Lines { grid, mut args, .. } = lines;
        sort_by_key(&mut args, |a| match a.role {
            Role::Input => 0,
            Role::Output { .. } => 1,
            Role::Scratch => 2,
        });
        let count = |f: fn(&Arg) -> bool| args.iter().filter(|a| f(a)).count();
        let (inputs, outputs) = (
            count(|a| a.role == Role::Input),
            count(|a| matches!(a.role, Role::Output { .. })),
        );
        let mut counter = Operand::value(core::ptr::null(), 1, grid.len());
        let mut step = 1;
        for k in (0..grid.len()).rev() {
            counter.strides[k] = step;
            step *= grid[k] as isize;
        }
        let memories = |r: Range<usize>| args[r].iter().map(|a| a.memory.clone());
        let read: SmallVec<[Operand; 4]> = core::iter::once(counter)
            .chain(memories(0..inputs))
            .collect();
        let written: SmallVec<[Operand; 4]> = memories(inputs..inputs + outputs).collect();
        let mut nest = Nest::new(&grid, &read, &written);

        let packed = || args.iter().enumerate().filter(|(_, a)| a.is_packed());
        // The loop along which packed lines are neighbours goes first: bytes that each would fetch
        // for an element.
        let fetched = |d: usize| -> usize {
            let of = |k: usize| match nest.dims[d].steps[k + 1].unsigned_abs() {
                0 => 0,
                step => step.max(CACHE_LINE / nest.dims[d].n.max(1)).min(CACHE_LINE),
            };
            packed()
                .filter(|(_, a)| a.role != Role::Scratch)
                .map(|(k, _)| of(k))
                .sum()
        };
        let first = (0..nest.dims.len())
            .min_by_key(|d| fetched(*d))
            .unwrap_or(0);
        nest.dims.swap(0, first);

        let n = nest.dims[0].n;
        let bytes = packed()
            .map(|(_, a)| a.bytes())
            .fold(0, usize::saturating_add);
        let narrowest = packed()
            .map(|(_, a)| a.memory.size)
            .min()
            .unwrap_or(CACHE_LINE);
        let block = if packed().all(|(_, a)| a.role == Role::Scratch) {
            LINES
        } else {
            let bytes = bytes.max(1);
            (BLOCK / bytes).max((CACHE_LINE / narrowest).min(WIDE / bytes))
        };
        // No line is cut, so where blocks end is free to depend on the threads: each gets some.
        let block = block.min(n).min(nest.total.div_ceil(par::threads())).max(1);
        let mut memory = 0usize;
        let mut places = SmallVec::new();
        for a in &args {
            places.push(memory);
            if a.is_packed() {
                let rows = if a.role == Role::Scratch { 1 } else { block };
                let bytes = rows
                    .checked_mul(a.bytes())
                    .and_then(|n| n.checked_next_multiple_of(CACHE_LINE));
                let end = bytes.and_then(|n| memory.checked_add(n));
                memory = end.ok_or(Error::Memory {
                    bytes: rows as u128 * a.len as u128 * a.memory.size as u128,
                    limit: 0,
                })?;
            }
        }
        Ok(Plan {
            nest,
            args,
            inputs,
            outputs,
            block,
            blocks: n.div_ceil(block),
            places,
            memory,
        })
    }

    /// Iterations of the loops but the first.
    fn outer(&self) -> usize {
        self.nest.dims[1..].iter().map(|d| d.n).product()
    }

    fn run(&self, cost: Cost, f: &(dyn Fn(&mut Line<'_>) + Sync)) -> Result<()> {
        // What a piece of work cannot return.
        let failed = AtomicBool::new(false);
        par::ranges(self.blocks * self.outer(), 1, cost.times(self.block), |r| {
            if self.blocks_in(r, f).is_err() {
                failed.store(true, Relaxed);
            }
        });
        if failed.load(Relaxed) {
            Err(Error::Memory {
                bytes: self.memory as u128,
                limit: 0,
            })
        } else {
            Ok(())
        }
    }

    fn blocks_in(&self, r: Range<usize>, f: &dyn Fn(&mut Line<'_>)) -> Result<()> {
        let mut scratch = Bytes::new(self.memory)?;
        let base = scratch
            .get_mut()
            .unwrap_or(core::ptr::NonNull::<u64>::dangling().as_ptr() as *mut u8);
        // The line that a packed operand holds for all blocks, where its neighbours are the same
        // one.
        let mut held = [core::ptr::null_mut(); MAX_OPERANDS];
        for b in r {
            // SAFETY: `base` is this piece's own memory of `self.memory` bytes.
            unsafe { self.block(b, base, &mut held, f) };
        }
        Ok(())
    }

    /// # Safety
    /// `base` is writable for `self.memory` bytes, aligned for every dtype (only if that is not 0),
    /// and nothing else uses it.
    unsafe fn block(
        &self,
        b: usize,
        base: *mut u8,
        held: &mut [*mut u8; MAX_OPERANDS],
        f: &dyn Fn(&mut Line<'_>),
    ) {
        let nest = &self.nest;
        let (outer, first) = (b / self.blocks, b % self.blocks * self.block);
        let lines = self.block.min(nest.dims[0].n - first);
        let mut at = nest.ptrs;
        nest.dims[0].advance(&mut at, first);
        seek(&nest.dims[1..], outer, &mut at);
        let mut line = Line {
            ptrs: [base; MAX_OPERANDS],
            args: &self.args,
            inputs: self.inputs,
            outputs: self.outputs,
            index: 0,
            taken: Cell::new(0),
            _buffers: PhantomData,
        };
        let mut steps = [0isize; MAX_OPERANDS];
        // Operand `k` of a line is operand `k + 1` of the nest; scratch has none.
        let rect = |k: usize, rows: usize| Rect {
            ptr: at[k + 1],
            rows,
            cols: self.args[k].len,
            row_step: nest.dims[0].steps[k + 1],
            col_step: self.args[k].step,
        };
        for (k, a) in self.args.iter().enumerate() {
            let same = nest.dims[0].steps.get(k + 1).is_some_and(|s| *s == 0);
            // SAFETY: the operand's part of the scratch memory.
            let buffer = || unsafe { base.add(self.places[k]) };
            match a.role {
                Role::Scratch => line.ptrs[k] = buffer(),
                _ if !a.is_packed() => {
                    (line.ptrs[k], steps[k]) = (at[k + 1], nest.dims[0].steps[k + 1])
                }
                role => {
                    (line.ptrs[k], steps[k]) =
                        (buffer(), if same { 0 } else { a.bytes() as isize });
                    if role != (Role::Output { read: false }) && !(same && held[k] == at[k + 1]) {
                        // SAFETY: PACK1: the nest walks elements of the tensor; the buffer has room
                        // for a block of its lines.
                        unsafe {
                            pack(
                                line.ptrs[k],
                                rect(k, if same { 1 } else { lines }),
                                a.memory.size,
                            )
                        };
                        held[k] = at[k + 1];
                    }
                }
            }
        }
        let buffers = line.ptrs;
        for j in 0..lines {
            line.index = at[0] as usize + j * nest.dims[0].steps[0] as usize;
            line.taken.set(0);
            f(&mut line);
            for (p, s) in line.ptrs.iter_mut().zip(&steps) {
                *p = p.wrapping_offset(*s);
            }
        }
        for (k, a) in self.args.iter().enumerate() {
            if matches!(a.role, Role::Output { .. }) && a.is_packed() {
                // SAFETY: PACK2: as above, and no output repeats an element (asserted when it was
                // added).
                unsafe { unpack(buffers[k], rect(k, lines), a.memory.size) };
            }
        }
    }
}

// SAFETY: the nest's and the operands' pointers stand for tensors that `Lines` borrows; blocks on
// several threads write disjoint lines, since no output repeats an element.
unsafe impl Sync for Plan {}

#[cfg(test)]
mod tests;
