//! Per-axis options of convolutions, pools and resampling.

use crate::error::{Error, Result};
use crate::kernel::conv::Three;
use smallvec::SmallVec;

/// Numbers for the spatial axes: one for all of them, or one for each.
///
/// ```
/// use flex::{DType, Tensor, nn};
/// let x = Tensor::zeros((1, 4, 6), DType::F32)?;
/// assert_eq!(nn::avg_pool2d(&x, 2, ())?.shape(), [1, 2, 3]);
/// assert_eq!(nn::avg_pool2d(&x, [4, 1], ())?.shape(), [1, 1, 6]);
/// # Ok::<(), flex::Error>(())
/// ```
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

#[cfg(feature = "stream")]
impl PerAxis {
    /// The numbers as given: one for all axes, or one per axis.
    pub(crate) fn numbers(&self) -> &[usize] {
        &self.0
    }
}

/// `n` for the last `rank` of three axes, and `rest` for the others.
pub(super) fn three(n: &[usize], rank: usize, rest: usize) -> Three {
    let mut all = [rest; 3];
    for (k, to) in all[3 - rank..].iter_mut().enumerate() {
        *to = n[if n.len() == 1 { 0 } else { k }];
    }
    all
}

/// An option's numbers for the three axes. Errors if there is not one for each axis, or one is
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
        let message = message!("{name} has {} values: give one, or {rank}", n.len());
        return Err(Error::value(op, message));
    }
    if n.iter().any(|n| *n < least) {
        return Err(Error::value(
            op,
            message!("{name} is {:?}; it must be at least {least}", n.as_slice()),
        ));
    }
    Ok(three(n, rank, least))
}
