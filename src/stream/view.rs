//! Views as data: which elements of its operand a view has, whatever the operand's strides.

use super::codec::{Coded, Words, coded};
use super::traffic::{Traffic, bytes};
use super::walk::OP;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{Layout, Shape, ViewAxis, ViewMap};
use crate::storage::expect_memory;
use crate::tensor::{Tensor, byte_len};
use alloc::boxed::Box;
use smallvec::SmallVec;

coded! {
    /// A view of tensors of one shape.
    #[derive(Clone, PartialEq, Debug)]
    pub struct ViewOp {
        /// The shape of the operand.
        from: Shape,
        map: ViewMapping,
    }
}
coded! {
    #[derive(Clone, PartialEq, Debug)]
    enum ViewMapping {
        /// Along axes of the operand: permuted, sliced, reversed, repeated.
        Axes { map: ViewMap },
        /// The same elements in row-major order under another shape: a copy if strides don't allow
        /// a view.
        Reshape { to: Shape },
    }
}

/// How a view is referred to.
#[derive(Clone, PartialEq, Debug)]
pub enum ViewKind {
    /// By itself.
    New(Box<ViewOp>),
    /// By its index among the views of a graph or queue.
    Given(usize),
    /// The operand without the axes of size 1 that a reduction has kept.
    Squeeze(SmallVec<[bool; 6]>),
}
/// Only views by themselves can be read.
impl Coded for ViewKind {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        match self {
            ViewKind::New(view) => view.write(to),
            ViewKind::Given(at) => at.write(to),
            ViewKind::Squeeze(gone) => gone.write(to),
        }
    }
    fn read(from: &mut Words) -> Option<Self> {
        Coded::read(from).map(ViewKind::New)
    }
}

/// The structure of a view without its numbers: views of one form differ only in sizes, and in
/// where slices begin and step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ViewForm {
    Axes {
        /// The axis of the operand that each axis of the view runs along.
        axes: SmallVec<[Option<u8>; 6]>,
        /// Whether it has all elements, in the operand's order along each axis.
        whole: bool,
    },
    Reshape,
}

impl ViewOp {
    /// Converts `view`, a view of the row-major layout `x`. None if it has no elements, or doesn't
    /// run along axes one by one.
    pub fn of(x: &Layout, view: &Layout) -> Option<ViewOp> {
        let map = x.view_map(view)?;
        let map = ViewMapping::Axes { map };
        let from = Shape::from_slice(x.shape());
        Some(ViewOp { from, map })
    }
    /// Tensors of shape `from` under another shape, of as many elements.
    pub fn reshaped(from: &[usize], to: Shape) -> ViewOp {
        let from = Shape::from_slice(from);
        ViewOp {
            from,
            map: ViewMapping::Reshape { to },
        }
    }
    /// Some view of that form between these shapes, if there is one.
    pub(super) fn of_form(form: &ViewForm, from: &[usize], to: &[usize]) -> Option<ViewOp> {
        let ViewForm::Axes { axes, whole } = form else {
            return Some(ViewOp::reshaped(from, Shape::from_slice(to)));
        };
        let fits = |(axis, n): (&Option<u8>, &usize)| match axis {
            Some(k) if *whole => from.get(*k as usize) == Some(n),
            Some(k) => (*k as usize) < from.len(),
            None => true,
        };
        if axes.len() != to.len() || !axes.iter().zip(to).all(fits) {
            return None;
        }
        let axis_of = |(axis, n): (&Option<u8>, &usize)| ViewAxis {
            axis: *axis,
            step: axis.is_some() as isize,
            count: *n,
        };
        let map = (
            from.iter().map(|_| 0).collect(),
            axes.iter().zip(to).map(axis_of).collect(),
        );
        Some(ViewOp {
            from: Shape::from_slice(from),
            map: ViewMapping::Axes { map },
        })
    }
    /// The shape of the operand.
    pub fn from(&self) -> &[usize] {
        &self.from
    }
    /// The shape of the view.
    pub fn shape(&self) -> Shape {
        match &self.map {
            ViewMapping::Axes { map: (_, axes) } => axes.iter().map(|a| a.count).collect(),
            ViewMapping::Reshape { to } => to.clone(),
        }
    }
    pub(super) fn form(&self) -> ViewForm {
        let ViewMapping::Axes { map: (_, axes) } = &self.map else {
            return ViewForm::Reshape;
        };
        let is_whole = |k: usize| {
            let spans =
                |a: &ViewAxis| a.axis == Some(k as u8) && (a.step, a.count) == (1, self.from[k]);
            self.from[k] == 1 || axes.iter().any(spans)
        };
        ViewForm::Axes {
            axes: axes.iter().map(|a| a.axis).collect(),
            whole: (0..self.from.len()).all(is_whole),
        }
    }
    /// The layout of the view in a tensor of layout `x`, whose shape broadcasts to the operand's.
    /// None if elements must be copied.
    pub fn layout(&self, x: &Layout) -> Result<Option<Layout>> {
        let whole = match x.shape() == &self.from[..] {
            true => None,
            false => Some(x.broadcast_to(OP, &self.from)?),
        };
        let x = whole.as_ref().unwrap_or(x);
        match &self.map {
            ViewMapping::Reshape { to } => Ok(x.reshape(to)),
            ViewMapping::Axes { map } => {
                let outside = || Error::value(OP, "a view of other sizes");
                x.mapped(map).map(Some).ok_or_else(outside)
            }
        }
    }
    /// Whether the view of a row-major operand is row-major, too.
    #[cfg(feature = "bindings")]
    pub fn is_row_major(&self) -> bool {
        let whole = Layout::contiguous(&self.from);
        let view = whole.and_then(|x| self.layout(&x));
        view.is_ok_and(|x| x.is_none_or(|x| x.is_contiguous()))
    }
    /// Whether it is a view of tensors of shape `x`.
    pub(super) fn fits(&self, x: &[usize]) -> bool {
        let Ok(whole) = Layout::contiguous(&self.from) else {
            return false;
        };
        self.from[..] == *x
            && match &self.map {
                ViewMapping::Reshape { to } => {
                    Layout::contiguous(to).is_ok_and(|to| to.len() == whole.len())
                }
                ViewMapping::Axes { .. } => self.layout(&whole).is_ok_and(|view| view.is_some()),
            }
    }
    /// Whether memory may hold the elements, if they must be copied.
    pub fn fits_memory(&self, dtype: DType) -> bool {
        let ViewMapping::Reshape { to } = &self.map else {
            return true; // never copied
        };
        let bytes = Layout::contiguous(to).and_then(|x| byte_len(&x, dtype));
        bytes.and_then(expect_memory).is_ok()
    }
    /// Views a tensor whose shape broadcasts to the operand's, or copies its elements if strides
    /// don't allow a view.
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        match self.layout(x.layout())? {
            Some(layout) => Ok(x.view(layout)),
            None => {
                let copy = x.broadcast_to(&self.from)?.copy()?;
                let layout = Layout::contiguous(&self.shape())?;
                Ok(copy.view(layout))
            }
        }
    }
}

impl ViewForm {
    /// Whether each element occurs at most once.
    pub fn is_once(&self, shape: &[usize]) -> bool {
        match self {
            ViewForm::Axes { axes, .. } => {
                axes.iter().zip(shape).all(|(a, n)| a.is_some() || *n == 1)
            }
            ViewForm::Reshape => true,
        }
    }
    /// Whether it has the operand's elements with axes permuted, and axes of size 1 come or gone.
    pub fn is_permutation(&self, shape: &[usize]) -> bool {
        matches!(self, ViewForm::Axes { whole: true, .. }) && self.is_once(shape)
    }
    /// The view of a tensor, for a permutation.
    pub fn permute(&self, x: &Tensor) -> Result<Tensor> {
        let sizes = match self {
            ViewForm::Axes { axes, .. } => {
                let size = |k: &Option<u8>| k.map_or(1, |k| x.shape()[k as usize]);
                axes.iter().map(size).collect()
            }
            ViewForm::Reshape => Shape::from_slice(x.shape()),
        };
        let outside = || Error::value(OP, "a view of other sizes");
        let view = ViewOp::of_form(self, x.shape(), &sizes);
        view.ok_or_else(outside)?.apply(x)
    }
    /// Whether all elements occur, in row-major order.
    pub fn is_in_order(&self, shape: &[usize]) -> bool {
        match self {
            ViewForm::Axes { axes, whole } => {
                *whole && self.is_once(shape) && axes.iter().flatten().is_sorted()
            }
            ViewForm::Reshape => true,
        }
    }
}

/// Views a tensor, or copies it if need be, which counts as traffic.
pub(super) fn apply(
    x: &Tensor,
    kind: &ViewKind,
    views: &[ViewOp],
    traffic: &mut Traffic,
) -> Result<Tensor> {
    let none = || Error::value(OP, "a view is not given");
    let y = match kind {
        ViewKind::New(view) => view.apply(x)?,
        ViewKind::Given(at) => views.get(*at).ok_or_else(none)?.apply(x)?,
        ViewKind::Squeeze(kept) => {
            let gone = (0..kept.len()).filter(|k| kept[*k]).map(|k| k as isize);
            let layout = x.layout();
            x.view(layout.squeeze(OP, Some(&gone.collect::<SmallVec<[isize; 6]>>()))?)
        }
    };
    if !y.shares_storage(x) {
        *traffic += Traffic {
            kernels: 1,
            allocated: bytes(&y),
            read: bytes(x),
            written: bytes(&y),
        };
    }
    Ok(y)
}
