//! Recurrent layers that the crate's are not, a step after the other.

use super::{Cell, Layer};
use crate::error::{Error, Result};
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

impl Layer {
    fn clipped(&self, x: Tensor) -> Result<Tensor> {
        match self.clip {
            Some(limit) => ops::clip(x, -limit, limit),
            None => Ok(x),
        }
    }
    /// A direction, step by step: its output `[steps, batch, hidden]`, and its last states.
    pub(super) fn steps(
        &self,
        input: &Tensor,
        weights: &[Option<Tensor>; 4],
        (mut h, mut c): (Tensor, Tensor),
        lengths: Option<&[usize]>,
        direction: usize,
    ) -> Result<[Tensor; 3]> {
        let [Some(w), Some(r), b, p] = weights else {
            return Err(Error::value("recurrent layer", "weights are missing"));
        };
        let gates = self.cell.gates().len();
        let hidden = r.shape()[1];
        let backward = self.backward || direction == 1;
        let lengths = match lengths {
            Some(lengths) => {
                let lengths: Vec<i64> = lengths.iter().map(|n| *n as i64).collect();
                Some(Tensor::from_vec(lengths, input.shape()[1])?)
            }
            None => None,
        };
        let turned = |t: &Tensor| match (backward, &lengths) {
            (false, _) => Ok(t.clone()),
            (true, None) => t.flip(0),
            (true, Some(lengths)) => super::super::select::reversed(t, lengths, 1, 0),
        };
        let input = turned(input)?;
        let halves = match b {
            Some(b) => Some((
                b.narrow(0, 0, gates * hidden)?,
                b.narrow(0, gates * hidden, gates * hidden)?,
            )),
            None => None,
        };
        // the share of the inputs of all steps at once
        let mut from_input = ops::matmul(&input, &w.transpose(0, 1)?)?;
        if let Some((bias, _)) = &halves {
            from_input = ops::add(from_input, bias)?;
        }
        let first = direction * self.cell.activations().len();
        let act = |k: usize, x: Tensor| self.activations[first + k].of(self.clipped(x)?);
        let part = |t: &Tensor, k: usize| t.narrow(-1, k * hidden, hidden);
        let mut ys = Vec::new();
        for step in 0..input.shape()[0] {
            super::super::super::call::checkpoint();
            let x = from_input.select(0, step as i64)?;
            let mut recurrent = ops::matmul(&h, &r.transpose(0, 1)?)?;
            if let Some((_, bias)) = &halves {
                recurrent = ops::add(recurrent, bias)?;
            }
            let both = |k: usize| ops::add(part(&x, k)?, &part(&recurrent, k)?);
            let (new_h, new_c) = match self.cell {
                Cell::Plain => (act(0, both(0)?)?, c.clone()),
                Cell::Gru => {
                    let z = act(0, both(0)?)?;
                    let reset = act(0, both(1)?)?;
                    let share = match self.reset_after {
                        true => ops::multiply(reset, &part(&recurrent, 2)?)?,
                        false => {
                            let rows = r.narrow(0, 2 * hidden, hidden)?;
                            let share =
                                ops::matmul(&ops::multiply(reset, &h)?, &rows.transpose(0, 1)?)?;
                            match &halves {
                                Some((_, bias)) => ops::add(share, &part(bias, 2)?)?,
                                None => share,
                            }
                        }
                    };
                    let new = act(1, ops::add(share, &part(&x, 2)?)?)?;
                    // (1 - z) new + z h
                    let apart = ops::subtract(&h, &new)?;
                    (ops::add(ops::multiply(z, apart)?, &new)?, c.clone())
                }
                Cell::Lstm => {
                    let peep = |gate: Tensor, k: usize, c: &Tensor| match p {
                        Some(p) => ops::add(gate, ops::multiply(c, &part(p, k)?)?),
                        None => Ok(gate),
                    };
                    let i = act(0, peep(both(0)?, 0, &c)?)?;
                    let f = match self.forget_rest {
                        true => ops::subtract(1.0, &i)?,
                        false => act(0, peep(both(2)?, 2, &c)?)?,
                    };
                    let new = act(1, both(3)?)?;
                    let new_c = ops::add(ops::multiply(f, &c)?, ops::multiply(i, new)?)?;
                    let o = act(0, peep(both(1)?, 1, &new_c)?)?;
                    (
                        ops::multiply(o, self.activations[first + 2].of(new_c.clone())?)?,
                        new_c,
                    )
                }
            };
            match &lengths {
                None => {
                    (h, c) = (new_h, new_c);
                    crate::fallible::push(&mut ys, h.clone())?;
                }
                Some(lengths) => {
                    let going = ops::greater(lengths, step as i64)?.expand_dims(-1)?;
                    h = ops::where_(&going, new_h, h)?;
                    c = ops::where_(&going, new_c, c)?;
                    crate::fallible::push(&mut ys, ops::where_(&going, &h, 0.0)?)?;
                }
            }
        }
        let y = match ys.is_empty() {
            true => Tensor::zeros([0, h.shape()[0], hidden], input.dtype())?,
            false => ops::stack(&ys, 0)?,
        };
        Ok([turned(&y)?, h, c])
    }
}
