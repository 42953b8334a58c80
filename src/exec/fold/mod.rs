//! Reductions over any set of axes of any layout: programs that end in accumulators. The axes are
//! collapsed (those that are kept and those that are reduced, each among themselves), then walked
//! in tiles (`plan`). Tiles are joined as a tree whose shape follows from the layout alone (`tree`),
//! so the bits are the same for any number of threads. What is reduced are the elements, or what a
//! program makes of each (`computed`).

mod computed;
mod ends;
mod erased;
mod plan;
mod tree;

pub use self::ends::End;

use self::computed::{Blocks, block_of};
use self::erased::Erased;
use self::plan::{Plan, Pointers, SHORT, TILE};
use self::tree::Tree;
use super::nest::{Dim, MAX_OPERANDS};
use super::program::Program;
use super::view::{View, ViewMut};
use crate::dtype::Pod;
use crate::error::Result;
use crate::storage::ALIGN;
use core::mem::MaybeUninit;

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
    /// Of each of `acc.len()` runs of `n` elements, one after the other in `x`; of runs of none, the
    /// identity.
    fn runs(&self, x: &[Self::In], n: usize, acc: &mut [Self::Acc]);
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
    reduce(None, &[x], &reduced, &mut [End::new(f, out)])
}

/// The same of what a program computes of each element of the inputs, views of one shape. Each
/// output of the program has an end that takes it.
pub fn fold_computed(
    program: &Program,
    inputs: &[View<'_>],
    reduced: impl Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> Result<()> {
    reduce(Some(program), inputs, &reduced, ends)
}

fn reduce(
    program: Option<&Program>,
    inputs: &[View<'_>],
    reduced: &dyn Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> Result<()> {
    let (k, x) = (inputs.len(), inputs[0].layout());
    let given = inputs.iter().map(|x| x.size() as u8);
    let taken = ends.iter().map(|e| e.fold.sizes().element as u8);
    match program {
        Some(p) => assert!(p.inputs == k && p.sizes.iter().copied().eq(given.clone().chain(taken))),
        None => assert!(k == 1 && taken.zip(given.clone().cycle()).all(|(a, b)| a == b)),
    }
    let same = |i: &View| i.layout().shape() == x.shape();
    assert!(k + ends.len() <= MAX_OPERANDS && inputs[1..].iter().all(same));
    let is_kept = |k: &usize| !reduced(*k);
    let kept = (0..x.rank()).filter(is_kept).map(|k| x.shape()[k]);
    let count: usize = kept.product();
    for end in ends.iter() {
        assert!(end.out.layout().is_contiguous() && end.out.layout().len() == count);
    }
    if count == 0 {
        return Ok(());
    }
    let last = (0..x.rank())
        .rev()
        .find(|k| is_kept(k) && x.shape()[*k] != 1);
    let rows =
        x.is_contiguous() && (0..last.unwrap_or(0)).all(|k| is_kept(&k) || x.shape()[k] == 1);
    if let ([x], [end], true) = (inputs, &mut *ends, rows) {
        let (n, to) = (x.layout().len(), end.out.as_mut_ptr());
        let mut buffer = Buffer([const { MaybeUninit::uninit() }; SMALL]);
        // SAFETY: all elements of both (VIEW1), those of the result for writing (VIEW2), of the
        // fold's types; what a program computes of them fits the buffer.
        let done = unsafe {
            let elements = match program {
                None => Some(x.as_ptr()),
                Some(p) => p.run_small(x.as_ptr(), n, &mut buffer.0),
            };
            elements.is_some_and(|x| one_tile(end.fold, x, count, n / count, to))
        };
        if done {
            return Ok(());
        }
    }
    let mut ptrs: Pointers = [core::ptr::null_mut(); MAX_OPERANDS];
    for (to, x) in ptrs.iter_mut().zip(inputs) {
        *to = x.as_ptr() as *mut u8;
    }
    for (to, end) in ptrs[k..].iter_mut().zip(ends.iter_mut()) {
        *to = end.out.as_mut_ptr();
    }
    let dim = |axis: usize, inner: usize| {
        let mut steps = [0; MAX_OPERANDS];
        for (step, x) in steps.iter_mut().zip(inputs) {
            *step = x.layout().strides()[axis] * x.size() as isize;
        }
        for (step, end) in steps[k..].iter_mut().zip(ends.iter()) {
            *step = (inner * end.fold.sizes().out) as isize;
        }
        Dim {
            n: x.shape()[axis],
            steps,
        }
    };
    let mut inner = count; // elements of the kept axes from this one on
    let longer = |k: &usize| x.shape()[*k] != 1;
    let kept = (0..x.rank()).filter(is_kept).filter(longer).map(|k| {
        inner /= x.shape()[k];
        dim(k, inner)
    });
    let reduced = (0..x.rank()).filter(|k| reduced(*k)).filter(longer);
    let reduced = reduced.map(|k| dim(k, 0));
    let each = ends.iter().map(|e| e.fold.sizes());
    let sizes = Sizes {
        element: inputs.iter().map(View::size).sum(),
        acc: each.clone().map(|s| s.acc).sum(),
        out: each.clone().map(|s| s.out).sum(),
        flops: each.map(|s| s.flops).sum::<usize>() + program.map_or(0, Program::flops),
    };
    let plan = Plan::new(ptrs, inputs, ends.len(), sizes, kept, reduced);
    let block = program.map(|p| (p, block_of(&plan, p)));
    let tree = Tree {
        computed: block.as_ref().map(|(p, block)| Blocks::new(p, block)),
        plan: &plan,
        ends,
        inputs: k,
    };
    // SAFETY: FOLD1: the loops are those of views of the ends' types (VIEW1, VIEW2).
    unsafe { tree.run() }
}

/// Bytes of what a program computes without a plan.
const SMALL: usize = 8 * crate::exec::tile::TILE;
#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; SMALL]);

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
/// `x` and `to` are readable and writable so far, of the fold's types, and apart.
unsafe fn one_tile(f: &dyn Erased, x: *const u8, count: usize, n: usize, to: *mut u8) -> bool {
    let (sizes, runs) = (f.sizes(), n >= SHORT);
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
                f.runs(row, n, 1, acc)
            } else {
                f.rows(row, 1, n, 1, acc)
            }
            f.finish(acc, 1, n, to.add(k * sizes.out), 0);
        }
    }
    true
}
