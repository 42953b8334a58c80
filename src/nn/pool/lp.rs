//! Lp pooling.

use super::super::check;
use super::super::spatial::{PerAxis, option};
use super::average::AvgPool;
use super::launch::{self, Means};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::elementwise::rows;
use crate::kernel::math::Real;
use crate::kernel::norm::farthest;
use crate::kernel::range::{least_sum, most_sum, to_one};
use crate::layout::Shape;
use crate::nn::images::Planes;
use crate::ops;
use crate::ops::formula::Formula;
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The options of Lp pooling.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[3.0f32, 4.0, 0.0]]);
/// let overlapping = nn::LpPool { stride: Some(1.into()), ..Default::default() };
/// assert_eq!(nn::lp_pool1d(&x, 2.0, 2, overlapping)?.to_vec::<f32>()?, [5.0, 4.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LpPool {
    /// The distance from one window to the next. Default: the size of a window.
    pub stride: Option<PerAxis>,
    /// Whether the last window may reach beyond the image, so that every element is covered.
    /// Default: false.
    pub ceil_mode: bool,
}
macro_rules! pools {
    ($($rank:literal $name:ident $average:ident $kind:literal $shape:literal $kernel:literal;)*) => { $(
        #[doc = concat!("The norm of each window of ", $kind, ": `(sum of x^norm_type)^(1 / norm_type)`.")]
        ///
        #[doc = concat!("Shapes, dtypes and errors are those of [`", stringify!($average), "`](super::", stringify!($average), "); also errors if `norm_type` is 0 or not finite.")]
        /// The powers are those of `x`, not of its magnitude, as in torch. For a window that
        /// reaches beyond the image, each missing element counts as the mean of the others. 16-bit
        /// floats are computed in float32 and rounded once.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let x = Tensor::from_slice(&[3.0f32, 4.0], ", $shape, ")?;")]
        #[doc = concat!("let y = nn::", stringify!($name), "(&x, 2.0, ", $kernel, ", ())?;")]
        /// assert_eq!(y.to_vec::<f32>()?, [5.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $name(x: &Tensor, norm_type: f64, kernel_size: impl Into<PerAxis>, options: impl Into<LpPool>) -> Result<Tensor> {
            let (kernel_size, LpPool { stride, ceil_mode }) = (kernel_size.into(), options.into());
            let options = AvgPool { stride, ceil_mode, ..Default::default() };
            norm(stringify!($name), $rank, x, norm_type, &kernel_size, &options)
        }
    )* };
}
pools! {
    1 lp_pool1d avg_pool1d "a signal" "[1, 2]" "2";
    2 lp_pool2d avg_pool2d "an image" "[1, 2, 1]" "[2, 1]";
    3 lp_pool3d avg_pool3d "a volume" "[1, 2, 1, 1]" "[2, 1, 1]";
}

/// `x^p`, in the dtype that is computed in. Errors if `p` is not the order of a norm, or `x` is not
/// a float tensor.
fn powers(op: &'static str, x: &Tensor, p: f64) -> Result<Tensor> {
    let fits = p.is_finite() && p != 0.0;
    check::number(op, "norm_type", p, fits, "finite and not 0")?;
    if !x.dtype().is_float() || x.dtype().is_storage() {
        return Err(Error::unsupported(op, x.dtype()));
    }
    let wide = x.astype(x.dtype().wide())?;
    if p == 2.0 {
        ops::multiply(&wide, &wide)
    } else {
        ops::pow(wide, p)
    }
}

/// The norm, from the mean of powers.
fn norm(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    p: f64,
    kernel_size: &PerAxis,
    options: &AvgPool,
) -> Result<Tensor> {
    let pool = PoolNorm {
        op,
        rank,
        p,
        kernel_size,
        options,
    };
    let norm = |mean: &Tensor| {
        let mut f = Formula::new(op, &[mean.shape()], mean.dtype())?;
        let sum = f.input(mean)?;
        let sum = f.binary(&rows::Multiply::ROW, sum, pool.taps()?)?;
        let norm = match p {
            2.0 => f.unary(&rows::Sqrt::ROW, sum)?,
            _ => f.binary(&rows::Pow::ROW, sum, 1.0 / p)?,
        };
        f.write(norm, mean.dtype())
    };
    let mean = pool.mean(x)?;
    let mut y = norm(&mean)?;
    pool.each_lost(x, &mean, |x, windows, unit| {
        let part = norm(&pool.mean(x)?)?;
        y = ops::where_(windows, ops::multiply(part, 1.0 / unit)?, &y)?;
        Ok(())
    })?;
    y.into_dtype(x.dtype())
}

/// A pool by a norm.
pub(in crate::nn) struct PoolNorm<'a> {
    pub op: &'static str,
    pub rank: usize,
    pub p: f64,
    pub kernel_size: &'a PerAxis,
    pub options: &'a AvgPool,
}

impl PoolNorm<'_> {
    /// The number of elements of a window.
    pub fn taps(&self) -> Result<f64> {
        let taps = option(self.op, "kernel_size", self.kernel_size, self.rank, 1)?;
        Ok(taps[3 - self.rank..].iter().map(|n| *n as f64).product())
    }
    /// The windows on images like `x`.
    pub fn means(&self, x: &Planes) -> Result<Means> {
        self.options
            .means(self.op, self.rank, x.sizes(), self.kernel_size)
    }
    /// The mean of the powers of each window: of so many planes at a time that their powers stay in
    /// a cache.
    pub fn mean(&self, x: &Tensor) -> Result<Tensor> {
        const CACHED: usize = 512 << 10;
        let lead = x.rank().saturating_sub(self.rank);
        let (lead, sizes) = x.shape().split_at(lead);
        let (n, plane) = (lead.iter().product(), sizes.iter().product::<usize>());
        let bytes = plane * x.dtype().wide().size();
        let step = (par::threads() * CACHED / bytes.max(1)).max(1);
        if ![1, 2].contains(&lead.len()) || n < 2 * step || !x.is_contiguous() {
            return self.mean_at_once(x);
        }
        let mut shape = Shape::from_elem(n, 1);
        shape.extend_from_slice(sizes);
        let x = x.reshape(&shape[..])?;
        let part = |start| self.mean_at_once(&x.narrow(0, start, step.min(n - start))?);
        let parts = fallible::collect((0..n).step_by(step).map(part))?;
        let means = ops::concat(&parts, 0)?;
        let mut shape = Shape::from_slice(lead);
        shape.extend_from_slice(&means.shape()[1..]);
        means.reshape(&shape[..])
    }
    fn mean_at_once(&self, x: &Tensor) -> Result<Tensor> {
        let powers = powers(self.op, x, self.p)?;
        let planes = Planes::new(self.op, &powers, self.rank)?;
        launch::mean(self.op, &planes, &self.means(&planes)?, powers.dtype())
    }
    /// How far the magnitudes of `t` lie from what is in range when raised to this order, as
    /// [`farthest`] tells.
    fn farthest(&self, t: &Tensor, order: f64) -> Result<usize> {
        let ([least, most], t) = (self.bounds(t.dtype(), order)?, t.contiguous()?);
        // flags, since not every target has atomic maxima
        let found = [const { AtomicBool::new(false) }; 3];
        dispatch!(float t.dtype(), |F| {
            let x = t.as_slice::<F>()?;
            let cost = Cost { bytes: size_of::<F>(), flops: 4 };
            let (least, most) = (<F as Real>::from_f64(least), <F as Real>::from_f64(most));
            par::ranges(x.len(), 64, cost, |r| {
                let far = Real::to_f64(farthest(&x[r], least, most)) as usize;
                found[far].store(true, Relaxed);
            });
        }, else return Err(Error::unsupported(self.op, t.dtype())));
        Ok(found
            .iter()
            .rposition(|found| found.load(Relaxed))
            .unwrap_or(0))
    }
    /// The least and largest number whose power of this order loses no digits as a mean of a window.
    fn bounds(&self, dtype: DType, order: f64) -> Result<[f64; 2]> {
        let taps = self.taps()?;
        let [least, most] = dispatch!(float dtype, |F| [least_sum::<F>(), most_sum::<F>()],
            else return Err(Error::unsupported(self.op, dtype)));
        Ok([
            libm::pow(least, 1.0 / order),
            libm::pow(most / taps, 1.0 / order),
        ])
    }
    /// Calls `f` with `x` multiplied by a power of two, the windows whose powers are in range then, of
    /// those of which they were not, and that power; as often as it takes. `mean` is that of the powers
    /// of `x`.
    pub fn each_lost(
        &self,
        x: &Tensor,
        mean: &Tensor,
        f: impl FnMut(&Tensor, &Tensor, f64) -> Result<()>,
    ) -> Result<()> {
        // other orders don't reach that far, or farther than multiples would
        if 1.0 < self.p && self.p < 64.0 && self.farthest(mean, 1.0)? > 0 {
            self.each(x, mean, f)?
        }
        Ok(())
    }
    #[cold]
    #[inline(never)]
    fn each(
        &self,
        x: &Tensor,
        mean: &Tensor,
        mut f: impl FnMut(&Tensor, &Tensor, f64) -> Result<()>,
    ) -> Result<()> {
        let x = x.astype(mean.dtype())?;
        if self.farthest(&x, self.p)? < 2 {
            return Ok(()); // means are far for zeros
        }
        let sizes = ops::abs(&x)?;
        let planes = Planes::new(self.op, &sizes, self.rank)?;
        let means = self.means(&planes)?;
        let sizes = launch::largest(
            self.op,
            &planes,
            &means.windows,
            means.output_size,
            x.dtype(),
        )?;
        let [least, most] = self.bounds(mean.dtype(), 1.0)?;
        let kept = ops::logical_and(
            ops::greater_equal(mean, least)?,
            ops::less_equal(mean, most)?,
        )?;
        let finite = ops::logical_and(ops::greater(&sizes, 0.0)?, ops::isfinite(&sizes)?)?;
        let mut lost = ops::logical_and(finite, ops::logical_not(kept)?)?;
        let [least, _] = self.bounds(x.dtype(), self.p)?;
        while ops::any(&lost, ())?.item::<bool>()? {
            let largest = ops::max(&ops::where_(&lost, &sizes, 0.0)?, ())?;
            let largest = dispatch!(float x.dtype(), |F| Real::to_f64(largest.item::<F>()?),
                else return Err(Error::unsupported(self.op, x.dtype())));
            let unit = dispatch!(float x.dtype(), |F| to_one::<F>(largest),
                else return Err(Error::unsupported(self.op, x.dtype())));
            let reached = ops::greater_equal(&sizes, largest.min(2.0 * least / unit))?;
            let windows = ops::logical_and(&lost, reached)?;
            f(&ops::multiply(&x, unit)?, &windows, unit)?;
            lost = ops::logical_and(lost, ops::logical_not(windows)?)?;
        }
        Ok(())
    }
}
