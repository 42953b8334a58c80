//! Matrices of few bits, in onnxruntime's layout.

use super::super::call::{Call, Node, one};
use super::contrib::contrib;
use super::{Default as Value, Kind, Row, Run, attribute, int};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops;
use crate::quant::{self, Levels, QLinear, QTensor};
use crate::tensor::Tensor;
use alloc::vec::Vec;

pub(super) const ROWS: &[Row] = &[contrib(
    "MatMulNBits",
    3..=6,
    &[
        attribute("K", Value::Required(Kind::Int)),
        attribute("N", Value::Required(Kind::Int)),
        int("accuracy_level", 0),
        int("bits", 4),
        attribute("block_size", Value::Required(Kind::Int)),
        int("weight_prepacked", 0),
    ],
    Run::Make(product),
)];

/// The product with a matrix of `[N, K]` integers in blocks along `K`, each with a scale and a zero
/// point, which is the middle of the integers by default.
fn product(node: &Node) -> Result<Call> {
    let (bits, size) = (node.int("bits"), node.size("block_size")?);
    let shape = [node.size("N")?, node.size("K")?];
    if node.int("weight_prepacked") != 0 || size == 0 || !matches!(bits, 4 | 8) {
        return Err(node.wrong("weights of 4 or 8 bits in blocks are supported, not packed ones"));
    }
    // a matrix that doesn't change is read once
    let known = [1, 2, 3].map(|i| node.constant(i));
    let weight = match (known, node.constants.get(3)) {
        ([Some(b), Some(scales), zeros], absent)
            if zeros.is_some() || absent.is_none_or(Option::is_none) =>
        {
            Some(matrix(b, scales, zeros, bits, size, shape)?)
        }
        _ => None,
    };
    one(move |x| {
        if x.maybe(4).is_some() {
            return Err(Error::value("MatMulNBits", "g_idx is not supported"));
        }
        let made;
        let weight = match &weight {
            Some(weight) => weight,
            None => {
                made = matrix(x.get(1)?, x.get(2)?, x.maybe(3), bits, size, shape)?;
                &made
            }
        };
        let options = QLinear {
            bias: x.maybe(5),
            ..Default::default()
        };
        quant::linear(x.get(0)?, weight, options)
    })
}

fn matrix(
    b: &Tensor,
    scales: &Tensor,
    zeros: Option<&Tensor>,
    bits: i64,
    size: usize,
    [n, k]: [usize; 2],
) -> Result<QTensor> {
    const OP: &str = "MatMulNBits";
    let blocks = k.div_ceil(size);
    let per_byte = (8 / bits) as usize;
    if b.dtype() != DType::U8
        || b.len() != n * blocks * size / per_byte
        || scales.len() != n * blocks
        || !k.is_multiple_of(size)
    {
        let message = message!("weights of {n} x {k} in blocks of {size}");
        let operands = [
            ("B", b.shape(), b.dtype()),
            ("scales", scales.shape(), scales.dtype()),
        ];
        return Err(Error::shape_of(OP, message, &operands));
    }
    let scales = scales.reshape([n, blocks])?;
    let middle = 1u8 << (bits - 1);
    let Some(zeros) = zeros else {
        // the same numbers around 0
        let flip = if bits == 4 { 0x88 } else { i64::from(middle) };
        let values = ops::bitwise_xor(
            &b.reshape([n, k / per_byte])?,
            &Tensor::scalar(flip, DType::U8)?,
        )?;
        return match bits {
            4 => QTensor::from_parts(values, scales, None, Levels::I4, [n, k]),
            _ => QTensor::from_parts(values.bitcast(DType::I8)?, scales, None, Levels::I8, [n, k]),
        };
    };
    if zeros.dtype() != DType::U8 || zeros.len() != n * blocks.div_ceil(per_byte) {
        let operands = [("zero_points", zeros.shape(), zeros.dtype())];
        return Err(Error::shape_of(
            OP,
            "zero points in bytes, as the weights",
            &operands,
        ));
    }
    let values = unpacked(b, [n, k], bits)?;
    let zeros = unpacked(zeros, [n, blocks.div_ceil(per_byte) * per_byte], bits)?
        .narrow(1, 0, blocks)?
        .contiguous()?;
    QTensor::from_parts(values, scales, Some(zeros), Levels::U8, [n, k])
}

/// A byte for each integer.
fn unpacked(t: &Tensor, shape: [usize; 2], bits: i64) -> Result<Tensor> {
    if bits == 8 {
        return t.reshape(shape);
    }
    let t = t.contiguous()?;
    let bytes = t.as_slice::<u8>()?;
    let mut all: Vec<u8> = crate::fallible::with_capacity(2 * bytes.len())?;
    all.extend(bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]));
    Tensor::from_vec(all, shape)
}
