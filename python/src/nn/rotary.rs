//! Rotary position embeddings of `flex.nn`.

use crate::cell::PyTensor;
use crate::convert::{TensorArg, compute, count, detached};
use flex::nn::{self, Rotary, RotaryTables};
use pyo3::prelude::*;

/// Rotates pairs of elements of `x` by the angles of each token's position.
///
/// x: `[.., tokens, dim]`, floats. cos, sin: tables `[positions, pairs]`, of which tokens use the
/// rows from `offset` on, or those at `positions`, integers of `[tokens]` or `[batch, tokens]`; or
/// already the rows for these tokens, `[.., tokens, pairs]`, which broadcast (`[batch, tokens,
/// pairs]` apply to all heads of a four-dimensional x). Only the first `2 * pairs` elements are
/// rotated. interleaved: whether pairs are neighbours, as in GPT-J, rather than elements of the two
/// halves, as in Llama. The result has the shape and dtype of x; 16-bit floats are computed in
/// float32 and rounded once. From RoFormer (Su et al., 2021); ONNX's RotaryEmbedding. ShapeError if
/// shapes don't fit or the tables have no row for a position (IndexError for one of `positions`);
/// ValueError for an `offset` beside positions; DTypeError if x is not a float.
///
/// >>> cos, sin = flex.nn.rotary_tables(4, 2)
/// >>> flex.nn.rotary_embedding(flex.asarray([[1.0, 0.0], [1.0, 0.0]]), cos, sin).tolist()
/// [[1.0, 0.0], [0.5403022766113281, 0.8414709568023682]]
#[function(x, cos, sin, *, interleaved = false, positions = None, offset = 0)]
fn rotary_embedding(
    py: Python<'_>,
    x: TensorArg,
    cos: TensorArg,
    sin: TensorArg,
    interleaved: bool,
    positions: Option<TensorArg>,
    offset: isize,
) -> PyResult<PyTensor> {
    let options = Rotary {
        interleaved,
        positions: positions.as_ref().map(|p| &p.0),
        offset: count("rotary_embedding", "offset", offset)?,
    };
    compute(py, x.0.len(), || {
        nn::rotary_embedding(&x.0, &cos.0, &sin.0, options)
    })
}

/// The cosines and sines that `rotary_embedding` takes, for positions 0 to `length - 1`.
///
/// Returns two tensors `[length, dim / 2]` of float32. The angle of pair i at position p is `p /
/// scaling * base ** (-2 * i / dim)`, computed in float64. dim: the number of elements that are
/// rotated, even. scaling: values above 1 stretch a model to longer contexts (position
/// interpolation, Chen et al., 2023). ValueError for another dim, or if base or scaling is not
/// positive.
///
/// >>> cos, sin = flex.nn.rotary_tables(2, 4, base=100.0)
/// >>> cos.tolist()
/// [[1.0, 1.0], [0.5403022766113281, 0.9950041770935059]]
#[function(length, dim, *, base = 10000.0, scaling = 1.0)]
fn rotary_tables(
    py: Python<'_>,
    length: isize,
    dim: isize,
    base: f64,
    scaling: f64,
) -> PyResult<(PyTensor, PyTensor)> {
    const OP: &str = "rotary_tables";
    let (length, dim) = (count(OP, "length", length)?, count(OP, "dim", dim)?);
    let options = RotaryTables { base, scaling };
    let work = length.saturating_mul(dim).saturating_mul(16);
    let (cos, sin) = detached(py, work, || nn::rotary_tables(length, dim, options))?;
    Ok((cos.into(), sin.into()))
}
