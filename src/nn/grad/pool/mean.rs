//! Gradients of average pooling. An element's gradient is the sum over the windows that contain it,
//! each gradient divided like its window's sum. Overlapping regular windows make that a pool again;
//! other windows use tables of weights.

use super::super::common_float;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::conv::Three;
use crate::kernel::elementwise::rows;
use crate::kernel::math::Real;
use crate::kernel::pool::{Steady, Windows};
use crate::kernel::resample::Table;
use crate::layout::{IntoShape, Shape};
use crate::nn::images::{Planes, table_bytes};
use crate::nn::pool::adaptive;
use crate::nn::pool::launch::{self, Means};
use crate::nn::pool::window::seen_by;
use crate::nn::resample::interpolate::weighted;
use crate::nn::resample::pad::remap;
use crate::nn::spatial::three;
use crate::nn::{AvgPool, PerAxis};
use crate::ops::formula::Formula;
use crate::ops::program::Operand;
use crate::storage::expect_room;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

macro_rules! pools {
    ($($rank:literal $name:ident $adaptive:ident $grad:literal $shape:literal $kernel:literal;)*) => { $(
        #[doc = concat!("The gradient of the operand, of shape `input_size`, of [`", stringify!($name), "`](crate::nn::", stringify!($name), "):")]
        /// each element of `grad`, divided like its window's sum, is added to all elements of the
        /// window.
        ///
        /// Options are those of the pool. 16-bit floats are summed in float32 and rounded once.
        ///
        /// Errors like the pool, and if `grad` doesn't have the shape of its result or is not a
        /// float tensor.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let grad = Tensor::from_slice(&[2.0f32, 4.0], ", $grad, ")?;")]
        #[doc = concat!("let dx = nn::grad::", stringify!($name), "(&grad, ", $shape, ", ", $kernel, ", ())?;")]
        /// assert_eq!(dx.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $name(grad: &Tensor, input_size: impl IntoShape, kernel_size: impl Into<PerAxis>, options: impl Into<AvgPool>) -> Result<Tensor> {
            let op = concat!("grad.", stringify!($name));
            average(op, $rank, grad, input_size.into_shape().as_ref(), &kernel_size.into(), &options.into())
        }
        #[doc = concat!("The gradient of the operand, of shape `input_size`, of [`", stringify!($adaptive), "`](crate::nn::", stringify!($adaptive), "),")]
        #[doc = concat!("whose result had the shape of `grad`. Otherwise like [`", stringify!($name), "`].")]
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let grad = Tensor::from_slice(&[2.0f32, 4.0], ", $grad, ")?;")]
        #[doc = concat!("let dx = nn::grad::", stringify!($adaptive), "(&grad, ", $shape, ")?;")]
        /// assert_eq!(dx.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $adaptive(grad: &Tensor, input_size: impl IntoShape) -> Result<Tensor> {
            let op = concat!("grad.", stringify!($adaptive));
            adaptive_to(op, $rank, grad, input_size.into_shape().as_ref())
        }
    )* };
}
pools! {
    1 avg_pool1d adaptive_avg_pool1d "[1, 2]" "[1, 4]" "2";
    2 avg_pool2d adaptive_avg_pool2d "[1, 1, 2]" "[1, 1, 4]" "[1, 2]";
    3 avg_pool3d adaptive_avg_pool3d "[1, 1, 1, 2]" "[1, 1, 1, 4]" "[1, 1, 2]";
}

fn average(
    op: &'static str,
    rank: usize,
    grad: &Tensor,
    input_size: &[usize],
    kernel_size: &PerAxis,
    options: &AvgPool,
) -> Result<Tensor> {
    let sizes = sizes(op, rank, grad, input_size)?;
    let means = options.means(op, rank, sizes, kernel_size)?;
    let dtype = common_float(op, &[grad])?;
    spread(op, rank, grad, input_size, &means)?.into_dtype(dtype)
}

pub(in crate::nn) fn adaptive_to(
    op: &'static str,
    rank: usize,
    grad: &Tensor,
    input_size: &[usize],
) -> Result<Tensor> {
    let sizes = sizes(op, rank, grad, input_size)?;
    let output_size = three(&grad.shape()[grad.rank() - rank..], rank, 1);
    let means = adaptive::means(sizes, output_size)?;
    let dtype = common_float(op, &[grad])?;
    spread(op, rank, grad, input_size, &means)?.into_dtype(dtype)
}

/// The spatial sizes of `input_size`, which must have the rank, batch and channels of `grad`.
fn sizes(op: &'static str, rank: usize, grad: &Tensor, input_size: &[usize]) -> Result<Three> {
    let lead = grad.rank().saturating_sub(rank);
    if ![1, 2].contains(&lead)
        || input_size.len() != grad.rank()
        || input_size[..lead] != grad.shape()[..lead]
    {
        let message = message!(
            "grad must be [channels, {rank} spatial dimensions], or a batch of those, and input_size the shape of the pool's operand, not {input_size:?}"
        );
        return Err(Error::shape_of(
            op,
            message,
            &[("grad", grad.shape(), grad.dtype())],
        ));
    }
    if input_size[lead..].contains(&0) {
        let message = message!("input_size is {input_size:?}: a spatial dimension has the size 0");
        let operands = [("grad", grad.shape(), grad.dtype())];
        return Err(Error::shape_of(op, message, &operands));
    }
    Ok(three(&input_size[lead..], rank, 1))
}

/// The gradient, of shape `input_size`, of means over windows, in the dtype that is computed in.
pub(super) fn spread(
    op: &'static str,
    rank: usize,
    grad: &Tensor,
    input_size: &[usize],
    means: &Means,
) -> Result<Tensor> {
    let lead = grad.rank() - rank;
    let (sizes, output_size) = (three(&input_size[lead..], rank, 1), means.output_size);
    if grad.shape()[lead..] != output_size[3 - rank..] {
        let message = message!(
            "grad must have the shape of the result, whose spatial sizes are {:?}",
            &output_size[3 - rank..]
        );
        let operands = [("grad", grad.shape(), grad.dtype())];
        return Err(Error::shape_of(op, message, &operands));
    }
    let wide = grad.dtype().wide();
    if grad.is_empty() {
        return Tensor::zeros(input_size, wide);
    }
    let shares = shares(op, rank, grad, means)?;
    let planes = Planes::new(op, &shares, rank)?;
    if let [
        Windows::Steady(depth),
        Windows::Steady(height),
        Windows::Steady(width),
    ] = &means.windows
        && [depth, height, width].iter().all(|w| w.stride == 1)
    {
        // the windows of `grad` that contain an element
        let windows = [depth, height, width].map(|w| {
            Windows::Steady(Steady {
                padding: w.kernel - 1 - w.padding,
                ..*w
            })
        });
        let ones = |k: usize| -> Result<Vec<f64>> { fallible::filled(1.0, sizes[k]) };
        let gathered = Means {
            windows,
            output_size: sizes,
            divisors: [ones(0)?, ones(1)?, ones(2)?],
        };
        return launch::mean(op, &planes, &gathered, wide);
    }
    if sizes
        .iter()
        .chain(&output_size)
        .any(|n| *n >= u32::MAX as usize)
    {
        return Err(Error::value(op, "a size is beyond 32 bits"));
    }
    // allocated before the tables, which are shorter: if something is too large, it is this
    let result = planes.empty(sizes, wide)?;
    let lists = table_bytes(sizes, size_of::<Range<usize>>());
    expect_room(lists)?;
    let seen = |k: usize| seen_by(&means.windows[k], sizes[k], output_size[k]);
    let seen = [seen(0)?, seen(1)?, seen(2)?];
    if seen.iter().flatten().all(|windows| windows.len() == 1) {
        drop(result);
        if output_size == [1; 3] {
            return shares.broadcast_to(input_size)?.copy();
        }
        let map = |k: usize| fallible::collect(seen[k].iter().map(|w| Ok(w.start as u32)));
        return remap(&planes, sizes, &[map(0)?, map(1)?, map(2)?], wide);
    }
    dispatch!(float wide, |F| {
        let table = |k: usize| table::<F>(&seen[k], output_size[k], lists);
        weighted::<F, F>(&planes, &[table(0)?, table(1)?, table(2)?], result)
    }, else Err(Error::unsupported(op, wide)))
}

/// The table that makes each element the sum of the windows that contain it, beside `lists` bytes.
fn table<F: Real>(seen: &[Range<usize>], output_size: usize, lists: usize) -> Result<Table<F>> {
    let taps = seen.iter().map(Range::len).max().unwrap_or(0);
    expect_room(lists.saturating_add(Table::<F>::bytes(taps, seen.len())))?;
    let len = taps.checked_mul(seen.len());
    let len = len.ok_or_else(|| Error::memory::<F>(usize::MAX))?;
    let mut index = fallible::filled(output_size as u32, len)?;
    let mut weight = fallible::filled(F::ZERO, len)?;
    for (element, windows) in seen.iter().enumerate() {
        for (tap, window) in windows.clone().enumerate() {
            let at = tap * seen.len() + element;
            (index[at], weight[at]) = (window as u32, F::ONE);
        }
    }
    Ok(Table::new(output_size, seen.len(), index, weight))
}

/// `grad` divided like the sums of its windows.
fn shares(op: &'static str, rank: usize, grad: &Tensor, means: &Means) -> Result<Tensor> {
    let wide = grad.dtype().wide();
    let along = |k: usize| -> Result<Tensor> {
        let numbers = &means.divisors[3 - rank + k];
        let mut t = Tensor::empty([numbers.len()], wide)?;
        dispatch!(float wide, |F| {
            for (to, x) in t.as_mut_slice::<F>()?.iter_mut().zip(numbers) {
                *to = Real::from_f64(*x);
            }
        }, else return Err(Error::unsupported(op, wide)));
        let shape: Shape = (k..rank)
            .map(|at| if at == k { t.len() } else { 1 })
            .collect();
        t.reshape(&shape[..])
    };
    let mut divisors = fallible::with_capacity(rank)?;
    let common = means.common_divisor();
    if common.is_none() {
        for k in 0..rank {
            divisors.push(along(k)?);
        }
    }
    let mut f = Formula::new(op, &[grad.shape()], wide)?;
    let share = f.input(grad)?;
    let divisor = match common {
        Some(number) => number.into(),
        None => {
            let mut product = f.input(&divisors[0])?;
            for d in &divisors[1..] {
                let next = f.input(d)?;
                product = f.binary(&rows::Multiply::ROW, product, next)?;
            }
            Operand::from(product)
        }
    };
    let share = f.binary(&rows::Divide::ROW, share, divisor)?;
    f.write(share, wide)
}
