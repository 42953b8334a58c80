//! Images and weights of bytes for the integer matrix engine: bytes of neighbouring channels lie side by side in
//! a word, so that patches are those of an image of words.

use super::geometry::Geometry;
use crate::kernel::gemm::Packing;
use crate::simd::{self, Isa, Kernel};

/// A plane as places see it: what lies around it is there, and what no place sees is not.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The sizes of the plane.
    from: [usize; 2],
    /// Those of the framed one.
    to: [usize; 2],
    before: [isize; 2],
}
impl Frame {
    /// Of planes of these sizes. Panics where there are no places.
    pub fn new(g: &Geometry, from: [usize; 2]) -> Frame {
        let span = |axis: usize| {
            let places = (g.places[axis] - 1) * g.stride[axis];
            places + (g.kernel[axis] - 1) * g.dilation[axis] + 1
        };
        Frame {
            from,
            to: [span(1), span(2)],
            before: [g.padding[1], g.padding[2]],
        }
    }
    /// The sizes of the framed plane.
    pub fn sizes(&self) -> [usize; 2] {
        self.to
    }
    /// Its elements.
    pub fn len(&self) -> usize {
        self.to[0].saturating_mul(self.to[1])
    }
}

struct Words<'a, P: Packing> {
    packing: P,
    planes: [&'a [u8]; 4],
    frame: Frame,
    around: P::To,
    d: &'a mut [P::To],
}
impl<P: Packing<From = u8>> Kernel for Words<'_, P> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Frame { from, to, before } = self.frame;
        for (y, row) in self.d.chunks_exact_mut(to[1]).enumerate() {
            let y = y as isize - before[0];
            if y < 0 || y as usize >= from[0] {
                row.fill(self.around);
                continue;
            }
            let first = y as usize * from[1];
            let (left, rest) = row.split_at_mut((before[1] as usize).min(to[1]));
            let (inside, right) = rest.split_at_mut(rest.len().min(from[1]));
            left.fill(self.around);
            let rows = self.planes.map(|p| &p[first..first + inside.len()]);
            self.packing.across::<I>(rows, inside);
            right.fill(self.around);
        }
    }
}

/// The framed plane of words of some planes, `P::GROUP` of these at most; `around` is what padding is in each.
pub fn words<P: Packing<From = u8>>(
    packing: P,
    planes: &[&[u8]],
    frame: Frame,
    around: u8,
    d: &mut [P::To],
) {
    // weights have zeros where there is no plane, so that any will do
    let planes = core::array::from_fn(|q| planes[q.min(planes.len() - 1)]);
    assert!(d.len() == frame.len());
    assert!(
        planes
            .iter()
            .all(|p| p.len() == frame.from[0] * frame.from[1])
    );
    simd::call(Words {
        packing,
        planes,
        frame,
        around: packing.lane([around; 4]),
        d,
    })
}

/// The words of a row of a weight, `[channels, positions]`: those of `P::GROUP` channels, a position after the
/// other. Bytes for channels that are none are zero.
pub fn weight_words<P: Packing<From = u8>>(
    packing: P,
    row: &[u8],
    positions: usize,
    d: &mut [P::To],
) {
    let groups = row.chunks(positions * P::GROUP);
    for (channels, d) in groups.zip(d.chunks_exact_mut(positions)) {
        for (t, d) in d.iter_mut().enumerate() {
            *d = packing.lane(core::array::from_fn(|q| match q < P::GROUP {
                true => channels.get(q * positions + t).copied().unwrap_or(0),
                false => 0,
            }));
        }
    }
}
