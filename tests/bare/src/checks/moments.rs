//! Moments.

use super::{Checks, assert_close, list, tensor};
use flex::{Result, ops};

pub const ALL: Checks = &[("mean and variance", moments)];

fn moments() -> Result<()> {
    let x = tensor(&[7, 33], 7)?;
    let v = list(&x)?;
    let line = |i: usize| v[33 * i..33 * (i + 1)].iter().map(|x| *x as f64);
    let mean = |i: usize| line(i).sum::<f64>() / 33.0;
    assert_close(&list(&ops::mean(&x, -1)?)?, (0..7).map(mean), 1e-6);
    let variance = |i: usize| line(i).map(|x| (x - mean(i)) * (x - mean(i))).sum::<f64>() / 33.0;
    assert_close(&list(&ops::var(&x, 1, 0.0)?)?, (0..7).map(variance), 1e-6);
    Ok(())
}
