//! Gradients of Lp pooling.

use super::super::{common_float, expect_shape};
use super::mean::spread;
use crate::error::Result;
use crate::kernel::elementwise::rows;
use crate::nn::images::Planes;
use crate::nn::pool::lp::PoolNorm;
use crate::nn::{AvgPool, LpPool, PerAxis};
use crate::ops;
use crate::ops::formula::Formula;
use crate::tensor::Tensor;
use smallvec::SmallVec;

macro_rules! pools {
    ($($rank:literal $name:ident $shape:literal $kernel:literal;)*) => { $(
        #[doc = concat!("The gradient of `x` of [`", stringify!($name), "`](crate::nn::", stringify!($name), "):")]
        /// `x^(norm_type - 1)` times the sum, over the windows that contain it, of `grad * y^(1 -
        /// norm_type)`, with the result `y`; 0 for windows whose norm is 0, unless `norm_type` is 1.
        ///
        /// Errors like the pool, if `grad` doesn't have the shape of its result, and if there is no
        /// common float dtype.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let x = Tensor::from_slice(&[3.0f32, 4.0], ", $shape, ")?;")]
        #[doc = concat!("let grad = nn::", stringify!($name), "(&x, 2.0, ", $kernel, ", ())?;")]
        #[doc = concat!("let dx = nn::grad::", stringify!($name), "(&grad, &x, 2.0, ", $kernel, ", ())?;")]
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
    let options = &AvgPool {
        stride,
        ceil_mode,
        ..Default::default()
    };
    let dtype = common_float(op, &[grad, x])?;
    let x = &x.astype(dtype.wide())?;
    let pool = PoolNorm {
        op,
        rank,
        p,
        kernel_size,
        options,
    };
    let mean = pool.mean(x)?;
    expect_shape(op, grad, mean.shape(), ("x", x))?;
    let mut parts = SmallVec::<[_; 2]>::new();
    let mut kept = grad.clone();
    pool.each_lost(x, &mean, |x, windows, _| {
        // multiples have the same gradient
        let grad = ops::where_(windows, grad, 0.0)?;
        kept = ops::where_(windows, 0.0, &kept)?;
        let d = gradient(&pool, &grad, x, &pool.mean(x)?, true)?;
        parts.push(d);
        Ok(())
    })?;
    let mut d = gradient(&pool, &kept, x, &mean, p < 1.0 || !parts.is_empty())?;
    for part in parts {
        d = ops::add(d, part)?;
    }
    d.into_dtype(dtype)
}

/// The gradient of `x` from the `mean` of powers. Windows whose gradient is 0 have no part in it if
/// `sparse`, whatever their powers.
fn gradient(
    pool: &PoolNorm,
    grad: &Tensor,
    x: &Tensor,
    mean: &Tensor,
    sparse: bool,
) -> Result<Tensor> {
    let PoolNorm { op, rank, p, .. } = *pool;
    // windows that reach beyond the image count as whole
    let taps = pool.taps()?;
    // y = (taps * mean)^(1 / p), so d mean = grad * taps / p * y^(1 - p), and d x^p = p * x^(p - 1)
    let mut f = Formula::new(op, &[mean.shape()], x.dtype())?;
    let (g, mean) = (f.input(grad)?, f.input(mean)?);
    let sum = f.binary(&rows::Multiply::ROW, mean, taps)?;
    let slope = match p {
        2.0 => f.unary(&rows::Rsqrt::ROW, sum)?,
        _ => f.binary(&rows::Pow::ROW, sum, 1.0 / p - 1.0)?,
    };
    // a norm of 0 has a kink, at which 0 is a gradient
    let kink = f.binary(&rows::Equal::ROW, sum, 0.0)?;
    let slope = match p {
        1.0 => slope,
        _ => f.ternary(&rows::Where::ROW, kink, 0.0, slope)?,
    };
    let slope = f.binary(&rows::Multiply::ROW, slope, taps)?;
    let mut d = f.binary(&rows::Multiply::ROW, g, slope)?;
    if sparse {
        let none = f.binary(&rows::Equal::ROW, g, 0.0)?;
        d = f.ternary(&rows::Where::ROW, none, 0.0, d)?;
    }
    let d = f.write(d, x.dtype())?;
    let means = pool.means(&Planes::new(op, x, rank)?)?;
    let d = spread(op, rank, &d, x.shape(), &means)?;
    let slope = match p {
        2.0 => x.clone(),
        _ => ops::pow(x, p - 1.0)?,
    };
    if !sparse {
        return ops::multiply(d, slope);
    }
    // powers may be infinite
    let mut f = Formula::new(op, &[d.shape()], d.dtype())?;
    let (d, slope) = (f.input(&d)?, f.input(&slope)?);
    let none = f.binary(&rows::Equal::ROW, d, 0.0)?;
    let product = f.binary(&rows::Multiply::ROW, d, slope)?;
    let dx = f.ternary(&rows::Where::ROW, none, 0.0, product)?;
    f.write(dx, x.dtype())
}
