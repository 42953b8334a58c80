//! The parameters of quantisation.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::{Calibration, Levels, QuantizationRule};
use crate::layout::{self, Shape};
use crate::scalar::Shown;
#[cfg(feature = "half")]
use crate::{
    dtype::{bf16, f16},
    kernel::convert::Widen,
};

/// What shares a scale.
///
/// ```
/// use flex::{Tensor, quant::{self, Per, Quantization}};
/// let x = Tensor::from([[1.0f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
/// let scales = |per| {
///     let q = quant::quantize(&x, Quantization { per, ..Default::default() })?;
///     Ok::<_, flex::Error>(q.scales().shape().to_vec())
/// };
/// assert_eq!(scales(Per::Tensor)?, [1, 1]);
/// assert_eq!(scales(Per::Channel(0))?, [2, 1]);
/// assert_eq!(scales(Per::Block { axis: 1, size: 2 })?, [2, 2]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// The whole tensor.
    #[default]
    Tensor,
    /// All elements with the same index along an axis.
    Channel(isize),
    /// Blocks of neighbours along an axis, whose size must be a multiple of theirs.
    Block {
        /// The axis.
        axis: isize,
        /// Elements in a block.
        size: usize,
    },
}

/// How [`quantize`](super::quantize) chooses integers. The default is int8 without zero points,
/// with one float32 scale for the whole tensor, from its minimum and maximum.
///
/// ```
/// use flex::{DType, Tensor, quant::{self, Levels, Quantization}};
/// let uint8 = Quantization { levels: Levels::U8, affine: true, ..Default::default() };
/// let q = quant::quantize(&Tensor::from([0.0f32, 255.0, 7.0]), uint8)?;
/// assert_eq!(q.values().to_vec::<u8>()?, [0, 255, 7]);
/// assert_eq!(q.zeros().unwrap().to_vec::<u8>()?, [0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantization {
    /// The integers.
    pub levels: Levels,
    /// What shares a scale.
    pub per: Per,
    /// Whether there are zero points, so that the integers cover just the range from the minimum to
    /// the maximum (and 0). For int8 and uint8 only.
    pub affine: bool,
    /// The dtype of the scales: float32, float16 or bfloat16. Numbers are divided by the rounded
    /// scale.
    pub scales: DType,
    /// How the range covered by the integers is found.
    pub calibration: Calibration,
}
crate::layout::defaults! { Quantization }
impl Default for Quantization {
    fn default() -> Quantization {
        Quantization {
            levels: Levels::I8,
            per: Per::Tensor,
            affine: false,
            scales: DType::F32,
            calibration: Calibration::MinMax,
        }
    }
}

impl Quantization {
    /// The rule for its groups. Errors if there is no such quantisation.
    pub(super) fn rule(&self, op: &'static str) -> Result<QuantizationRule> {
        if self.affine && self.levels.is_packed() {
            return Err(Error::value(
                op,
                message!(
                    "zero points are for int8 and uint8, not for {}",
                    self.levels.name()
                ),
            ));
        }
        if !self.affine && self.levels == Levels::U8 {
            return Err(Error::value(
                op,
                "uint8 without zero points has no negative numbers: use int8",
            ));
        }
        if let Calibration::Percentile(p) = self.calibration
            && !(50.0..=100.0).contains(&p)
        {
            return Err(Error::value(
                op,
                message!(
                    "percentile is {}; it must be from 50 to 100",
                    Shown(p.into())
                ),
            ));
        }
        Ok(QuantizationRule {
            levels: self.levels.range(!self.affine),
            affine: self.affine,
            round: rounding(op, self.scales)?,
        })
    }
}

/// The function that rounds a scale to a dtype, at most to its largest number. Errors if scales
/// can't have this dtype.
fn rounding(op: &'static str, dtype: DType) -> Result<fn(f32) -> f32> {
    match dtype {
        DType::F32 => Ok(|x| x.min(f32::MAX)),
        #[cfg(feature = "half")]
        DType::F16 => Ok(|x| f16::narrow(x.min(f16::MAX.widen())).widen()),
        #[cfg(feature = "half")]
        DType::BF16 => Ok(|x| bf16::narrow(x.min(bf16::MAX.widen())).widen()),
        _ => Err(Error::dtype(
            op,
            message!("scales are float32, float16 or bfloat16 of this build, not {dtype}"),
        )),
    }
}

impl Per {
    /// The shape of a tensor's scales: the number of blocks along each axis.
    pub(super) fn scales_of(self, op: &'static str, shape: &[usize]) -> Result<Shape> {
        let mut scales: Shape = shape.iter().map(|n| 1.min(*n)).collect();
        match self {
            Per::Tensor => {}
            Per::Channel(axis) => {
                let axis = layout::axis(op, axis, shape.len())?;
                scales[axis] = shape[axis];
            }
            Per::Block { axis, size } => {
                let axis = layout::axis(op, axis, shape.len())?;
                if size == 0 || !shape[axis].is_multiple_of(size) {
                    return Err(Error::shape(
                        op,
                        message!(
                            "blocks of {size} do not divide axis {axis} of shape {shape:?}: pad it, or take \
                             another size"
                        ),
                    ));
                }
                scales.copy_from_slice(shape);
                scales[axis] = shape[axis] / size;
            }
        }
        Ok(scales)
    }
}
