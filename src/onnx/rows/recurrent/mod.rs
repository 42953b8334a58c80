//! Recurrent layers: the crate's where the activations are theirs, else a step after the other.

mod activation;
mod steps;

use super::super::call::{Call, Inputs, Node, Outputs, ints, many};
use super::{Attribute, Kind, Row, int, make, maybe, text};
use crate::error::{Error, Result};
use crate::nn::{self, Recurrent};
use crate::ops;
use crate::tensor::Tensor;
use activation::{ACTIVATIONS, Activation};
use alloc::boxed::Box;
use alloc::vec::Vec;

const A: Attribute = maybe("activations", Kind::Texts);
const ALPHA: Attribute = maybe("activation_alpha", Kind::Floats);
const BETA: Attribute = maybe("activation_beta", Kind::Floats);
const CLIP: Attribute = maybe("clip", Kind::Float);
const DIRECTION: Attribute = text("direction", "forward");
const HIDDEN: Attribute = maybe("hidden_size", Kind::Int);
const LAYOUT: Attribute = int("layout", 0);
const RESET: Attribute = int("linear_before_reset", 0);
const FORGET: Attribute = int("input_forget", 0);

pub(super) const ROWS: &[Row] = &[
    make(
        "RNN",
        7,
        3..=6,
        &[A, ALPHA, BETA, CLIP, DIRECTION, HIDDEN],
        |node| layer(node, Cell::Plain),
    ),
    make(
        "RNN",
        14,
        3..=6,
        &[A, ALPHA, BETA, CLIP, DIRECTION, HIDDEN, LAYOUT],
        |node| layer(node, Cell::Plain),
    ),
    make(
        "GRU",
        7,
        3..=6,
        &[A, ALPHA, BETA, CLIP, DIRECTION, HIDDEN, RESET],
        |node| layer(node, Cell::Gru),
    ),
    make(
        "GRU",
        14,
        3..=6,
        &[A, ALPHA, BETA, CLIP, DIRECTION, HIDDEN, RESET, LAYOUT],
        |node| layer(node, Cell::Gru),
    ),
    make(
        "LSTM",
        7,
        3..=8,
        &[A, ALPHA, BETA, CLIP, DIRECTION, HIDDEN, FORGET],
        |node| layer(node, Cell::Lstm),
    ),
    make(
        "LSTM",
        14,
        3..=8,
        &[A, ALPHA, BETA, CLIP, DIRECTION, HIDDEN, FORGET, LAYOUT],
        |node| layer(node, Cell::Lstm),
    ),
];

#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Plain,
    Gru,
    Lstm,
}
impl Cell {
    /// The order of the crate's gates in ONNX's.
    fn gates(self) -> &'static [usize] {
        match self {
            Cell::Plain => &[0],
            Cell::Gru => &[1, 0, 2], // reset, update, new of update, reset, new
            Cell::Lstm => &[0, 2, 3, 1], // input, forget, cell, output of input, output, forget, cell
        }
    }
    fn activations(self) -> &'static [&'static str] {
        match self {
            Cell::Plain => &["Tanh"],
            Cell::Gru => &["Sigmoid", "Tanh"],
            Cell::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

struct Layer {
    cell: Cell,
    activations: Vec<Activation>,
    clip: Option<f64>,
    directions: usize,
    /// Whether the only direction is from the last step to the first.
    backward: bool,
    batch_first: bool,
    reset_after: bool,
    forget_rest: bool,
    /// Whether the crate's layer computes this one, but for peepholes.
    plain: bool,
    /// The weights of the crate's layer, if they don't change.
    weights: Option<Vec<Tensor>>,
}

fn layer(node: &Node, cell: Cell) -> Result<Call> {
    let has = |name: &str| node.attributes.iter().any(|(n, _)| *n == name);
    let (directions, backward) = node.choice(
        "direction",
        &[
            ("forward", (1, false)),
            ("reverse", (1, true)),
            ("bidirectional", (2, false)),
        ],
    )?;
    let each = cell.activations();
    let given = node.texts("activations");
    let names: Vec<Box<str>> = match given {
        [] => (0..directions)
            .flat_map(|_| each.iter().map(|n| Box::from(*n)))
            .collect(),
        given => given.into(),
    };
    if names.len() != directions * each.len() {
        return Err(node.wrong(message!(
            "{} activations where {} are used",
            names.len(),
            directions * each.len()
        )));
    }
    let mut alphas = node.floats("activation_alpha").iter();
    let mut betas = node.floats("activation_beta").iter();
    let mut activations = Vec::new();
    for name in &names {
        let Some((known, alpha, beta)) =
            ACTIVATIONS.iter().find(|a| a.0.eq_ignore_ascii_case(name))
        else {
            return Err(node.wrong(message!("no activation {name:?}")));
        };
        let next = |default: &Option<f32>, list: &mut core::slice::Iter<f32>| match default {
            Some(default) => f64::from(*list.next().unwrap_or(default)),
            None => 0.0,
        };
        activations.push(Activation {
            name: (*known).into(),
            alpha: next(alpha, &mut alphas),
            beta: next(beta, &mut betas),
        });
    }
    let plain = |(k, a): (usize, &Activation)| {
        *a.name == *each[k % each.len()]
            || (cell == Cell::Plain
                && *a.name == *"Relu"
                && activations.iter().all(|b| b.name == a.name))
    };
    let reset_after = has("linear_before_reset") && node.flag("linear_before_reset");
    let forget_rest = has("input_forget") && node.flag("input_forget");
    let clip = node.maybe_float("clip");
    let mut layer = Layer {
        cell,
        plain: activations.iter().enumerate().all(plain)
            && clip.is_none()
            && !forget_rest
            && (cell != Cell::Gru || reset_after),
        activations,
        clip,
        directions,
        backward,
        batch_first: has("layout") && node.flag("layout"),
        reset_after,
        forget_rest,
        weights: None,
    };
    // of weights that don't fit, the call says what is wrong
    if let (true, Some(w), Some(r)) = (layer.plain, node.constant(1), node.constant(2))
        && (node.constants.len() <= 3 || node.constant(3).is_some())
        && layer.check(w, r, node.constant(3)).is_ok()
    {
        layer.weights = Some(layer.rearranged(w, r, node.constant(3))?);
    }
    let sequence = node.wants(0);
    many(move |x| layer.run(x, sequence))
}

impl Layer {
    /// `[gates * hidden, ..]` of each direction, with the gates in the crate's order.
    fn rearranged(&self, w: &Tensor, r: &Tensor, b: Option<&Tensor>) -> Result<Vec<Tensor>> {
        let order: Vec<i64> = self.cell.gates().iter().map(|g| *g as i64).collect();
        let gates = order.len();
        let order = Tensor::from_slice(&order, gates)?;
        let sorted = |t: Tensor| {
            let rows = t.shape()[0];
            let by_gate = t.reshape([gates as isize, (rows / gates) as isize, -1])?;
            ops::take(&by_gate, &order, 0)?.reshape(t.shape())
        };
        let mut all = Vec::new();
        for direction in 0..self.directions as i64 {
            all.push(sorted(w.select(0, direction)?)?);
            all.push(sorted(r.select(0, direction)?)?);
            if let Some(b) = b {
                let both = b.select(0, direction)?;
                let half = both.shape()[0] / 2;
                all.push(sorted(both.narrow(0, 0, half)?)?);
                all.push(sorted(both.narrow(0, half, half)?)?);
            }
        }
        Ok(all)
    }
    fn check(&self, w: &Tensor, r: &Tensor, b: Option<&Tensor>) -> Result<usize> {
        let (d, gates) = (self.directions, self.cell.gates().len());
        let hidden = r.shape().last().copied().unwrap_or(0);
        let fits = w.rank() == 3
            && w.shape()[..2] == [d, gates * hidden]
            && r.shape() == [d, gates * hidden, hidden]
            && b.is_none_or(|b| b.shape() == [d, 2 * gates * hidden]);
        match fits {
            true => Ok(hidden),
            false => {
                let operands = [("W", w.shape(), w.dtype()), ("R", r.shape(), r.dtype())];
                Err(Error::shape_of(
                    "recurrent layer",
                    message!("weights of {d} directions and {gates} gates don't fit"),
                    &operands,
                ))
            }
        }
    }
    fn run(&self, x: &Inputs, sequence: bool) -> Result<Outputs> {
        let (input, w, r, b) = (x.get(0)?, x.get(1)?, x.get(2)?, x.maybe(3));
        let hidden = self.check(w, r, b)?;
        let by_step = |t: &Tensor| {
            if self.batch_first {
                t.transpose(0, 1)
            } else {
                Ok(t.clone())
            }
        };
        if input.rank() != 3 {
            return Err(Error::shape_of(
                "recurrent layer",
                "X must have three dimensions",
                &[("X", input.shape(), input.dtype())],
            ));
        }
        let input = by_step(input)?;
        let (steps, batch) = (input.shape()[0], input.shape()[1]);
        let lengths = match x.maybe(4) {
            Some(lengths) => Some(super::super::call::sizes(
                "sequence_lens",
                "a length",
                &ints(lengths)?,
            )?),
            None => None,
        };
        let lengths = lengths.filter(|l| l.iter().any(|n| *n != steps));
        let zeros = || Tensor::zeros([self.directions, batch, hidden], input.dtype());
        let state = |i: usize| x.maybe(i).map(by_step).transpose();
        let (h, c) = (
            state(5)?,
            if self.cell == Cell::Lstm {
                state(6)?
            } else {
                None
            },
        );
        let peepholes = if self.cell == Cell::Lstm {
            x.maybe(7)
        } else {
            None
        };
        let (y, h, c) =
            if self.plain && peepholes.is_none() && !(self.backward && lengths.is_some()) {
                self.whole(&input, (w, r, b), (h, c), lengths.as_deref(), &zeros)?
            } else {
                let (h, c) = (h.map_or_else(zeros, Ok)?, c.map_or_else(zeros, Ok)?);
                let mut parts: [Vec<Tensor>; 3] = Default::default();
                for d in 0..self.directions {
                    let at = |t: &Tensor| t.select(0, d as i64);
                    let weights = [
                        Some(at(w)?),
                        Some(at(r)?),
                        b.map(at).transpose()?,
                        peepholes.map(at).transpose()?,
                    ];
                    let one =
                        self.steps(&input, &weights, (at(&h)?, at(&c)?), lengths.as_deref(), d)?;
                    for (list, t) in parts.iter_mut().zip(one) {
                        list.push(t);
                    }
                }
                let [y, h, c] = parts;
                (ops::stack(&y, 1)?, ops::stack(&h, 0)?, ops::stack(&c, 0)?)
            };
        let y = match (self.batch_first, sequence) {
            (true, _) => y.permute([2, 0, 1, 3])?,
            (false, _) => y,
        };
        let mut outputs = Outputs::from_vec(alloc::vec![y, by_step(&h)?]);
        if self.cell == Cell::Lstm {
            outputs.push(by_step(&c)?);
        }
        Ok(outputs)
    }
    /// All steps by the crate's layer: the output `[steps, directions, batch, hidden]`, and the last
    /// states.
    fn whole(
        &self,
        input: &Tensor,
        (w, r, b): (&Tensor, &Tensor, Option<&Tensor>),
        (h, c): (Option<Tensor>, Option<Tensor>),
        lengths: Option<&[usize]>,
        zeros: &dyn Fn() -> Result<Tensor>,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let made;
        let weights = match &self.weights {
            Some(weights) => weights,
            None => {
                made = self.rearranged(w, r, b)?;
                &made
            }
        };
        let weights: Vec<&Tensor> = weights.iter().collect();
        let options = Recurrent {
            bidirectional: self.directions == 2,
            lengths,
            ..Default::default()
        };
        let input = if self.backward {
            input.flip(0)?
        } else {
            input.clone()
        };
        let (y, h, c) = match self.cell {
            Cell::Lstm => {
                let state = match (h, c) {
                    (None, None) => None,
                    (h, c) => Some((h.map_or_else(zeros, Ok)?, c.map_or_else(zeros, Ok)?)),
                };
                nn::lstm(
                    &input,
                    state.as_ref().map(|(h, c)| (h, c)),
                    &weights,
                    options,
                )?
            }
            cell => {
                let f = match cell {
                    Cell::Gru => nn::gru,
                    _ if *self.activations[0].name == *"Relu" => nn::rnn_relu,
                    _ => nn::rnn_tanh,
                };
                let (y, h) = f(&input, h.as_ref(), &weights, options)?;
                (y, h.clone(), h)
            }
        };
        let (steps, batch) = (y.shape()[0], y.shape()[1]);
        let y = y
            .reshape([steps as isize, batch as isize, self.directions as isize, -1])?
            .transpose(1, 2)?;
        Ok((if self.backward { y.flip(0)? } else { y }, h, c))
    }
}
