//! Scans, gathers, masks, joins.

use super::{Checks, assert_close, list, tensor};
use alloc::vec::Vec;
use flex::{Error, Result, Tensor, ops};

pub const ALL: Checks = &[("scans", scans), ("gathers", gathers), ("masks and joins", masks)];

fn scans() -> Result<()> {
    let x = tensor(&[7, 13], 12)?;
    let v = list(&x)?;
    let at = |i: usize, j: usize| v[13 * i + j] as f64;
    let across = (0..7).flat_map(|i| (0..13).map(move |j| (0..=j).map(|j| at(i, j)).sum()));
    assert_close(&list(&ops::cumulative_sum(&x, 1)?)?, across, 1e-6);
    let down = (0..7).flat_map(|i| (0..13).map(move |j| (0..=i).map(|i| at(i, j)).sum()));
    assert_close(&list(&ops::cumulative_sum(&x, 0)?)?, down, 1e-6);
    Ok(())
}

fn gathers() -> Result<()> {
    let x = tensor(&[20, 3], 13)?;
    let v = list(&x)?;
    let places = [3i64, -1, 3, 0];
    let rows = ops::take(&x, &Tensor::from_slice(&places, [4])?, 0)?;
    let want: Vec<f32> = places.iter().flat_map(|p| v[3 * p.rem_euclid(20) as usize..][..3].iter().copied()).collect();
    assert_eq!((rows.shape(), list(&rows)?), (&[4, 3][..], want));
    let beyond = Tensor::from_slice(&[20], [1])?;
    assert!(matches!(ops::take(&x, &beyond, 0), Err(Error::Index { index: 20, size: 20, .. })));
    Ok(())
}

fn masks() -> Result<()> {
    let x = tensor(&[90], 14)?;
    let positive: Vec<f32> = list(&x)?.into_iter().filter(|x| *x > 0.0).collect();
    let chosen = ops::masked_select(&x, &ops::greater(&x, 0.0)?)?;
    assert_eq!(list(&chosen)?, positive);
    let both = ops::concat(&[&x, &chosen], 0)?;
    assert_eq!(list(&both)?[90..], positive);
    Ok(())
}
