//! Sorting.

use super::{Checks, list, tensor};
use alloc::vec::Vec;
use flex::ops::{self, Sort};
use flex::{Result, Tensor};

pub const ALL: Checks = &[("sorting", sorting)];

fn sorting() -> Result<()> {
    let x = tensor(&[90], 12)?;
    let mut v = list(&x)?;
    let order = ops::argsort(&x, 0)?.to_vec::<i64>()?;
    assert!(order.is_sorted_by(|a, b| v[*a as usize] <= v[*b as usize]));
    let mut places = order.clone();
    places.sort_unstable();
    assert_eq!(places, (0..90).collect::<Vec<i64>>());
    v.sort_by(f32::total_cmp);
    assert_eq!(list(&ops::sort(&x, 0)?)?, v);
    v.reverse();
    assert_eq!(list(&ops::sort(&x, Sort { axis: -1, descending: true })?)?, v);
    let nan = ops::sort(&Tensor::from_slice(&[f32::NAN, 1.0, -0.0], [3])?, 0)?;
    assert_eq!(list(&nan)?[..2], [0.0, 1.0]);
    assert!(list(&nan)?[2].is_nan());
    Ok(())
}
