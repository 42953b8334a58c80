//! Where windows lie along an axis.

use alloc::vec::Vec;
use core::ops::Range;

/// Windows of one size at a constant stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steady {
    /// Taps of a window.
    pub kernel: usize,
    /// From a window to the next.
    pub stride: usize,
    /// From a tap to the next.
    pub dilation: usize,
    /// Places of the first window that lie before the image.
    pub padding: usize,
}

/// The windows along an axis.
#[derive(Clone, Debug)]
pub enum Windows {
    /// All alike.
    Steady(Steady),
    /// Each with its own range of the axis, and the distance from a tap to the next.
    Listed(Vec<Range<usize>>, usize),
}

/// The taps of a window that lie within the image.
#[derive(Clone, Copy, Debug)]
pub struct Taps {
    /// Taps of the window before the first of these.
    pub skipped: usize,
    /// The position of the first tap.
    pub first: usize,
    /// From a tap to the next.
    pub step: usize,
    /// How many.
    pub count: usize,
}

impl Windows {
    /// Taps of the largest window, at least one.
    pub fn most(&self) -> usize {
        match self {
            Windows::Steady(s) => s.kernel,
            Windows::Listed(all, step) => {
                let longest = all.iter().map(|r| r.len()).max();
                ceil(longest.unwrap_or(0), *step).max(1)
            }
        }
    }
    /// From a tap to the next.
    pub fn step(&self) -> usize {
        match self {
            Windows::Steady(s) => s.dilation,
            Windows::Listed(_, step) => *step,
        }
    }
    /// Places of padding before the image.
    pub fn padding(&self) -> usize {
        match self {
            Windows::Steady(s) => s.padding,
            Windows::Listed(..) => 0,
        }
    }
    /// The length of a row of `size` elements padded to cover all `outputs` windows; none if that
    /// overflows.
    pub fn padded(&self, size: usize, outputs: usize) -> Option<usize> {
        match self {
            Windows::Steady(s) => {
                let last = outputs.saturating_sub(1).checked_mul(s.stride)?;
                let seen = (s.kernel - 1).checked_mul(s.dilation)?.checked_add(1)?;
                Some(last.checked_add(seen)?.max(s.padding.checked_add(size)?))
            }
            Windows::Listed(..) => Some(size),
        }
    }
    /// The taps of a window within an image of `size`.
    #[inline(always)]
    pub fn taps(&self, output: usize, size: usize) -> Taps {
        match self {
            Windows::Steady(s) => {
                let start = output * s.stride;
                let skipped = ceil(s.padding.saturating_sub(start), s.dilation);
                let end = (s.padding + size).saturating_sub(start);
                let end = ceil(end, s.dilation).min(s.kernel);
                Taps {
                    skipped,
                    first: (start + skipped * s.dilation).saturating_sub(s.padding),
                    step: s.dilation,
                    count: end.saturating_sub(skipped),
                }
            }
            Windows::Listed(all, step) => Taps {
                skipped: 0,
                first: all[output].start,
                step: *step,
                count: ceil(all[output].len(), *step),
            },
        }
    }
    /// Where a window begins; negative in the padding.
    #[inline(always)]
    pub fn start(&self, output: usize) -> isize {
        match self {
            Windows::Steady(s) => (output * s.stride) as isize - s.padding as isize,
            Windows::Listed(all, _) => all[output].start as isize,
        }
    }
}

/// `n / d` rounded up. Avoids the division where it can: it would take longer than the rest of a
/// short row.
#[inline(always)]
fn ceil(n: usize, d: usize) -> usize {
    if d == 1 { n } else { n.div_ceil(d) }
}
