//! Recurrent layers against loops over steps and gates in float64.

use super::*;
use crate::common::floats;
use flex::nn::Recurrent;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Tanh,
    Relu,
    Lstm,
    Gru,
}
const KINDS: [(Kind, usize); 4] = [
    (Kind::Tanh, 1),
    (Kind::Relu, 1),
    (Kind::Lstm, 4),
    (Kind::Gru, 3),
];

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The next state of one example; `w` has row-major matrices, then biases.
fn step(kind: Kind, w: &[Vec<f64>], x: &[f64], h: &mut [f64], c: &mut [f64]) {
    let n = h.len();
    let of = |w: &[f64], bias: Option<&Vec<f64>>, x: &[f64], r: usize| -> f64 {
        let sum: f64 = x
            .iter()
            .enumerate()
            .map(|(k, v)| w[r * x.len() + k] * v)
            .sum();
        sum + bias.map_or(0.0, |b| b[r])
    };
    let old = h.to_vec();
    let a = |r: usize| of(&w[0], w.get(2), x, r);
    let b = |r: usize| of(&w[1], w.get(3), &old, r);
    for j in 0..n {
        let gate = |k: usize| a(k * n + j) + b(k * n + j);
        h[j] = match kind {
            Kind::Tanh => gate(0).tanh(),
            Kind::Relu => gate(0).max(0.0),
            Kind::Gru => {
                let (r, z) = (sigmoid(gate(0)), sigmoid(gate(1)));
                let new = (a(2 * n + j) + r * b(2 * n + j)).tanh();
                (1.0 - z) * new + z * old[j]
            }
            Kind::Lstm => {
                c[j] = sigmoid(gate(1)) * c[j] + sigmoid(gate(0)) * gate(2).tanh();
                sigmoid(gate(3)) * c[j].tanh()
            }
        };
    }
}

struct Case {
    kind: Kind,
    x: Tensor,
    h: Tensor,
    c: Tensor,
    weights: Vec<Tensor>,
    layers: usize,
    directions: usize,
    lengths: Vec<usize>,
}

fn case(
    kind: Kind,
    gates: usize,
    layers: usize,
    directions: usize,
    bias: bool,
    hidden: usize,
) -> Case {
    let (steps, batch, inputs) = (5, 3, 4);
    let mut weights = vec![];
    for layer in 0..layers {
        let width = if layer == 0 {
            inputs
        } else {
            directions * hidden
        };
        for _ in 0..directions {
            let seed = 100 + weights.len() as u64;
            weights.push(tensor(&[gates * hidden, width], seed));
            weights.push(tensor(&[gates * hidden, hidden], seed + 1));
            if bias {
                weights.push(tensor(&[gates * hidden], seed + 2));
                weights.push(tensor(&[gates * hidden], seed + 3));
            }
        }
    }
    // small, so that neither states nor errors grow from step to step
    let factor = 0.5 / (hidden as f64).sqrt();
    let small = |t: &Tensor| flex::ops::multiply(t, factor).unwrap();
    Case {
        kind,
        x: tensor(&[steps, batch, inputs], 1),
        h: tensor(&[layers * directions, batch, hidden], 2),
        c: tensor(&[layers * directions, batch, hidden], 3),
        weights: weights.iter().map(small).collect(),
        layers,
        directions,
        lengths: vec![steps, 2, 4],
    }
}

impl Case {
    /// The output and the last states.
    fn run(&self, lengths: Option<&[usize]>, batch_first: bool) -> [Tensor; 3] {
        let options = Recurrent {
            layers: self.layers,
            bidirectional: self.directions == 2,
            batch_first,
            lengths,
        };
        let x = if batch_first {
            self.x.transpose(0, 1).unwrap()
        } else {
            self.x.clone()
        };
        let w: Vec<&Tensor> = self.weights.iter().collect();
        let h = Some(&self.h);
        let one = |(y, h): (Tensor, Tensor)| [y, h.clone(), h];
        match self.kind {
            Kind::Tanh => one(nn::rnn_tanh(&x, h, &w, options).unwrap()),
            Kind::Relu => one(nn::rnn_relu(&x, h, &w, options).unwrap()),
            Kind::Gru => one(nn::gru(&x, h, &w, options).unwrap()),
            Kind::Lstm => nn::lstm(&x, Some((&self.h, &self.c)), &w, options)
                .unwrap()
                .into(),
        }
    }
    fn reference(&self, lengths: &[usize]) -> [Vec<f64>; 3] {
        let (steps, batch) = (self.x.shape()[0], self.x.shape()[1]);
        let hidden = self.h.shape()[2];
        let per = self.weights.len() / (self.layers * self.directions);
        let mut layer = floats(&self.x);
        let (mut all_h, mut all_c) = (floats(&self.h), floats(&self.c));
        for l in 0..self.layers {
            let width = layer.len() / (steps * batch);
            let mut y = vec![0.0; steps * batch * self.directions * hidden];
            for d in 0..self.directions {
                let at = l * self.directions + d;
                let w: Vec<Vec<f64>> = self.weights[at * per..][..per].iter().map(floats).collect();
                for b in 0..batch {
                    let place = (at * batch + b) * hidden..(at * batch + b + 1) * hidden;
                    let (mut h, mut c) =
                        (all_h[place.clone()].to_vec(), all_c[place.clone()].to_vec());
                    for k in 0..lengths[b] {
                        let t = if d == 0 { k } else { lengths[b] - 1 - k };
                        step(
                            self.kind,
                            &w,
                            &layer[(t * batch + b) * width..][..width],
                            &mut h,
                            &mut c,
                        );
                        y[((t * batch + b) * self.directions + d) * hidden..][..hidden]
                            .copy_from_slice(&h);
                    }
                    all_h[place.clone()].copy_from_slice(&h);
                    all_c[place].copy_from_slice(&c);
                }
            }
            layer = y;
        }
        [layer, all_h, all_c]
    }
}

#[test]
fn layers_match_steps_and_gates() {
    for (kind, gates) in KINDS {
        for (layers, directions, bias) in [(1, 1, true), (1, 2, false), (3, 2, true)] {
            for hidden in [1, 5, 33] {
                let case = case(kind, gates, layers, directions, bias, hidden);
                for lengths in [None, Some(&case.lengths[..])] {
                    let [y, h, c] = case.run(lengths, false);
                    let want = case.reference(lengths.unwrap_or(&[5; 3]));
                    close(&y, &want[0], 3e-6);
                    close(&h, &want[1], 3e-6);
                    if kind == Kind::Lstm {
                        close(&c, &want[2], 3e-6);
                    }
                    let [first, _, _] = case.run(lengths, true);
                    assert_eq!(floats(&first.transpose(0, 1).unwrap()), floats(&y));
                }
            }
        }
    }
}

/// Many steps, of one example and of a batch.
#[test]
fn long_sequences_match_steps_and_gates() {
    for (kind, gates) in KINDS {
        for batch in [1, 3] {
            let case = Case {
                x: tensor(&[40, batch, 4], 1),
                h: tensor(&[2, batch, 21], 2),
                c: tensor(&[2, batch, 21], 3),
                ..case(kind, gates, 1, 2, true, 21)
            };
            let lengths = &[40, 33, 0][..batch];
            let (got, want) = (case.run(Some(lengths), false), case.reference(lengths));
            for k in 0..if kind == Kind::Lstm { 3 } else { 2 } {
                close(&got[k], &want[k], 3e-6);
            }
        }
    }
}

#[test]
fn cells_match_layers_and_inputs_may_be_unbatched() {
    let c = case(Kind::Lstm, 4, 1, 1, true, 6);
    let w: Vec<&Tensor> = c.weights.iter().collect();
    let one = |t: &Tensor| t.narrow(0, 0, 1).unwrap();
    let (x, h0, c0) = (
        one(&c.x).squeeze(0).unwrap(),
        c.h.squeeze(0).unwrap(),
        c.c.squeeze(0).unwrap(),
    );
    let (h1, c1) = nn::lstm_cell(&x, Some((&h0, &c0)), &w).unwrap();
    let (y, h, cc) = nn::lstm(&one(&c.x), Some((&c.h, &c.c)), &w, ()).unwrap();
    assert_eq!((floats(&h1), floats(&c1)), (floats(&h), floats(&cc)));
    assert_eq!(floats(&y), floats(&h1));
    let single = |t: &Tensor, axis| t.narrow(axis, 1, 1).unwrap().squeeze(axis).unwrap();
    let (y1, _, _) = nn::lstm(
        &single(&c.x, 1),
        Some((&single(&c.h, 1), &single(&c.c, 1))),
        &w,
        (),
    )
    .unwrap();
    let (y, _, _) = nn::lstm(&c.x, Some((&c.h, &c.c)), &w, ()).unwrap();
    close(&y1, &floats(&single(&y, 1)), 1e-6);
    // the default state is zeros; no steps; an empty batch
    let zeros = Tensor::zeros([1, 3, 6], DType::F32).unwrap();
    let given = nn::lstm(&c.x, Some((&zeros, &zeros)), &w, ()).unwrap().0;
    let none = nn::lstm(&c.x, None, &w, ()).unwrap().0;
    assert_eq!(floats(&given), floats(&none));
    for shape in [[0, 3, 4], [2, 0, 4]] {
        let x = Tensor::zeros(shape, DType::F32).unwrap();
        let (y, h, _) = nn::lstm(&x, None, &w, ()).unwrap();
        assert_eq!(
            (y.shape(), h.shape()),
            (&[shape[0], shape[1], 6][..], &[1, shape[1], 6][..])
        );
    }
}

#[test]
fn errors_name_the_operand() {
    let c = case(Kind::Gru, 3, 1, 1, true, 6);
    let w: Vec<&Tensor> = c.weights.iter().collect();
    let message = |r: flex::Result<(Tensor, Tensor)>| r.unwrap_err().to_string();
    assert_eq!(
        message(nn::gru(&c.x, None, &w[..3], ())),
        "gru: there are 3 weights; 1 layers and directions have 2 or, with biases, 4 each"
    );
    let swapped = [w[1], w[1], w[2], w[3]];
    assert!(
        message(nn::gru(&c.x, None, &swapped, ()))
            .starts_with("gru: weight 0, w_ih, must have the shape [18, 4]")
    );
    assert!(
        message(nn::gru(&c.x, Some(&c.x), &w, ())).starts_with("gru: hx must have the dtype of x")
    );
    let long = Recurrent {
        lengths: Some(&[5, 6, 1]),
        ..Default::default()
    };
    assert_eq!(
        message(nn::gru(&c.x, None, &w, long)),
        "gru: lengths has 6, but x has 5 steps"
    );
}

/// Bits don't depend either on whether weights are cached packed, as from the second call on.
#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    use flex::par::with_threads;
    let lengths = [4, 0, 1, 2, 3, 4, 1, 1, 2];
    for (steps, batch, lengths) in [
        (4, 40, None),
        (4, 9, Some(&lengths[..])),
        (4, 1, None),
        (33, 1, None),
        (1, 9, None),
    ] {
        let x = tensor(&[steps, batch, 64], 5);
        for (kind, gates) in KINDS {
            let weight = |k: u64| {
                let shape: &[usize] = match k % 4 {
                    0 => &[gates * 200, 64],
                    1 => &[gates * 200, 200],
                    _ => &[gates * 200],
                };
                flex::ops::multiply(tensor(shape, k), 0.05).unwrap()
            };
            let w: Vec<Tensor> = (0..8).map(weight).collect();
            let w: Vec<&Tensor> = w.iter().collect();
            let options = Recurrent {
                bidirectional: true,
                lengths,
                ..Default::default()
            };
            let all = || {
                let (y, h) = match kind {
                    Kind::Tanh => nn::rnn_tanh(&x, None, &w, options).unwrap(),
                    Kind::Relu => nn::rnn_relu(&x, None, &w, options).unwrap(),
                    Kind::Gru => nn::gru(&x, None, &w, options).unwrap(),
                    Kind::Lstm => {
                        let (y, _, c) = nn::lstm(&x, None, &w, options).unwrap();
                        (y, c)
                    }
                };
                [y.to_vec::<f32>().unwrap(), h.to_vec::<f32>().unwrap()]
            };
            let want = with_threads(1, all);
            assert!([1, 2, 7].into_iter().all(|n| with_threads(n, all) == want));
        }
    }
}
