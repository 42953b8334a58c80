//! What the positions of a channel read, and how they are split into bands of rows.

use crate::error::Result;
use crate::fallible;
use crate::kernel::conv::geometry::{Geometry, Three};
use crate::kernel::conv::planes::LANES;
use crate::simd;
use alloc::vec::Vec;
use core::ops::Range;

/// Bytes of what a band reads and of its sums, unless it can't be smaller: half of an L2 cache.
const MAX_BYTES: usize = 128 << 10;
/// Bytes above which other algorithms are better.
const TOO_MUCH: usize = 1 << 20;

/// A tap: where it reads the plane for the first position of a band, and its weights.
#[derive(Clone, Copy)]
pub struct Tap {
    pub at: usize,
    pub weight: usize,
}

/// Positions that read the same taps: every `out`th row and column, from `first` on.
pub struct PhasePart {
    pub first: [usize; 2],
    pub cols: usize,
    pub taps: Range<usize>,
}

/// A phase of an axis: its number of positions, and its taps with the element of the source that
/// each reads for the first position.
struct Phase {
    first: usize,
    output_size: usize,
    taps: Vec<(usize, isize)>,
}

/// How positions walk over a two-dimensional source plane: those of a convolution over its image,
/// or those of a transposed convolution, in phases, over its input. It depends on the geometry and
/// the type alone.
///
/// Invariant WALK1: what a tap of a part reads for the first position, and all steps from there to
/// the last position of a band, lie within the `line` elements of each row of
/// [`rows_of`](PlaneWalk::rows_of).
pub struct PlaneWalk {
    /// Rows and columns of the source, and of the result.
    pub source: [usize; 2],
    pub output_size: [usize; 2],
    /// The step between what consecutive positions of a phase read, and between those positions.
    pub step: [usize; 2],
    pub out: [usize; 2],
    pub taps: Vec<Tap>,
    pub parts: Vec<PhasePart>,
    /// The first row that the first position reads, and the number of rows to the last one.
    low: isize,
    span: usize,
    /// Columns of a plane before those of the source, and all its columns.
    left: usize,
    pub line: usize,
    /// Rows of positions of a band.
    pub rows: usize,
}
impl PlaneWalk {
    /// The walk of a convolution over images of these sizes, with elements of `bytes` bytes; none
    /// if planes are too large, or have a depth.
    ///
    /// Errors if there is no memory for the list of taps.
    pub fn convolution(g: &Geometry, image: Three, bytes: usize) -> Result<Option<PlaneWalk>> {
        let phases = |axis: usize| {
            let mut taps = fallible::with_capacity(g.kernel[axis])?;
            taps.extend((0..g.kernel[axis]).map(|tap| (tap, g.element(axis, 0, tap))));
            let mut phases = fallible::with_capacity(1)?;
            phases.push(Phase {
                first: 0,
                output_size: g.output_size[axis],
                taps,
            });
            Ok(phases)
        };
        if !fits(g, image) {
            return Ok(None);
        }
        let sizes = [[image[1], image[2]], [g.output_size[1], g.output_size[2]]];
        let steps = [[g.stride[1], g.stride[2]], [1; 2]];
        PlaneWalk::new([phases(1)?, phases(2)?], sizes, steps, g.kernel[2], bytes)
    }
    /// The walk back: for each element of such an image, over the positions that read it.
    ///
    /// Errors as above.
    pub fn transposed(g: &Geometry, image: Three, bytes: usize) -> Result<Option<PlaneWalk>> {
        let phases = |axis: usize| {
            let stride = g.stride[axis];
            let mut phases = fallible::with_capacity(stride.min(image[axis]))?;
            for first in 0..stride.min(image[axis]) {
                let mut taps = Vec::new();
                for tap in (0..g.kernel[axis]).rev() {
                    // the tap reads this element for position `from / stride`, if that is whole
                    let from = first as isize - g.element(axis, 0, tap);
                    if from.rem_euclid(stride as isize) == 0 {
                        fallible::push(&mut taps, (tap, from.div_euclid(stride as isize)))?;
                    }
                }
                let output_size = (image[axis] - first).div_ceil(stride);
                phases.push(Phase {
                    first,
                    output_size,
                    taps,
                });
            }
            Ok(phases)
        };
        if !fits(g, image) {
            return Ok(None);
        }
        let sizes = [[g.output_size[1], g.output_size[2]], [image[1], image[2]]];
        let steps = [[1; 2], [g.stride[1], g.stride[2]]];
        PlaneWalk::new([phases(1)?, phases(2)?], sizes, steps, g.kernel[2], bytes)
    }
    fn new(
        [down, across]: [Vec<Phase>; 2],
        [source, output_size]: [[usize; 2]; 2],
        [step, out]: [[usize; 2]; 2],
        wide: usize,
        bytes: usize,
    ) -> Result<Option<PlaneWalk>> {
        let span = |phases: &[Phase]| {
            let taps = phases.iter().flat_map(|p| p.taps.iter().map(|tap| tap.1));
            let (low, high) = (taps.clone().min(), taps.max());
            (low.unwrap_or(0), high.unwrap_or(0))
        };
        let (low, high) = span(&down);
        let left = span(&across).0.min(0);
        let right = across.iter().flat_map(|p| {
            let last = (p.output_size.max(1) - 1) * step[1];
            p.taps.iter().map(move |tap| tap.1 + last as isize + 1)
        });
        let right = right.max().unwrap_or(0).max(source[1] as isize);
        let mut walk = PlaneWalk {
            source,
            output_size,
            step,
            out,
            taps: Vec::new(),
            parts: Vec::new(),
            low,
            span: (high - low) as usize + 1,
            left: -left as usize,
            line: (right - left) as usize,
            rows: 0,
        };
        let most = |walk: &PlaneWalk, rows: usize| {
            let elements = (walk.rows_read(rows)?.checked_mul(walk.line)?)
                .checked_add(rows.checked_mul(output_size[1])?)?;
            elements.checked_mul(LANES * bytes)
        };
        let fits = |rows: &usize| most(&walk, *rows).is_some_and(|n| n <= MAX_BYTES);
        let whole = output_size[0].div_ceil(out[0]).max(1);
        // bands as equal as possible, of rows of all phases
        let units = (1..=whole).map(|n| n * out[0]).take_while(fits).count();
        let rows = whole.div_ceil(whole.div_ceil(units.max(1))) * out[0];
        if most(&walk, rows).is_none_or(|n| n > TOO_MUCH) {
            return Ok(None);
        }
        walk.rows = rows;
        walk.parts = fallible::with_capacity(down.len() * across.len())?;
        let count = |phases: &[Phase]| phases.iter().map(|p| p.taps.len()).sum::<usize>();
        walk.taps = fallible::with_capacity(count(&down) * count(&across))?;
        for (y, x) in down.iter().flat_map(|y| across.iter().map(move |x| (y, x))) {
            let first = walk.taps.len();
            // down the columns, the order of sums in `direct`
            let taps = x
                .taps
                .iter()
                .flat_map(|x| y.taps.iter().map(move |y| (y, x)));
            walk.taps.extend(taps.map(|(y, x)| Tap {
                at: ((y.1 - low) as usize * walk.line + (x.1 - left) as usize) * LANES,
                weight: (y.0 * wide + x.0) * LANES,
            }));
            walk.parts.push(PhasePart {
                first: [y.first, x.first],
                cols: x.output_size,
                taps: first..walk.taps.len(),
            });
        }
        Ok(Some(walk))
    }
    /// Rows of the source that `rows` rows of positions read.
    fn rows_read(&self, rows: usize) -> Option<usize> {
        let last = rows.div_ceil(self.out[0]).max(1) - 1;
        last.checked_mul(self.step[0])?.checked_add(self.span)
    }
    /// The number of bands.
    pub fn bands(&self) -> usize {
        self.output_size[0].div_ceil(self.rows.max(1))
    }
    /// The rows of positions of band `i`.
    pub fn band(&self, i: usize) -> Range<usize> {
        i * self.rows..self.output_size[0].min((i + 1) * self.rows)
    }
    /// The rows of the source that a band reads, some of which may not exist.
    pub fn rows_of(&self, band: &Range<usize>) -> Range<isize> {
        let first = (band.start / self.out[0] * self.step[0]) as isize + self.low;
        first..first + self.rows_read(band.len()).unwrap_or(0) as isize
    }
    /// The columns of the source that positions read, some of which may not exist.
    pub fn cols(&self) -> Range<isize> {
        -(self.left as isize)..(self.line - self.left) as isize
    }
    /// Elements of what a band reads, and of its sums.
    pub fn scratch_len(&self) -> [usize; 2] {
        let plane = self.rows_read(self.rows).unwrap_or(0) * self.line;
        [plane * LANES, self.rows * self.output_size[1] * LANES]
    }
}

/// Whether images of these sizes have two dimensions, and there are results.
fn fits(g: &Geometry, image: Three) -> bool {
    !simd::MICROCONTROLLER
        && g.kernel[0] == 1
        && g.padding[0] == 0
        && g.output_size[0] == 1
        && image[0] == 1
        && !g.is_empty()
}
