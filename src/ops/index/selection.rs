//! Converts the items of `t[...]` to a layout and arrays of positions.

use super::Index;
use super::positions::{self, Positions};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::nest::LoopOperand;
use crate::layout::{self, Draft, Layout, Shape};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// An index, checked against a tensor.
pub struct Selection {
    /// The tensor's layout after the basic items, without the dimensions indexed by arrays.
    pub layout: Layout,
    /// The arrays and masks.
    pub advanced: Option<Advanced>,
}

/// Index arrays that are broadcast together.
pub struct Advanced {
    /// The arrays, as byte offsets from the elements of [`Selection::layout`].
    pub arrays: Vec<Positions>,
    /// The shape that they broadcast to.
    pub shape: Shape,
    /// The dimension of [`Selection::layout`] before which that shape is inserted.
    pub at: usize,
}

impl Selection {
    /// Errors if there are too many items or more than one ellipsis, an integer is out of range, a
    /// mask has another shape, or arrays are not integers or don't broadcast.
    pub fn new(
        op: &'static str,
        (x, dtype): (&Layout, DType),
        items: &[Index],
    ) -> Result<Selection> {
        let mut builder = SelectionBuilder {
            op,
            x,
            dtype,
            draft: x.draft(),
            axis: 0,
            source: 0,
            arrays: Vec::new(),
            run: ArrayRun::default(),
        };
        let hidden = hidden_dims(op, (x, dtype), items)?;
        for item in items {
            builder.item(item, hidden)?;
        }
        builder.finish()
    }
    /// The shape of the result.
    pub fn shape(&self) -> Shape {
        let mut shape = Shape::from_slice(self.layout.shape());
        if let Some(a) = &self.advanced {
            shape.insert_from_slice(a.at, &a.shape);
        }
        shape
    }
    /// The operand, in a loop over [`Selection::shape`], for the layout's elements from `first` on;
    /// its stride is 0 along the arrays' dimensions.
    pub fn elements(&self, advanced: &Advanced, first: *mut u8, size: usize) -> LoopOperand {
        let mut strides: smallvec::SmallVec<[isize; 6]> = self
            .layout
            .strides()
            .iter()
            .map(|s| s * size as isize)
            .collect();
        strides.insert_many(advanced.at, advanced.shape.iter().map(|_| 0));
        LoopOperand {
            ptr: first,
            size,
            strides,
        }
    }
    /// The operand for the arrays' table of offsets.
    pub fn offsets(&self, advanced: &Advanced, table: &Tensor) -> LoopOperand {
        let mut offsets = LoopOperand {
            ptr: table.as_ptr() as *mut u8,
            size: 8,
            strides: smallvec::smallvec![0; self.layout.rank()],
        };
        offsets
            .strides
            .insert_many(advanced.at, table.strides().iter().map(|s| s * 8));
        offsets
    }
}

/// The number of dimensions that the ellipsis stands for (an implicit one at the end if there is
/// none).
fn hidden_dims(op: &'static str, (x, dtype): (&Layout, DType), items: &[Index]) -> Result<usize> {
    let (mut used, mut ellipses) = (0, 0);
    for item in items {
        match item {
            Index::Mask(m) => used += m.rank(),
            Index::Array(a) if a.dtype().is_bool() => used += a.rank(),
            Index::Int(_) | Index::Slice { .. } | Index::Array(_) => used += 1,
            Index::Ellipsis => ellipses += 1,
            Index::NewAxis => {}
        }
    }
    if ellipses > 1 {
        return Err(Error::subscript(
            op,
            message!("{ellipses} ellipses; an index takes at most one"),
        ));
    }
    x.rank().checked_sub(used).ok_or_else(|| {
        Error::subscript(
            op,
            message!(
                "{used} indices for {} dimensions (x: {:?} {})",
                x.rank(),
                x.shape(),
                dtype
            ),
        )
    })
}

/// Tracks where the arrays' dimensions go: in place if all arrays are adjacent (an integer counts
/// as an array), else in front.
#[derive(Default)]
struct ArrayRun {
    /// The dimension of the result so far before which the first array stood.
    start: Option<usize>,
    ended: bool,
    separated: bool,
}

impl ArrayRun {
    fn index(&mut self, at: usize) {
        self.start.get_or_insert(at);
        self.separated |= self.ended;
    }
    fn other(&mut self) {
        self.ended |= self.start.is_some();
    }
}

struct SelectionBuilder<'a> {
    op: &'static str,
    x: &'a Layout,
    dtype: DType,
    draft: Draft,
    /// The dimension of `draft` that the next item indexes; `source` is that of `x`.
    axis: usize,
    source: usize,
    arrays: Vec<Positions>,
    run: ArrayRun,
}

impl SelectionBuilder<'_> {
    fn item(&mut self, item: &Index, hidden: usize) -> Result<()> {
        match item {
            Index::Int(i) => {
                self.run.index(self.axis);
                // the error names the axis of `x`, as the user knows it
                self.draft
                    .index(self.op, self.axis, *i)
                    .map_err(|e| self.at_source(e))?;
                self.source += 1;
            }
            Index::Slice { start, stop, step } => {
                self.run.other();
                if *step == 0 {
                    return Err(Error::value(self.op, "the step of a slice is 0"));
                }
                let (first, count) =
                    layout::slice_bounds(*start, *stop, *step, self.draft.shape()[self.axis]);
                self.draft.slice(self.axis, first, *step as isize, count);
                self.axis += 1;
                self.source += 1;
            }
            Index::Ellipsis => {
                self.run.other();
                self.axis += hidden;
                self.source += hidden;
            }
            Index::NewAxis => {
                self.run.other();
                self.draft.insert(self.axis);
                self.axis += 1;
            }
            Index::Array(a) if a.dtype().is_bool() => self.mask(a)?,
            Index::Mask(m) => self.mask(m)?,
            Index::Array(a) => {
                self.run.index(self.axis);
                self.array(a)?;
            }
        }
        Ok(())
    }
    fn mask(&mut self, m: &Tensor) -> Result<()> {
        self.run.index(self.axis);
        if !m.dtype().is_bool() {
            return Err(Error::dtype(
                self.op,
                message!("a mask must be bool, not {}", m.dtype()),
            ));
        }
        let over = &self.x.shape()[self.source..self.source + m.rank()];
        // the array API standard lets a size be 0: nothing is selected
        if !(m.shape().iter().zip(over)).all(|(mask, size)| mask == size || *mask == 0) {
            let (mask, from, shape, dtype) = (m.shape(), self.source, self.x.shape(), self.dtype);
            let message = message!(
                "a mask of shape {mask:?} over dimensions of sizes {over:?}, from axis {from} (x: \
                    {shape:?} {dtype})"
            );
            return Err(Error::subscript(self.op, message));
        }
        if m.rank() == 0 {
            // an implicit dimension with one element or none
            let count = m.item::<crate::Bool>()?.get() as usize;
            self.arrays.push(Positions::new(
                self.op,
                &Tensor::zeros([count], DType::I64)?,
                self.source,
                1,
                0,
            )?);
        }
        for positions in super::mask::positions(self.op, m)? {
            self.array(&positions)?;
        }
        Ok(())
    }
    /// Adds positions along this dimension, which is removed.
    fn array(&mut self, positions: &Tensor) -> Result<()> {
        let (size, stride) = (
            self.draft.shape()[self.axis],
            self.draft.strides()[self.axis],
        );
        let bytes = stride as i64 * self.dtype.size() as i64;
        self.arrays.push(Positions::new(
            self.op,
            positions,
            self.source,
            size,
            bytes,
        )?);
        // the offsets are relative to its first element
        self.draft.remove(self.axis);
        self.source += 1;
        Ok(())
    }
    fn at_source(&self, e: Error) -> Error {
        match e {
            Error::Index {
                op, index, size, ..
            } => Error::Index {
                op,
                index,
                axis: self.source,
                size,
            },
            e => e,
        }
    }
    fn finish(self) -> Result<Selection> {
        let at = if self.run.separated {
            0
        } else {
            self.run.start.unwrap_or(0)
        };
        let arrays = self.arrays;
        if arrays.is_empty() {
            return Ok(Selection {
                layout: self.draft.finish(),
                advanced: None,
            });
        }
        let advanced = Some(Advanced {
            shape: positions::shape(self.op, &arrays)?,
            arrays,
            at,
        });
        Ok(Selection {
            layout: self.draft.finish_checked()?,
            advanced,
        })
    }
}
