//! Views as data: what a view is of the elements of its operand, whatever their strides.

use super::traffic::{Traffic, bytes};
use super::walk::OP;
use crate::error::{Error, Result};
use crate::layout::{Along, Course, Layout, Shape};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// A view of tensors of one shape.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct View {
    /// The shape that is viewed.
    from: Shape,
    how: How,
}
#[derive(Clone, PartialEq, Debug)]
enum How {
    /// Along axes of the operand: permuted, sliced, reversed, repeated.
    Along(Course),
    /// The same elements row by row under another shape: a copy where strides don't allow it.
    Reshape(Shape),
}

/// Which view of its operand a value is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum By {
    /// The view of that number.
    Given(usize),
    /// Without the axes of size 1 that a reduction has kept.
    Squeeze(SmallVec<[bool; 6]>),
}

/// What views have in common that differ in numbers alone: sizes, and where slices begin and step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Form {
    Along {
        /// The axis that each axis of the view goes along.
        axes: SmallVec<[Option<u8>; 6]>,
        /// Whether it has all elements, in the order that they have along each axis.
        whole: bool,
    },
    Reshape,
}

impl View {
    /// What `view` is of a row-major layout. None without elements, and for what is no view along axes one by one.
    pub fn of(x: &Layout, view: &Layout) -> Option<View> {
        let how = How::Along(x.course(view)?);
        let from = Shape::from_slice(x.shape());
        Some(View { from, how })
    }
    /// The elements of tensors of this shape under another one, of as many elements.
    pub fn reshaped(from: &[usize], to: Shape) -> View {
        let from = Shape::from_slice(from);
        View {
            from,
            how: How::Reshape(to),
        }
    }
    /// One of that form and of these shapes, to see what it leads to; none where there is none.
    pub fn of_form(form: &Form, from: &[usize], to: &[usize]) -> Option<View> {
        let Form::Along { axes, whole } = form else {
            return Some(View::reshaped(from, Shape::from_slice(to)));
        };
        let fits = |(axis, n): (&Option<u8>, &usize)| match axis {
            Some(k) if *whole => from.get(*k as usize) == Some(n),
            Some(k) => (*k as usize) < from.len(),
            None => true,
        };
        if axes.len() != to.len() || !axes.iter().zip(to).all(fits) {
            return None;
        }
        let along = |(axis, n): (&Option<u8>, &usize)| Along {
            axis: *axis,
            step: axis.is_some() as isize,
            count: *n,
        };
        let course = (
            from.iter().map(|_| 0).collect(),
            axes.iter().zip(to).map(along).collect(),
        );
        Some(View {
            from: Shape::from_slice(from),
            how: How::Along(course),
        })
    }
    /// The shape that is viewed.
    pub fn from(&self) -> &[usize] {
        &self.from
    }
    /// The shape of the view.
    pub fn shape(&self) -> Shape {
        match &self.how {
            How::Along((_, axes)) => axes.iter().map(|a| a.count).collect(),
            How::Reshape(to) => to.clone(),
        }
    }
    /// What it has in common with others.
    pub fn form(&self) -> Form {
        let How::Along((_, axes)) = &self.how else {
            return Form::Reshape;
        };
        let is_whole = |k: usize| {
            let along =
                |a: &Along| a.axis == Some(k as u8) && (a.step, a.count) == (1, self.from[k]);
            self.from[k] == 1 || axes.iter().any(along)
        };
        Form::Along {
            axes: axes.iter().map(|a| a.axis).collect(),
            whole: (0..self.from.len()).all(is_whole),
        }
    }
    /// Where it lies in a tensor of this layout, whose shape broadcasts to the one that is viewed. None
    /// where elements have to be copied.
    pub fn layout(&self, x: &Layout) -> Result<Option<Layout>> {
        let whole = match x.shape() == &self.from[..] {
            true => None,
            false => Some(x.broadcast_to(OP, &self.from)?),
        };
        let x = whole.as_ref().unwrap_or(x);
        match &self.how {
            How::Reshape(to) => Ok(x.reshape(to)),
            How::Along(course) => {
                let outside = || Error::value(OP, "a view of other sizes");
                x.follow(course).map(Some).ok_or_else(outside)
            }
        }
    }
    /// The view of a tensor, whose shape broadcasts to the one that is viewed.
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

impl Form {
    /// Whether each element is there once at most.
    pub fn is_once(&self, shape: &[usize]) -> bool {
        match self {
            Form::Along { axes, .. } => axes.iter().zip(shape).all(|(a, n)| a.is_some() || *n == 1),
            Form::Reshape => true,
        }
    }
    /// Whether all elements are there, row by row.
    pub fn is_in_order(&self, shape: &[usize]) -> bool {
        match self {
            Form::Along { axes, whole } => {
                *whole && self.is_once(shape) && axes.iter().flatten().is_sorted()
            }
            Form::Reshape => true,
        }
    }
}

/// A view, or the copy that it takes.
pub(super) fn apply(x: &Tensor, by: &By, views: &[View], traffic: &mut Traffic) -> Result<Tensor> {
    let none = || Error::value(OP, "a view is not given");
    let y = match by {
        By::Given(at) => views.get(*at).ok_or_else(none)?.apply(x)?,
        By::Squeeze(kept) => {
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
