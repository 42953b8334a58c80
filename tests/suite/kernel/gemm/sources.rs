//! The macrokernel with a source that is not a matrix: patches of a line, with zeros past its ends,
//! as in a convolution.

use super::*;
use core::ops::Range;
use flex::kernel::gemm::macrokernel::macrokernel;
use flex::kernel::gemm::microkernel::BlockA;
use flex::kernel::gemm::source::InPlace;

/// Line `j` is the `steps` elements of `x` from `first + j - padding` on.
#[derive(Clone, Copy)]
struct Patches<'a> {
    x: &'a [f32],
    padding: usize,
    steps: usize,
    first: usize,
    lines: usize,
}
impl Patches<'_> {
    fn at(&self, step: usize, line: usize) -> f32 {
        let i = (self.first + line + step).wrapping_sub(self.padding);
        self.x.get(i).copied().unwrap_or(0.0)
    }
}
// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl Source for Patches<'_> {
    type Packed = f32;
    fn lines(&self) -> usize {
        self.lines
    }
    fn steps(&self) -> usize {
        self.steps
    }
    fn slice(self, lines: Range<usize>) -> Self {
        Patches {
            first: self.first + lines.start,
            lines: lines.len(),
            ..self
        }
    }
    fn in_place(&self) -> Option<InPlace<f32>> {
        None
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [f32]) {
        let (mut j, mut at) = (lines.start, 0);
        while j < lines.end {
            let width = panel_width::<f32>(lines.end - j);
            for step in steps.clone() {
                for (q, d) in d[at..at + width].iter_mut().enumerate() {
                    *d = if j + q < lines.end {
                        self.at(step, j + q)
                    } else {
                        0.0
                    };
                }
                at += width;
            }
            j += width;
        }
    }
    fn pack_block(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [f32]) -> BlockA<f32> {
        let depth = steps.len();
        for (i, line) in lines.enumerate() {
            for (p, step) in steps.clone().enumerate() {
                d[i * depth + p] = self.at(step, line);
            }
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}

#[test]
fn a_source_of_patches_is_a_convolution() {
    let mut random = Rng(17);
    let cases = [
        (1, 1, 3),
        (5, 70, 7),
        (7, 300, 40),
        (200, 90, 30),
        (20, 130, 1100),
        (250, 65, 600),
    ];
    for (channels, outputs, taps) in cases {
        let mut values =
            |n: usize| -> Vec<f32> { (0..n).map(|_| random.below(9) as f32 - 4.0).collect() };
        let (x, w) = (values(outputs + taps / 2), values(channels * taps));
        let patches = Patches {
            x: &x,
            padding: taps / 3,
            steps: taps,
            first: 0,
            lines: outputs,
        };
        let weights = Strided::rows(Mat::from_slice(&w, channels, taps));
        // products of these integers are exact, in any order
        let expected = |i: usize, j: usize| -> f32 {
            (0..taps).map(|p| w[i * taps + p] * patches.at(p, j)).sum()
        };
        let mut y = vec![f32::NAN; channels * outputs];
        let c = &mut MatMut::from_slice(&mut y, channels, outputs);
        macrokernel(&weights, &patches, None, c, false, Epilogue::NONE).unwrap();
        for (at, y) in y.iter().enumerate() {
            let (i, j) = (at / outputs, at % outputs);
            assert_eq!(*y, expected(i, j), "{channels} {outputs} {taps} [{i}, {j}]");
        }
        // and as the left operand, which gives the transposed result
        let weights = Strided::columns(Mat::from_slice(&w, channels, taps).t());
        let mut y = vec![f32::NAN; channels * outputs];
        let c = &mut MatMut::from_slice(&mut y, outputs, channels);
        macrokernel(&patches, &weights, None, c, false, Epilogue::NONE).unwrap();
        for (at, y) in y.iter().enumerate() {
            let (j, i) = (at / channels, at % channels);
            assert_eq!(
                *y,
                expected(i, j),
                "{channels} {outputs} {taps} transposed [{i}, {j}]"
            );
        }
    }
}
