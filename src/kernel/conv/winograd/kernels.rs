//! The kernels that are transformed: that of a convolution, or those of the phases of a transposed
//! one.

use super::ALL_TILES;
use super::filtering::{TAPS, results_in, taps_of};
use crate::kernel::conv::geometry::{Geometry, Three};
use core::ops::Range;
use smallvec::SmallVec;

/// The kernel of each phase of a result: positions that are as far apart as the stride of a
/// transposed convolution read neighbouring elements with the same taps, as in a convolution of
/// stride 1.
///
/// The taps of all phases are placed in one window of the image, whose transformed elements they
/// share. A phase has no tap at some positions. If that is the first along an axis, its products of
/// the point 0 are zero and not computed; if it is the last, those of infinity. A plain convolution
/// has one phase, with all taps.
#[derive(Clone, Copy, Debug)]
pub struct PhaseKernels {
    /// The sizes of the weight's kernel.
    pub weight: Three,
    /// The positions of the window along the depth.
    pub depth: usize,
    /// Elements of a tile along rows and columns.
    pub tile: [usize; 2],
    /// For a transposed convolution, the one that it mirrors, and the element at the window's start
    /// for the first position.
    mirrored: Option<(Geometry, [isize; 3])>,
    /// Phases along each axis.
    pub phases: Three,
}

/// The taps of a phase in a plane of the window.
pub struct Window {
    /// Numbered as in the weight.
    pub taps: [[Option<usize>; TAPS]; TAPS],
    /// The rows and columns of products that it needs, of which the first is product `first` of
    /// all.
    pub needed: [Range<usize>; 2],
    pub first: usize,
    /// The position along the depth.
    pub z: usize,
}

impl PhaseKernels {
    /// The kernel of a convolution, which stays as it is; none if there are no tiles for it.
    pub fn new(geometry: Geometry) -> Option<(PhaseKernels, Geometry)> {
        let (g, kernel) = (&geometry, geometry.kernel);
        let fits = g.stride[1..] == [1, 1]
            && g.dilation[1..] == [1, 1]
            && (kernel[0] == 1 || [g.stride[0], g.dilation[0]] == [1, 1]);
        if !fits {
            return None;
        }
        let tile = match kernel[1..] {
            [3, 3] => [6, 6],
            [1, 3] if ALL_TILES => [1, 6],
            [1, 5] if ALL_TILES => [1, 8],
            _ => return None,
        };
        let kernels = PhaseKernels {
            weight: kernel,
            depth: kernel[0],
            tile,
            mirrored: None,
            phases: [1; 3],
        };
        Some((kernels, geometry))
    }
    /// The kernels of the transposed convolution that mirrors this one, to a result of
    /// `output_size`; and the convolution of stride 1 of all phases together. None if there are no
    /// tiles for it, or a phase reads nothing.
    pub fn transposed(mirrored: &Geometry, output_size: Three) -> Option<(PhaseKernels, Geometry)> {
        /// The largest stride.
        const STRIDE: usize = 16;
        let g = mirrored;
        if !ALL_TILES || (0..3).any(|k| g.stride[k] > STRIDE || g.kernel[k] > TAPS * g.stride[k]) {
            return None;
        }
        let phases = [0, 1, 2].map(|k| g.stride[k].min(output_size[k]));
        let (mut first, mut taps) = ([0; 3], [0; 3]);
        for k in 0..3 {
            let mut seen = elements(g, k, 0)?;
            for phase in 1..phases[k] {
                let of = elements(g, k, phase)?;
                seen = seen.start.min(of.start)..seen.end.max(of.end);
            }
            (first[k], taps[k]) = (seen.start, seen.len());
        }
        if taps[1] > 3 || taps[2] > 3 {
            return None;
        }
        // smaller tiles than those of convolutions, since plain sums of so few taps are accurate
        let tile = if taps[1] == 1 { [1, 6] } else { [4, 4] };
        let window = [taps[0], taps_of(tile[0]), taps_of(tile[1])];
        let mut kernels = PhaseKernels {
            weight: g.kernel,
            depth: taps[0],
            tile,
            mirrored: Some((*g, first)),
            phases,
        };
        // where a window has room, taps lie where the phases need the fewest products
        for k in [1, 2] {
            let at = |before: usize| {
                let mut first = first;
                first[k] -= before as isize;
                let mirrored = Some((*g, first));
                PhaseKernels {
                    mirrored,
                    ..kernels
                }
            };
            let needed = |of: &PhaseKernels| -> usize {
                (0..phases[k]).map(|phase| of.along(k, phase).len()).sum()
            };
            let some = (0..=window[k] - taps[k]).map(at);
            kernels = some.min_by_key(needed)?;
            first = kernels.mirrored?.1;
        }
        let stride = [1; 3];
        let geometry = Geometry {
            kernel: window,
            stride,
            dilation: stride,
            padding: first.map(|n| -n),
            output_size: [0, 1, 2].map(|k| output_size[k].div_ceil(g.stride[k])),
        };
        Some((kernels, geometry))
    }
    /// The sizes, strides, dilations, padding and phases that all else follows from.
    pub fn identity(&self) -> [[isize; 3]; 5] {
        let of = |n: Three| n.map(|n| n as isize);
        let (stride, dilation, padding) = match &self.mirrored {
            Some((g, _)) => (of(g.stride), of(g.dilation), g.padding),
            None => ([0; 3], [0; 3], [0; 3]),
        };
        [of(self.weight), stride, dilation, padding, of(self.phases)]
    }
    /// The number of phases.
    pub fn count(&self) -> usize {
        if ALL_TILES {
            self.phases.iter().product()
        } else {
            1
        }
    }
    /// Phase `i` along each axis.
    pub fn phase(&self, i: usize) -> Three {
        let [_, rows, cols] = self.phases;
        [i / cols / rows, i / cols % rows, i % cols]
    }
    /// The weight's tap at a position of a phase's window along an axis, if there is one.
    pub fn tap(&self, axis: usize, phase: usize, position: usize) -> Option<usize> {
        let Some((g, first)) = self.mirrored.as_ref().filter(|_| ALL_TILES) else {
            return Some(position);
        };
        tap_of(g, axis, phase, first[axis] + position as isize)
    }
    /// The positions of a phase's window along rows or columns, from its first tap to its last.
    pub fn taps(&self, axis: usize, phase: usize) -> Range<usize> {
        let len = taps_of(self.tile[axis - 1]);
        let has = |position: &usize| self.tap(axis, phase, *position).is_some();
        let first = (0..len).find(has).unwrap_or(len);
        first..(first..len).rfind(has).map_or(first, |last| last + 1)
    }
    /// The weight's taps in a plane of a phase's window, numbered as in the weight, if there is one
    /// at a position; `None` if the phase reads nothing of this plane.
    fn window(&self, phase: Three, z: usize) -> Option<[[Option<usize>; TAPS]; TAPS]> {
        let [_, height, width] = self.weight;
        let [rows, cols] = self.tile.map(taps_of);
        let z = self.tap(0, phase[0], z)?;
        let mut window = [[None; TAPS]; TAPS];
        for (y, window) in window[..rows].iter_mut().enumerate() {
            for (x, tap) in window[..cols].iter_mut().enumerate() {
                let at = self.tap(1, phase[1], y).zip(self.tap(2, phase[2], x));
                *tap = at.map(|(y, x)| (z * height + y) * width + x);
            }
        }
        Some(window)
    }
    /// The windows of all phases and planes in which there are taps.
    pub fn windows(&self) -> SmallVec<[Window; 1]> {
        let mut windows = SmallVec::new();
        for i in 0..self.count() {
            let phase = self.phase(i);
            for z in 0..self.depth {
                if let Some(taps) = self.window(phase, z) {
                    windows.push(Window {
                        taps,
                        needed: self.needed(phase),
                        first: self.products_before(i),
                        z,
                    });
                }
            }
        }
        windows
    }
    /// The products along an axis that a phase needs.
    fn along(&self, axis: usize, phase: usize) -> Range<usize> {
        let elements = self.tile[axis - 1];
        let has = |position| self.tap(axis, phase, position).is_some();
        if elements == 1 {
            return 0..1;
        }
        usize::from(!has(0))..elements - usize::from(!has(taps_of(elements) - 1))
    }
    /// The rows and columns of products that a phase needs.
    pub fn needed(&self, phase: Three) -> [Range<usize>; 2] {
        [self.along(1, phase[1]), self.along(2, phase[2])]
    }
    /// The products of a tile that phases before phase `i` need; those of all, if there is no such
    /// phase.
    pub fn products_before(&self, i: usize) -> usize {
        if !ALL_TILES {
            return i * self.elements();
        }
        (0..i)
            .map(|i| self.needed(self.phase(i)).map(|n| n.len()))
            .map(|[rows, cols]| rows * cols)
            .sum()
    }
    /// The phase that product `p` of all belongs to, and the element of a tile that it multiplies.
    /// Panics if there is no such product.
    pub fn of_product(&self, p: usize) -> (Three, usize) {
        let last = (0..self.count()).rfind(|i| self.products_before(*i) <= p);
        let Some(i) = last.filter(|_| p < self.products()) else {
            panic!("no such product");
        };
        let (phase, p) = (self.phase(i), p - self.products_before(i));
        let [rows, cols] = self.needed(phase);
        let row = rows.start + p / cols.len();
        (phase, row * self.tile[1] + cols.start + p % cols.len())
    }
    /// The products of a tile.
    pub fn products(&self) -> usize {
        self.products_before(self.count())
    }
    /// The elements of a tile.
    pub fn elements(&self) -> usize {
        self.tile[0] * self.tile[1]
    }
    /// Multiplications for the results of a tile, a channel and an output: those of plain sums, and
    /// products.
    pub fn multiplications(&self) -> [usize; 2] {
        let results: usize = self.tile.map(results_in).iter().product();
        let (mut plain, mut products) = (0, 0);
        if !ALL_TILES {
            let taps: usize = self.weight.iter().product();
            return [taps * results, self.depth * self.elements()];
        }
        for i in 0..self.count() {
            let phase = self.phase(i);
            let taps = |axis: usize, len: usize| {
                let tap = |position: &usize| self.tap(axis, phase[axis], *position).is_some();
                (0..len).filter(tap).count()
            };
            let [rows, cols] = self.tile.map(taps_of);
            let deep = taps(0, self.depth);
            plain += deep * taps(1, rows) * taps(2, cols);
            products += deep * self.needed(phase).iter().map(Range::len).product::<usize>();
        }
        [plain * results, products]
    }
}

/// The elements that a phase reads along an axis for its first position.
fn elements(g: &Geometry, axis: usize, phase: usize) -> Option<Range<isize>> {
    let stride = g.stride[axis] as isize;
    let of = |tap: usize| {
        let n = phase as isize + g.padding[axis] - (tap * g.dilation[axis]) as isize;
        (n.rem_euclid(stride) == 0).then_some(n.div_euclid(stride))
    };
    let mut all = (0..g.kernel[axis]).filter_map(of);
    let last = all.next()?;
    // later taps read earlier elements
    let first = all.next_back().unwrap_or(last);
    Some(first..last + 1)
}
/// The tap with which a phase reads an element for its first position.
fn tap_of(g: &Geometry, axis: usize, phase: usize, element: isize) -> Option<usize> {
    let n = phase as isize + g.padding[axis] - element * g.stride[axis] as isize;
    let (n, dilation) = (usize::try_from(n).ok()?, g.dilation[axis]);
    (n.is_multiple_of(dilation) && n / dilation < g.kernel[axis]).then_some(n / dilation)
}
