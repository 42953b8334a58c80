//! Adaptive pooling, by the sizes of the result.

use super::pooled;
use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, compute, count, integer, kind, sequence};
use flex::nn::{self, PerAxis};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// The sizes of an adaptive pool's result; None for the image's own.
struct PoolSizes(SmallVec<[Option<isize>; 3]>);
impl<'py> FromPyObject<'_, 'py> for PoolSizes {
    stub_type!("SupportsIndex | Sequence[SupportsIndex | None]");
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<PoolSizes> {
        match x.extract::<Ints>() {
            Ok(n) => return Ok(PoolSizes(n.0.iter().map(|n| Some(*n)).collect())),
            // perhaps a tuple with None
            Err(e) if e.is_instance_of::<PyTypeError>(x.py()) => {}
            Err(e) => return Err(e),
        }
        let size = |item: &Bound<PyAny>| match item.is_none() {
            true => Ok(None),
            false => integer(item).map(Some),
        };
        match sequence::items(&x, size)? {
            Some(sizes) => Ok(PoolSizes(sizes.into())),
            None => Err(PyTypeError::new_err(format!(
                "expected an integer, or a tuple of integers and None, got {}",
                kind(&x)
            ))),
        }
    }
}
impl PoolSizes {
    fn per_axis(&self, op: &str, rank: usize, x: &flex::Tensor) -> PyResult<PerAxis> {
        if self.0.iter().any(|n| n.is_none()) && self.0.len() != rank {
            return Err(PyValueError::new_err(format!(
                "{op}: output_size has {} values: give one, or {rank}",
                self.0.len()
            )));
        }
        let size = |(k, n): (usize, &Option<isize>)| match n {
            Some(n) => count(op, "output_size", *n),
            // if `x` has too few dimensions, the operation reports it
            None => Ok((x.rank() + k).checked_sub(rank).map_or(1, |k| x.shape()[k])),
        };
        let sizes: SmallVec<[usize; 3]> = self
            .0
            .iter()
            .enumerate()
            .map(size)
            .collect::<PyResult<_>>()?;
        Ok(PerAxis::from(&sizes[..]))
    }
}

macro_rules! adaptive_pools {
    ($($rank:literal $(#[doc = $doc:literal])* $average:ident $(#[doc = $more:literal])* $max:ident $with:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, output_size)]
        fn $average(py: Python<'_>, x: TensorArg, output_size: PoolSizes) -> PyResult<PyTensor> {
            let size = output_size.per_axis(stringify!($average), $rank, &x.0)?;
            compute(py, x.0.len(), || nn::$average(&x.0, size))
        }
        $(#[doc = $more])*
        #[function(x, output_size, return_indices = false)]
        fn $max<'py>(
            py: Python<'py>,
            x: TensorArg,
            output_size: PoolSizes,
            return_indices: bool,
        ) -> PyResult<Bound<'py, PyAny>> {
            let size = output_size.per_axis(stringify!($max), $rank, &x.0)?;
            let same = size.clone();
            pooled(
                py,
                x.0.len(),
                return_indices,
                || nn::$max(&x.0, same),
                || nn::$with(&x.0, size),
            )
        }
    )* };
}
adaptive_pools! {
    1
    /// The mean of each window of a signal, with as many windows as `output_size` says.
    ///
    /// x: `[batch, channels, length]`, or without the batch; floats. output_size: the number of
    /// positions of the result. Element i covers the elements from `i * length / output_size` to
    /// `(i + 1) * length / output_size`, rounded outwards. The result has the dtype of x; 16-bit
    /// floats are summed in float32. ShapeError if the dimensions don't fit; ValueError if
    /// output_size is negative; DTypeError if x is not a float.
    ///
    /// >>> flex.nn.adaptive_avg_pool1d(flex.asarray([[1.0, 3.0, 2.0]]), 2).tolist()
    /// [[2.0, 2.5]]
    adaptive_avg_pool1d
    /// The maximum of each window of a signal, with as many windows as `output_size` says.
    ///
    /// x, output_size: as for `adaptive_avg_pool1d`; integers too. return_indices and NaN: as for
    /// `max_pool1d`. Errors as for `adaptive_avg_pool1d`; DTypeError for bool and complex.
    ///
    /// >>> flex.nn.adaptive_max_pool1d(flex.asarray([[1.0, 3.0, 2.0]]), 2).tolist()
    /// [[3.0, 3.0]]
    adaptive_max_pool1d adaptive_max_pool1d_with_indices;
    2
    /// The mean of each window of an image, with as many windows as `output_size` says.
    ///
    /// x: `[batch, channels, height, width]`, or without the batch; any strides. output_size: one
    /// number, or one for each axis; None is the image's own size. Otherwise as for
    /// `adaptive_avg_pool1d`.
    ///
    /// >>> flex.nn.adaptive_avg_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), (1, None)).tolist()
    /// [[[2.0, 4.0]]]
    adaptive_avg_pool2d
    /// The maximum of each window of an image, with as many windows as `output_size` says.
    ///
    /// x, output_size: as for `adaptive_avg_pool2d`; integers too. Otherwise as for
    /// `adaptive_max_pool1d`.
    ///
    /// >>> flex.nn.adaptive_max_pool2d(flex.asarray([[[1.0, 2.0], [3.0, 6.0]]]), 1).tolist()
    /// [[[6.0]]]
    adaptive_max_pool2d adaptive_max_pool2d_with_indices;
    3
    /// The mean of each window of a volume, with as many windows as `output_size` says.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    /// `adaptive_avg_pool2d`.
    ///
    /// >>> flex.nn.adaptive_avg_pool3d(flex.ones((1, 2, 3, 4)), 1).tolist()
    /// [[[[1.0]]]]
    adaptive_avg_pool3d
    /// The maximum of each window of a volume, with as many windows as `output_size` says.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. Otherwise as for
    /// `adaptive_max_pool2d`.
    ///
    /// >>> flex.nn.adaptive_max_pool3d(flex.ones((1, 2, 3, 4)), 1).tolist()
    /// [[[[1.0]]]]
    adaptive_max_pool3d adaptive_max_pool3d_with_indices;
}
