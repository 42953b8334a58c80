//! Resampling of images to other sizes.

use super::super::images::{Planes, rows, table_bytes};
use super::super::pool::{adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d};
use super::super::spatial::{PerAxis, option};
use super::pad::{MOVED, remap};
use super::tables::ResampledAxis;
use crate::dtype::{DType, Element, Pod};
use crate::error::{Error, Result};
use crate::kernel::conv::Three;
use crate::kernel::images::Pixel;
use crate::kernel::math::Real;
use crate::kernel::resample::grid::cubic;
use crate::kernel::resample::{Sampled, Table, blend};
use crate::par::Cost;
use crate::simd;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// How values between an image's elements are found.
///
/// ```
/// use flex::nn::InterpolateMode;
/// assert_eq!(InterpolateMode::from_name("nearest-exact"), Some(InterpolateMode::NearestExact));
/// assert_eq!(InterpolateMode::Lanczos3.name(), "lanczos3");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterpolateMode {
    /// The element at the start of the interval of an output, like older versions of many
    /// libraries.
    #[default]
    Nearest,
    /// The element at the centre of the interval of an output.
    NearestExact,
    /// Linear, for one spatial axis.
    Linear,
    /// Linear along each of two axes.
    Bilinear,
    /// Cubic convolution of four elements along each of two axes.
    Bicubic,
    /// Linear along each of three axes.
    Trilinear,
    /// The mean of the elements that an output covers.
    Area,
    /// Windowed sinc of six elements along each of two axes.
    Lanczos3,
}
impl InterpolateMode {
    /// The name in torch.
    pub fn name(self) -> &'static str {
        use InterpolateMode::*;
        match self {
            Nearest => "nearest",
            NearestExact => "nearest-exact",
            Linear => "linear",
            Bilinear => "bilinear",
            Bicubic => "bicubic",
            Trilinear => "trilinear",
            Area => "area",
            Lanczos3 => "lanczos3",
        }
    }
    /// The mode with this name.
    pub fn from_name(name: &str) -> Option<InterpolateMode> {
        use InterpolateMode::*;
        [
            Nearest,
            NearestExact,
            Linear,
            Bilinear,
            Bicubic,
            Trilinear,
            Area,
            Lanczos3,
        ]
        .into_iter()
        .find(|m| m.name() == name)
    }
    /// The number of spatial axes that it takes; none for any number.
    fn rank(self) -> Option<usize> {
        use InterpolateMode::*;
        match self {
            Nearest | NearestExact | Area => None,
            Linear => Some(1),
            Bilinear | Bicubic | Lanczos3 => Some(2),
            Trilinear => Some(3),
        }
    }
    /// The reach of its filter on either side of an output, in elements.
    pub(super) fn reach(self) -> f64 {
        match self {
            InterpolateMode::Bicubic => 2.0,
            InterpolateMode::Lanczos3 => 3.0,
            _ => 1.0,
        }
    }
    /// The weight of an element at a distance, before normalisation.
    pub(super) fn filter(self, x: f64) -> f64 {
        let x = if x < 0.0 { -x } else { x };
        match self {
            InterpolateMode::Bicubic if x < 2.0 => cubic(x, -0.5, x >= 1.0),
            InterpolateMode::Lanczos3 if x < 3.0 => sinc(x) * sinc(x / 3.0),
            InterpolateMode::Bicubic | InterpolateMode::Lanczos3 => 0.0,
            _ => (1.0 - x).max(0.0),
        }
    }
}
/// `sin(pi x) / (pi x)`.
fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    let x = core::f64::consts::PI * x;
    libm::sin(x) / x
}

/// The options of [`interpolate`].
///
/// ```
/// use flex::{Tensor, nn::{self, Interpolate, InterpolateMode}};
/// let x = Tensor::from([[[1.0f32, 3.0]]]);
/// let options = Interpolate {
///     scale_factor: [1.5].as_slice().into(),
///     mode: InterpolateMode::Linear,
///     align_corners: true,
///     ..Default::default()
/// };
/// assert_eq!(nn::interpolate(&x, options)?.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interpolate {
    /// The sizes of the result's spatial axes.
    pub size: Option<PerAxis>,
    /// Alternatively the factors of the image's sizes: one for all axes, or one for each.
    pub scale_factor: SmallVec<[f64; 3]>,
    /// How values between elements are found.
    pub mode: InterpolateMode,
    /// Whether the centres of the outermost elements of image and result coincide, rather than
    /// their outer borders.
    pub align_corners: bool,
    /// Whether `scale_factor` only determines sizes, and the sampling distance follows from those.
    pub recompute_scale_factor: bool,
    /// Whether filters widen to cover all elements when downsampling.
    pub antialias: bool,
}
impl From<InterpolateMode> for Interpolate {
    fn from(mode: InterpolateMode) -> Self {
        Interpolate {
            mode,
            ..Default::default()
        }
    }
}

/// Resamples an image, signal or volume to other sizes.
///
/// `x` is `[batch, channels, ..]` with one to three spatial axes and any strides; the result has
/// its dtype. The nearest modes take any dtype. Other modes are for floats; the bilinear, bicubic
/// and Lanczos ones also take uint8: computed in float32, rounded to the nearest integer, ties to
/// even, and clamped. 16-bit floats are computed in float32 and rounded once. Modes, weights and
/// sizes are torch's (cubic convolution with a = -3/4, or -1/2 with `antialias`);
/// [`InterpolateMode::Lanczos3`] is that of torchvision and Pillow.
///
/// Errors unless exactly one of `size` and `scale_factor` is given, for each axis; if a size would
/// be 0, a factor is not positive and finite, or the mode is for another number of axes or lacks an
/// option; and for other dtypes.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 3.0], [1, 1, 2])?;
/// let to_four = |mode| nn::Interpolate { size: Some(4.into()), mode, ..Default::default() };
/// let y = nn::interpolate(&x, to_four(nn::InterpolateMode::Nearest))?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 1.0, 3.0, 3.0]);
/// let y = nn::interpolate(&x, to_four(nn::InterpolateMode::Linear))?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 1.5, 2.5, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias(
    "upsample",
    "interpolate1d",
    "interpolate2d",
    "upsample_nearest2d",
    "upsample_bilinear2d"
))]
pub fn interpolate(x: &Tensor, options: impl Into<Interpolate>) -> Result<Tensor> {
    interpolated(x, &options.into())
}

const OP: &str = "interpolate";

impl Interpolate {
    /// The number of spatial axes. Errors if the options don't suit an operand of this shape.
    pub(in crate::nn) fn rank(
        &self,
        op: &'static str,
        operand: (&'static str, &[usize], DType),
    ) -> Result<usize> {
        use InterpolateMode::*;
        let bad = |message| Err(Error::value(op, message));
        let (mode, rank) = (self.mode, operand.1.len().wrapping_sub(2));
        if !(1..=3).contains(&rank) || mode.rank().is_some_and(|r| r != rank) {
            let dimensions = mode.rank().map_or("3 to 5", |r| ["3", "4", "5"][r - 1]);
            let message = message!(
                "mode {:?} is for {dimensions} dimensions, [batch, channels, ..]",
                mode.name()
            );
            return Err(Error::shape_of(op, message, &[operand]));
        }
        if self.align_corners && (mode.rank().is_none() || mode == Lanczos3) {
            return bad(message!("align_corners is not for mode {:?}", mode.name()));
        }
        if self.antialias && !matches!(mode, Bilinear | Bicubic | Lanczos3) {
            return bad(message!(
                "antialias is for the modes \"bilinear\", \"bicubic\" and \"lanczos3\", not {:?}",
                mode.name()
            ));
        }
        Ok(rank)
    }
    /// The table of weights of an axis.
    pub(in crate::nn) fn table<A: Real>(&self, axis: &ResampledAxis) -> Result<Table<A>> {
        axis.table(self.mode, self.align_corners, self.antialias)
    }
}

fn interpolated(x: &Tensor, options: &Interpolate) -> Result<Tensor> {
    use InterpolateMode::*;
    let rank = options.rank(OP, ("x", x.shape(), x.dtype()))?;
    let mode = options.mode;
    let planes = Planes::new(OP, x, rank)?;
    let axes = axes(OP, options, planes.sizes(), rank)?;
    let output_size = axes.map(|a| a.output_size);
    match mode {
        Nearest | NearestExact => {
            let exact = mode == NearestExact;
            if !planes.room(output_size, x.dtype(), table_bytes(output_size, MOVED))? {
                return planes.result(planes.empty(output_size, x.dtype())?);
            }
            let maps = [
                axes[0].nearest(exact)?,
                axes[1].nearest(exact)?,
                axes[2].nearest(exact)?,
            ];
            remap(&planes, output_size, &maps, x.dtype())
        }
        Area => {
            let size = PerAxis::from(&output_size[3 - rank..]);
            match rank {
                1 => adaptive_avg_pool1d(x, size),
                2 => adaptive_avg_pool2d(x, size),
                _ => adaptive_avg_pool3d(x, size),
            }
        }
        _ => {
            let dtype = x.dtype();
            let bytes = dtype == DType::U8 && mode.rank() == Some(2);
            if bytes && dtype.is_available() {
                return resample::<u8, f32>(&planes, axes, options);
            }
            dispatch!(half dtype, |T| resample::<T, f32>(&planes, axes, options), else
                dispatch!(float dtype, |T| resample::<T, T>(&planes, axes, options), else
                    Err(Error::unsupported(OP, dtype))))
        }
    }
}

/// The geometry of each axis.
pub(in crate::nn) fn axes(
    op: &'static str,
    options: &Interpolate,
    sizes: Three,
    rank: usize,
) -> Result<[ResampledAxis; 3]> {
    let bad = |message| Err(Error::value(op, message));
    let factors = &options.scale_factor;
    let mut axes = sizes.map(|size| ResampledAxis {
        size,
        output_size: 1,
        step: None,
    });
    match &options.size {
        Some(_) if !factors.is_empty() => {
            return bad(message!("give size or scale_factor, not both"));
        }
        Some(size) => {
            let output_size = option(op, "size", size, rank, 1)?;
            for k in 3 - rank..3 {
                axes[k].output_size = output_size[k];
            }
        }
        None if factors.len() != 1 && factors.len() != rank => {
            return bad(if factors.is_empty() {
                message!("give size or scale_factor")
            } else {
                message!(
                    "scale_factor has {} values: give one, or {rank}",
                    factors.len()
                )
            });
        }
        None => {
            for k in 3 - rank..3 {
                let factor = factors[if factors.len() == 1 { 0 } else { k + rank - 3 }];
                let output_size = sizes[k] as f64 * factor;
                // refuses NaN too
                if !(factor > 0.0 && output_size < u32::MAX as f64) || output_size < 1.0 {
                    return bad(message!(
                        "scale_factor is {factor:?}, which gives no valid size for {}",
                        sizes[k]
                    ));
                }
                axes[k].output_size = output_size as usize;
                axes[k].step = (!options.recompute_scale_factor).then_some(1.0 / factor);
            }
        }
    }
    for ResampledAxis {
        size, output_size, ..
    } in axes
    {
        if size.max(output_size) >= u32::MAX as usize {
            return bad(message!(
                "from {size} to {output_size} elements: a size is beyond 32 bits"
            ));
        }
    }
    Ok(axes)
}

/// Weighted sums along all axes.
fn resample<T, A>(
    planes: &Planes,
    axes: [ResampledAxis; 3],
    options: &Interpolate,
) -> Result<Tensor>
where
    T: Element + Pod + Pixel<A>,
    A: Sampled,
{
    let output_size = axes.map(|a| a.output_size);
    let weights = |a: &ResampledAxis| {
        let taps = a
            .taps(options.mode, options.align_corners, options.antialias)
            .0;
        Table::<A>::bytes(taps, a.output_size)
    };
    let bytes = axes.iter().map(weights).fold(0, usize::saturating_add);
    let some = planes.room(output_size, T::DTYPE, bytes)?;
    let result = planes.empty(output_size, T::DTYPE)?;
    if !some {
        return planes.result(result);
    }
    // an axis of size 1 that stays so has a single weight of 1
    let tables = [
        options.table(&axes[0])?,
        options.table(&axes[1])?,
        options.table(&axes[2])?,
    ];
    weighted::<T, A>(planes, &tables, result)
}

/// Weighted sums by tables, into a tensor that [`Planes::empty`] made for them.
pub(in crate::nn) fn weighted<T, A>(
    planes: &Planes,
    tables: &[Table<A>; 3],
    result: Tensor,
) -> Result<Tensor>
where
    T: Element + Pod + Pixel<A>,
    A: Sampled,
{
    let mut result = result;
    let (x, y) = (planes.images::<T>()?, planes.images_mut::<T>(&mut result)?);
    let parts = tables[0].taps().saturating_mul(tables[1].taps());
    let cost = Cost {
        bytes: x.width().saturating_mul(parts).saturating_add(y.width()) * size_of::<T>(),
        flops: x.width().saturating_mul(parts) + 2 * tables[2].taps().saturating_mul(y.width()),
    };
    rows(
        y.rows(),
        blend::scratch::<T, A>(&x, &y),
        cost,
        |rows, scratch| {
            simd::call(blend::Blend {
                x,
                y,
                tables,
                rows,
                scratch,
            });
            Ok(())
        },
    )?;
    planes.result(result)
}
