//! Adaptive pooling: windows that give a result of the requested sizes.

use super::super::images::{Planes, table_bytes};
use super::super::spatial::{PerAxis, option};
use super::launch::{self, Means};
use crate::dtype::DType;
use crate::error::Result;
use crate::fallible;
use crate::kernel::conv::Three;
use crate::kernel::pool::{Steady, Windows};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

/// Bytes of lists for each output: its range, and its divisor as a float64 and in the dtype.
const LISTED: usize = size_of::<Range<usize>>() + 2 * size_of::<f64>();

/// The windows along each axis: output `i` of `output_size` covers the elements from `i * size / output_size`
/// to `(i + 1) * size / output_size`, rounded outwards.
fn windows(sizes: Three, output_size: Three) -> Result<[Windows; 3]> {
    let along = |k: usize| -> Result<Windows> {
        let (size, output_size) = (sizes[k], output_size[k]);
        if size.is_multiple_of(output_size.max(1)) {
            let kernel = size / output_size.max(1);
            return Ok(Windows::Steady(Steady {
                kernel,
                stride: kernel,
                dilation: 1,
                padding: 0,
            }));
        }
        let bound = |i: usize, up: usize| {
            ((i as u128 * size as u128 + up as u128) / output_size as u128) as usize
        };
        let all = (0..output_size).map(|i| Ok(bound(i, 0)..bound(i + 1, output_size - 1)));
        fallible::collect(all).map(|all| Windows::Listed(all, 1))
    };
    Ok([along(0)?, along(1)?, along(2)?])
}

/// The windows of average pooling on images of `sizes`, and the number of elements in each.
pub(in crate::nn) fn means(sizes: Three, output_size: Three) -> Result<Means> {
    let windows = windows(sizes, output_size)?;
    let divisors = |k: usize| -> Result<Vec<f64>> {
        let count = |output| windows[k].taps(output, sizes[k]).count as f64;
        fallible::collect((0..output_size[k]).map(|output| Ok(count(output))))
    };
    Ok(Means {
        divisors: [divisors(0)?, divisors(1)?, divisors(2)?],
        windows,
        output_size,
    })
}

fn average(op: &'static str, rank: usize, x: &Tensor, output_size: &PerAxis) -> Result<Tensor> {
    let planes = Planes::new(op, x, rank)?;
    let output_size = of_rank(option(op, "output_size", output_size, rank, 0)?, rank);
    if !planes.room(output_size, x.dtype(), table_bytes(output_size, LISTED))? {
        return planes.result(planes.empty(output_size, x.dtype())?);
    }
    launch::mean(op, &planes, &means(planes.sizes(), output_size)?, x.dtype())
}
/// A single output along the axes that the image lacks.
fn of_rank(mut output_size: Three, rank: usize) -> Three {
    output_size[..3 - rank].fill(1);
    output_size
}
fn largest(op: &'static str, rank: usize, x: &Tensor, output_size: &PerAxis) -> Result<Tensor> {
    let comparable = launch::comparable(x)?;
    let planes = Planes::new(op, &comparable, rank)?;
    let output_size = of_rank(option(op, "output_size", output_size, rank, 0)?, rank);
    if !planes.room(
        output_size,
        comparable.dtype(),
        table_bytes(output_size, LISTED),
    )? {
        return planes.result(planes.empty(output_size, x.dtype())?);
    }
    let windows = windows(planes.sizes(), output_size)?;
    let y = launch::largest(op, &planes, &windows, output_size, comparable.dtype())?;
    launch::restored(y, x.dtype())
}
fn with_positions(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    output_size: &PerAxis,
) -> Result<(Tensor, Tensor)> {
    let comparable = launch::comparable(x)?;
    let planes = Planes::new(op, &comparable, rank)?;
    let output_size = of_rank(option(op, "output_size", output_size, rank, 0)?, rank);
    let dtype = comparable.dtype();
    if !planes.room(output_size, DType::I64, table_bytes(output_size, LISTED))? {
        let of = |dtype| planes.result(planes.empty(output_size, dtype)?);
        return Ok((of(x.dtype())?, of(DType::I64)?));
    }
    let windows = windows(planes.sizes(), output_size)?;
    let (y, positions) = launch::largest_with_positions(op, &planes, &windows, output_size, dtype)?;
    Ok((launch::restored(y, x.dtype())?, positions))
}

macro_rules! pools {
    ($($rank:literal $average:ident $max:ident $with:ident $kind:literal $shape:literal;)*) => { $(
        #[doc = concat!("The mean of each window of ", $kind, ", with windows that give a result of `output_size`.")]
        ///
        /// `[batch, channels, ..]`, or `[channels, ..]` without a batch, floats with any strides.
        /// Place `i` along an axis covers the elements from `i * size / output_size` to `(i + 1) *
        /// size / output_size`, rounded outwards. 16-bit floats are summed in float32 and rounded
        /// once.
        ///
        /// Errors if `x` has another rank or is not a float tensor, or `output_size` doesn't have
        /// one number for each axis.
        ///
        /// ```
        /// use flex::{DType, Tensor, nn};
        #[doc = concat!("let x = Tensor::zeros(&", $shape, ", DType::F32)?;")]
        #[doc = concat!("assert_eq!(nn::", stringify!($average), "(&x, 1)?.to_vec::<f32>()?, [0.0]);")]
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $average(x: &Tensor, output_size: impl Into<PerAxis>) -> Result<Tensor> {
            average(stringify!($average), $rank, x, &output_size.into())
        }
        #[doc = concat!("The largest element of each window of ", $kind, ", with windows that give a result of `output_size`.")]
        ///
        #[doc = concat!("Like [`", stringify!($average), "`], and for integers too; the maximum is NaN if there is one.")]
        ///
        /// ```
        /// use flex::{DType, Tensor, nn};
        #[doc = concat!("let x = Tensor::zeros(&", $shape, ", DType::F32)?;")]
        #[doc = concat!("assert_eq!(nn::", stringify!($max), "(&x, 1)?.to_vec::<f32>()?, [0.0]);")]
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $max(x: &Tensor, output_size: impl Into<PerAxis>) -> Result<Tensor> {
            largest(stringify!($max), $rank, x, &output_size.into())
        }
        #[doc = concat!("[`", stringify!($max), "`] with the positions of the maxima: int64, row-major in the spatial axes. Errors like it.")]
        ///
        /// ```
        /// use flex::{DType, Tensor, nn};
        #[doc = concat!("let x = Tensor::zeros(&", $shape, ", DType::F32)?;")]
        #[doc = concat!("assert_eq!(nn::", stringify!($with), "(&x, 1)?.1.to_vec::<i64>()?, [0]);")]
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $with(x: &Tensor, output_size: impl Into<PerAxis>) -> Result<(Tensor, Tensor)> {
            with_positions(stringify!($max), $rank, x, &output_size.into())
        }
    )* };
}
pools! {
    1 adaptive_avg_pool1d adaptive_max_pool1d adaptive_max_pool1d_with_indices "a signal" "[1, 5]";
    2 adaptive_avg_pool2d adaptive_max_pool2d adaptive_max_pool2d_with_indices "an image" "[1, 4, 5]";
    3 adaptive_avg_pool3d adaptive_max_pool3d adaptive_max_pool3d_with_indices "a volume" "[1, 3, 4, 5]";
}
