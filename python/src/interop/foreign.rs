//! Foreign memory described by pointer, shape and byte strides.

use crate::convert::error::Raise;
use flex::layout::{Layout, Shape, Strides};
use flex::{Bytes, DType, Error, Tensor};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

/// Owns what keeps borrowed memory alive, and releases it when it is dropped. As a Python object it
/// is dropped with the GIL held, on whatever thread the last tensor of that memory was dropped
/// (INTEROP2).
#[pyclass(frozen, module = "flex._flex")]
pub struct Lease(#[allow(dead_code, reason = "held to be dropped")] Box<dyn Send + Sync>);

impl Lease {
    /// A lease that drops `resource` when it ends.
    pub fn new(py: Python<'_>, resource: impl Send + Sync + 'static) -> PyResult<Py<Lease>> {
        Py::new(py, Lease(Box::new(resource)))
    }
}

/// Elements in foreign memory.
pub struct Foreign {
    /// The element of index 0, 0, ..
    pub first: *const u8,
    pub shape: Shape,
    /// Strides in bytes.
    pub strides: Strides,
    pub dtype: DType,
    /// Whether the byte order differs from this machine's.
    pub swapped: bool,
}

impl Foreign {
    /// Elements as described by another library: errors on negative sizes; row-major if there are
    /// no strides.
    pub fn new(
        first: *const u8,
        shape: &[isize],
        strides: Option<&[isize]>,
        dtype: DType,
        swapped: bool,
    ) -> PyResult<Foreign> {
        let negative = |_| PyBufferError::new_err(format!("shape {shape:?} has a negative size"));
        let sizes = shape
            .iter()
            .map(|d| usize::try_from(*d))
            .collect::<Result<Shape, _>>()
            .map_err(negative)?;
        let strides = match strides {
            Some(s) => Strides::from_slice(s),
            None => Layout::contiguous(&sizes)
                .raise()?
                .strides()
                .iter()
                .map(|s| s.saturating_mul(dtype.size() as isize))
                .collect(),
        };
        if first.is_null() && !sizes.contains(&0) {
            return Err(PyBufferError::new_err("a null pointer to elements"));
        }
        Ok(Foreign {
            first,
            shape: sizes,
            strides,
            dtype,
            swapped,
        })
    }
    /// A tensor of the elements, which `lease` keeps alive.
    ///
    /// # Safety
    /// While the lease lives, every element that shape and strides reach from `first` is readable.
    pub unsafe fn tensor(self, lease: Py<Lease>, copy: Option<bool>) -> PyResult<Tensor> {
        if self.shape.contains(&0) {
            return Tensor::empty(&self.shape, self.dtype).raise();
        }
        self.extent().raise()?;
        let tensor = match self.obstacle() {
            None => {
                let (layout, start, len) = self.layout().raise()?;
                if let Some(t) = self.returned(&layout, start, len) {
                    return Ok(if copy == Some(true) {
                        t.copy().raise()?
                    } else {
                        t
                    });
                }
                // SAFETY: `start .. start + len` spans the elements, which the caller vouches for.
                let t = unsafe {
                    Tensor::from_foreign(start, len, Box::new(lease), layout, self.dtype)
                }
                .raise()?;
                return Ok(if copy == Some(true) {
                    t.copy().raise()?
                } else {
                    t
                });
            }
            Some(why) if copy == Some(false) => {
                return Err(PyBufferError::new_err(format!(
                    "{why}: that needs a copy, and copy is False"
                )));
            }
            // SAFETY: the caller's promise; the lease lives until the copy is made.
            Some(_) => unsafe { self.copied() }.raise()?,
        };
        drop(lease);
        Ok(tensor)
    }
    /// The tensor of memory that flex itself has lent and gets back: a handle to that memory, which
    /// needs no lease (BORROW2). `None` for other memory, and if it is misaligned for the dtype.
    fn returned(&self, layout: &Layout, start: *const u8, len: usize) -> Option<Tensor> {
        let (bytes, first) = Bytes::lent_at(start, len)?;
        let size = self.dtype.size();
        let offset = layout
            .offset()
            .checked_add(first / size)
            .filter(|_| first % size == 0)?;
        Tensor::from_parts(
            bytes,
            Layout::new(layout.shape(), layout.strides(), offset).ok()?,
            self.dtype,
        )
        .ok()
    }
    /// Why the elements can't be read in place.
    fn obstacle(&self) -> Option<&'static str> {
        let size = self.dtype.size() as isize;
        if self.swapped {
            Some("the byte order is not this machine's")
        } else if !(self.first as usize).is_multiple_of(self.dtype.align()) {
            Some("the memory is not aligned")
        } else if self
            .shape
            .iter()
            .zip(&self.strides)
            .any(|(d, s)| *d > 1 && s % size != 0)
        {
            Some("the strides are not multiples of the item size")
        } else {
            None
        }
    }
    /// The bytes before the first element, and the bytes that all elements span. Errors if that
    /// exceeds the address space.
    pub fn extent(&self) -> flex::Result<(usize, usize)> {
        let reach = |sign: i128| -> i128 {
            let bytes = |(d, s): (&usize, &isize)| ((*d as i128 - 1) * *s as i128 * sign).max(0);
            self.shape
                .iter()
                .zip(&self.strides)
                .map(bytes)
                .fold(0, i128::saturating_add)
        };
        let (before, after) = (reach(-1), reach(1));
        let span = before
            .saturating_add(after)
            .saturating_add(self.dtype.size() as i128);
        match isize::try_from(span) {
            Ok(span) => Ok((before as usize, span as usize)),
            Err(_) => Err(Error::Memory {
                bytes: span as u128,
                limit: 0,
            }),
        }
    }
    /// A layout of the elements, the byte that its offset counts from, and the bytes that it spans.
    fn layout(&self) -> flex::Result<(Layout, *const u8, usize)> {
        let size = self.dtype.size();
        // the stride of a dimension of size 1 is arbitrary
        let step = |(d, s): (&usize, &isize)| if *d > 1 { *s / size as isize } else { 1 };
        let strides: Strides = self.shape.iter().zip(&self.strides).map(step).collect();
        let (before, span) = self.extent()?;
        let layout = Layout::new(&self.shape, &strides, before / size)?;
        Ok((layout, self.first.wrapping_sub(before), span))
    }
    /// The elements in row-major order, in this machine's byte order.
    ///
    /// # Safety
    /// As for [`Foreign::tensor`], while this runs.
    unsafe fn copied(&self) -> flex::Result<Tensor> {
        let mut t = Tensor::empty(&self.shape, self.dtype)?;
        let (size, part) = (self.dtype.size(), self.dtype.real().size());
        let target = t.as_mut_ptr()?;
        let mut index = Shape::from_elem(0, self.shape.len());
        let mut source = self.first;
        for k in 0..t.len() {
            // SAFETY: an element that the shape reaches, by the caller's promise, to an element of
            // the new tensor (TENSOR1, STORAGE3).
            let element = unsafe {
                core::ptr::copy_nonoverlapping(source, target.add(k * size), size);
                core::slice::from_raw_parts_mut(target.add(k * size), size)
            };
            if self.swapped {
                element.chunks_exact_mut(part).for_each(<[u8]>::reverse);
            }
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                source = source.wrapping_offset(self.strides[axis]);
                if index[axis] < self.shape[axis] {
                    break;
                }
                source = source.wrapping_offset(
                    self.strides[axis]
                        .wrapping_mul(self.shape[axis] as isize)
                        .wrapping_neg(),
                );
                index[axis] = 0;
            }
        }
        Ok(t)
    }
}
