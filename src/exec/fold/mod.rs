//! Reductions over any set of axes of any layout: programs that end in accumulators. The axes are
//! collapsed (those that are kept and those that are reduced, each among themselves), then walked
//! in tiles (`plan`). Tiles are joined as a tree whose shape follows from the layout alone (`tree`),
//! so the bits are the same for any number of threads. What is reduced are the elements, or what a
//! program makes of each (`computed`).

mod computed;
mod erased;
mod plan;
mod tree;

use self::computed::Computed;
use self::erased::Erased;
use self::plan::{Plan, SHORT, TILE};
use super::lines::aligned;
use super::nest::{Dim, MAX_OPERANDS};
use super::program::Program;
use super::view::{View, ViewMut};
use crate::dtype::Pod;
use crate::error::Result;
use crate::storage::ALIGN;

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

/// Bytes of a fold's types, and operations an element.
#[derive(Clone, Copy)]
struct Sizes {
    element: usize,
    acc: usize,
    out: usize,
    flops: usize,
}

/// Reduces `x` along the axes for which `reduced` says so, into `out`: contiguous, its elements
/// those of the axes that are kept.
///
/// Errors where memory can't be had.
pub fn fold<F: Fold>(
    f: &F,
    x: View<'_>,
    reduced: impl Fn(usize) -> bool,
    out: ViewMut<'_>,
) -> Result<()> {
    const {
        aligned::<F::In>();
        aligned::<F::Out>()
    };
    reduce(f, x, &reduced, out)
}

/// The same of what a program computes of each element of `x`, its one input. Its one output is
/// what the fold takes.
pub fn fold_computed<F: Fold>(
    program: &Program,
    f: &F,
    x: View<'_>,
    reduced: impl Fn(usize) -> bool,
    out: ViewMut<'_>,
) -> Result<()> {
    const {
        aligned::<F::In>();
        aligned::<F::Out>()
    };
    Computed::with(program, f, |f| reduce(f, x, &reduced, out))
}

fn reduce(
    f: &dyn Erased,
    x: View<'_>,
    reduced: &dyn Fn(usize) -> bool,
    mut out: ViewMut<'_>,
) -> Result<()> {
    let sizes = f.sizes();
    assert!(x.size() == sizes.element && out.size() == sizes.out);
    let (from, to) = (x.as_ptr(), out.as_mut_ptr());
    let (x, out) = (x.layout(), out.layout());
    let is_kept = |k: &usize| !reduced(*k);
    let count: usize = (0..x.rank())
        .filter(is_kept)
        .map(|k| x.shape()[k])
        .product();
    assert!(out.is_contiguous() && out.len() == count);
    if count == 0 {
        return Ok(());
    }
    let last = (0..x.rank())
        .rev()
        .find(|k| is_kept(k) && x.shape()[*k] != 1);
    if x.is_contiguous() && (0..last.unwrap_or(0)).all(|k| is_kept(&k) || x.shape()[k] == 1) {
        // SAFETY: all elements of both (VIEW1), those of the result for writing (VIEW2), of the
        // fold's types.
        let done = unsafe { one_tile(f, sizes, from, count, x.len() / count, to) };
        if done {
            return Ok(());
        }
    }
    let dim = |k: usize, out_step: isize| {
        let mut steps = [0; MAX_OPERANDS];
        steps[0] = x.strides()[k] * sizes.element as isize;
        steps[1] = out_step;
        Dim {
            n: x.shape()[k],
            steps,
        }
    };
    let mut inner = count; // elements of the kept axes from this one on
    let longer = |k: &usize| x.shape()[*k] != 1;
    let kept = (0..x.rank()).filter(is_kept).filter(longer).map(|k| {
        inner /= x.shape()[k];
        dim(k, (inner * sizes.out) as isize)
    });
    let reduced = (0..x.rank()).filter(|k| reduced(*k)).filter(longer);
    let reduced = reduced.map(|k| dim(k, 0));
    let plan = Plan::new([from as *mut u8, to], sizes, kept, reduced);
    // SAFETY: FOLD1: the loops are those of two views of the fold's types (VIEW1, VIEW2).
    unsafe { plan.run(f) }
}

/// Room for one accumulator.
#[cfg_attr(feature = "std", repr(C, align(64)))]
#[cfg_attr(not(feature = "std"), repr(C, align(16)))]
struct Accumulator([u8; 64]);
const _: () = assert!(align_of::<Accumulator>() == ALIGN);

/// Reduces `count` rows of `n` elements, one after the other from `x` on, to as many results from
/// `to` on, without a plan, but by the kernels and in the order that it would choose. False, and
/// nothing done, where it is needed: for more than a tile, for several rows too short for runs.
///
/// # Safety
/// `x` and `to` are readable and writable so far, of the fold's types, and apart; `sizes` are the
/// fold's.
unsafe fn one_tile(
    f: &dyn Erased,
    sizes: Sizes,
    x: *const u8,
    count: usize,
    n: usize,
    to: *mut u8,
) -> bool {
    let runs = n >= SHORT;
    if n == 0
        || count * n > TILE / sizes.element
        || sizes.acc > size_of::<Accumulator>()
        || !(runs || count == 1)
    {
        return false;
    }
    let mut acc = Accumulator([0; 64]);
    let acc = acc.0.as_mut_ptr();
    for k in 0..count {
        // SAFETY: the caller's; the accumulator has room and is aligned.
        unsafe {
            let row = x.add(k * n * sizes.element);
            if runs {
                f.run(row, n, acc)
            } else {
                f.rows(row, 1, n, 1, acc)
            }
            f.finish(acc, 1, n, to.add(k * sizes.out), 0);
        }
    }
    true
}
