//! Runs pools of all planes over the threads.

use super::super::images::{Planes, rows};
use crate::dtype::{DType, Pod};
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::conv::Three;
use crate::kernel::images::{Images, Pixel};
use crate::kernel::math::Real;
use crate::kernel::pool::extreme::{self, MAX_TAPS};
use crate::kernel::pool::{Lowest, MaxPooling, MeanPooling, Pooling, Windows, fold};
use crate::ops;
use crate::par::Cost;
use crate::simd;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// `expr` with `T` as the float of a dtype, and `A` as the type it is computed in.
macro_rules! floats {
    ($dtype:expr, |$T:ident as $A:ident| $e:expr, else $other:expr) => {
        dispatch!(half $dtype, |$T| { type $A = f32; $e }, else
            dispatch!(float $dtype, |$T| { type $A = $T; $e }, else $other))
    };
}
/// The same, with the integers that no other dtype can hold; see [`comparable`].
macro_rules! reals {
    ($dtype:expr, |$T:ident as $A:ident| $e:expr, else $other:expr) => {
        match $dtype {
            #[cfg(all(feature = "i32", not(feature = "f64")))]
            DType::I32 => {
                type $T = i32;
                type $A = i32;
                $e
            }
            #[cfg(feature = "i64")]
            DType::I64 => {
                type $T = i64;
                type $A = i64;
                $e
            }
            dtype => floats!(dtype, |$T as $A| $e, else $other),
        }
    };
}

/// `x` in a dtype whose comparisons are compiled and which orders all its values as their own does: a
/// body for each integer would be most of the code size of pools. [`restored`] takes results back.
pub(super) fn comparable(x: &Tensor) -> Result<Tensor> {
    x.astype(match x.dtype() {
        DType::I8 | DType::U8 | DType::I16 | DType::U16 => DType::F32,
        DType::I32 | DType::U32 if DType::F64.is_available() => DType::F64,
        DType::U32 => DType::I64,
        DType::U64 => return ops::bitwise_xor(x.bitcast(DType::I64)?, i64::MIN),
        dtype => dtype,
    })
}
/// Elements of [`comparable`] tensors, in the dtype that these had.
pub(super) fn restored(y: Tensor, dtype: DType) -> Result<Tensor> {
    match dtype {
        DType::U64 => ops::bitwise_xor(y, i64::MIN)?.bitcast(dtype),
        dtype => y.into_dtype(dtype),
    }
}

/// Whether a single window covers the whole plane, so that the pool is a reduction.
fn is_plane(windows: &[Windows; 3], sizes: Three, output_size: Three) -> bool {
    let sees_all = |k: usize| output_size[k] == 1 && windows[k].taps(0, sizes[k]).count == sizes[k];
    (0..3).all(sees_all)
}

/// The maximum of each window.
pub(super) fn largest(
    op: &'static str,
    x: &Planes,
    windows: &[Windows; 3],
    output_size: Three,
    dtype: DType,
) -> Result<Tensor> {
    if is_plane(windows, x.sizes(), output_size) {
        return x.reduced(ops::max);
    }
    let mut y = x.empty(output_size, dtype)?;
    reals!(dtype, |T as A| run::<T, A, MaxPooling>(x, windows, &MaxPooling, &mut y), else Err(Error::unsupported(op, dtype)))?;
    x.result(y)
}

/// The maximum of each window, and its position in the plane.
pub(super) fn largest_with_positions(
    op: &'static str,
    x: &Planes,
    windows: &[Windows; 3],
    output_size: Three,
    dtype: DType,
) -> Result<(Tensor, Tensor)> {
    let taps = windows
        .iter()
        .try_fold(1usize, |n, w| n.checked_mul(w.most()));
    if taps.is_none_or(|n| n > MAX_TAPS) {
        return Err(Error::value(
            op,
            message!("a window has more than {MAX_TAPS} elements"),
        ));
    }
    let mut y = x.empty(output_size, dtype)?;
    let mut positions = x.empty(output_size, DType::I64)?;
    reals!(dtype, |T as A| extremes::<T, A>(x, windows, &mut y, &mut positions), else Err(Error::unsupported(op, dtype)))?;
    Ok((x.result(y)?, x.result(positions)?))
}

/// Windows and the divisors of their sums: the product of a number for each axis.
pub(in crate::nn) struct Means {
    pub windows: [Windows; 3],
    /// The number of windows along each axis.
    pub output_size: Three,
    /// A divisor for each of them.
    pub divisors: [Vec<f64>; 3],
}

impl Means {
    /// The divisor, if all windows have the same.
    pub fn common_divisor(&self) -> Option<f64> {
        self.divisors.iter().try_fold(1.0, |product, along| {
            let first = *along.first()?;
            along.iter().all(|n| *n == first).then_some(product * first)
        })
    }
}

/// The mean of each window.
pub(in crate::nn) fn mean(
    op: &'static str,
    x: &Planes,
    means: &Means,
    dtype: DType,
) -> Result<Tensor> {
    let sizes = x.sizes();
    let count = sizes.iter().product::<usize>() as f64;
    let plane = is_plane(&means.windows, sizes, means.output_size);
    if plane && means.common_divisor() == Some(count) && dtype.is_float() {
        return x.reduced(ops::mean);
    }
    let mut y = x.empty(means.output_size, dtype)?;
    floats!(dtype, |T as A| {
        // along the width, one divisor per element of a pixel
        let repeats = [1, 1, x.images::<T>()?.inner];
        let of = |k: usize| -> Result<Vec<A>> {
            let each = |n: &f64| core::iter::repeat_n(<A as Real>::from_f64(*n), repeats[k]);
            fallible::collect(means.divisors[k].iter().flat_map(each).map(Ok))
        };
        let (depth, height, width) = (of(0)?, of(1)?, of(2)?);
        run::<T, A, _>(x, &means.windows, &MeanPooling([&depth[..], &height[..], &width[..]]), &mut y)
    }, else Err(Error::unsupported(op, dtype)))?;
    x.result(y)
}

/// The cost of a row of the result.
fn cost<T>(x: &Images<T>, windows: &[Windows; 3], width: usize) -> Cost {
    let lines = windows[0].most().saturating_mul(windows[1].most());
    let bytes = lines.saturating_mul(x.width()).saturating_add(width);
    Cost {
        bytes: bytes.saturating_mul(size_of::<T>()),
        flops: bytes.saturating_add(width.saturating_mul(windows[2].most())),
    }
}

fn run<T, A, P>(x: &Planes, windows: &[Windows; 3], pooling: &P, y: &mut Tensor) -> Result<()>
where
    T: Pod + Pixel<A>,
    A: Pixel<A> + Default,
    P: Pooling<A>,
{
    let (x, y) = (x.images::<T>()?, x.images_mut::<T>(y)?);
    let len = fold::scratch::<T, A>(&x, &y, windows);
    rows(
        y.rows(),
        len,
        cost(&x, windows, y.width()),
        |rows, scratch| {
            simd::call(fold::Pool {
                x,
                y,
                windows,
                pooling,
                rows,
                scratch,
            });
            Ok(())
        },
    )
}

fn extremes<T, A>(
    x: &Planes,
    windows: &[Windows; 3],
    y: &mut Tensor,
    positions: &mut Tensor,
) -> Result<()>
where
    T: Pod + Pixel<A>,
    A: Lowest + Default,
{
    let positions = x.images_mut::<i64>(positions)?;
    let (x, y) = (x.images::<T>()?, x.images_mut::<T>(y)?);
    let len = extreme::scratch::<T, A>(&x, &y, windows);
    let mut cost = cost(&x, windows, y.width());
    cost.flops = cost.flops.saturating_mul(4 * windows[2].most());
    let taps = (windows.iter()).fold(1, |taps: usize, w| taps.saturating_mul(w.most()));
    let offsets =
        (0..taps.min(extreme::OFFSETS)).map(|tap| Ok(extreme::offset(windows, x.sizes, tap)));
    let offsets = fallible::collect(offsets)?;
    rows(y.rows(), len, cost, |rows, scratch| {
        let mut taken = fallible::filled(0, y.width())?;
        simd::call(extreme::Extremes {
            x,
            y,
            positions,
            windows,
            rows,
            scratch,
            taken: &mut taken,
            offsets: &offsets,
        });
        Ok(())
    })
}
