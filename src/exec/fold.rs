//! Reductions over any set of axes of any layout. Dimensions are collapsed (those that stay and
//! those that go, each among themselves), then walked in tiles: runs along a contiguous reduced
//! dimension, rows across a contiguous one that stays, packed copies otherwise. Tiles are joined as
//! a tree whose shape follows from the layout alone, so the bits are the same for any number of
//! threads; a long reduction is cut in parts for all threads, also where little stays.

mod axes;
mod erased;
mod small;

use self::axes::{Axes, Axis, NARROW, collapse, take_inner};
use self::erased::Erased;
use super::lines::aligned;
use super::pack::pack;
use super::rect::Rect;
use super::view::{View, ViewMut};
use crate::dtype::Pod;
use crate::error::{Error, Result};
use crate::par::{self, Cost};
use crate::storage::Bytes;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What a reduction computes, over slices. `join` is associative up to rounding.
pub trait Fold: Sync {
    /// Elements.
    type In: Pod;
    /// What is known about some of the elements.
    type Acc: Pod;
    /// Results.
    type Out: Pod;
    /// Arithmetic operations an element.
    const FLOPS: usize = 1;
    /// Of a run of elements; of none, the identity.
    fn run(&self, x: &[Self::In]) -> Self::Acc;
    /// Of each of `acc.len()` columns of `rows` rows that begin `stride` apart.
    fn rows(&self, x: &[Self::In], stride: usize, rows: usize, acc: &mut [Self::Acc]);
    /// `a[i]` becomes what is known about the elements of both.
    fn join(&self, a: &mut [Self::Acc], b: &[Self::Acc]);
    /// The result for `n` elements.
    fn finish(&self, acc: &Self::Acc, n: usize) -> Self::Out;
}

/// Reduces `x` along the axes for which `reduced` says so, into `out`: contiguous, its elements
/// those of the axes that stay.
///
/// Errors where memory can't be had.
pub fn fold<F: Fold>(
    f: &F,
    x: View<'_>,
    reduced: impl Fn(usize) -> bool,
    mut out: ViewMut<'_>,
) -> Result<()> {
    const {
        aligned::<F::In>();
        aligned::<F::Out>()
    };
    assert!(x.size() == size_of::<F::In>() && out.size() == size_of::<F::Out>());
    let (first, target) = (x.as_ptr(), out.as_mut_ptr());
    let (x, out) = (x.layout(), out.layout());
    let mut inner: usize = (0..x.rank())
        .map(|k| if reduced(k) { 1 } else { x.shape()[k] })
        .product();
    assert!(out.is_contiguous() && out.len() == inner);
    if inner == 0 {
        return Ok(());
    }
    let last = (0..x.rank())
        .rev()
        .find(|k| !reduced(*k) && x.shape()[*k] != 1);
    if x.is_contiguous() && (0..last.unwrap_or(0)).all(|k| !reduced(k) || x.shape()[k] == 1) {
        // SAFETY: all elements of both (VIEW1), those of the result for writing (VIEW2), of the
        // fold's types.
        let done = unsafe {
            small::rows(
                f,
                Sizes::of::<F>(),
                first,
                inner,
                x.len() / inner,
                target,
                size_of::<F::Out>(),
            )
        };
        if done {
            return Ok(());
        }
    }
    let (mut kept, mut gone) = (Axes::new(), Axes::new());
    for k in 0..x.rank() {
        let n = x.shape()[k];
        let step = x.strides()[k] * size_of::<F::In>() as isize;
        if reduced(k) {
            gone.push(Axis { n, step, out: 0 });
        } else {
            inner /= n; // elements of the axes behind this one
            kept.push(Axis {
                n,
                step,
                out: (inner * size_of::<F::Out>()) as isize,
            });
        }
    }
    match Plan::new(first, target, Sizes::of::<F>(), kept, gone) {
        // SAFETY: FOLD1: the axes are those of two views of the fold's types (VIEW1, VIEW2).
        Some(plan) => unsafe { plan.run(f) },
        None => Ok(()),
    }
}

#[derive(Clone, Copy)]
struct Sizes {
    element: usize,
    acc: usize,
    flops: usize,
}
impl Sizes {
    fn of<F: Fold>() -> Sizes {
        assert!(align_of::<F::Acc>() <= crate::storage::ALIGN);
        Sizes {
            element: size_of::<F::In>(),
            acc: size_of::<F::Acc>(),
            flops: F::FLOPS,
        }
    }
}

/// A reduced dimension shorter than this is no run: the lanes of a run would be empty.
const SHORT: usize = 32;
/// Bytes of a tile: it stays in the first-level cache between the passes over it.
const TILE: usize = if cfg!(feature = "std") {
    32 << 10
} else {
    1 << 10
};
/// Columns of a tile.
const COLUMNS: usize = if cfg!(feature = "std") { 512 } else { 64 };
/// Bytes of the accumulators of rows that lie in memory: few tiles are better than narrow ones,
/// since whole rows use all sets of a cache and are read ahead.
const ACROSS: usize = if cfg!(feature = "std") { 8 << 10 } else { 0 };
/// A reduction is cut in parts until there are so many pieces of work, each of at least so many
/// bytes.
const PIECES: usize = 64;
const PIECE: usize = 128 << 10;

/// How a tile of the inner reduced dimension and of the one beside it is reduced.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Run by run, where they lie.
    Runs,
    /// Row into row, where they lie.
    Rows,
    /// Packed so that each column is a run.
    PackedRuns,
    /// Packed as rows.
    PackedRows,
    /// Both dimensions are reduced: packed, one run.
    Flat,
}

// FOLD1: `from` and `to` are the first elements of tensors that have the axes given, the input's
// readable, the output's writable, apart, and no two indices of the output the same element.
struct Plan {
    from: *const u8,
    to: *mut u8,
    sizes: Sizes,
    how: How,
    /// The inner reduced dimension, and the length of a tile along it.
    run: Axis,
    length: usize,
    /// The dimension beside it (kept unless `Flat`), and the width of a tile.
    side: Axis,
    width: usize,
    kept: Axes,
    gone: Axes,
    /// Groups of outputs: a tile's width of `side` for each index of `kept`.
    groups: usize,
    /// Tiles that one group is made of, in parts of so many.
    tiles: usize,
    per_part: usize,
    parts: usize,
    /// Elements that become one.
    n: usize,
}
// SAFETY: FOLD1, and pieces on several threads write disjoint outputs and accumulators.
unsafe impl Sync for Plan {}

impl Plan {
    /// None where there is no output.
    fn new(
        mut from: *const u8,
        mut to: *mut u8,
        sizes: Sizes,
        kept: Axes,
        gone: Axes,
    ) -> Option<Plan> {
        let n: usize = gone.iter().map(|a| a.n).product();
        if kept.iter().any(|a| a.n == 0) {
            return None;
        }
        let mut kept = collapse(kept, &mut from, &mut to);
        let mut gone = if n == 0 {
            Axes::from_elem(
                Axis {
                    n: 0,
                    step: 0,
                    out: 0,
                },
                1,
            )
        } else {
            collapse(gone, &mut from, &mut to)
        };
        let run = take_inner(&mut gone);
        let unit = |a: &Axis| a.step == sizes.element as isize;
        let flat =
            kept.iter().all(|a| a.n == 1) && !gone.is_empty() && run.n < TILE / sizes.element;
        let side = if flat {
            take_inner(&mut gone)
        } else {
            take_inner(&mut kept)
        };
        let how = if flat {
            How::Flat
        } else if unit(&run) && run.n >= SHORT || n == 0 {
            How::Runs
        } else if unit(&side) && side.n >= NARROW {
            How::Rows
        } else if run.n >= SHORT {
            How::PackedRuns
        } else {
            How::PackedRows
        };
        let room = TILE / sizes.element;
        let (length, width) = match how {
            How::Rows | How::PackedRows => {
                let width = side.n.min(if how == How::Rows {
                    COLUMNS.max(ACROSS / sizes.acc)
                } else {
                    COLUMNS
                });
                // several passes over direct rows are rare, and the second-level cache serves them
                (
                    run.n
                        .min((if how == How::Rows { 4 * room } else { room } / width).max(NARROW)),
                    width,
                )
            }
            // a whole cache line of each packed row
            How::PackedRuns => {
                let length = run.n.min(room / 16);
                (length, side.n.min(room / length).min(COLUMNS))
            }
            How::Runs | How::Flat => {
                let length = run.n.min(room).max(1);
                (length, side.n.min(room / length).min(COLUMNS))
            }
        };
        let outer = |axes: &Axes| axes.iter().map(|a| a.n).product::<usize>();
        let across = side.n.div_ceil(width);
        let along = run.n.div_ceil(length) * outer(&gone);
        let (groups, tiles) = if flat {
            (outer(&kept), along * across)
        } else {
            (outer(&kept) * across, along)
        };
        let parts = (PIECES / groups.min(PIECES)).min(tiles).max(1);
        // joining two parts costs little beside reducing one
        let piece = if flat {
            PIECE
        } else {
            PIECE.max(64 * width * sizes.acc)
        };
        let per_part = tiles
            .div_ceil(parts)
            .max(piece.div_ceil(length * width * sizes.element));
        let parts = tiles.div_ceil(per_part).max(1);
        Some(Plan {
            from,
            to,
            sizes,
            how,
            run,
            length,
            side,
            width,
            kept,
            gone,
            groups,
            tiles,
            per_part,
            parts,
            n,
        })
    }

    /// Bytes of a tile's accumulators.
    fn strip(&self) -> usize {
        (self.accumulators() * self.sizes.acc).next_multiple_of(64)
    }
    fn accumulators(&self) -> usize {
        if self.how == How::Flat { 1 } else { self.width }
    }

    /// # Safety
    /// FOLD1, and `f` has the types that the plan was made for.
    unsafe fn run(&self, f: &dyn Erased) -> Result<()> {
        let strip = self.strip();
        let packed = if matches!(self.how, How::Runs | How::Rows) {
            0
        } else {
            (self.length * self.width * self.sizes.element).next_multiple_of(64)
        };
        let depth = self.per_part.min(self.tiles).max(1).ilog2() as usize + 2;
        let scratch = packed + depth * strip;
        let mut partials = Bytes::new(if self.parts > 1 {
            self.groups * self.parts * strip
        } else {
            0
        })?;
        let partials = Memory(partials.get_mut().unwrap_or(core::ptr::null_mut()));
        let failed = AtomicBool::new(false);

        let elements = self.length * self.width * self.per_part.min(self.tiles);
        let cost = Cost {
            bytes: elements * self.sizes.element,
            flops: elements * self.sizes.flops,
        };
        par::ranges(self.groups * self.parts, 1, cost, |r| {
            match Bytes::new(scratch) {
                Ok(mut memory) => {
                    let base = memory.get_mut().unwrap_or(core::ptr::null_mut());
                    for k in r {
                        let (group, part) = (k / self.parts, k % self.parts);
                        // SAFETY: FOLD1; the scratch memory has room for a packed tile and the
                        // strips; `k` writes its own outputs or its own strip of the partial
                        // results.
                        unsafe {
                            let stack = base.add(packed);
                            self.part(f, group, part, base, stack);
                            match self.parts {
                                1 => self.store(f, group, stack),
                                _ => core::ptr::copy_nonoverlapping(
                                    stack,
                                    partials.at(k * strip),
                                    strip,
                                ),
                            }
                        }
                    }
                }
                Err(_) => failed.store(true, Relaxed),
            }
        });
        if failed.load(Relaxed) {
            return Err(Error::Memory {
                bytes: scratch as u128,
                limit: 0,
            });
        }
        if self.parts > 1 {
            let cost = Cost {
                bytes: self.parts * strip,
                flops: self.parts * self.accumulators(),
            };
            par::ranges(self.groups, 1, cost, |r| {
                for group in r {
                    // SAFETY: the strips of this group, all written above; FOLD1.
                    unsafe {
                        let accumulators = self.group(group).0.len();
                        let at = |part: usize| partials.at((group * self.parts + part) * strip);
                        let mut n = self.parts;
                        while n > 1 {
                            let half = n.div_ceil(2);
                            for k in 0..n / 2 {
                                f.join(at(k), at(k + half), accumulators);
                            }
                            n = half;
                        }
                        self.store(f, group, at(0));
                    }
                }
            });
        }
        Ok(())
    }

    /// Reduces the tiles of one part into the first strip of `stack`: neighbours first, then pairs
    /// of neighbours, and so on.
    ///
    /// # Safety
    /// As `run`; `buffer` has room for a packed tile, `stack` for a strip each level of the tree
    /// and one.
    unsafe fn part(
        &self,
        f: &dyn Erased,
        group: usize,
        part: usize,
        buffer: *mut u8,
        stack: *mut u8,
    ) {
        // The last group of a row may be narrower than a strip.
        let (strip, accumulators) = (self.strip(), self.group(group).0.len());
        let tiles = part * self.per_part..self.tiles.min((part + 1) * self.per_part);
        // SAFETY: what the caller promises of the group, the part, the buffer and the stack is what
        // each call below asks for.
        unsafe {
            if tiles.is_empty() {
                (0..accumulators).for_each(|j| {
                    f.run(
                        core::ptr::NonNull::<u128>::dangling().as_ptr() as *const u8,
                        0,
                        stack.add(j * self.sizes.acc),
                    )
                });
            }
            let mut level = 0;
            for (done, t) in tiles.enumerate() {
                self.tile(f, group, t, buffer, stack.add(level * strip));
                level += 1;
                for _ in 0..(done + 1).trailing_zeros() {
                    level -= 1;
                    f.join(
                        stack.add((level - 1) * strip),
                        stack.add(level * strip),
                        accumulators,
                    );
                }
            }
            for k in (1..level).rev() {
                f.join(
                    stack.add((k - 1) * strip),
                    stack.add(k * strip),
                    accumulators,
                );
            }
        }
    }

    /// The columns of a group: which, and where they begin in the input and in the output.
    fn group(&self, group: usize) -> (Range<usize>, isize, isize) {
        let (mut from, mut to) = (0, 0);
        let mut rest = group;
        let mut columns = 0..1;
        if self.how != How::Flat {
            let across = self.side.n.div_ceil(self.width);
            let first = rest % across * self.width;
            rest /= across;
            columns = first..self.side.n.min(first + self.width);
            (from, to) = (
                self.side.step * first as isize,
                self.side.out * first as isize,
            );
        }
        for a in &self.kept {
            from += a.step * (rest % a.n) as isize;
            to += a.out * (rest % a.n) as isize;
            rest /= a.n;
        }
        (columns, from, to)
    }

    /// # Safety
    /// As `part`, for one tile, whose accumulators go to `acc`.
    unsafe fn tile(
        &self,
        f: &dyn Erased,
        group: usize,
        tile: usize,
        buffer: *mut u8,
        acc: *mut u8,
    ) {
        let (columns, mut at, _) = self.group(group);
        let mut cols = columns.len();
        let along = self.run.n.div_ceil(self.length);
        let first = tile % along * self.length;
        let rows = self.length.min(self.run.n - first);
        at += self.run.step * first as isize;
        let mut rest = tile / along;
        if self.how == How::Flat {
            let across = self.side.n.div_ceil(self.width);
            let first = rest % across * self.width;
            cols = self.width.min(self.side.n - first);
            at += self.side.step * first as isize;
            rest /= across;
        }
        for a in &self.gone {
            at += a.step * (rest % a.n) as isize;
            rest /= a.n;
        }
        let size = self.sizes.element;
        // SAFETY: FOLD1 for the rectangle of `rows` by `cols` elements from here; the buffer has
        // room for it.
        unsafe {
            let x = self.from.offset(at);
            let runs = Rect {
                ptr: x,
                rows: cols,
                cols: rows,
                row_step: self.side.step,
                col_step: self.run.step,
            };
            match self.how {
                How::Runs => (0..cols).for_each(|j| {
                    f.run(
                        x.offset(self.side.step * j as isize),
                        rows,
                        acc.add(j * self.sizes.acc),
                    )
                }),
                How::Rows => f.rows(x, self.run.step as usize / size, rows, cols, acc),
                How::PackedRuns => {
                    pack(buffer, runs, size);
                    (0..cols).for_each(|j| {
                        f.run(
                            buffer.add(j * rows * size),
                            rows,
                            acc.add(j * self.sizes.acc),
                        )
                    })
                }
                How::PackedRows => {
                    pack(
                        buffer,
                        Rect {
                            ptr: x,
                            rows,
                            cols,
                            row_step: self.run.step,
                            col_step: self.side.step,
                        },
                        size,
                    );
                    f.rows(buffer, cols, rows, cols, acc)
                }
                How::Flat => {
                    pack(buffer, runs, size);
                    f.run(buffer, rows * cols, acc)
                }
            }
        }
    }

    /// # Safety
    /// As `run`; `acc` is a strip of the group's accumulators.
    unsafe fn store(&self, f: &dyn Erased, group: usize, acc: *const u8) {
        let (columns, _, to) = self.group(group);
        // SAFETY: FOLD1: `out` takes a result each `side.out` bytes from the group's place on;
        // `acc` has one for each column, by the caller.
        unsafe {
            f.finish(
                acc,
                columns.len(),
                self.n,
                self.to.offset(to),
                self.side.out,
            )
        }
    }
}

/// Memory that pieces of work use disjoint parts of.
struct Memory(*mut u8);
// SAFETY: no more than an address; who writes through it does so to a part that is its own alone.
unsafe impl Sync for Memory {}
impl Memory {
    fn at(&self, bytes: usize) -> *mut u8 {
        self.0.wrapping_add(bytes)
    }
}
