//! How a tensor is quantised.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::{Calibration, Levels, Rule};
use crate::layout::{self, Shape};
#[cfg(feature = "half")]
use crate::{
    dtype::{bf16, f16},
    kernel::convert::Widen,
};

/// What shares a scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// The whole tensor.
    #[default]
    Tensor,
    /// What has the same index along an axis.
    Channel(isize),
    /// So many neighbours along an axis, whose size they divide.
    Block {
        /// The axis.
        axis: isize,
        /// Elements of a block.
        size: usize,
    },
}

/// How [`quantize`](super::quantize) chooses integers; by default int8 without zero points, one float32
/// scale for the whole tensor, from its least number to its largest.
#[derive(Clone, Copy, Debug)]
pub struct Quantization {
    /// The integers.
    pub levels: Levels,
    /// What shares a scale.
    pub per: Per,
    /// Whether there are zero points, so that the integers cover what lies between the least and the largest
    /// number (and 0) alone. Of bytes.
    pub affine: bool,
    /// The dtype of the scales: float32, float16 or bfloat16. Numbers are divided by the rounded scale.
    pub scales: DType,
    /// How the range is found that the integers cover.
    pub calibration: Calibration,
}
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
    /// The rule of its groups. Errors where it is none.
    pub(super) fn rule(&self, op: &'static str) -> Result<Rule> {
        if self.affine && self.levels.is_packed() {
            return Err(Error::value(
                op,
                message!(
                    "zero points are of int8 and uint8, not of {}",
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
                message!("percentile is {p}; it must be from 50 to 100"),
            ));
        }
        Ok(Rule {
            levels: self.levels.range(!self.affine),
            affine: self.affine,
            round: rounding(op, self.scales)?,
        })
    }
}

/// What rounds a scale to a dtype, the largest of it at most. Errors where scales have none such.
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
    /// The shape of the scales of a tensor: as many along each axis as there are blocks.
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
