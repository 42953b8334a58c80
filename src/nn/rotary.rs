//! Rotary position embeddings.

use super::check;
use crate::dtype::{DType, Element, Pod};
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::kernel::attention::{AttentionElement, rotate};
use crate::layout::Shape;
use crate::ops::take;
use crate::par::Cost;
use crate::tensor::Tensor;

/// The options of [`rotary_embedding`].
///
/// ```
/// use flex::{DType, Tensor, nn};
/// let (cos, sin) = nn::rotary_tables(8, 4, ())?;
/// let token = Tensor::from([[1.0f32, 0.0, 0.0, 0.0]]);
/// let seventh = nn::Rotary { offset: 6, ..Default::default() };
/// let y = nn::rotary_embedding(&token, &cos, &sin, seventh)?.to_vec::<f32>()?;
/// assert!((y[0] - 6f32.cos()).abs() < 1e-6 && (y[2] - 6f32.sin()).abs() < 1e-6);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotary<'a> {
    /// Whether pairs are neighbours, as in GPT-J, rather than elements of the two halves, as in
    /// GPT-NeoX and Llama.
    pub interleaved: bool,
    /// The rows of the tables for each token, integers of `[tokens]` or `[batch, tokens]`. Default:
    /// rows from `offset` on.
    pub positions: Option<&'a Tensor>,
    /// The row of the first token, unless there are `positions`.
    pub offset: usize,
}

/// Rotates pairs of elements of `x`, `[.., tokens, dim]`, by the angles of each token's position.
/// `cos` and `sin` are tables, `[positions, pairs]`, or already the rows for these tokens, `[..,
/// tokens, pairs]`, broadcast; rows of `[batch, tokens, pairs]` apply to all heads of a
/// four-dimensional `x`. Elements after the first `2 * pairs` are unchanged. The result has the
/// dtype of `x`; 16-bit floats are computed in float32 and rounded once.
///
/// From RoFormer (Su et al., 2021); ONNX's RotaryEmbedding operator.
///
/// Errors if shapes don't fit, if a position has no row, if both `positions` and an `offset` are
/// given, or if `x` is not a float tensor.
///
/// ```
/// use flex::{Tensor, nn};
/// let (cos, sin) = nn::rotary_tables(8, 2, ())?;
/// let x = Tensor::from_slice(&[1.0f32, 0.0, 1.0, 0.0], [2, 2])?;
/// let y = nn::rotary_embedding(&x, &cos, &sin, nn::Rotary::default())?;
/// let y = y.to_vec::<f32>()?;
/// assert_eq!(y[..2], [1.0, 0.0]); // position 0
/// assert!((y[2] - 1f32.cos()).abs() < 1e-6 && (y[3] - 1f32.sin()).abs() < 1e-6);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("rope", "rope_i"))]
pub fn rotary_embedding<'a>(
    x: &Tensor,
    cos: &Tensor,
    sin: &Tensor,
    options: impl Into<Rotary<'a>>,
) -> Result<Tensor> {
    rotary_embedding_of(x, cos, sin, options.into())
}

fn rotary_embedding_of(x: &Tensor, cos: &Tensor, sin: &Tensor, options: Rotary) -> Result<Tensor> {
    const OP: &str = "rotary_embedding";
    let wrong = |message| {
        let [x, cos, sin] = [("x", x), ("cos", cos), ("sin", sin)];
        let operands = [x, cos, sin].map(|(name, t)| (name, t.shape(), t.dtype()));
        Error::shape_of(OP, message, &operands)
    };
    if x.rank() < 2 || cos.rank() < 2 {
        return Err(wrong(message!(
            "x must be [.., tokens, dim], and cos and sin [positions, pairs]"
        )));
    }
    if cos.shape() != sin.shape() {
        return Err(wrong(message!("cos and sin differ in shape")));
    }
    check::real(OP, "cos", cos)?;
    check::real(OP, "sin", sin)?;
    if let Some(positions) = options.positions.filter(|p| !p.dtype().is_integer()) {
        let message = message!("positions must be integers, not {}", positions.dtype());
        return Err(Error::dtype(OP, message));
    }
    let dtype = x.dtype();
    if !dtype.is_float() || !dtype.is_available() || !dtype.wide().is_available() {
        return Err(Error::unsupported(OP, dtype));
    }
    let (tokens, dim) = (x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]);
    let pairs = cos.shape()[cos.rank() - 1];
    if pairs > dim / 2 {
        return Err(wrong(message!(
            "{pairs} pairs need more than {dim} elements"
        )));
    }
    let Rotary {
        interleaved,
        positions,
        offset,
    } = options;
    if positions.is_some() && cos.rank() != 2 {
        return Err(wrong(message!(
            "positions need tables of [positions, pairs]"
        )));
    }
    if positions.is_some() && offset != 0 {
        let message =
            message!("offset is {offset} beside positions; only one of them may be given");
        return Err(Error::value(OP, message));
    }
    let rows = cos.shape()[0];
    let end = offset.checked_add(tokens);
    if positions.is_none() && cos.rank() == 2 && end.is_none_or(|end| end > rows) {
        return Err(wrong(message!(
            "the tables have {rows} rows, for {tokens} tokens from position {offset} on"
        )));
    }
    let shape = x.shape()[..x.rank() - 1].iter().copied();
    let shape: Shape = shape.chain([pairs]).collect();
    let of_tokens = |table: &Tensor| -> Result<Tensor> {
        let mut t = match positions {
            Some(positions) => take(table, positions, 0).map_err(|e| e.named(OP))?,
            None if table.rank() == 2 => table.narrow(0, offset, tokens)?,
            None => table.clone(),
        };
        if t.rank() == 3 && x.rank() == 4 {
            t = t.expand_dims(1)?;
        }
        t.astype(dtype.wide())?.broadcast_to(&shape).map_err(|_| {
            let rows = t.shape();
            wrong(message!(
                "rows of cos and sin of the shape {rows:?} do not broadcast to {shape:?}"
            ))
        })
    };
    let (cos, sin) = (of_tokens(cos)?, of_tokens(sin)?);
    let mut y = Tensor::empty(x.shape(), dtype)?;
    if !y.is_empty() {
        dispatch!(floating dtype, |T| run::<T>(x, &cos, &sin, interleaved, &mut y), else Err(Error::unsupported(OP, dtype)))?;
    }
    Ok(y)
}

/// Rotates all lines, in one pass.
fn run<T: AttentionElement<Acc: Element + Pod> + Element + Pod>(
    x: &Tensor,
    cos: &Tensor,
    sin: &Tensor,
    interleaved: bool,
    y: &mut Tensor,
) -> Result<()> {
    let axis = x.rank() - 1;
    let dim = x.shape()[axis];
    let cost = Cost {
        bytes: 2 * dim * size_of::<T>(),
        flops: 4 * dim,
    };
    Lines::new(x.shape(), axis)
        .input(x.elements())
        .input(cos.elements())
        .input(sin.elements())
        .output(y.elements_mut()?)
        .run(cost, |line| {
            let (cos, sin) = (line.input(1), line.input(2));
            rotate::<T>(line.input(0), cos, sin, interleaved, line.output(0))
        })
}

/// The options of [`rotary_tables`].
///
/// ```
/// use flex::nn::{self, RotaryTables};
/// let (cos, _) = nn::rotary_tables(5, 2, RotaryTables { scaling: 4.0, ..Default::default() })?;
/// assert!((cos.at::<f32>((4, 0))? - 1f32.cos()).abs() < 1e-6); // position 4 becomes 1
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotaryTables {
    /// The base of the wavelengths. Default: 10000.
    pub base: f64,
    /// The divisor of positions. Values above 1 stretch a model to longer contexts (position
    /// interpolation, Chen et al., 2023). Default: 1.
    pub scaling: f64,
}
impl Default for RotaryTables {
    fn default() -> Self {
        RotaryTables {
            base: 10_000.0,
            scaling: 1.0,
        }
    }
}

/// The cosines and sines that [`rotary_embedding`] takes, for positions 0 to `length - 1` and the
/// `dim / 2` pairs of `dim` elements: two float32 tensors `[length, dim / 2]`. The angle of pair
/// `i` at position `p` is `p / scaling * base^(-2 i / dim)`, computed in float64.
///
/// Errors if `dim` is odd, or `base` or `scaling` is not positive and finite.
///
/// ```
/// let (cos, sin) = flex::nn::rotary_tables(4, 6, ())?;
/// assert_eq!((cos.shape(), sin.shape()), (&[4, 3][..], &[4, 3][..]));
/// assert_eq!(cos.select(0, 0)?.to_vec::<f32>()?, [1.0; 3]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn rotary_tables(
    length: usize,
    dim: usize,
    options: impl Into<RotaryTables>,
) -> Result<(Tensor, Tensor)> {
    rotary_tables_of(length, dim, options.into())
}

fn rotary_tables_of(length: usize, dim: usize, options: RotaryTables) -> Result<(Tensor, Tensor)> {
    const OP: &str = "rotary_tables";
    if !dim.is_multiple_of(2) {
        return Err(Error::value(OP, message!("dim is {dim}; it must be even")));
    }
    let RotaryTables { base, scaling } = options;
    for (name, x) in [("base", base), ("scaling", scaling)] {
        check::positive(OP, name, x)?;
    }
    let pairs = dim / 2;
    let mut tables = [
        Tensor::empty([length, pairs], DType::F32)?,
        Tensor::empty([length, pairs], DType::F32)?,
    ];
    for (table, f) in tables.iter_mut().zip([libm::cos, libm::sin]) {
        let rows = table.as_mut_slice::<f32>()?;
        for i in 0..pairs {
            let speed = libm::pow(base, -2.0 * i as f64 / dim as f64) / scaling;
            for p in 0..length {
                rows[p * pairs + i] = f(p as f64 * speed) as f32;
            }
        }
    }
    let [cos, sin] = tables;
    Ok((cos, sin))
}
