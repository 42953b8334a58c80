//! Images and weights of bytes for the integer matrix engine: bytes of neighbouring channels share
//! a word, as dot product instructions take them, so that patches are those of an image of words.

use super::geometry::Geometry;
use crate::kernel::gemm::{ByGroups, Group, Packing, by_groups, packed_as_mut};
use crate::simd::{self, Isa, Kernel};

/// The part of a padded plane that positions read.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The sizes of the plane.
    from: [usize; 2],
    /// Those of the framed plane.
    to: [usize; 2],
    before: [isize; 2],
}
impl Frame {
    /// The frame for planes of these sizes. There must be positions.
    pub fn new(g: &Geometry, from: [usize; 2]) -> Frame {
        let span = |axis: usize| {
            let positions = (g.output_size[axis] - 1) * g.stride[axis];
            positions + (g.kernel[axis] - 1) * g.dilation[axis] + 1
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
    /// The number of its elements.
    pub fn area(&self) -> usize {
        self.to[0].saturating_mul(self.to[1])
    }
}

/// The number of channels in a word, and what is added to each byte of an image, whose bytes are
/// `signed` or not, if weights are signed, and narrow or not ([`by_groups`]).
pub fn grouping(narrow: bool, signed: bool) -> (usize, i32) {
    struct GroupingOf(bool);
    impl ByGroups for GroupingOf {
        type Out = (usize, i32);
        fn run<G: Group>(self) -> (usize, i32) {
            (G::GROUP, G::right(self.0, true).offset())
        }
    }
    by_groups::<true, _>(narrow, GroupingOf(signed))
}

/// The framed plane of words of some planes, at most as many as a word has bytes, which are
/// `signed` or not, for weights that are narrow or not; `around` is the value of padding in each.
pub fn words(
    (narrow, signed): (bool, bool),
    planes: &[&[u8]],
    frame: Frame,
    around: u8,
    d: &mut [u32],
) {
    assert!(d.len() == frame.area());
    let area = frame.from[0] * frame.from[1];
    assert!(planes.iter().all(|p| p.len() == area));
    let plane = Plane {
        signed,
        // weights are zero for absent planes, so any plane will do
        planes: core::array::from_fn(|q| planes[q.min(planes.len() - 1)]),
        frame,
        around,
        d,
    };
    by_groups::<true, _>(narrow, plane)
}
struct Plane<'a> {
    signed: bool,
    planes: [&'a [u8]; 4],
    frame: Frame,
    around: u8,
    d: &'a mut [u32],
}
impl ByGroups for Plane<'_> {
    type Out = ();
    fn run<G: Group>(self) {
        let packing = G::right(self.signed, true);
        simd::call(Words {
            packing,
            planes: self.planes,
            frame: self.frame,
            around: packing.lane([self.around; 4]),
            d: packed_as_mut(self.d),
        })
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

/// The words of a row of a weight, `[channels, kernel_len]`: for each group of channels, a word for
/// each position. Bytes of absent channels are zero. Bytes are narrow or not.
pub fn weight_words(narrow: bool, row: &[u8], kernel_len: usize, d: &mut [u32]) {
    by_groups::<true, _>(narrow, WeightRow { row, kernel_len, d })
}
struct WeightRow<'a> {
    row: &'a [u8],
    kernel_len: usize,
    d: &'a mut [u32],
}
impl ByGroups for WeightRow<'_> {
    type Out = ();
    fn run<G: Group>(self) {
        let (packing, kernel_len) = (G::left(true), self.kernel_len);
        let groups = self.row.chunks(kernel_len * G::GROUP);
        let d: &mut [G::To] = packed_as_mut(self.d);
        for (channels, d) in groups.zip(d.chunks_exact_mut(kernel_len)) {
            for (t, d) in d.iter_mut().enumerate() {
                *d = packing.lane(core::array::from_fn(|q| match q < G::GROUP {
                    true => channels.get(q * kernel_len + t).copied().unwrap_or(0),
                    false => 0,
                }));
            }
        }
    }
}
