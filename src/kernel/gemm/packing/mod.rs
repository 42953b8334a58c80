//! Packing: strided elements to lanes, in the order in which tiles read them. Whatever the strides,
//! memory is read in contiguous runs if there are any, and converted a vector at a time.

/// `Moved` of a packing whose code no other type shares.
macro_rules! moved_as_itself {
    () => {
        type Moved = Self;
        fn moved<'a, 'd>(
            self,
            x: $crate::kernel::gemm::matrix::Mat<'a, Self::From>,
            d: &'d mut [Self::To],
        ) -> $crate::kernel::gemm::packing::MovedPacking<'a, 'd, Self> {
            (self, x, d)
        }
    };
}

#[cfg(x86_bf16)]
mod bf16_pairs;
mod bytes;
mod transpose;
#[cfg(x86_dispatch)]
mod vnni;

#[cfg(x86_bf16)]
pub use bf16_pairs::{Interleave, rounded_pairs};
pub use bytes::Extend;
#[cfg(x86_dispatch)]
pub use vnni::Flip;

use self::transpose::Lines;
use super::element::{self, MatElement};
use super::matrix::Mat;
use super::microkernel::{BlockA, HEIGHT, Packed, micropanel, panel_width, widest_panel};
use crate::simd::{self, Isa, Kernel};
use core::{marker::PhantomData, ops::Range};

/// How elements become lanes: a lane is one element, or `GROUP` neighbours along the sum, as dot
/// product instructions take them.
pub trait Packing: Copy + Sync {
    /// An element.
    type From: Copy + Sync;
    /// A lane.
    type To: Copy + Default;
    /// The number of elements of a lane: 1, 2 or 4.
    const GROUP: usize;
    /// The padding of a partial last group: the value whose bits are zero in the lane.
    fn padding(self) -> Self::From;
    /// Whether a group of elements has the bits of its lane, and may be read as one in place.
    fn in_place(self) -> bool;
    /// Whether lanes are the elements as they are.
    #[inline(always)]
    fn copies(self) -> bool {
        Self::GROUP == 1 && self.in_place()
    }
    /// What packing adds to each element: products are too large by this times the sums of the
    /// other operand's rows.
    fn offset(self) -> i32 {
        0
    }
    /// `factor` times the sums of A's rows, for a B with an [`offset`](Packing::offset).
    fn row_sums(_: Mat<Self::From>, _factor: i32, _: &mut [Self::To]) {}
    /// The same packing of the same bits, shared by types that are moved alike.
    type Moved: Packing;
    /// Its operands.
    fn moved<'a, 'd>(
        self,
        x: Mat<'a, Self::From>,
        d: &'d mut [Self::To],
    ) -> MovedPacking<'a, 'd, Self::Moved>;
    /// The lane of the first `GROUP` elements of `x`.
    fn lane(self, x: [Self::From; 4]) -> Self::To;
    /// Lanes of groups across the first `GROUP` of these rows, each of `d.len()` elements.
    #[inline(always)]
    fn across<I: Isa>(self, s: [&[Self::From]; 4], d: &mut [Self::To]) {
        let s = s.map(|s| &s[..d.len()]);
        for (j, d) in d.iter_mut().enumerate() {
            *d = self.lane([s[0][j], s[1][j], s[2][j], s[3][j]]);
        }
    }
    /// Lanes of `d.len() * GROUP` contiguous elements.
    #[inline(always)]
    fn run<I: Isa>(self, s: &[Self::From], d: &mut [Self::To]) {
        for (s, d) in s.chunks_exact(Self::GROUP).zip(d) {
            *d = self.lane(core::array::from_fn(|q| s[q % Self::GROUP]));
        }
    }
}

/// What is packed, and where to.
type MovedPacking<'a, 'd, P> = (
    P,
    Mat<'a, <P as Packing>::From>,
    &'d mut [<P as Packing>::To],
);

/// One element per lane.
pub struct Single<T>(PhantomData<T>);
impl<T> Clone for Single<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Single<T> {}
impl<T> Single<T> {
    pub const ELEMENTS: Self = Single(PhantomData);
}
impl<T: MatElement> Packing for Single<T> {
    type From = T;
    type To = T::Acc;
    const GROUP: usize = 1;
    type Moved = Single<T::Moved>;
    fn moved<'a, 'd>(
        self,
        x: Mat<'a, T>,
        d: &'d mut [T::Acc],
    ) -> MovedPacking<'a, 'd, Self::Moved> {
        let at = x.as_ptr() as *const T::Moved;
        // SAFETY: MAT1: the same elements, by ELEMENT1.
        let x = unsafe { Mat::new(at, x.rows(), x.cols(), x.rs(), x.cs()) };
        (Single::ELEMENTS, x, element::moved::<T>(d))
    }
    #[inline(always)]
    fn padding(self) -> T {
        T::default()
    }
    #[inline(always)]
    fn in_place(self) -> bool {
        T::SAME
    }
    #[inline(always)]
    fn lane(self, x: [T; 4]) -> T::Acc {
        x[0].widen()
    }
    #[inline(always)]
    fn run<I: Isa>(self, s: &[T], d: &mut [T::Acc]) {
        T::widen_all::<I>(s, d);
    }
}

/// Packs a strided line along the sum into contiguous lanes.
#[inline(always)]
fn line<I: Isa, P: Packing>(p: P, s: *const P::From, step: isize, k: usize, d: &mut [P::To]) {
    let whole = k / P::GROUP;
    // SAFETY: the callers pass `k` elements, `step` apart (MAT1).
    let at = |i: usize| unsafe { *s.offset(i as isize * step) };
    if step == 1 {
        // SAFETY: MAT1, as above, of contiguous elements: `whole * GROUP <= k`.
        p.run::<I>(
            unsafe { core::slice::from_raw_parts(s, whole * P::GROUP) },
            &mut d[..whole],
        );
    } else {
        for (i, d) in d[..whole].iter_mut().enumerate() {
            *d = p.lane(core::array::from_fn(|q| at(i * P::GROUP + q % P::GROUP)));
        }
    }
    if whole * P::GROUP < k {
        d[whole] = p.lane(core::array::from_fn(|q| {
            if whole * P::GROUP + q < k {
                at(whole * P::GROUP + q)
            } else {
                p.padding()
            }
        }));
    }
}

/// Lanes of group `g` of a range of columns; rows of `b` are contiguous.
#[inline(always)]
fn across<I: Isa, P: Packing>(
    p: P,
    b: Mat<P::From>,
    g: usize,
    cols: Range<usize>,
    d: &mut [P::To],
) {
    let k = b.rows();
    // SAFETY: MAT1: a row of B, whose elements are contiguous; of the four, those past the group
    // are not used.
    let row = |q: usize| unsafe {
        core::slice::from_raw_parts(
            b.at((g * P::GROUP + q % P::GROUP).min(k - 1), cols.start),
            cols.len(),
        )
    };
    if P::GROUP == 1 {
        p.run::<I>(row(0), d);
    } else if (g + 1) * P::GROUP <= k {
        p.across::<I>([row(0), row(1), row(2), row(3)], d);
    } else {
        for (j, d) in d.iter_mut().enumerate() {
            *d = p.lane(core::array::from_fn(|q| {
                if g * P::GROUP + q < k {
                    row(q)[j]
                } else {
                    p.padding()
                }
            }));
        }
    }
}

/// [`across`] for several groups of a whole panel of `W` columns, whose elements are lanes as they
/// are. Copies arrays: the compiler would vectorise loops over elements across rows.
#[inline(always)]
fn copy<P: Packing, const W: usize>(
    b: Mat<P::From>,
    groups: Range<usize>,
    j: usize,
    d: &mut [P::To],
) {
    for (g, d) in groups.zip(d.as_chunks_mut::<W>().0) {
        // SAFETY: MAT1: a row of B, whose elements are contiguous, and lanes as they are
        // (`copies`, which the callers check).
        *d = unsafe { *(b.at(g, j) as *const [P::To; W]) };
    }
}

/// Bytes of a page.
const PAGE: usize = 4096;

/// Prefetches what [`across`] will read some groups later, if each row is on another page, which
/// hardware prefetchers don't follow.
#[inline(always)]
fn ahead<P: Packing>(b: Mat<P::From>, g: usize, cols: Range<usize>) {
    const GROUPS: usize = 16;
    let far = b.rs().unsigned_abs().saturating_mul(size_of::<P::From>()) >= PAGE;
    if !far || (g + GROUPS) * P::GROUP >= b.rows() {
        return;
    }
    for q in 0..P::GROUP {
        let row = b.at((g + GROUPS) * P::GROUP + q, cols.start);
        (0..cols.len())
            .step_by(64 / size_of::<P::From>())
            .for_each(|j| simd::prefetch::<{ simd::L1 }, _>(row.wrapping_add(j)));
    }
}

/// Consecutive panels, each `d[group][width]`, the last one `last` wide.
struct PackPanels<'a, P: Packing> {
    p: P,
    b: Mat<'a, P::From>,
    width: usize,
    last: usize,
    d: &'a mut [P::To],
}
impl<P: Packing> PackPanels<'_, P> {
    /// Packs contiguous rows: some of them at a time, one panel after the other.
    #[inline(always)]
    fn across<I: Isa>(self) {
        const TOGETHER: usize = 32;
        let PackPanels {
            p,
            b,
            width,
            last,
            d,
        } = self;
        let (k, n) = (b.rows(), b.cols());
        let groups = k.div_ceil(P::GROUP);
        let copied = p.copies();
        for first in (0..groups).step_by(TOGETHER) {
            let part = first..groups.min(first + TOGETHER);
            for g in part.clone() {
                ahead::<P>(b, g, 0..n);
            }
            for (panel, j) in (0..n).step_by(width).enumerate() {
                let (w, wide) = (
                    (n - j).min(width),
                    if n - j <= width { last } else { width },
                );
                let d = &mut d[panel * width * groups + first * wide..][..part.len() * wide];
                match w {
                    64 if copied && w == wide => copy::<P, 64>(b, part.clone(), j, d),
                    32 if copied && w == wide => copy::<P, 32>(b, part.clone(), j, d),
                    16 if copied && w == wide => copy::<P, 16>(b, part.clone(), j, d),
                    8 if copied && w == wide => copy::<P, 8>(b, part.clone(), j, d),
                    _ => {
                        for (g, d) in part.clone().zip(d.chunks_exact_mut(wide)) {
                            let (d, rest) = d.split_at_mut(w);
                            across::<I, P>(p, b, g, j..j + w, d);
                            rest.fill(Default::default());
                        }
                    }
                }
            }
        }
    }
    /// Packs columns of any strides: eight at a time become lanes in L1, which are transposed.
    #[inline(always)]
    fn along<I: Isa>(self) {
        const DEEP: usize = if cfg!(feature = "std") { 64 } else { 16 };
        let PackPanels {
            p,
            b,
            width,
            last,
            d,
        } = self;
        let (k, n) = (b.rows(), b.cols());
        let groups = k.div_ceil(P::GROUP);
        // contiguous columns of lanes are transposed where they lie
        let direct = p.copies() && b.rs() == 1;
        let mut lines = [[P::To::default(); DEEP]; 8];
        for (panel, j) in (0..n).step_by(width).enumerate() {
            let (w, wide) = (
                (n - j).min(width),
                if n - j <= width { last } else { width },
            );
            let d = &mut d[panel * width * groups..][..wide * groups];
            let blocks = (0..groups).step_by(DEEP);
            for (first, x) in blocks.flat_map(|g| (0..w).step_by(8).map(move |x| (g, x))) {
                let count = (w - x).min(8);
                let depth = (k - first * P::GROUP).min(DEEP * P::GROUP);
                let from = if direct {
                    Lines {
                        at: b.at(first, j + x) as *const P::To,
                        step: b.cs(),
                        count,
                        depth,
                    }
                } else {
                    for (c, to) in lines[..count].iter_mut().enumerate() {
                        line::<I, P>(p, b.at(first * P::GROUP, j + x + c), b.rs(), depth, to);
                    }
                    Lines::of(&lines, count, depth.div_ceil(P::GROUP))
                };
                // SAFETY: columns of B that are contiguous lanes (MAT1, `copies`), or lines.
                unsafe { transpose::transpose::<I, P::To>(from, &mut d[first * wide + x..], wide) };
            }
            if w < wide {
                d.chunks_exact_mut(wide)
                    .for_each(|d| d[w..].fill(Default::default()));
            }
        }
    }
}
impl<P: Packing> Kernel for PackPanels<'_, P> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        if self.b.cs() == 1 {
            self.across::<I>()
        } else {
            self.along::<I>()
        }
    }
}

/// Packs rows, to `d[row][group]`.
struct PackRows<'a, P: Packing>(P, Mat<'a, P::From>, &'a mut [P::To]);
impl<P: Packing> PackRows<'_, P> {
    /// Packs contiguous columns: eight groups of them at a time become lanes in L1, which are
    /// transposed.
    #[inline(always)]
    fn down<I: Isa>(self) {
        const DEEP: usize = 64;
        let PackRows(p, a, d) = self;
        let (m, groups) = (a.rows(), a.cols().div_ceil(P::GROUP));
        let mut lines = [[P::To::default(); DEEP]; 8];
        for i in (0..m).step_by(DEEP) {
            let depth = DEEP.min(m - i);
            for g in (0..groups).step_by(8) {
                let count = 8.min(groups - g);
                for (q, line) in lines[..count].iter_mut().enumerate() {
                    across::<I, P>(p, a.t(), g + q, i..i + depth, &mut line[..depth]);
                }
                let d = &mut d[i * groups + g..];
                let lines = Lines::of(&lines, count, depth);
                // SAFETY: lines of `DEEP` elements, of which `depth` are read.
                unsafe { transpose::transpose::<I, P::To>(lines, d, groups) };
            }
        }
    }
}
impl<P: Packing> Kernel for PackRows<'_, P> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        if const { P::GROUP > 1 && I::AVX512 } && self.1.rs() == 1 && self.1.cs() != 1 {
            return self.down::<I>();
        }
        let PackRows(p, a, d) = self;
        let groups = a.cols().div_ceil(P::GROUP);
        for (i, d) in d.chunks_exact_mut(groups.max(1)).enumerate() {
            line::<I, P>(p, a.at(i, 0), a.cs(), a.cols(), d);
        }
    }
}

/// Packs a matrix with contiguous columns in micropanels.
struct Micropanels<'a, P: Packing>(P, Mat<'a, P::From>, &'a mut [P::To]);
impl<P: Packing> Kernel for Micropanels<'_, P> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        /// Micropanels written at a time: memory is read in runs of cache lines, and as many lines
        /// are written as a set of L1 has ways.
        const ABREAST: usize = 8;
        let Micropanels(p, a, d) = self;
        let (m, groups) = (a.rows(), a.cols().div_ceil(P::GROUP));
        let count = m.div_ceil(HEIGHT);
        let copied = p.copies();
        let mut column = [P::To::default(); ABREAST * HEIGHT];
        for first in (0..count).step_by(ABREAST) {
            let abreast: [_; ABREAST] =
                core::array::from_fn(|i| micropanel(m, (first + i).min(count - 1)));
            let abreast = &abreast[..ABREAST.min(count - first)];
            let rows = abreast[0].start..abreast[abreast.len() - 1].end;
            if copied && rows.len() == ABREAST * HEIGHT && abreast[0].len() == HEIGHT {
                let d = &mut d[rows.start * groups..][..rows.len() * groups];
                let mut panels = d.chunks_exact_mut(HEIGHT * groups);
                let mut panels: [_; ABREAST] = core::array::from_fn(|_| {
                    let panel = panels.next().unwrap_or_default();
                    panel.as_chunks_mut::<HEIGHT>().0
                });
                for g in 0..groups {
                    ahead::<P>(a.t(), g, rows.clone());
                    // SAFETY: MAT1: contiguous elements of these rows, and lanes as they are (`copies`).
                    let column =
                        unsafe { &*(a.t().at(g, rows.start) as *const [[P::To; HEIGHT]; ABREAST]) };
                    for (panel, part) in panels.iter_mut().zip(column) {
                        panel[g] = *part;
                    }
                }
                continue;
            }
            let column = &mut column[..rows.len()];
            for g in 0..groups {
                ahead::<P>(a.t(), g, rows.clone());
                across::<I, P>(p, a.t(), g, rows.clone(), column);
                let mut from = &*column;
                for rows in abreast {
                    let to = &mut d[rows.start * groups + g * rows.len()..];
                    // a constant length for all but the last ones
                    match rows.len() {
                        HEIGHT => to[..HEIGHT].copy_from_slice(&from[..HEIGHT]),
                        h => to[..h].copy_from_slice(&from[..h]),
                    }
                    from = &from[rows.len()..];
                }
            }
        }
    }
}

/// Packs `b` into panels of `width` columns, `d[panel][group][width]`, the last one `last` wide and
/// zero past B's columns.
pub fn panels<P: Packing>(p: P, b: Mat<P::From>, width: usize, last: usize, d: &mut [P::To]) {
    assert!(b.cols() == 0 || (b.cols() - 1) % width < last && last <= width);
    let (p, b, d) = p.moved(b, d);
    simd::call(PackPanels {
        p,
        b,
        width,
        last,
        d,
    })
}
/// Packs all of `a` into the first `rows * groups of columns` of `d`: by rows, or in micropanels if
/// its columns are contiguous and the microkernel takes them.
pub fn block_a<P: Packing<To: Packed>>(p: P, a: Mat<P::From>, d: &mut [P::To]) -> BlockA<P::To> {
    let groups = a.cols().div_ceil(P::GROUP);
    let d = &mut d[..a.rows() * groups];
    let (p, from, to) = p.moved(a, &mut *d);
    let strides = if a.rs() != 1 || a.cs() == 1 || P::To::is_tiled() {
        simd::call(PackRows(p, from, to));
        Some((groups as isize, 1))
    } else {
        simd::call(Micropanels(p, from, to));
        None
    };
    BlockA {
        at: d.as_ptr(),
        strides,
    }
}

/// Packs `a` by rows, `d[row][group]`.
pub fn rows<P: Packing>(p: P, a: Mat<P::From>, d: &mut [P::To]) {
    let (p, a, d) = p.moved(a, d);
    simd::call(PackRows(p, a, d))
}
/// Packs `b` into one panel of `width` columns, `d[row][width]`, zero past B's columns.
pub fn panel<T: MatElement>(b: Mat<T>, width: usize, d: &mut [T::Acc]) {
    panels(Single::<T>::ELEMENTS, b, width, width, d)
}

/// Packs columns into consecutive panels.
pub fn all_panels<P: Packing<To: Packed>>(p: P, b: Mat<P::From>, d: &mut [P::To]) {
    let (k, cols, groups) = (b.rows(), b.cols(), b.rows().div_ceil(P::GROUP));
    let whole = widest_panel::<P::To>();
    let wide = cols / whole * whole;
    panels(p, b.block(0..k, 0..wide), whole, whole, d);
    let mut j = wide;
    while j < cols {
        let width = panel_width::<P::To>(cols - j);
        panels(
            p,
            b.block(0..k, j..cols.min(j + width)),
            width,
            width,
            &mut d[j * groups..],
        );
        j += width;
    }
}
