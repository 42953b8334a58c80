//! The options of transforms.

use crate::layout::{Axes, Int};
use smallvec::SmallVec;

/// Which direction of a transform is divided by the length.
///
/// ```
/// use flex::{Tensor, fft::{self, Fft, Norm}};
/// let x = Tensor::from([1.0f32; 4]);
/// let sum = |norm| {
///     let y = fft::rfft(&x, Fft { norm, ..Fft::default() })?;
///     flex::ops::real(&y)?.at::<f32>(0)
/// };
/// assert_eq!((sum(Norm::Backward)?, sum(Norm::Ortho)?, sum(Norm::Forward)?), (4.0, 2.0, 1.0));
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Norm {
    /// The inverse transform.
    #[default]
    Backward,
    /// Both, by its square root: an orthonormal transform.
    Ortho,
    /// The forward transform.
    Forward,
}

impl Norm {
    /// The factor for a transform of `n` values.
    pub(super) fn scale(self, n: usize, inverse: bool) -> f64 {
        let n = n as f64;
        match (self, inverse) {
            (Norm::Backward, true) | (Norm::Forward, false) => 1.0 / n,
            (Norm::Ortho, _) => 1.0 / libm::sqrt(n),
            _ => 1.0,
        }
    }
}

/// The options of a transform along one axis. `into` makes them from the axis, or from `()`.
///
/// ```
/// use flex::fft::{Fft, Norm};
/// let defaults = Fft { n: None, axis: -1, norm: Norm::Backward };
/// assert_eq!(Fft::from(()), defaults);
/// assert_eq!(Fft::from(1), Fft { axis: 1, ..defaults });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fft {
    /// The length that the axis is truncated or padded to, by default its own. If either side is
    /// real, the number of real values.
    pub n: Option<usize>,
    /// The axis.
    pub axis: isize,
    /// Which direction is divided by the length.
    pub norm: Norm,
}
impl Default for Fft {
    /// The last axis.
    fn default() -> Fft {
        Fft {
            n: None,
            axis: -1,
            norm: Norm::Backward,
        }
    }
}
impl From<()> for Fft {
    fn from(_: ()) -> Fft {
        Fft::default()
    }
}
impl<T: Int> From<T> for Fft {
    fn from(axis: T) -> Fft {
        Fft {
            axis: axis.wide(),
            ..Fft::default()
        }
    }
}

/// The options of a transform along several axes. `into` makes them from the axes.
///
/// ```
/// use flex::fft::FftN;
/// assert_eq!(FftN::from([0, 1]), FftN { axes: [0, 1].into(), ..FftN::default() });
/// assert_eq!(FftN::from(()), FftN::default()); // all axes
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FftN {
    /// The lengths that the axes are truncated or padded to, by default their own.
    pub s: Option<SmallVec<[usize; 4]>>,
    /// The axes. With all axes and a shorter `s`, the last ones.
    pub axes: Axes,
    /// Which direction is divided by the lengths.
    pub norm: Norm,
}
impl Default for FftN {
    /// All axes.
    fn default() -> FftN {
        FftN {
            s: None,
            axes: Axes::ALL,
            norm: Norm::Backward,
        }
    }
}
impl<A: Into<Axes>> From<A> for FftN {
    fn from(axes: A) -> FftN {
        FftN {
            axes: axes.into(),
            ..FftN::default()
        }
    }
}
