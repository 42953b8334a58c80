//! Gradients of Lp pooling.

use super::super::{common_float, expect_shape};
use super::mean::spread;
use crate::error::Result;
use crate::kernel::elementwise::rows;
use crate::layout::Shape;
use crate::nn::images::Planes;
use crate::nn::pool::launch;
use crate::nn::pool::lp::powers;
use crate::nn::spatial::option;
use crate::nn::{AvgPool, LpPool, PerAxis};
use crate::ops;
use crate::ops::formula::Formula;
use crate::tensor::Tensor;

macro_rules! pools {
    ($($rank:literal $name:ident $shape:literal $kernel:literal;)*) => { $(
        #[doc = concat!("The gradient of `x` of [`", stringify!($name), "`](crate::nn::", stringify!($name), "):")]
        /// `x^(norm_type - 1)` times the sum, over the windows that contain it, of `grad * y^(1 -
        /// norm_type)`, with the result `y`.
        ///
        /// Errors like the pool, if `grad` doesn't have the shape of its result, and if there is no
        /// common float dtype.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let x = Tensor::from_slice(&[3.0f32, 4.0], ", $shape, ")?;")]
        #[doc = concat!("let grad = nn::", stringify!($name), "(&x, 2.0, ", $kernel, ", None)?;")]
        #[doc = concat!("let dx = nn::grad::", stringify!($name), "(&grad, &x, 2.0, ", $kernel, ", None)?;")]
        /// assert_eq!(dx.to_vec::<f32>()?, [3.0, 4.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $name(grad: &Tensor, x: &Tensor, norm_type: f64, kernel_size: impl Into<PerAxis>, options: impl Into<LpPool>) -> Result<Tensor> {
            let op = concat!("grad.", stringify!($name));
            norm(op, $rank, grad, x, norm_type, &kernel_size.into(), options.into())
        }
    )* };
}
pools! {
    1 lp_pool1d "[1, 2]" "2";
    2 lp_pool2d "[1, 2, 1]" "[2, 1]";
    3 lp_pool3d "[1, 2, 1, 1]" "[2, 1, 1]";
}

fn norm(
    op: &'static str,
    rank: usize,
    grad: &Tensor,
    x: &Tensor,
    p: f64,
    kernel_size: &PerAxis,
    LpPool { stride, ceil_mode }: LpPool,
) -> Result<Tensor> {
    let options = AvgPool {
        stride,
        ceil_mode,
        ..Default::default()
    };
    let dtype = common_float(op, &[grad, x])?;
    let x = x.astype(dtype.wide())?;
    let planes = Planes::new(op, &powers(op, &x, p)?, rank)?;
    let means = options.means(op, rank, planes.sizes(), kernel_size)?;
    let mean = launch::mean(op, &planes, &means, x.dtype())?;
    expect_shape(op, grad, mean.shape(), ("x", &x))?;
    // windows that reach beyond the image count as whole
    let taps = option(op, "kernel_size", kernel_size, rank, 1)?;
    let taps: f64 = taps[3 - rank..].iter().map(|n| *n as f64).product();
    // y = (taps * mean)^(1 / p), so d mean = grad * taps / p * y^(1 - p), and d x^p = p * x^(p - 1)
    let mut f = Formula::new(op, &[mean.shape()], x.dtype())?;
    let (g, mean) = (f.input(grad)?, f.input(&mean)?);
    let sum = f.binary(&rows::Multiply::ROW, mean, taps)?;
    let slope = match p {
        2.0 => f.unary(&rows::Rsqrt::ROW, sum)?,
        _ => f.binary(&rows::Pow::ROW, sum, 1.0 / p - 1.0)?,
    };
    let slope = f.binary(&rows::Multiply::ROW, slope, taps)?;
    let d = f.binary(&rows::Multiply::ROW, g, slope)?;
    let d = f.write(d, x.dtype())?;
    let size = Shape::from_slice(x.shape());
    let d = spread(op, rank, &d, &size, &means)?;
    let slope = match p {
        2.0 => x,
        _ => ops::pow(x, p - 1.0)?,
    };
    ops::multiply(d, slope)?.into_dtype(dtype)
}
