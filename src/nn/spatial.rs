//! Numbers for the axes of images, as convolutions, pools and resampling take them.

use crate::error::{Error, Result};
use crate::kernel::conv::Three;
use smallvec::SmallVec;

/// Numbers for the spatial axes: one for all of them, or one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerAxis(SmallVec<[usize; 3]>);
impl From<usize> for PerAxis {
    fn from(n: usize) -> PerAxis {
        PerAxis(SmallVec::from_slice(&[n]))
    }
}
impl<const N: usize> From<[usize; N]> for PerAxis {
    fn from(n: [usize; N]) -> PerAxis {
        PerAxis(SmallVec::from_slice(&n))
    }
}
impl From<&[usize]> for PerAxis {
    fn from(n: &[usize]) -> PerAxis {
        PerAxis(SmallVec::from_slice(n))
    }
}

/// `n` for the three axes, of which the last `rank` have numbers.
pub(super) fn three(n: &[usize], rank: usize, rest: usize) -> Three {
    let mut all = [rest; 3];
    for (k, to) in all[3 - rank..].iter_mut().enumerate() {
        *to = n[if n.len() == 1 { 0 } else { k }];
    }
    all
}

/// An option's numbers for the three axes. Errors where there are not as many as axes, or one is
/// below `least`.
pub(super) fn option(
    op: &'static str,
    name: &str,
    n: &PerAxis,
    rank: usize,
    least: usize,
) -> Result<Three> {
    let PerAxis(n) = n;
    if n.len() != 1 && n.len() != rank {
        let message = message!("{name} has {} numbers: give one, or {rank}", n.len());
        return Err(Error::value(op, message));
    }
    if n.iter().any(|n| *n < least) {
        return Err(Error::value(
            op,
            message!("{name} is {:?}, below {least}", n.as_slice()),
        ));
    }
    Ok(three(n, rank, least))
}
