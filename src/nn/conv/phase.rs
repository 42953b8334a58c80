//! Phases of a transposed convolution: places of its result that are `stride` apart.

/// What the places of a phase see along an axis: which taps, and of which elements.
#[derive(Clone, Copy, Default)]
pub(super) struct Phase {
    /// The first place, and how many.
    pub first: usize,
    pub places: usize,
    /// The first tap, from one to the next, and how many.
    pub tap: usize,
    pub step: usize,
    pub taps: usize,
    /// From an element that a tap sees to that of the tap before it.
    pub dilation: usize,
    /// Elements before the image that the last tap of the first place sees.
    pub padding: isize,
}

/// The sizes along an axis.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    pub padding: usize,
    /// Places of the result.
    pub places: usize,
}
impl Axis {
    /// The phase of the places `first, first + stride, ..`.
    pub fn phase(&self, first: usize) -> Phase {
        // Place `p` sees element `(p + padding - tap * dilation) / stride`, where that is whole.
        let (stride, padded) = (self.stride as isize, (first + self.padding) as isize);
        let element = |tap: usize| padded - (tap * self.dilation) as isize;
        let whole = |tap: &usize| element(*tap) % stride == 0;
        // the taps that do repeat
        let most = self.kernel.min(self.stride);
        let mut fitting = (0..most).filter(whole);
        let places = (self.places - first).div_ceil(self.stride);
        let Some(tap) = fitting.next() else {
            return Phase {
                first,
                places,
                ..Phase::default()
            };
        };
        // no further than the kernel, whose span is known to be a number
        let repeats = |n: &usize| (n * self.dilation).is_multiple_of(self.stride);
        let step = (1..self.kernel).find(repeats).unwrap_or(self.kernel);
        let taps = (self.kernel - tap).div_ceil(step);
        let dilation = match taps {
            1 => 1,
            _ => step * self.dilation / self.stride,
        };
        Phase {
            first,
            places,
            tap,
            step,
            taps,
            dilation,
            padding: ((taps - 1) * dilation) as isize - element(tap) / stride,
        }
    }
}
