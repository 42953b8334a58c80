//! Gradients of pools.

use crate::nn::grad;
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, Ints, compute};
use pyo3::prelude::*;

macro_rules! largest {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[pyfunction]
        #[pyo3(signature = (grad, indices, input_size))]
        fn $name(py: Python<'_>, grad: Arg, indices: Arg, input_size: Ints) -> PyResult<PyTensor> {
            let shape = input_size.shape()?;
            let elements = shape.iter().fold(1usize, |n, size| n.saturating_mul(*size));
            compute(py, elements, || grad::$name(&grad.0, &indices.0, &shape))
        }
    )* };
}
largest! {
    /// The gradient of x of `max_pool1d`: each element of grad is added where its largest element was.
    ///
    /// grad: `[batch, channels, length]`, or without the batch. indices: integers of its shape, as
    /// `max_pool1d` returns them with `return_indices`; negative or outside of x they are a ValueError.
    /// input_size: the shape of x, as is the result's (ShapeError). Options of the pool are of no concern.
    /// The result has grad's dtype, a float (DTypeError); 16-bit floats are added up in float32.
    ///
    /// >>> x = flex.asarray([[1.0, 5.0, 2.0]])
    /// >>> y, indices = flex.nn.max_pool1d(x, 2, stride=1, return_indices=True)
    /// >>> flex.nn.grad.max_pool1d(flex.asarray([[1.0, 2.0]]), indices, x.shape).tolist()
    /// [[0.0, 3.0, 0.0]]
    max_pool1d;
    /// The gradient of x of `max_pool2d`: each element of grad is added where its largest element was.
    ///
    /// grad: `[batch, channels, height, width]`, or without the batch. All else as for `max_pool1d`.
    ///
    /// >>> x = flex.asarray([[[1.0, 5.0], [2.0, 4.0]]])
    /// >>> y, indices = flex.nn.max_pool2d(x, 2, return_indices=True)
    /// >>> flex.nn.grad.max_pool2d(flex.asarray([[[3.0]]]), indices, x.shape).tolist()
    /// [[[0.0, 3.0], [0.0, 0.0]]]
    max_pool2d;
    /// The gradient of x of `max_pool3d`: each element of grad is added where its largest element was.
    ///
    /// grad: `[batch, channels, depth, height, width]`, or without the batch. All else as for `max_pool1d`.
    ///
    /// >>> indices = flex.asarray([[[[1]]]])
    /// >>> flex.nn.grad.max_pool3d(flex.asarray([[[[3.0]]]]), indices, (1, 1, 1, 2)).tolist()
    /// [[[[0.0, 3.0]]]]
    max_pool3d;
    /// The gradient of x of `adaptive_max_pool1d`. All as for `max_pool1d`.
    ///
    /// >>> x = flex.asarray([[1.0, 5.0, 2.0]])
    /// >>> y, indices = flex.nn.adaptive_max_pool1d(x, 2, return_indices=True)
    /// >>> flex.nn.grad.adaptive_max_pool1d(flex.asarray([[1.0, 2.0]]), indices, x.shape).tolist()
    /// [[0.0, 3.0, 0.0]]
    adaptive_max_pool1d;
    /// The gradient of x of `adaptive_max_pool2d`. All as for `max_pool2d`.
    ///
    /// >>> indices = flex.asarray([[[1]]])
    /// >>> flex.nn.grad.adaptive_max_pool2d(flex.asarray([[[3.0]]]), indices, (1, 1, 2)).tolist()
    /// [[[0.0, 3.0]]]
    adaptive_max_pool2d;
    /// The gradient of x of `adaptive_max_pool3d`. All as for `max_pool3d`.
    ///
    /// >>> indices = flex.asarray([[[[1]]]])
    /// >>> flex.nn.grad.adaptive_max_pool3d(flex.asarray([[[[3.0]]]]), indices, (1, 1, 1, 2)).tolist()
    /// [[[[0.0, 3.0]]]]
    adaptive_max_pool3d;
}

pub(super) fn register(grad: &Bound<PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(grad.add_function(wrap_pyfunction!($name, grad)?)?;)* };
    }
    add! {
        max_pool1d max_pool2d max_pool3d
        adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
    }
    Ok(())
}
