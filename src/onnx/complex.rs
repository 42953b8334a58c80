//! ONNX has complex numbers as pairs of floats in a last axis of size 2.

use crate::dtype::DType;
use crate::error::Result;
use crate::ops;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Complex numbers of pairs.
pub fn joined(pairs: &Tensor) -> Result<Tensor> {
    let (re, im) = (pairs.select(-1, 0)?, pairs.select(-1, 1)?);
    let dtype = match re.dtype() {
        DType::F64 => DType::Complex128,
        _ => DType::Complex64,
    };
    let im = ops::multiply(im.astype(dtype)?, Scalar::Complex(0.0, 1.0))?;
    ops::add(im, &re.astype(dtype)?)
}

/// Pairs of complex numbers.
pub fn split(z: &Tensor) -> Result<Tensor> {
    ops::stack(&[ops::real(z)?, ops::imag(z)?], -1)
}
