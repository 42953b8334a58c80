//! Reductions.

use super::{Checks, assert_close, list, tensor};
use flex::{Axes, Result, Tensor, ops};

pub const ALL: Checks = &[("reductions", reductions)];

fn reductions() -> Result<()> {
    let x = tensor(&[7, 33], 7)?;
    let v = list(&x)?;
    let at = |i: usize, j: usize| v[33 * i + j] as f64;
    let rows = || (0..7).map(|i| (0..33).map(|j| at(i, j)).sum::<f64>());
    assert_close(&list(&ops::sum(&x, 1)?)?, rows(), 1e-6);
    assert_close(&list(&ops::sum(&x, 0)?)?, (0..33).map(|j| (0..7).map(|i| at(i, j)).sum()), 1e-6);
    assert_close(&list(&ops::sum(&x, Axes::ALL.keepdims())?)?, [rows().sum()], 1e-6);
    let largest = v.iter().copied().fold(f32::MIN, f32::max);
    assert_eq!(ops::max(&x, ())?.item::<f32>()?, largest);
    let place = v.iter().position(|x| *x == largest).unwrap() as i64;
    assert_eq!(ops::argmax(&x, ())?.item::<i64>()?, place);
    assert!(matches!(ops::sum(&x, 2), Err(flex::Error::Axis { op: "sum", axis: 2, rank: 2, .. })));
    let y = Tensor::from_slice(&[1.0f32, f32::NAN, 3.0], [3])?;
    assert!(ops::min(&y, ())?.item::<f32>()?.is_nan());
    assert_eq!(ops::sum(&Tensor::from_slice(&[true, true, false], [3])?, ())?.item::<i64>()?, 2);
    Ok(())
}
