//! Operations along one axis. Every line along the axis is presented to a function as contiguous
//! slices, one per operand: in place if the axis is contiguous, or else as a packed copy, which is
//! stored back if the operand is written. Neighbouring lines are packed together, so that whole
//! cache lines are read. Lines that lie side by side may be presented as columns instead, a lane
//! each. Lines are distributed over threads, but none is cut.

mod plan;

use self::plan::LinePlan;
use super::nest::{LoopOperand, MAX_OPERANDS};
use super::view::{View, ViewMut};
use crate::dtype::{DType, Pod};
use crate::error::Result;
use crate::layout::{Layout, Shape};
use crate::par::Cost;
use crate::simd::MICROCONTROLLER;
use crate::simd::lanes::COLUMNS;
use core::cell::Cell;
use core::marker::PhantomData;
use smallvec::SmallVec;

/// Whether lines are presented as columns at all: their kernels are not worth their size on targets
/// without vectors, and in modules that are downloaded.
pub const HAS_COLUMNS: bool = !(MICROCONTROLLER || cfg!(target_family = "wasm"));

/// How an operand's lines are used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Input,
    Output { read: bool },
    Scratch,
}

struct LineOperand {
    role: Role,
    memory: LoopOperand,
    /// Elements of a line, and bytes from one to the next.
    len: usize,
    step: isize,
}

impl LineOperand {
    fn is_packed(&self) -> bool {
        self.role == Role::Scratch || self.len > 1 && self.step != self.memory.size as isize
    }
    /// Bytes of a packed line. On overflow `usize::MAX`, for which there is never memory.
    fn bytes(&self) -> usize {
        self.len.saturating_mul(self.memory.size)
    }
}

/// The lines along one axis of several tensors.
///
/// Lines of different operands may differ in length (`n` values in, `k` out). Off the axis, each
/// size of an input is the grid's or 1, and each of an output is the grid's. An operand of rank 1
/// or 0 beside a grid of higher rank is one line, shared by all.
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
    args: SmallVec<[LineOperand; 4]>,
    together: bool,
    /// The longest lines that may be presented as columns.
    columns: usize,
    _tensors: PhantomData<&'a mut ()>,
}

impl<'a> Lines<'a> {
    /// Lines along `axis` of `shape`; the size of that axis is ignored. Rank 0 is one line of one
    /// element.
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
            together: false,
            columns: 0,
            _tensors: PhantomData,
        }
    }
    /// Presents several lines at once where those of every operand follow each other in memory or
    /// are packed: slices are as many lines long. For functions that take rows of short lines.
    pub fn together(mut self) -> Self {
        self.together = true;
        self
    }
    /// Presents lines of at most `longest` elements as columns, [`Line::columns`], where they are
    /// strided and lie side by side in every operand, [`COLUMNS`] of them at least: their
    /// elements are copied as vectors, not transposed.
    pub fn columns(mut self, longest: usize) -> Self {
        self.columns = if HAS_COLUMNS { longest } else { 0 };
        self
    }
    /// Adds an operand that is read: [`Line::input`], numbered in the order of these calls.
    pub fn input(mut self, x: View<'a>) -> Self {
        self.add(Role::Input, x.as_ptr() as *mut u8, x.size(), x.layout());
        self
    }
    /// Adds an operand whose every element is written: [`Line::output`], numbered in the order of
    /// these calls.
    pub fn output(mut self, mut y: ViewMut<'a>) -> Self {
        self.add(
            Role::Output { read: false },
            y.as_mut_ptr(),
            y.size(),
            y.layout(),
        );
        self
    }
    /// Adds an operand that is read and written, numbered among the outputs.
    pub fn update(mut self, mut y: ViewMut<'a>) -> Self {
        self.add(
            Role::Output { read: true },
            y.as_mut_ptr(),
            y.size(),
            y.layout(),
        );
        self
    }
    /// Adds `len` elements of scratch with unspecified contents: [`Line::scratch`], numbered in the
    /// order of these calls.
    pub fn scratch(mut self, len: usize, dtype: DType) -> Self {
        let memory = LoopOperand::value(core::ptr::null(), dtype.size(), self.grid.len());
        self.args.push(LineOperand {
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
        self.args.push(LineOperand {
            role,
            memory: LoopOperand { ptr, size, strides },
            len,
            step,
        });
    }

    /// Calls `f` with every line, in any order, on any thread. `cost` is that of one line.
    ///
    /// Errors if there is no memory for scratch.
    #[inline]
    pub fn run(self, cost: Cost, f: impl Fn(&mut Line<'_>) + Sync) -> Result<()> {
        self.run_any(cost, &f)
    }
    /// [`run`](Lines::run), compiled once.
    fn run_any(self, cost: Cost, f: &(dyn Fn(&mut Line<'_>) + Sync)) -> Result<()> {
        if self.grid.contains(&0) {
            return Ok(());
        }
        LinePlan::new(self)?.run(cost, f)
    }
    /// The same if lines are presented as columns; else calls nothing, and returns false.
    #[inline]
    pub fn run_columns(self, cost: Cost, f: impl Fn(&mut Line<'_>) + Sync) -> Result<bool> {
        self.run_any_columns(cost, &f)
    }
    fn run_any_columns(self, cost: Cost, f: &(dyn Fn(&mut Line<'_>) + Sync)) -> Result<bool> {
        if self.grid.contains(&0) {
            return Ok(true);
        }
        let plan = LinePlan::new(self)?;
        if plan.columns() {
            plan.run(cost, f)?;
        }
        Ok(plan.columns())
    }
    /// The same, one line after the other on this thread: for lines that are too few to keep the
    /// threads busy, where `f` uses these itself.
    #[inline]
    pub fn run_in_order(self, f: impl Fn(&mut Line<'_>)) -> Result<()> {
        self.run_any_in_order(&f)
    }
    fn run_any_in_order(self, f: &dyn Fn(&mut Line<'_>)) -> Result<()> {
        if self.grid.contains(&0) {
            return Ok(());
        }
        LinePlan::new(self)?.run_in_order(f)
    }
}

/// One line of every operand, or several that are adjacent ([`Lines::together`],
/// [`Lines::columns`]).
pub struct Line<'a> {
    ptrs: [*mut u8; MAX_OPERANDS],
    args: &'a [LineOperand],
    inputs: usize,
    outputs: usize,
    index: usize,
    index_step: usize,
    /// The lines that there is room for, and those that there are.
    room: usize,
    count: usize,
    columns: bool,
    /// The outputs and scratch already handed out for this line, a bit each (LINE2).
    taken: Cell<u32>,
    _buffers: PhantomData<&'a mut [u8]>,
}

// Invariants of a line, upheld by `LinePlan::block`:
// - LINE1: `ptrs[k]` is the first of `room * args[k].len` initialised elements of
//   `args[k].memory.size` bytes, aligned for their dtype (in a tensor, to that of `u64` at most) or
//   to a cache line (scratch).
// - LINE2: while the line is presented, nothing else reads or writes the elements of an output or
//   of scratch, and inputs are not written.
impl<'a> Line<'a> {
    /// The row-major position of this line in the grid; of the first, if there are several.
    pub fn index(&self) -> usize {
        self.index
    }
    /// That of line `j` of several.
    pub fn index_of(&self, j: usize) -> usize {
        self.index + j * self.index_step
    }
    /// The number of lines.
    pub fn count(&self) -> usize {
        self.count
    }
    /// Whether lines are columns: slices are then matrices of [`COLUMNS`] columns, one after the
    /// other, a row for each element of a line. Columns of the last one that are none of the
    /// `count` lines have unspecified elements.
    pub fn columns(&self) -> bool {
        HAS_COLUMNS && self.columns
    }
    /// Where in the slices of an operand of `n` elements a line element `i` of line `j` is.
    #[inline]
    pub fn position(&self, n: usize, j: usize, i: usize) -> usize {
        if self.columns {
            (j / COLUMNS * n + i) * COLUMNS + j % COLUMNS
        } else {
            j * n + i
        }
    }
    /// Input `k`. `T` has the width of its dtype, and at most the alignment of `u64`, which is all
    /// that elements have.
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
            // SAFETY: LINE1 (`aligned` checks the alignment of `T`), LINE2, and any bytes are valid
            // values of a `Pod` type.
            n => unsafe { core::slice::from_raw_parts(self.ptrs[k] as *const T, n) },
        }
    }
    /// Output `k`, which may be taken once per line; `T` as for an input.
    #[inline]
    pub fn output<T: Pod>(&self, k: usize) -> &'a mut [T] {
        assert!(k < self.outputs);
        const { aligned::<T>() }
        self.take(self.inputs + k)
    }
    /// Scratch `k`, which may be taken once per line; `T` has the width of its dtype, and any
    /// alignment.
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
            // SAFETY: LINE1, LINE2, exclusive by the check above, and any bytes are valid values of
            // a `Pod` type.
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
        self.room * a.len
    }
}

/// Asserts that elements of tensors are aligned for `T`: `i128` has the width of complex128, but
/// not its alignment.
pub(super) const fn aligned<T: Pod>() {
    assert!(
        align_of::<T>() <= align_of::<u64>(),
        "elements of tensors are aligned as u64 at most"
    );
}
