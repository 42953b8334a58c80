//! Choices of some of several, with or without replacement and weights.

use super::Generator;
use super::parameter::Values;
use super::shaped::check_probabilities;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::random::{GROUP, Transform, bits, doubles};
use crate::layout::{IntoShape, Layout};
use crate::ops::{self, draw};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// How [`Generator::choice`] chooses.
///
/// ```
/// use flex::random::Choice;
/// assert!(Choice::default().replace);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// Whether one may be chosen several times.
    pub replace: bool,
    /// The probability of each, in one dimension; by default all are as likely.
    pub p: Option<&'a Tensor>,
}
impl Default for Choice<'_> {
    fn default() -> Self {
        Choice {
            replace: true,
            p: None,
        }
    }
}

impl Generator {
    /// Integers from 0 to `n`, which is left out, chosen at random, as int64. Without replacement
    /// they come in random order; with probabilities too, they are drawn one after the other from
    /// those that are left. One of probability 0 is never chosen.
    ///
    /// Errors if `n` is 0 but not the size of the result, more than there are have to be chosen
    /// without replacement, or `p` is not of shape `[n]`, has a negative number or doesn't sum to 1.
    ///
    /// ```
    /// use flex::{Tensor, random::{Choice, default_rng}};
    /// let p = Tensor::from([0.5f32, 0.0, 0.5]);
    /// let x = default_rng(7).choice(3, 100, Choice { p: Some(&p), ..Default::default() })?;
    /// assert!(x.iter::<i64>()?.all(|x| x != 1));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn choice(&mut self, n: usize, shape: impl IntoShape, how: Choice) -> Result<Tensor> {
        let shape = shape.into_shape();
        self.choice_of(n, shape.as_ref(), how)
    }
    fn choice_of(&mut self, n: usize, shape: &[usize], how: Choice) -> Result<Tensor> {
        const OP: &str = "choice";
        let count = Layout::contiguous(shape)?.len();
        if n == 0 && count > 0 {
            return Err(Error::value(
                OP,
                message!("there are 0 to choose {count} from"),
            ));
        }
        if !how.replace && count > n {
            let message = message!("{count} of {n} can't be chosen without replacement");
            return Err(Error::value(OP, message));
        }
        let Some(p) = how.p else {
            return match how.replace {
                true if count == 0 => Tensor::empty(shape, DType::I64),
                true => self
                    .integers(0, n, shape, DType::I64)
                    .map_err(|e| e.named(OP)),
                false => self.some(n, count)?.reshape(shape),
            };
        };
        if p.shape() != [n] {
            let message = message!("p must have the shape [{n}]");
            return Err(Error::shape_of(OP, message, &[("p", p.shape(), p.dtype())]));
        }
        let p = match Values::new(OP, "p", &p.into(), &[n], |_| true, "be real")? {
            Values::One(p) => fallible::filled(p, n)?,
            Values::Each(p) => p,
        };
        check_probabilities(OP, "p", &p)?;
        match how.replace {
            true => self.weighted(p, shape),
            false => self.weighted_once(&p, count)?.reshape(shape),
        }
    }
    /// `k` of `n`: the first of a random order. Whether the others are in memory or not, the same.
    fn some(&mut self, n: usize, k: usize) -> Result<Tensor> {
        if n / 8 < k {
            let mut y = ops::arange(0, n, 1, DType::I64)?;
            self.shuffle_first(n, k, y.as_mut_slice::<i64>()?);
            return y.narrow(0, 0, k)?.copy();
        }
        let mut y = Tensor::empty(k, DType::I64)?;
        let mut moved = Moved::new(k)?;
        let chosen = y.as_mut_slice::<i64>()?;
        self.swaps(n, k, |i, j| {
            chosen[i] = moved.get(j) as i64;
            let first = moved.get(i);
            moved.set(j, first);
        });
        Ok(y)
    }
    /// With replacement: positions of uniform numbers among the cumulative probabilities.
    fn weighted(&mut self, mut p: Vec<f64>, shape: &[usize]) -> Result<Tensor> {
        let mut sum = 0.0;
        for p in &mut p {
            sum += *p;
            *p = sum;
        }
        // the last that has a probability ends at 1, and those after it lie beyond
        let last = p.partition_point(|x| *x < sum);
        for (k, p) in p.iter_mut().enumerate() {
            *p = if k < last { *p / sum } else { f64::INFINITY };
        }
        let mut y = Tensor::empty(shape, DType::I64)?;
        let source = self.take(y.len(), GROUP);
        let y_all = y.as_mut_slice::<i64>()?;
        draw::chunks(source, GROUP, 128, y_all, |_, block, room, y| {
            let mut u = [0.0; GROUP * draw::GROUPS];
            bits(source.stream, block, room);
            doubles(
                Transform::Uniform { kept: 53 },
                room,
                &mut u[..room.len() * GROUP],
            );
            for (y, u) in y.iter_mut().zip(u) {
                *y = p.partition_point(|x| *x <= u) as i64;
            }
        });
        Ok(y)
    }
    /// Without replacement: the smallest of exponential numbers over the probabilities (Efraimidis
    /// and Spirakis, 2006).
    fn weighted_once(&mut self, p: &[f64], k: usize) -> Result<Tensor> {
        const OP: &str = "choice";
        let possible = p.iter().filter(|p| **p > 0.0).count();
        if possible < k {
            let message = message!("{k} can't be chosen: p has {possible} that are not 0");
            return Err(Error::value(OP, message));
        }
        let mut keys: Vec<(f64, i64)> = fallible::with_capacity(p.len())?;
        let mut y = Tensor::empty(k, DType::I64)?;
        let source = self.take(p.len(), GROUP);
        let mut room = [[0; GROUP]];
        let mut times = [0.0; GROUP];
        for (g, p) in p.chunks(GROUP).enumerate() {
            bits(source.stream, source.block(g * GROUP, GROUP), &mut room);
            doubles(Transform::Exponential, &room, &mut times);
            for (i, (p, time)) in p.iter().zip(times).enumerate() {
                let key = if *p > 0.0 { time / p } else { f64::INFINITY };
                keys.push((key, (g * GROUP + i) as i64));
            }
        }
        let order = |a: &(f64, i64), b: &(f64, i64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if k < keys.len() {
            keys.select_nth_unstable_by(k, order);
        }
        keys[..k].sort_unstable_by(order);
        for (y, key) in y.as_mut_slice::<i64>()?.iter_mut().zip(&keys) {
            *y = key.1;
        }
        Ok(y)
    }
}

/// An order of integers in which few are not at their position: a table of those, by linear probing.
struct Moved {
    /// Position plus one, or 0, and the integer there.
    slots: Vec<(usize, usize)>,
}
impl Moved {
    /// Of up to `n` of them.
    fn new(n: usize) -> Result<Moved> {
        let len = n.max(4).saturating_mul(4).checked_next_power_of_two();
        let len = len.ok_or_else(|| Error::memory::<(usize, usize)>(n))?;
        Ok(Moved {
            slots: fallible::filled((0, 0), len)?,
        })
    }
    /// The slot of a position, or the free one where it belongs. At most half of all are in use.
    fn slot(&self, position: usize) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = position.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize);
        slot = (slot ^ (slot >> (usize::BITS / 2))) & mask;
        while self.slots[slot].0 != 0 && self.slots[slot].0 != position + 1 {
            slot = (slot + 1) & mask;
        }
        slot
    }
    fn get(&self, position: usize) -> usize {
        match self.slots[self.slot(position)] {
            (0, _) => position,
            (_, x) => x,
        }
    }
    fn set(&mut self, position: usize, x: usize) {
        let slot = self.slot(position);
        self.slots[slot] = (position + 1, x);
    }
}
