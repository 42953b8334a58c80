//! Softmax and norms.

use super::{Checks, assert_close, list, tensor};
use alloc::vec::Vec;
use flex::{Result, Tensor, nn};

pub const ALL: Checks = &[("softmax and norms", rows)];

fn rows() -> Result<()> {
    let x = tensor(&[3, 50], 11)?;
    let v = list(&x)?;
    let line = |i: usize| v[50 * i..50 * (i + 1)].iter().map(|x| *x as f64);
    let total = |i: usize| line(i).map(libm::exp).sum::<f64>();
    let each = |f: &dyn Fn(usize, f64) -> f64| -> Vec<f64> { (0..3).flat_map(|i| line(i).map(move |x| f(i, x))).collect() };
    assert_close(&list(&nn::softmax(&x, -1)?)?, each(&|i, x| libm::exp(x) / total(i)), 1e-6);
    assert_close(&list(&nn::log_softmax(&x, 1)?)?, each(&|i, x| x - libm::log(total(i))), 1e-6);
    let mean = |i: usize| line(i).sum::<f64>() / 50.0;
    let scale = |i: usize| libm::sqrt(line(i).map(|x| (x - mean(i)) * (x - mean(i))).sum::<f64>() / 50.0 + 1e-5);
    assert_close(&list(&nn::layer_norm(&x, &[50], ())?)?, each(&|i, x| (x - mean(i)) / scale(i)), 2e-6);
    // far apart, and along the axis that is strided
    let far = Tensor::from_slice(&[0.0f32, 0.0, 1000.0, 1000.0], [2, 2])?;
    assert_eq!(list(&nn::softmax(&far, 0)?)?, [0.0, 0.0, 1.0, 1.0]);
    Ok(())
}
