//! Phases of a transposed convolution: the positions of its result that are `stride` apart.

/// What the positions of a phase read along an axis: which taps, and which elements.
#[derive(Clone, Copy, Default)]
pub(super) struct Phase {
    /// The first position, and the number of positions.
    pub first: usize,
    pub output_size: usize,
    /// The first tap, the step to the next, and the number of taps.
    pub tap: usize,
    pub step: usize,
    pub taps: usize,
    /// The distance between the elements that neighbouring taps read.
    pub dilation: usize,
    /// Elements before the image that the last tap reads for the first position.
    pub padding: isize,
}

/// The sizes along an axis.
#[derive(Clone, Copy)]
pub(super) struct ConvAxis {
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    pub padding: usize,
    /// Positions of the result.
    pub output_size: usize,
}
impl ConvAxis {
    /// The phase of the positions `first, first + stride, ..`.
    pub fn phase(&self, first: usize) -> Phase {
        // Position `p` reads element `(p + padding - tap * dilation) / stride`, if that is whole.
        let (stride, padded) = (self.stride as isize, (first + self.padding) as isize);
        let element = |tap: usize| padded - (tap * self.dilation) as isize;
        let whole = |tap: &usize| element(*tap) % stride == 0;
        // the taps that fit repeat
        let most = self.kernel.min(self.stride);
        let mut fitting = (0..most).filter(whole);
        let output_size = (self.output_size - first).div_ceil(self.stride);
        let Some(tap) = fitting.next() else {
            return Phase {
                first,
                output_size,
                ..Phase::default()
            };
        };
        // no further than the kernel, whose span is known not to overflow
        let repeats = |n: &usize| (n * self.dilation).is_multiple_of(self.stride);
        let step = (1..self.kernel).find(repeats).unwrap_or(self.kernel);
        let taps = (self.kernel - tap).div_ceil(step);
        let dilation = match taps {
            1 => 1,
            _ => step * self.dilation / self.stride,
        };
        Phase {
            first,
            output_size,
            tap,
            step,
            taps,
            dilation,
            padding: ((taps - 1) * dilation) as isize - element(tap) / stride,
        }
    }
}
