//! Reductions over any set of axes of any layout: programs that end in accumulators. Kept and
//! reduced axes are collapsed separately and then walked in tiles (`plan`). Tiles are joined in a
//! tree whose shape follows from the layout alone (`tree`), so the bits are the same on any number
//! of threads. The elements are in memory, or a program computes them (`computed`).

mod computed;
mod ends;
mod erased;
mod plan;
mod planned;
mod stepped;
mod tree;

pub use self::ends::{End, FoldRef};
pub use self::planned::{PlannedFold, ReadyFold};
pub use self::stepped::{SteppedFold, StridedInput, fold_stepped};

use self::computed::{Tiles, tile_of};
use self::erased::Erased;
use self::plan::{FoldPlan, NARROW, Pointers, SHORT, TILE};
use self::tree::FoldTree;
use super::nest::{Dim, MAX_OPERANDS};
use super::program::TileProgram;
use super::tile::from_memory;
use super::view::{View, ViewMut};
use crate::dtype::Pod;
use crate::error::Result;
use crate::layout::Layout;
use crate::storage::ALIGN;
use core::mem::MaybeUninit;
use smallvec::SmallVec;

/// A reduction's arithmetic, over slices. `join` is associative up to rounding.
pub trait Fold: Sync {
    /// Elements.
    type In: Pod;
    /// The state of a partial reduction.
    type Acc: Pod;
    /// Results.
    type Out: Pod;
    /// Arithmetic operations per element.
    const FLOPS: usize = 1;
    /// Reduces each of `acc.len()` consecutive runs of `n` elements in `x`; runs of no elements
    /// give the identity.
    fn runs(&self, x: &[Self::In], n: usize, acc: &mut [Self::Acc]);
    /// Reduces each of `acc.len()` columns over `rows` rows that begin `stride` elements apart.
    fn rows(&self, x: &[Self::In], stride: usize, rows: usize, acc: &mut [Self::Acc]);
    /// Joins `b[i]` into `a[i]`.
    fn join(&self, a: &mut [Self::Acc], b: &[Self::Acc]);
    /// The result for `n` elements.
    fn finish(&self, acc: &Self::Acc, n: usize) -> Self::Out;
}

/// Bytes of a fold's types, and operations per element.
#[derive(Clone, Copy)]
struct FoldSizes {
    element: usize,
    acc: usize,
    out: usize,
    flops: usize,
}

/// Reduces `x` along the axes that `reduced` selects into `out`, which is contiguous and has the
/// elements of the kept axes.
///
/// Errors if there is no memory for scratch.
pub fn fold<'a>(
    f: impl Into<FoldRef<'a>>,
    x: View<'_>,
    reduced: impl Fn(usize) -> bool,
    out: ViewMut<'a>,
) -> Result<()> {
    reduce(FoldSource::Stored(x), &reduced, &mut [End::new(f, out)])
}

/// The same for the elements that a program computes from the inputs, views of one shape; there is
/// an end for each output of the program. Tiles are those of a tensor of layout `value`, the one in
/// which an elementwise operation would have stored an output.
pub fn fold_computed(
    program: &TileProgram,
    inputs: &[View<'_>],
    value: &Layout,
    reduced: impl Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> Result<()> {
    reduce(FoldSource::Computed(program, inputs, value), &reduced, ends)
}

/// Whether [`fold_computed`] gives the same bits as [`fold`] would, one after the other, for the
/// program's outputs stored in layout `value`. It does unless broadcast inputs keep loops apart
/// that `value` would merge.
pub fn has_bits_of_stored(
    program: &TileProgram,
    inputs: &[View<'_>],
    value: &Layout,
    reduced: impl Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> bool {
    has_bits_of_each(
        &FoldSource::Computed(program, inputs, value),
        &reduced,
        ends,
    )
}
/// Whether one pass for all ends gives the bits of a pass over stored elements for each.
fn has_bits_of_each(
    source: &FoldSource,
    reduced: &dyn Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> bool {
    let all = plan(source, reduced, ends);
    (0..ends.len()).all(|k| {
        let end = &mut ends[k..][..1];
        let size = end[0].fold.sizes().element;
        // SAFETY: nothing is read: only the layout and the size of the view are used.
        let stored = unsafe { View::new(no_elements(), size, source.layout()) };
        all.has_bits_of(&plan(&FoldSource::Stored(stored), reduced, end))
    })
}

/// [`fold`] with ends that all take the elements of `x`, in one pass; returns whether that gives
/// the bits of a pass for each, without which nothing is done.
#[cfg(feature = "stream")]
pub fn fold_to_all(
    x: View<'_>,
    reduced: impl Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> Result<bool> {
    let source = FoldSource::Stored(x);
    let same = has_bits_of_each(&source, &reduced, ends);
    if same {
        reduce(source, &reduced, ends)?;
    }
    Ok(same)
}

/// [`fold`] with an end.
pub fn fold_to(x: View<'_>, reduced: impl Fn(usize) -> bool, end: End<'_>) -> Result<()> {
    reduce(FoldSource::Stored(x), &reduced, &mut [end])
}

/// Whether a result has the same bits if others along the kept axes are left out, since each is
/// reduced in one tile. For elements in layout `value`.
pub fn is_separable(value: &Layout, reduced: impl Fn(usize) -> bool, end: &mut End<'_>) -> bool {
    let size = end.fold.sizes().element;
    // SAFETY: nothing is read: only the layout and the size of the view are used.
    let stored = unsafe { View::new(no_elements(), size, value) };
    let ends = core::slice::from_mut(end);
    plan(&FoldSource::Stored(stored), &reduced, ends).is_one_tile()
}

/// The elements to reduce.
enum FoldSource<'a, 'v> {
    /// Elements in memory.
    Stored(View<'v>),
    /// What a program computes from these inputs, in the tiles of a tensor of that layout.
    Computed(&'a TileProgram, &'a [View<'v>], &'a Layout),
}

impl FoldSource<'_, '_> {
    /// The layout of the elements, stored or not.
    fn layout(&self) -> &Layout {
        match self {
            FoldSource::Stored(x) => x.layout(),
            FoldSource::Computed(_, _, value) => value,
        }
    }
    fn program(&self) -> Option<&TileProgram> {
        match self {
            FoldSource::Stored(_) => None,
            FoldSource::Computed(program, ..) => Some(program),
        }
    }
    /// The program's inputs.
    fn inputs(&self) -> &[View<'_>] {
        match self {
            FoldSource::Stored(_) => &[],
            FoldSource::Computed(_, inputs, _) => inputs,
        }
    }
}

/// An address that is never read.
pub fn no_elements() -> *const u8 {
    core::ptr::without_provenance(ALIGN)
}

fn reduce(
    source: FoldSource<'_, '_>,
    reduced: &dyn Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> Result<()> {
    let (x, inputs) = (source.layout(), source.inputs());
    let taken = ends.iter().map(|e| e.fold.sizes().element as u8);
    match &source {
        FoldSource::Stored(x) => assert!(taken.into_iter().all(|size| size as usize == x.size())),
        FoldSource::Computed(p, inputs, value) => {
            let given = inputs.iter().map(|x| x.size() as u8);
            assert!(p.inputs == inputs.len() && p.sizes.iter().copied().eq(given.chain(taken)));
            assert!(p.sizes.len() < MAX_OPERANDS);
            assert!(inputs.iter().all(|i| i.layout().shape() == value.shape()));
        }
    }
    let is_kept = |k: &usize| !reduced(*k);
    let kept = (0..x.rank()).filter(is_kept).map(|k| x.shape()[k]);
    let count: usize = kept.product();
    for end in ends.iter() {
        assert!(end.out.layout().is_contiguous() && end.out.layout().len() == count);
    }
    if count == 0 {
        return Ok(());
    }
    let one_view = match &source {
        FoldSource::Stored(x) => Some(x),
        FoldSource::Computed(_, [x], value) if value.is_contiguous() => Some(x),
        _ => None,
    };
    if let (Some(x), [end]) = (one_view, &mut *ends)
        && x.layout().is_contiguous()
        && let Some(side) = Side::of(x.layout().shape(), reduced)
    {
        let (n, to) = (x.layout().len(), end.out.as_mut_ptr());
        let mut buffer = Buffer([const { MaybeUninit::uninit() }; SMALL]);
        // SAFETY: all elements of both views (VIEW1), writable for the result (VIEW2), of the
        // fold's types; what a program computes fits the buffer.
        let done = unsafe {
            let elements = match source.program() {
                None => Some(x.as_ptr()),
                Some(p) => p.run_small(x.as_ptr(), n, &mut buffer.0),
            };
            elements.is_some_and(|x| one_tile(end.fold, x, side, count, n / count, to))
        };
        if done {
            return Ok(());
        }
    }
    let plan = plan(&source, reduced, ends);
    let tile = source.program().map(|p| (p, tile_of(&plan, p)));
    let bytes = inputs.iter().map(|x| x.size()).sum::<usize>();
    let prefetched = from_memory(bytes, x.len());
    let folds: SmallVec<[&dyn Erased; 4]> = ends.iter().map(|e| e.fold).collect();
    let tree = FoldTree {
        computed: tile
            .as_ref()
            .map(|(p, tile)| Tiles::new(p, tile, prefetched)),
        plan: &plan,
        folds: &folds,
        outputs: 1 + inputs.len(),
    };
    // SAFETY: FOLD1: the loops are those of views of the ends' types (VIEW1, VIEW2).
    unsafe { tree.run() }
}

/// Plans the reduction along these axes to these ends, which have at least one element.
fn plan(source: &FoldSource, reduced: &dyn Fn(usize) -> bool, ends: &mut [End]) -> FoldPlan {
    let (x, inputs) = (source.layout(), source.inputs());
    let element = ends
        .iter()
        .map(|e| e.fold.sizes().element)
        .max()
        .unwrap_or(1);
    let first = match source {
        FoldSource::Stored(x) => x.as_ptr(),
        FoldSource::Computed(..) => no_elements(),
    };
    let outputs = 1 + inputs.len();
    let operands = outputs + ends.len();
    let mut ptrs: Pointers = [core::ptr::null_mut(); MAX_OPERANDS];
    ptrs[0] = first as *mut u8;
    for (to, x) in ptrs[1..].iter_mut().zip(inputs) {
        *to = x.as_ptr() as *mut u8;
    }
    for (to, end) in ptrs[outputs..].iter_mut().zip(ends.iter_mut()) {
        *to = end.out.as_mut_ptr();
    }
    let dim = |axis: usize, inner: usize| {
        let mut steps = [0; MAX_OPERANDS];
        steps[0] = x.strides()[axis] * element as isize;
        for (step, x) in steps[1..].iter_mut().zip(inputs) {
            *step = x.layout().strides()[axis] * x.size() as isize;
        }
        for (step, end) in steps[outputs..].iter_mut().zip(ends.iter()) {
            *step = (inner * end.fold.sizes().out) as isize;
        }
        Dim {
            n: x.shape()[axis],
            steps,
        }
    };
    let is_kept = |k: &usize| !reduced(*k);
    let longer = |k: &usize| x.shape()[*k] != 1;
    let kept = (0..x.rank()).filter(is_kept);
    // elements of the kept axes from the current one on
    let mut inner: usize = kept.clone().map(|k| x.shape()[k]).product();
    let kept = kept.filter(longer).map(|k| {
        inner /= x.shape()[k];
        dim(k, inner)
    });
    let reduced = (0..x.rank()).filter(|k| reduced(*k)).filter(longer);
    let reduced = reduced.map(|k| dim(k, 0));
    let each = ends.iter().map(|e| e.fold.sizes());
    let sizes = FoldSizes {
        element,
        acc: each.clone().map(|s| s.acc).sum(),
        out: each.clone().map(|s| s.out).sum(),
        flops: each.map(|s| s.flops).sum::<usize>()
            + source.program().map_or(0, TileProgram::flops),
    };
    let run_by_run = source.program().is_none() && ends.len() == 1;
    FoldPlan::new(ptrs, operands, sizes, run_by_run, kept, reduced)
}

/// The most bytes that a program may compute without a plan.
const SMALL: usize = 8 * crate::exec::tile::TILE;
#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; SMALL]);

/// How contiguous elements lie beside those that they are reduced with.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// Each row is reduced.
    Rows,
    /// Each column is reduced.
    Columns,
}

impl Side {
    /// Whether the axes of a shape are first those that are kept, or first those that are reduced.
    fn of(shape: &[usize], reduced: &dyn Fn(usize) -> bool) -> Option<Side> {
        let axes = (0..shape.len()).filter(|k| shape[*k] != 1).map(reduced);
        if axes.clone().is_sorted() {
            Some(Side::Rows)
        } else if axes.rev().is_sorted() {
            Some(Side::Columns)
        } else {
            None
        }
    }
}

/// Bytes of accumulators of a reduction without a plan.
const ACCUMULATORS: usize = if cfg!(feature = "std") { 1024 } else { 128 };
/// Memory for accumulators.
#[cfg_attr(feature = "std", repr(C, align(64)))]
#[cfg_attr(not(feature = "std"), repr(C, align(16)))]
struct Accumulators([u8; ACCUMULATORS]);
const _: () = assert!(align_of::<Accumulators>() == ALIGN);

/// Reduces `count` consecutive rows of `n` elements at `x`, or as many columns, to as many results
/// at `to`, without a plan, but by the kernels and in the order that one would choose. Returns
/// false, with nothing done, if a plan is needed: for no elements, more than a tile, large
/// accumulators, many rows too short for runs, or columns to be packed as runs.
///
/// # Safety
/// `x` is readable and `to` writable to that extent, of the fold's types, and they don't overlap.
unsafe fn one_tile(
    f: &dyn Erased,
    x: *const u8,
    side: Side,
    count: usize,
    n: usize,
    to: *mut u8,
) -> bool {
    /// The most rows that are too short for runs.
    const SHORT_ROWS: usize = 32;
    let (sizes, runs) = (f.sizes(), n >= SHORT);
    let (fits, at_once) = match side {
        Side::Rows => (runs || count <= SHORT_ROWS, 1),
        Side::Columns => (count >= NARROW || !runs, count),
    };
    if n == 0 || count * n > TILE / sizes.element || at_once * sizes.acc > ACCUMULATORS || !fits {
        return false;
    }
    let mut acc = MaybeUninit::<Accumulators>::uninit();
    let acc = acc.as_mut_ptr() as *mut u8;
    // SAFETY: by the caller; the accumulators have room and are aligned, and are written, all
    // bytes of them, before a slice of them is made.
    unsafe {
        acc.write_bytes(0, at_once * sizes.acc);
        if side == Side::Columns {
            f.rows(x, count, n, count, acc);
            f.finish(acc, count, n, to, sizes.out as isize);
            return true;
        }
        for k in 0..count {
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
