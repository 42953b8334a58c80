//! Quantised tensors.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::{self, Levels};
use crate::layout::{self, Shape};
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// A quantised tensor: integers, with scales and zero points that say what they stand for, `scale *
/// (q - zero)`.
///
/// Invariants, checked by [`QTensor::from_parts`]: scales, and zero points if there are any, have
/// the tensor's rank, and each of their sizes divides the tensor's, so that blocks of equal size
/// share one. Scales are float32, float16 or bfloat16; values and zero points are int8 or uint8, as
/// the levels say. Values of int4 and int2 are uint8 tensors with one axis a half or a quarter as
/// long: each byte holds two or four neighbours, the first in its lowest bits.
///
/// Clones share storage. Views ([`permute`](QTensor::permute), [`slice_axis`](QTensor::slice_axis)
/// ..) copy nothing.
///
/// ```
/// use flex::{DType, Tensor, quant::{self, Levels, Per, Quantization}};
/// let per = Per::Block { axis: 1, size: 2 };
/// let int4 = Quantization { levels: Levels::I4, per, ..Default::default() };
/// let q = quant::quantize(&Tensor::zeros((3, 4), DType::F32)?, int4)?;
/// assert_eq!((q.shape(), q.rank(), q.len(), q.is_empty()), (&[3, 4][..], 2, 12, false));
/// assert_eq!((q.levels(), q.block().as_slice(), q.packed_axis()), (Levels::I4, &[1, 2][..], Some(1)));
/// assert_eq!((q.values().shape(), q.scales().shape()), (&[3, 2][..], &[3, 2][..]));
/// assert!(q.zeros().is_none() && q.byte_len() == 3 * 2 + 4 * 3 * 2);
/// let own = q.copy()?;
/// assert!(!own.values().shares_storage(q.values()));
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QTensor {
    pub(super) values: Tensor,
    pub(super) scales: Tensor,
    pub(super) zeros: Option<Tensor>,
    pub(super) levels: Levels,
    pub(super) shape: Shape,
    /// The axis along which bytes hold several values, if they do.
    pub(super) packed: Option<usize>,
}

impl QTensor {
    /// Makes a quantised tensor from its parts. `shape` is that of the values, except for int4 and
    /// int2: it is then the unpacked shape, of values packed along the last axis.
    ///
    /// Errors if the parts violate an invariant of [`QTensor`].
    ///
    /// ```
    /// use flex::{Tensor, quant::{Levels, QTensor}};
    /// let (values, scales) = (Tensor::from([0x21u8, 0x0f]), Tensor::from([0.5f32]));
    /// let q = QTensor::from_parts(values, scales, None, Levels::I4, [3])?;
    /// assert_eq!(q.dequantize()?.to_vec::<f32>()?, [0.5, 1.0, -0.5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn from_parts(
        values: Tensor,
        scales: Tensor,
        zeros: Option<Tensor>,
        levels: Levels,
        shape: impl layout::IntoShape,
    ) -> Result<QTensor> {
        const OP: &str = "QTensor";
        let shape = shape.into_shape();
        let shape = Shape::from_slice(shape.as_ref());
        let bytes = |packed: Option<usize>| -> Shape {
            let per_byte = |a: usize| {
                if packed == Some(a) {
                    levels.per_byte()
                } else {
                    1
                }
            };
            (0..shape.len())
                .map(|a| shape[a].div_ceil(per_byte(a)))
                .collect()
        };
        let packed = match levels.is_packed() {
            true => {
                let fits = |a: &usize| values.shape() == &bytes(Some(*a))[..];
                Some(
                    (0..shape.len())
                        .rev()
                        .find(fits)
                        .unwrap_or(shape.len().saturating_sub(1)),
                )
            }
            false => None,
        };
        let expected = bytes(packed);
        let dtype = levels.stored();
        if values.dtype() != dtype
            || values.shape() != &expected[..]
            || packed.is_some_and(|a| a >= shape.len())
        {
            return Err(Error::shape_of(
                OP,
                message!(
                    "values of {} and shape {:?} are {dtype} of shape {:?}",
                    levels.name(),
                    &shape[..],
                    &expected[..]
                ),
                &[("values", values.shape(), values.dtype())],
            ));
        }
        check_steps(OP, &shape, levels, &scales, zeros.as_ref())?;
        Ok(QTensor {
            values,
            scales,
            zeros,
            levels,
            shape,
            packed,
        })
    }
    /// The sizes of the dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The kind of integers.
    pub fn levels(&self) -> Levels {
        self.levels
    }
    /// The stored integers, int8 or uint8; each byte holds two int4 or four int2 values.
    pub fn values(&self) -> &Tensor {
        &self.values
    }
    /// The scales, one per block, with the tensor's rank.
    pub fn scales(&self) -> &Tensor {
        &self.scales
    }
    /// The zero points, as many as scales; `None` for a symmetric quantisation.
    pub fn zeros(&self) -> Option<&Tensor> {
        self.zeros.as_ref()
    }
    /// The number of neighbours along each axis that share a scale.
    pub fn block(&self) -> Shape {
        let sizes = self.shape.iter().zip(self.scales.shape());
        sizes.map(|(n, s)| n.checked_div(*s).unwrap_or(0)).collect()
    }
    /// For int4 and int2, the axis along which each byte holds several values.
    pub fn packed_axis(&self) -> Option<usize> {
        self.packed
    }
    /// The size of values, scales and zero points in bytes.
    pub fn byte_len(&self) -> usize {
        let bytes = |t: &Tensor| t.len() * t.dtype().size();
        bytes(&self.values) + bytes(&self.scales) + self.zeros.as_ref().map_or(0, bytes)
    }
    /// A copy with memory of its own. Errors if there is none.
    pub fn copy(&self) -> Result<QTensor> {
        Ok(QTensor {
            values: self.values.copy()?,
            scales: self.scales.copy()?,
            zeros: self.zeros.as_ref().map(Tensor::copy).transpose()?,
            ..self.clone()
        })
    }
    /// The same with one value per byte.
    pub(super) fn unpacked(&self) -> Result<QTensor> {
        let Some(axis) = self.packed else {
            return Ok(self.clone());
        };
        let (n, per) = (self.shape[axis], self.levels.per_byte());
        let values = lines(&self.values, axis, n, DType::I8, |q, d| {
            quant::unpack(q, per, d)
        })?;
        Ok(QTensor {
            values,
            levels: Levels::I8,
            packed: None,
            ..self.clone()
        })
    }
}

/// Maps lines of bytes along an axis to lines of `to` bytes by `f`.
fn lines(
    x: &Tensor,
    axis: usize,
    to: usize,
    dtype: DType,
    f: impl Fn(&[u8], &mut [u8]) + Sync,
) -> Result<Tensor> {
    const COST: Cost = Cost { bytes: 2, flops: 2 };
    let x = x.moveaxis(axis as isize, -1)?.contiguous()?;
    let mut sizes = Shape::from_slice(x.shape());
    let n = match sizes.last_mut() {
        Some(last) => core::mem::replace(last, to),
        None => 0,
    };
    let mut y = Tensor::empty(&sizes, dtype)?;
    let x = x.as_bytes();
    let cost = COST.times(n.max(to));
    par::split(y.as_mut_bytes()?, to.max(1), 1, cost, |r, d| {
        let x = x[r.start * n..].chunks(n.max(1));
        x.zip(d.chunks_mut(to.max(1))).for_each(|(x, d)| f(x, d));
    });
    y.moveaxis(-1, axis as isize)
}

/// A quantised tensor from one integer per byte, packed along an axis if the levels are narrower.
pub(super) fn packed(
    values: Tensor,
    scales: Tensor,
    zeros: Option<Tensor>,
    levels: Levels,
    axis: isize,
) -> Result<QTensor> {
    let shape = Shape::from_slice(values.shape());
    if !levels.is_packed() {
        return Ok(QTensor {
            values,
            scales,
            zeros,
            levels,
            shape,
            packed: None,
        });
    }
    let axis = layout::axis("quant.quantize", axis, shape.len())?;
    let per = levels.per_byte();
    let bytes = shape[axis].div_ceil(per);
    let values = lines(&values, axis, bytes, DType::U8, |q, d| {
        quant::pack(q, per, d)
    })?;
    Ok(QTensor {
        values,
        scales,
        zeros,
        levels,
        shape,
        packed: Some(axis),
    })
}

/// Errors unless scales and zero points fit a tensor of this shape.
pub(super) fn check_steps(
    op: &'static str,
    shape: &[usize],
    levels: Levels,
    scales: &Tensor,
    zeros: Option<&Tensor>,
) -> Result<()> {
    let operands = [("scales", scales.shape(), scales.dtype())];
    let divides = |(n, s): (&usize, &usize)| {
        n.checked_rem(*s)
            .map_or(*n == 0, |rest| rest == 0 && (*n > 0 || *s <= 1))
    };
    if scales.rank() != shape.len() || !shape.iter().zip(scales.shape()).all(divides) {
        let message = message!(
            "scales must have the rank of shape {shape:?}, and sizes that divide its sizes"
        );
        return Err(Error::shape_of(op, message, &operands));
    }
    let is_scale = matches!(scales.dtype(), DType::F32 | DType::F16 | DType::BF16);
    if !is_scale || !scales.dtype().is_available() {
        let message = message!(
            "scales must be float32, float16 or bfloat16, not {}",
            scales.dtype()
        );
        return Err(Error::dtype(op, message));
    }
    if let Some(zeros) = zeros {
        if levels.is_packed() {
            return Err(Error::value(
                op,
                message!(
                    "zero points are for int8 and uint8, not for {}",
                    levels.name()
                ),
            ));
        }
        if zeros.dtype() != levels.dtype() || zeros.shape() != scales.shape() {
            let message = message!(
                "zero points must be {} of the shape of scales",
                levels.dtype()
            );
            let zeros = ("zeros", zeros.shape(), zeros.dtype());
            return Err(Error::shape_of(op, message, &[operands[0], zeros]));
        }
    }
    Ok(())
}

/// Zero points as floats, in row-major order.
pub(super) fn floats_of_bytes(zeros: &Tensor, levels: Levels) -> Result<Vec<f32>> {
    let zeros = zeros.contiguous()?;
    let float = |x: &u8| {
        if levels == Levels::U8 {
            *x as f32
        } else {
            *x as i8 as f32
        }
    };
    crate::fallible::collect(zeros.as_bytes().iter().map(|x| Ok(float(x))))
}
