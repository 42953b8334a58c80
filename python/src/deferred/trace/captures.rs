//! Tensors that functions being traced use from outside.

use super::{Trace, with_innermost};
use crate::cell::{self, PyTensor};
use crate::convert::error::Raise;
use crate::deferred::traced::TraceMark;
use flex::stream::Value;
use flex::{Layout, Result, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The message for a tensor that later calls would not find.
const NOT_FOLLOWED: &str = "flex.fuse can't follow a tensor that this function uses: it is from outside, but neither in a \
    variable, an attribute or an entry that the function's code names. Pass it as an argument";

/// An input of a function that is not among its arguments.
pub enum Outside {
    /// Made by the function itself, while it was traced.
    Constant(Tensor),
    /// Read at each call, by its number among the tensors that the function can use.
    Captured(usize),
}

/// A tensor from outside that a function can use.
pub struct Captured {
    tensor: Tensor,
    value: Option<Value>,
    /// Whether it is an array of NumPy, which is known by its memory.
    is_array: bool,
}

/// The objects from outside that are inputs of a trace, until this is dropped.
#[derive(Default)]
pub struct Captures {
    objects: Vec<Py<PyTensor>>,
    mark: Option<Arc<TraceMark>>,
}

impl Captures {
    /// Makes tensors inputs of the innermost trace, with the objects that they are in. To be called
    /// after arguments were added, which may be the same objects.
    pub fn begin(&mut self, tensors: Vec<(Tensor, Option<Py<PyTensor>>)>) -> PyResult<()> {
        let mark = with_innermost(|trace| trace.mark.clone()).unwrap_or_default();
        self.mark = Some(mark.clone());
        let mut captured = Vec::with_capacity(tensors.len());
        for (k, (tensor, object)) in tensors.into_iter().enumerate() {
            let is_array = object.is_none();
            if let Some(object) = object {
                let layout = Layout::contiguous(tensor.shape()).raise()?;
                if object.get().capture(&mark, k, layout) {
                    self.objects.push(object);
                }
            }
            captured.push(Captured {
                tensor,
                value: None,
                is_array,
            });
        }
        with_innermost(|trace| trace.captured = captured);
        Ok(())
    }
}

impl Drop for Captures {
    fn drop(&mut self) {
        let Some(mark) = self.mark.take() else { return };
        for object in self.objects.drain(..) {
            object.get().release(&mark);
        }
        if Arc::strong_count(&mark) > 1 {
            cell::note_escaped();
        }
    }
}

impl Captured {
    /// Whether it is an array of NumPy that is borrowed as this tensor.
    fn is_array_at(&self, t: &Tensor) -> bool {
        self.is_array && is_same(&self.tensor, t)
    }
}

/// Whether two handles are to the same elements.
pub fn is_same(x: &Tensor, y: &Tensor) -> bool {
    x.as_ptr() == y.as_ptr() && x.layout() == y.layout() && x.dtype() == y.dtype()
}

impl Trace {
    /// The value of a tensor from outside.
    pub fn captured_value(&mut self, k: usize) -> Value {
        self.mark.note_use(k);
        let Captured { tensor, value, .. } = &mut self.captured[k];
        *value.get_or_insert_with(|| {
            self.outside.push(Outside::Captured(k));
            self.graph.input(tensor.shape(), tensor.dtype())
        })
    }
    /// The tensor from outside in an object or array. From now on, the recording holds for its
    /// elements only.
    pub fn look(&self, k: usize) -> Tensor {
        self.mark.note_look(k);
        self.captured[k].tensor.clone()
    }
    /// Whether a tensor from outside was used, and whether its elements were read.
    pub fn uses(&self, k: usize) -> [bool; 2] {
        self.mark.uses(k)
    }
    /// The tensor from outside of this number, in memory that nobody else writes to.
    pub fn elements(&self, k: usize) -> Result<Tensor> {
        let tensor = &self.captured[k].tensor;
        match tensor.storage().is_owned() {
            true => Ok(tensor.clone()),
            false => tensor.copy(),
        }
    }
    /// The tensor from outside of this number.
    pub fn captured(&self, k: usize) -> Tensor {
        self.captured[k].tensor.clone()
    }
    /// The number of the tensor from outside that is in an object.
    pub fn number_of(&self, t: &PyTensor) -> Option<usize> {
        t.index_in(&self.mark)
    }
    /// Whether the call that is being recorded needs the elements of a tensor from outside.
    pub fn is_fixed(&self, k: usize) -> bool {
        self.fixed
            .is_some_and(|fixed| fixed(self.captured[k].tensor.dtype()))
    }
    /// The number of an array of NumPy that is borrowed as this tensor.
    pub fn array_at(&self, t: &Tensor) -> Option<usize> {
        self.captured.iter().position(|x| x.is_array_at(t))
    }
    /// The error for a call that takes a tensor which later calls would not find.
    pub fn take_unfollowed(&mut self) -> Option<PyErr> {
        core::mem::take(&mut self.unfollowed).then(|| PyTypeError::new_err(NOT_FOLLOWED))
    }
    /// Errors if an object, which holds a tensor, is neither made by the function nor found where
    /// later calls can find it.
    pub fn expect_made(&self, t: &PyTensor) -> PyResult<()> {
        match t.is_made_since(self.begun) {
            true => Ok(()),
            false => Err(PyTypeError::new_err(NOT_FOLLOWED)),
        }
    }
}
