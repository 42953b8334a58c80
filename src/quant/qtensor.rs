//! Quantised tensors.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::{self, Levels};
use crate::layout::{self, Shape};
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// Integers, and the scales and zero points that say what they stand for: `scale * (q - zero)`.
///
/// Invariants, checked by [`QTensor::from_parts`]: scales, and zero points where there are some, have
/// the tensor's rank, and each size of theirs divides the tensor's size there, so that as many
/// neighbours share one. Scales are float32, float16 or bfloat16; values and zero points are int8 or uint8 as the
/// levels are. Values of int4 and int2 are uint8 tensors, in which one axis is half or a quarter as long: each byte has two
/// or four neighbours, the first in its lowest bits.
///
/// A clone shares storage. Views ([`permute`](QTensor::permute), [`slice_axis`](QTensor::slice_axis) ..) copy
/// nothing.
#[derive(Clone, Debug)]
pub struct QTensor {
    pub(super) values: Tensor,
    pub(super) scales: Tensor,
    pub(super) zeros: Option<Tensor>,
    pub(super) levels: Levels,
    pub(super) shape: Shape,
    /// The axis along which bytes hold several values.
    pub(super) packed: Option<usize>,
}

impl QTensor {
    /// Of its parts. `shape` is that of the values, but for int4 and int2, which are packed along the last axis for
    /// which its shape is the values'.
    ///
    /// Errors where the parts break an invariant above.
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
    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// What the integers are.
    pub fn levels(&self) -> Levels {
        self.levels
    }
    /// The integers: int8 or uint8, of int4 and int2 bytes of two and four.
    pub fn values(&self) -> &Tensor {
        &self.values
    }
    /// The scales: of the tensor's rank, one for each block.
    pub fn scales(&self) -> &Tensor {
        &self.scales
    }
    /// The zero points, as many as there are scales; none of a symmetric quantisation.
    pub fn zeros(&self) -> Option<&Tensor> {
        self.zeros.as_ref()
    }
    /// Neighbours along each axis that share a scale.
    pub fn block(&self) -> Shape {
        let sizes = self.shape.iter().zip(self.scales.shape());
        sizes.map(|(n, s)| n.checked_div(*s).unwrap_or(0)).collect()
    }
    /// The axis along which each byte holds several values, of int4 and int2.
    pub fn packed_axis(&self) -> Option<usize> {
        self.packed
    }
    /// Bytes of values, scales and zero points.
    pub fn byte_len(&self) -> usize {
        let bytes = |t: &Tensor| t.len() * t.dtype().size();
        bytes(&self.values) + bytes(&self.scales) + self.zeros.as_ref().map_or(0, bytes)
    }
    /// The same with a byte for each value.
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

/// Lines of bytes along an axis as others of `to` bytes, each made by `f`.
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

/// A quantised tensor of levels that are bytes each, which are packed along an axis where they are less.
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

/// Errors where scales and zero points are none of a tensor of a shape.
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
                    "zero points are of int8 and uint8, not of {}",
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
