//! Reductions over any set of axes of any layout: programs that end in accumulators. The axes are
//! collapsed (those that are kept and those that are reduced, each among themselves), then walked
//! in tiles (`plan`). Tiles are joined as a tree whose shape follows from the layout alone (`tree`),
//! so the bits are the same for any number of threads. What is reduced are the elements, or what a
//! program makes of each (`computed`).

mod computed;
mod ends;
mod erased;
mod plan;
mod stepped;
mod tree;

pub use self::ends::End;
pub use self::stepped::{Lane, Step, fold_stepped};

use self::computed::{Tiles, tile_of};
use self::erased::Erased;
use self::plan::{Plan, Pointers, SHORT, TILE};
use self::tree::Tree;
use super::nest::{Dim, MAX_OPERANDS};
use super::program::Program;
use super::view::{View, ViewMut};
use crate::dtype::Pod;
use crate::error::Result;
use crate::layout::Layout;
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
    reduce(Source::Stored(x), &reduced, &mut [End::new(f, out)])
}

/// The same of what a program computes of each element of the inputs, views of one shape. Each
/// output of the program has an end that takes it. Tiles are those of a tensor of layout `value`, in
/// which an elementwise operation would have stored an output.
pub fn fold_computed(
    program: &Program,
    inputs: &[View<'_>],
    value: &Layout,
    reduced: impl Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> Result<()> {
    reduce(Source::Computed(program, inputs, value), &reduced, ends)
}

/// Whether [`fold_computed`] gives the bits that [`fold`] gives of the program's outputs, stored in
/// layout `value`, one after the other. It does unless inputs that broadcast keep loops apart that
/// are one loop of `value`.
pub fn has_bits_of_stored(
    program: &Program,
    inputs: &[View<'_>],
    value: &Layout,
    reduced: impl Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> bool {
    let computed = plan(&Source::Computed(program, inputs, value), &reduced, ends);
    (0..ends.len()).all(|k| {
        let end = &mut ends[k..][..1];
        let size = end[0].fold.sizes().element;
        // SAFETY: nothing is read: the view serves for its layout and size alone.
        let stored = unsafe { View::new(no_elements(), size, value) };
        computed.has_bits_of(&plan(&Source::Stored(stored), &reduced, end))
    })
}

/// [`fold`] to an end.
pub fn fold_to(x: View<'_>, reduced: impl Fn(usize) -> bool, end: End<'_>) -> Result<()> {
    reduce(Source::Stored(x), &reduced, &mut [end])
}

/// Whether the result of each index of the kept axes has the same bits where those beside it are
/// left out: each is reduced in one tile. For elements in layout `value`.
pub fn is_separable(value: &Layout, reduced: impl Fn(usize) -> bool, end: &mut End<'_>) -> bool {
    let size = end.fold.sizes().element;
    // SAFETY: nothing is read: the view serves for its layout and size alone.
    let stored = unsafe { View::new(no_elements(), size, value) };
    let ends = core::slice::from_mut(end);
    plan(&Source::Stored(stored), &reduced, ends).is_one_tile()
}

/// What is reduced.
enum Source<'a, 'v> {
    /// Elements in memory.
    Stored(View<'v>),
    /// What a program computes of these inputs, by the tiles of a tensor of that layout.
    Computed(&'a Program, &'a [View<'v>], &'a Layout),
}

impl Source<'_, '_> {
    /// Where the elements lie, or would.
    fn layout(&self) -> &Layout {
        match self {
            Source::Stored(x) => x.layout(),
            Source::Computed(_, _, value) => value,
        }
    }
    fn program(&self) -> Option<&Program> {
        match self {
            Source::Stored(_) => None,
            Source::Computed(program, ..) => Some(program),
        }
    }
    /// The program's inputs.
    fn inputs(&self) -> &[View<'_>] {
        match self {
            Source::Stored(_) => &[],
            Source::Computed(_, inputs, _) => inputs,
        }
    }
}

/// A place that is never read.
fn no_elements() -> *const u8 {
    core::ptr::without_provenance(ALIGN)
}

fn reduce(
    source: Source<'_, '_>,
    reduced: &dyn Fn(usize) -> bool,
    ends: &mut [End<'_>],
) -> Result<()> {
    let (x, inputs) = (source.layout(), source.inputs());
    let taken = ends.iter().map(|e| e.fold.sizes().element as u8);
    match &source {
        Source::Stored(x) => assert!(taken.into_iter().all(|size| size as usize == x.size())),
        Source::Computed(p, inputs, value) => {
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
    let last = (0..x.rank())
        .rev()
        .find(|k| is_kept(k) && x.shape()[*k] != 1);
    let one_view = match &source {
        Source::Stored(x) => Some(x),
        Source::Computed(_, [x], value) if value.is_contiguous() => Some(x),
        _ => None,
    };
    let rows = (0..last.unwrap_or(0)).all(|k| is_kept(&k) || x.shape()[k] == 1);
    if let (Some(x), [end], true) = (one_view, &mut *ends, rows)
        && x.layout().is_contiguous()
    {
        let (n, to) = (x.layout().len(), end.out.as_mut_ptr());
        let mut buffer = Buffer([const { MaybeUninit::uninit() }; SMALL]);
        // SAFETY: all elements of both (VIEW1), those of the result for writing (VIEW2), of the
        // fold's types; what a program computes of them fits the buffer.
        let done = unsafe {
            let elements = match source.program() {
                None => Some(x.as_ptr()),
                Some(p) => p.run_small(x.as_ptr(), n, &mut buffer.0),
            };
            elements.is_some_and(|x| one_tile(end.fold, x, count, n / count, to))
        };
        if done {
            return Ok(());
        }
    }
    let plan = plan(&source, reduced, ends);
    let tile = source.program().map(|p| (p, tile_of(&plan, p)));
    let tree = Tree {
        computed: tile.as_ref().map(|(p, tile)| Tiles::new(p, tile)),
        plan: &plan,
        ends,
        outputs: 1 + inputs.len(),
    };
    // SAFETY: FOLD1: the loops are those of views of the ends' types (VIEW1, VIEW2).
    unsafe { tree.run() }
}

/// How these axes are reduced to these ends, of which there is one element at least.
fn plan(source: &Source, reduced: &dyn Fn(usize) -> bool, ends: &mut [End]) -> Plan {
    let (x, inputs) = (source.layout(), source.inputs());
    let element = ends
        .iter()
        .map(|e| e.fold.sizes().element)
        .max()
        .unwrap_or(1);
    let first = match source {
        Source::Stored(x) => x.as_ptr(),
        Source::Computed(..) => no_elements(),
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
    // elements of the kept axes from this one on
    let mut inner: usize = kept.clone().map(|k| x.shape()[k]).product();
    let kept = kept.filter(longer).map(|k| {
        inner /= x.shape()[k];
        dim(k, inner)
    });
    let reduced = (0..x.rank()).filter(|k| reduced(*k)).filter(longer);
    let reduced = reduced.map(|k| dim(k, 0));
    let each = ends.iter().map(|e| e.fold.sizes());
    let sizes = Sizes {
        element,
        acc: each.clone().map(|s| s.acc).sum(),
        out: each.clone().map(|s| s.out).sum(),
        flops: each.map(|s| s.flops).sum::<usize>() + source.program().map_or(0, Program::flops),
    };
    Plan::new(ptrs, operands, sizes, kept, reduced)
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
