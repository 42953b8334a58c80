//! Recurrent layers of `flex.nn`.

use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, TensorList, compute, count, detached};
use flex::Tensor;
use flex::nn::{self, Recurrent};
use pyo3::prelude::*;

/// The number of steps of each sequence.
fn steps(op: &str, lengths: &Option<Ints>) -> PyResult<Option<Vec<usize>>> {
    let all = |n: &Ints| n.0.iter().map(|n| count(op, "lengths", *n)).collect();
    lengths.as_ref().map(all).transpose()
}
fn one_direction<'a>(
    input: &'a TensorArg,
    hidden: &'a TensorArg,
    biases: (&'a Option<TensorArg>, &'a Option<TensorArg>),
) -> Vec<&'a Tensor> {
    let biases = [biases.0, biases.1].into_iter().flatten();
    [input, hidden]
        .into_iter()
        .chain(biases)
        .map(|w| &w.0)
        .collect()
}
/// The approximate number of multiplications.
fn work(x: &Tensor, weights: &[&Tensor]) -> usize {
    let rows = weights.first().and_then(|w| w.shape().first());
    x.len().saturating_mul(rows.copied().unwrap_or(1))
}

macro_rules! layers {
    ($($(#[doc = $doc:literal])* $name:ident; $(#[doc = $cell_doc:literal])* $cell:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, hx, weights, *, num_layers = 1, bidirectional = false, batch_first = false, lengths = None)]
        #[allow(clippy::too_many_arguments, reason = "torch's")]
        fn $name(
            py: Python<'_>,
            x: TensorArg,
            hx: Option<TensorArg>,
            weights: TensorList,
            num_layers: isize,
            bidirectional: bool,
            batch_first: bool,
            lengths: Option<Ints>,
        ) -> PyResult<(PyTensor, PyTensor)> {
            let op = stringify!($name);
            let (lengths, weights) = (steps(op, &lengths)?, weights.0.iter().collect::<Vec<_>>());
            let options = Recurrent {
                layers: count(op, "num_layers", num_layers)?,
                bidirectional,
                batch_first,
                lengths: lengths.as_deref(),
            };
            let h = hx.as_ref().map(|h| &h.0);
            let (y, h) = detached(py, work(&x.0, &weights), || nn::$name(&x.0, h, &weights, options))?;
            Ok((PyTensor::new(y), PyTensor::new(h)))
        }
        $(#[doc = $cell_doc])*
        #[function(x, hx, w_ih, w_hh, b_ih = None, b_hh = None)]
        fn $cell(
            py: Python<'_>,
            x: TensorArg,
            hx: Option<TensorArg>,
            w_ih: TensorArg,
            w_hh: TensorArg,
            b_ih: Option<TensorArg>,
            b_hh: Option<TensorArg>,
        ) -> PyResult<PyTensor> {
            let weights = one_direction(&w_ih, &w_hh, (&b_ih, &b_hh));
            let h = hx.as_ref().map(|h| &h.0);
            compute(py, work(&x.0, &weights), || nn::$cell(&x.0, h, &weights))
        }
    )* };
}
layers! {
    /// A recurrent network of `h = tanh(w_ih @ x + b_ih + w_hh @ h + b_hh)` (Elman, 1990).
    ///
    /// x: `[steps, batch, in]` of floats, or without the batch. hx: the initial state,
    /// `[num_layers * directions, batch, hidden]`, or None for zeros. weights: for each layer, and
    /// in it for each direction, w_ih `[hidden, in]`, w_hh `[hidden, hidden]` and, for all or none,
    /// b_ih and b_hh `[hidden]`: the flat weights of torch's modules, of the dtype of x.
    /// bidirectional: whether layers have a second direction, backwards. batch_first: whether x and
    /// the output are `[batch, steps, ..]`. lengths: the number of steps of each sequence, in any
    /// order; beyond it the output is 0, and the last state is that of the sequence's last step, as
    /// with torch's packed sequences. The result is the output,
    /// `[steps, batch, directions * hidden]`, and the last states, of the dtype of x. ShapeError if
    /// shapes don't fit; DTypeError if dtypes differ or are not floats; ValueError for wrong
    /// lengths or numbers of weights.
    ///
    /// >>> x, w = flex.asarray([[0.0], [1.0]]), flex.asarray([[1.0]])
    /// >>> y, h = flex.nn.rnn_tanh(x, None, [w, w])
    /// >>> y[-1].tolist() == h[0].tolist()
    /// True
    rnn_tanh;
    /// One step of `rnn_tanh`.
    ///
    /// x: `[batch, in]` of floats, or without the batch. hx: `[batch, hidden]`, or None for zeros.
    /// w_ih, w_hh, b_ih, b_hh and errors: as for `rnn_tanh`. The result is the next state.
    ///
    /// >>> flex.nn.rnn_tanh_cell(flex.asarray([0.0]), None, flex.asarray([[1.0]]), flex.asarray([[1.0]])).tolist()
    /// [0.0]
    rnn_tanh_cell;
    /// `rnn_tanh` with relu in place of tanh; parameters, results and errors are the same.
    ///
    /// >>> x, w = flex.asarray([[1.0], [2.0]]), flex.asarray([[1.0]])
    /// >>> flex.nn.rnn_relu(x, None, [w, w])[0].tolist()
    /// [[1.0], [3.0]]
    rnn_relu;
    /// One step of `rnn_relu`; parameters, result and errors are those of `rnn_tanh_cell`.
    ///
    /// >>> flex.nn.rnn_relu_cell(flex.asarray([2.0]), None, flex.asarray([[1.0]]), flex.asarray([[1.0]])).tolist()
    /// [2.0]
    rnn_relu_cell;
    /// `rnn_tanh` with gated recurrent units (Cho et al., 2014; as in torch). Weights and biases
    /// have `3 * hidden` rows: the gates reset, update and new. Parameters, results and errors are
    /// the same.
    ///
    /// >>> x, w = flex.asarray([[1.0], [2.0]]), flex.ones((3, 1))
    /// >>> flex.nn.gru(x, None, [w, w])[0].shape
    /// (2, 1)
    gru;
    /// One step of `gru`; parameters, result and errors are those of `rnn_tanh_cell`.
    ///
    /// >>> flex.nn.gru_cell(flex.asarray([2.0]), None, flex.zeros((3, 1)), flex.zeros((3, 1))).tolist()
    /// [0.0]
    gru_cell;
}

/// `rnn_tanh` with long short-term memory (Hochreiter and Schmidhuber, 1997).
///
/// hx: the initial states, a pair `(h, c)` as for `rnn_tanh`, or None for zeros. weights and biases
/// have `4 * hidden` rows: the gates input, forget, cell and output. The result is the output, the
/// last h and the last c. Other parameters and errors as for `rnn_tanh`.
///
/// >>> x, w = flex.asarray([[1.0], [2.0]]), flex.ones((4, 1))
/// >>> y, h, c = flex.nn.lstm(x, None, [w, w])
/// >>> y.shape, h.shape, c.shape
/// ((2, 1), (1, 1), (1, 1))
#[function(x, hx, weights, *, num_layers = 1, bidirectional = false, batch_first = false, lengths = None)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn lstm(
    py: Python<'_>,
    x: TensorArg,
    hx: Option<(TensorArg, TensorArg)>,
    weights: TensorList,
    num_layers: isize,
    bidirectional: bool,
    batch_first: bool,
    lengths: Option<Ints>,
) -> PyResult<(PyTensor, PyTensor, PyTensor)> {
    const OP: &str = "lstm";
    let (lengths, weights) = (steps(OP, &lengths)?, weights.0.iter().collect::<Vec<_>>());
    let options = Recurrent {
        layers: count(OP, "num_layers", num_layers)?,
        bidirectional,
        batch_first,
        lengths: lengths.as_deref(),
    };
    let state = hx.as_ref().map(|(h, c)| (&h.0, &c.0));
    let (y, h, c) = detached(py, work(&x.0, &weights), || {
        nn::lstm(&x.0, state, &weights, options)
    })?;
    Ok((PyTensor::new(y), PyTensor::new(h), PyTensor::new(c)))
}

/// One step of `lstm`.
///
/// x: `[batch, in]` of floats, or without the batch. hx: a pair `(h, c)` of `[batch, hidden]`, or
/// None for zeros. w_ih, w_hh, b_ih, b_hh and errors: as for `lstm`. The result is the next h and
/// c.
///
/// >>> w = flex.zeros((4, 1))
/// >>> h, c = flex.nn.lstm_cell(flex.asarray([2.0]), (flex.zeros(1), flex.ones(1)), w, w)
/// >>> c.tolist()
/// [0.5]
#[function(x, hx, w_ih, w_hh, b_ih = None, b_hh = None)]
fn lstm_cell(
    py: Python<'_>,
    x: TensorArg,
    hx: Option<(TensorArg, TensorArg)>,
    w_ih: TensorArg,
    w_hh: TensorArg,
    b_ih: Option<TensorArg>,
    b_hh: Option<TensorArg>,
) -> PyResult<(PyTensor, PyTensor)> {
    let weights = one_direction(&w_ih, &w_hh, (&b_ih, &b_hh));
    let state = hx.as_ref().map(|(h, c)| (&h.0, &c.0));
    let (h, c) = detached(py, work(&x.0, &weights), || {
        nn::lstm_cell(&x.0, state, &weights)
    })?;
    Ok((PyTensor::new(h), PyTensor::new(c)))
}
