//! The sums of a band, from what was read into scratch.

use super::walk::{PhasePart, PlaneWalk, Tap};
use crate::kernel::conv::planes::LANES;
use crate::kernel::gemm::Packed;
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// Positions whose sums are in registers together: enough independent chains to keep the multiply-add
/// units busy; and as many as divide the rows of most networks' images.
const PLACES: usize = 8;
const SEVEN: usize = 7;

/// The sums of a band's positions, `d[position][lane]`, by `weights[tap][lane]`.
pub struct BandSums<'a, F> {
    pub walk: &'a PlaneWalk,
    pub band: Range<usize>,
    pub plane: &'a [F],
    pub weights: &'a [F],
    pub d: &'a mut [F],
}
impl<F: Packed> Kernel for BandSums<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        by_lanes!(self.all, I, F)
    }
}
impl<F: Packed> BandSums<'_, F> {
    #[inline(always)]
    fn all<I: Isa, const L: usize>(mut self) {
        let walk = self.walk;
        let rows = walk.rows_of(&self.band).len();
        assert!(rows * walk.line * LANES <= self.plane.len());
        assert!(self.band.len() * walk.output_size[1] * LANES <= self.d.len());
        let weights = walk.taps.iter().map(|tap| tap.weight + LANES).max();
        assert!(weights.unwrap_or(0) <= self.weights.len());
        for part in &walk.parts {
            // constant steps are worth the code for float32 with wide vectors
            match (walk.step[1], walk.out[1]) {
                _ if const { !I::AVX2 || size_of::<F>() != 4 } => self.part::<I, L, 0>(part),
                (1, 1) => self.part::<I, L, 1>(part),
                (2, 1) => self.part::<I, L, 2>(part),
                _ => self.part::<I, L, 0>(part),
            }
        }
    }
    /// The positions of a part. If `S` is not 0, positions are adjacent, and what they read is `S`
    /// apart.
    #[inline(always)]
    fn part<I: Isa, const L: usize, const S: usize>(&mut self, part: &PhasePart) {
        let (walk, first) = (self.walk, self.band.start);
        let taps = &walk.taps[part.taps.clone()];
        let positions = match part.cols {
            n if n.is_multiple_of(SEVEN) && !n.is_multiple_of(PLACES) => SEVEN,
            PLACES.. => PLACES,
            4.. => 4,
            _ => 1,
        };
        let rows = (first + part.first[0]..self.band.end).step_by(walk.out[0]);
        for (y, row) in rows.enumerate() {
            let from = y * walk.step[0] * walk.line * LANES;
            let to = ((row - first) * walk.output_size[1] + part.first[1]) * LANES;
            for lane in (0..LANES).step_by(L) {
                for x in (0..part.cols).step_by(positions) {
                    // the last block overlaps
                    let x = x.min(part.cols - positions);
                    let at = [
                        from + x * walk.step[1] * LANES + lane,
                        to + x * walk.out[1] * LANES + lane,
                    ];
                    // SAFETY: PLANE3: positions of the part, `lane` a multiple of `L` below
                    // `LANES`.
                    unsafe {
                        match positions {
                            SEVEN => self.block::<I, L, S, SEVEN>(taps, lane, at),
                            PLACES => self.block::<I, L, S, PLACES>(taps, lane, at),
                            4 => self.block::<I, L, S, 4>(taps, lane, at),
                            _ => self.block::<I, L, S, 1>(taps, lane, at),
                        }
                    }
                }
            }
        }
    }
    /// `P` consecutive positions of a part.
    ///
    /// # Safety
    /// Contract PLANE3: `plane`, `weights` and `d` are as long as the walk says (asserted above),
    /// and the positions are some of a part's.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep the sums in registers"
    )]
    unsafe fn block<I: Isa, const L: usize, const S: usize, const P: usize>(
        &mut self,
        taps: &[Tap],
        lane: usize,
        [from, to]: [usize; 2],
    ) {
        // the step from one position to the next: a constant for the common ones
        let (step, out) = match S {
            0 => (self.walk.step[1] * LANES, self.walk.out[1] * LANES),
            _ => (S * LANES, LANES),
        };
        let plane = self.plane.as_ptr().wrapping_add(from);
        let weights = self.weights.as_ptr().wrapping_add(lane);
        let mut c = [F::begin([F::default(); L]); P];
        for tap in taps {
            // SAFETY: PLANE3: the weights of a tap.
            let weight = unsafe { *(weights.wrapping_add(tap.weight) as *const [F; L]) };
            let seen = plane.wrapping_add(tap.at);
            for p in 0..P {
                // SAFETY: PLANE3: what the tap reads for a position.
                let seen = unsafe { *(seen.wrapping_add(p * step) as *const [F; L]) };
                c[p] = F::mul_add_lanes::<I, L>(weight, seen, c[p]);
            }
        }
        let d = self.d.as_mut_ptr().wrapping_add(to);
        for p in 0..P {
            // SAFETY: PLANE3: the sums of a position.
            unsafe { *(d.wrapping_add(p * out) as *mut [F; L]) = F::end(c[p]) };
        }
    }
}
