//! What steps on whole tensors and on blocks share.

use super::fold::Kind;
use super::walk::{OP, Walk};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::fold::{fold_computed, fold_to};
use crate::exec::program::Program as Code;
use crate::exec::view::{View, ViewMut};
use crate::layout::{self, Axes, Layout, Shape};
use crate::ops::Reduction;
use crate::ops::reduce::Reduced;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The error of a value that is used before it is computed: no plan has one.
#[cold]
pub(super) fn missing() -> Error {
    Error::value(OP, "a value is used before it is computed")
}

/// Tensors by slot.
pub(super) type Slots = [Option<Tensor>];

pub(super) fn tensor(slots: &Slots, slot: usize) -> Result<&Tensor> {
    slots[slot].as_ref().ok_or_else(missing)
}

/// The inputs of a walk.
pub(super) fn inputs<'a>(walk: &Walk, slots: &'a Slots) -> Result<SmallVec<[&'a Tensor; 6]>> {
    walk.inputs
        .iter()
        .map(|slot| tensor(slots, *slot))
        .collect()
}
/// The shape of its elements.
pub(super) fn shape_of<'a>(shapes: impl Iterator<Item = &'a [usize]>) -> Result<Shape> {
    layout::broadcast(OP, &shapes.collect::<SmallVec<[&[usize]; 6]>>())
}

/// The axes of a reduction of elements of this shape.
pub(super) fn axes(
    kind: Kind,
    shape: &[usize],
    reduced: &[bool],
    keepdims: bool,
) -> Result<Reduced> {
    let named = (0..shape.len()).filter(|k| reduced[*k]).map(|k| k as isize);
    let axes = Axes::from(named.collect::<Vec<isize>>());
    Reduced::of_shape(kind.name(), shape, Reduction { axes, keepdims })
}

/// Reduces a block of elements, which begin at these places, to a block of the result.
///
/// # Safety
/// VIEW1 for each place; `out` is writable for the result, and apart from all else.
pub(super) unsafe fn reduce_block(
    kind: Kind,
    code: Option<&Code>,
    places: &[(*const u8, usize, &Layout)],
    value: &Layout,
    reduced: &[bool],
    dtype: DType,
    out: (*mut u8, &Layout),
) -> Result<()> {
    let size = kind.dtype(dtype)?.size();
    // SAFETY: the caller's.
    let (views, to) = unsafe {
        let views: SmallVec<[View; 6]> = places
            .iter()
            .map(|(p, size, layout)| View::new(*p, *size, layout))
            .collect();
        (views, ViewMut::new(out.0, size, out.1))
    };
    let end = kind.end(dtype, to)?;
    match code {
        None => fold_to(views[0], |k| reduced[k], end),
        Some(code) => fold_computed(code, &views, value, |k| reduced[k], &mut [end]),
    }
}
