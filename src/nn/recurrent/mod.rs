//! Recurrent networks: their arguments, and the order of layers. [`steps`] computes a layer.
//!
//! One `linear` computes the inputs' share of all steps. Each step is split once, by examples and
//! units, and a thread computes its block's products with the packed recurrent weights, gate by
//! gate, and then the gates. So sums and weights stay in its caches.

mod steps;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::recurrent::Cell;
use crate::tensor::Tensor;
use smallvec::SmallVec;
use steps::{Direction, StateSizes};

/// The structure of a recurrent network.
///
/// ```
/// use flex::{DType, Tensor, nn, ops};
/// let (x, w) = (Tensor::zeros((2, 3, 1), DType::F32)?, ops::ones((4, 1), DType::F32)?);
/// let options = nn::Recurrent {
///     bidirectional: true,
///     batch_first: true,
///     lengths: Some(&[3, 1]),
///     ..Default::default()
/// };
/// let (y, h, c) = nn::lstm(&x, None, &[&w; 4], options)?;
/// assert_eq!((y.shape(), h.shape(), c.shape()), (&[2, 3, 2][..], &[2, 2, 1][..], &[2, 2, 1][..]));
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Recurrent<'a> {
    /// The number of layers; each takes the output of the one before.
    pub layers: usize,
    /// Whether each layer has a second direction, from the last step to the first.
    pub bidirectional: bool,
    /// Whether the batch is the first axis of input and output, before the steps.
    pub batch_first: bool,
    /// The number of steps of each sequence, in any order; the rest is padding, where the output
    /// is 0. The last state is that of the sequence's own last step, as with torch's packed
    /// sequences.
    pub lengths: Option<&'a [usize]>,
}
impl Default for Recurrent<'_> {
    fn default() -> Self {
        Recurrent {
            layers: 1,
            bidirectional: false,
            batch_first: false,
            lengths: None,
        }
    }
}

macro_rules! layers {
    ($($(#[doc = $doc:literal])* $name:ident $cell:ident $Cell:ident $gates:literal;)*) => { $(
        $(#[doc = $doc])*
        pub fn $name<'a>(
            x: &Tensor,
            h: Option<&Tensor>,
            weights: &[&Tensor],
            options: impl Into<Recurrent<'a>>,
        ) -> Result<(Tensor, Tensor)> {
            let (y, h, _) = network(stringify!($name), Cell::$Cell, x, (h, None), weights, options.into())?;
            Ok((y, h))
        }
        /// One step of a single layer of that network: `x` is `[batch, in]` and the state `[batch,
        /// hidden]`, or both without the batch; `weights` are those of one direction. Errors as for
        /// the network.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let w = Tensor::from([[1.0f32]; ", $gates, "]); // of ", $gates, " gates")]
        /// let (x, h) = (Tensor::from([[0.0f32], [0.0]]), Tensor::from([[0.0f32], [0.0]]));
        #[doc = concat!("let h = nn::", stringify!($cell), "(&x, Some(&h), &[&w, &w])?;")]
        /// assert_eq!((h.shape(), h.to_vec::<f32>()?), (&[2, 1][..], vec![0.0, 0.0]));
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $cell(x: &Tensor, h: Option<&Tensor>, weights: &[&Tensor]) -> Result<Tensor> {
            Ok(one_step(stringify!($cell), Cell::$Cell, x, (h, None), weights)?.0)
        }
    )* };
}
layers! {
    /// A network of `h = tanh(w_ih x + b_ih + w_hh h + b_hh)` (Elman 1990). `x` is `[steps, batch,
    /// in]`, or without the batch. `h` is `[layers * directions, batch, hidden]`, by default zeros.
    /// `weights` are, for each layer and in it for each direction, `w_ih` `[gates * hidden, in]`,
    /// `w_hh` `[gates * hidden, hidden]` and, for all or none, `b_ih` and `b_hh` `[gates *
    /// hidden]`: torch's flat weights. The result is the output of the last layer, `[steps, batch,
    /// directions * hidden]`, and the last state of each layer and direction. 16-bit floats are
    /// computed in float32.
    ///
    /// Errors if shapes don't fit, if dtypes differ or are not floats, and if a length exceeds the
    /// number of steps.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let (x, w) = (Tensor::from([[1.0f32], [0.0]]), Tensor::from([[1.0f32]]));
    /// let (y, h) = nn::rnn_tanh(&x, None, &[&w, &w], ())?;
    /// assert_eq!(y.to_vec::<f32>()?[1], h.to_vec::<f32>()?[0]);
    /// assert_eq!(nn::rnn_tanh_cell(&x, None, &[&w, &w])?.shape(), [2, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    rnn_tanh rnn_tanh_cell Tanh "1";
    /// [`rnn_tanh`] with [`relu`](crate::nn::relu) in place of tanh, with the same arguments,
    /// results and errors.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let (x, w) = (Tensor::from([[1.0f32], [2.0]]), Tensor::from([[1.0f32]]));
    /// let (y, _) = nn::rnn_relu(&x, None, &[&w, &w], ())?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.0, 3.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    rnn_relu rnn_relu_cell Relu "1";
    /// [`rnn_tanh`] with gated recurrent units (Cho et al. 2014, with the reset gate applied after
    /// the product, as in torch). Weights have the gates in the order reset, update, new. Errors like
    /// `rnn_tanh`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let (x, w) = (Tensor::from([[1.0f32], [2.0]]), flex::ops::ones([3, 1], flex::DType::F32)?);
    /// assert_eq!(nn::gru(&x, None, &[&w, &w], ())?.0.shape(), [2, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    gru gru_cell Gru "3";
}

/// [`rnn_tanh`] with long short-term memory (Hochreiter and Schmidhuber 1997), whose state is `h`
/// and `c`, both given or neither. Weights have the gates in the order input, forget, cell, output.
/// The result is the output, and the last `h` and `c`. Errors like `rnn_tanh`.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, w) = (Tensor::from([[1.0f32], [2.0]]), flex::ops::ones([4, 1], flex::DType::F32)?);
/// let (y, h, c) = nn::lstm(&x, None, &[&w, &w], ())?;
/// assert_eq!((y.shape(), h.shape(), c.shape()), (&[2, 1][..], &[1, 1][..], &[1, 1][..]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn lstm<'a>(
    x: &Tensor,
    state: Option<(&Tensor, &Tensor)>,
    weights: &[&Tensor],
    options: impl Into<Recurrent<'a>>,
) -> Result<(Tensor, Tensor, Tensor)> {
    lstm_of(x, state, weights, options.into())
}

fn lstm_of(
    x: &Tensor,
    state: Option<(&Tensor, &Tensor)>,
    weights: &[&Tensor],
    options: Recurrent,
) -> Result<(Tensor, Tensor, Tensor)> {
    let state = (state.map(|s| s.0), state.map(|s| s.1));
    network("lstm", Cell::Lstm, x, state, weights, options)
}
/// One step of [`lstm`]: `x` is `[batch, in]`, `h` and `c` are `[batch, hidden]`, or all without
/// the batch; `weights` are those of one direction. Returns the next `h` and `c`. Errors as for
/// `lstm`.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, w) = (Tensor::from([[1.0f32], [2.0]]), flex::ops::ones([4, 1], flex::DType::F32)?);
/// let (h, c) = nn::lstm_cell(&x, None, &[&w, &w])?;
/// assert_eq!((h.shape(), c.shape()), (&[2, 1][..], &[2, 1][..]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn lstm_cell(
    x: &Tensor,
    state: Option<(&Tensor, &Tensor)>,
    weights: &[&Tensor],
) -> Result<(Tensor, Tensor)> {
    let state = (state.map(|s| s.0), state.map(|s| s.1));
    one_step("lstm_cell", Cell::Lstm, x, state, weights)
}

/// One step of one layer, run as a sequence of one.
fn one_step(
    op: &'static str,
    cell: Cell,
    x: &Tensor,
    state: (Option<&Tensor>, Option<&Tensor>),
    weights: &[&Tensor],
) -> Result<(Tensor, Tensor)> {
    if !(1..=2).contains(&x.rank()) {
        let message = "x must have the shape [batch, in] or [in]";
        return Err(Error::shape_of(op, message, &[("x", x.shape(), x.dtype())]));
    }
    let first = |t: Option<&Tensor>| t.map(|t| t.expand_dims(0)).transpose();
    let (h, c) = (first(state.0)?, first(state.1)?);
    let state = (h.as_ref(), c.as_ref());
    let (_, h, c) = network(
        op,
        cell,
        &x.expand_dims(0)?,
        state,
        weights,
        Recurrent::default(),
    )?;
    Ok((h.squeeze(0)?, c.squeeze(0)?))
}

/// The output, and the last h and c of all layers.
fn network(
    op: &'static str,
    cell: Cell,
    x: &Tensor,
    state: (Option<&Tensor>, Option<&Tensor>),
    weights: &[&Tensor],
    options: Recurrent,
) -> Result<(Tensor, Tensor, Tensor)> {
    let dtype = x.dtype();
    if !dtype.is_float() || dtype.is_storage() || !dtype.is_available() {
        return Err(Error::unsupported(op, dtype));
    }
    let batched = x.rank() == 3;
    if !batched && x.rank() != 2 {
        let message = "x must have the shape [steps, batch, in] or [steps, in]";
        return Err(Error::shape_of(op, message, &[("x", x.shape(), dtype)]));
    }
    let wide = dtype.wide();
    let swapped = batched && options.batch_first;
    let mut layer = match (batched, swapped) {
        (true, true) => x.transpose(0, 1)?,
        (true, false) => x.clone(),
        (false, _) => x.expand_dims(1)?,
    }
    .astype(wide)?;
    let directions = if options.bidirectional { 2 } else { 1 };
    if options.layers == 0 {
        return Err(Error::value(op, "num_layers is 0; it must be at least 1"));
    }
    let sets = options.layers.saturating_mul(directions);
    let with_bias = weights.len() == sets.saturating_mul(4);
    if !with_bias && weights.len() != sets.saturating_mul(2) {
        let message = message!(
            "there are {} weights; {sets} layers and directions have 2 or, with biases, 4 each",
            weights.len()
        );
        return Err(Error::value(op, message));
    }
    let per_set = if with_bias { 4 } else { 2 };
    let hidden = weights[1].shape().last().copied().unwrap_or(0);
    let sizes = StateSizes {
        steps: layer.shape()[0],
        batch: layer.shape()[1],
        hidden,
        directions,
    };
    check_lengths(op, options.lengths, sizes)?;
    let mut width = layer.shape()[2];
    let mut converted = SmallVec::<[Tensor; 8]>::new();
    for (k, w) in weights.iter().enumerate() {
        let rows = cell.gates() * hidden;
        let (name, wanted): (_, &[usize]) = match k % per_set {
            0 => ("w_ih", &[rows, width]),
            1 => ("w_hh", &[rows, hidden]),
            2 => ("b_ih", &[rows]),
            _ => ("b_hh", &[rows]),
        };
        if w.shape() != wanted {
            let message = message!("weight {k}, {name}, must have the shape {wanted:?}");
            let operands = [("x", x.shape(), dtype), (name, w.shape(), w.dtype())];
            return Err(Error::shape_of(op, message, &operands));
        }
        if w.dtype() != dtype {
            let message = message!("weight {k}, {name}, is {}, but x is {dtype}", w.dtype());
            return Err(Error::dtype(op, message));
        }
        if k % (per_set * directions) == per_set * directions - 1 {
            width = directions * hidden;
        }
        converted.push(w.astype(wide)?);
    }
    let full = [sets, sizes.batch, hidden];
    let names = match cell {
        Cell::Lstm => ["hx[0]", "hx[1]"],
        _ => ["hx"; 2],
    };
    let start = |name, t: Option<&Tensor>| initial(op, name, t, batched, full, dtype);
    let (mut h, mut c) = (start(names[0], state.0)?, start(names[1], state.1)?);
    for k in 0..options.layers {
        let mut y = Tensor::zeros([sizes.steps, sizes.batch, directions * hidden], wide)?;
        let mut weights = SmallVec::<[Direction; 2]>::new();
        let sets = converted[k * directions * per_set..].chunks(per_set);
        for set in sets.take(directions) {
            weights.push(Direction {
                input: &set[0],
                hidden: &set[1],
                bias: with_bias.then(|| (&set[2], &set[3])),
            });
        }
        let state = sizes.batch * hidden;
        let own = k * directions * state..(k + 1) * directions * state;
        dispatch!(float wide, |F| {
            let (h, c) = (h.as_mut_slice::<F>()?, c.as_mut_slice::<F>()?);
            let states = (&mut h[own.clone()], &mut c[own]);
            steps::layer(cell, &layer, &weights, states, &mut y, sizes, options.lengths)?
        }, else return Err(Error::unsupported(op, wide)));
        layer = y;
    }
    let back = |t: Tensor, axis: isize| -> Result<Tensor> {
        let t = t.into_dtype(dtype)?;
        if batched { Ok(t) } else { t.squeeze(axis) }
    };
    let y = back(layer, 1)?;
    let y = if swapped { y.transpose(0, 1)? } else { y };
    Ok((y, back(h, 1)?, back(c, 1)?))
}

fn check_lengths(op: &'static str, lengths: Option<&[usize]>, sizes: StateSizes) -> Result<()> {
    let Some(lengths) = lengths else {
        return Ok(());
    };
    let StateSizes { steps, batch, .. } = sizes;
    if lengths.len() != batch {
        let message = message!(
            "there are {} lengths, for a batch of {batch}",
            lengths.len()
        );
        return Err(Error::value(op, message));
    }
    match lengths.iter().find(|n| **n > steps) {
        None => Ok(()),
        Some(n) => Err(Error::value(
            op,
            message!("lengths has {n}, but x has {steps} steps"),
        )),
    }
}

/// A copy of the initial state, or zeros.
fn initial(
    op: &'static str,
    name: &'static str,
    t: Option<&Tensor>,
    batched: bool,
    full: [usize; 3],
    dtype: DType,
) -> Result<Tensor> {
    let Some(t) = t else {
        return Tensor::zeros(full, dtype.wide());
    };
    let whole = if batched {
        t.clone()
    } else {
        t.expand_dims(1)?
    };
    if whole.shape() != full || t.dtype() != dtype {
        let message = message!(
            "{name} must have the dtype of x, and the shape [layers * directions, batch, hidden], {full:?}"
        );
        return Err(Error::shape_of(
            op,
            message,
            &[(name, t.shape(), t.dtype())],
        ));
    }
    whole.astype(dtype.wide())?.copy()
}
