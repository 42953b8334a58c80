//! Products of 8-bit integers: exact in 32 bits (wrapping), of which 8-bit results are the last
//! eight.
//!
//! A lane is a group of neighbours along the sum, and one instruction multiplies the groups of a
//! vector and adds up within each: four bytes where the CPU has VNNI, pairs of 16-bit numbers
//! elsewhere (the 8-bit instruction before VNNI saturates).
//!
//! VNNI multiplies unsigned bytes by signed ones. A is taken as it is, so it is read in place; B
//! gets the other signedness while it is packed. Turning a byte's top bit round moves its value by
//! 128, up or down: sums are off by 128 times that of A's row, and begin with what mends it.

#[cfg(x86_dispatch)]
use super::vnni::Quad;
use super::{
    element::{Lane, Product},
    mat::{Mat, MatMut},
    pack::{self as packing, Packing},
    panels::{self, Blocks, Panels},
    scratch::Scratch,
    stage::{self, Finish, Stages},
    tile::{self, Ahead, Left, Strips},
};
use crate::{error::Result, simd};

/// Groups along the sum, and columns, of a block of B: it stays in L2, each of its panels close to
/// L1.
const KC: usize = if cfg!(feature = "std") { 256 } else { 64 };
const NC: usize = if cfg!(feature = "std") { 512 } else { 8 };

/// A lane that is a group of bytes.
pub trait Group: Lane {
    /// How A and B are packed, whether or not they are signed.
    type Packing: Packing<From = u8, To = Self>;
    /// Whether a group lies in A as it is packed.
    const IN_PLACE: bool;
    /// How A is packed, which has a sign or not.
    fn left(signed: bool) -> Self::Packing;
    /// How B is packed, and the sums of A's row that a sum has to begin with.
    fn right(signed: bool, left: bool) -> (Self::Packing, i32);
    /// Sums of A's rows, where `right` asks for them.
    fn row_sums(_: Mat<u8>, _: &mut [u32]) {}
}

/// Two neighbours, as 16-bit numbers.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Pair(pub u32);
impl Pair {
    /// The sum of both products.
    #[inline(always)]
    pub fn dot(self, b: Pair) -> u32 {
        let (low, high) = (|x: Pair| x.0 as i16 as i32, |x: Pair| x.0 as i32 >> 16);
        (low(self) * low(b)).wrapping_add(high(self) * high(b)) as u32
    }
}

/// Bytes to 16-bit numbers; holds the sign bit, or 0.
#[derive(Clone, Copy)]
pub struct Extend(u8);
impl Packing for Extend {
    type From = u8;
    type To = Pair;
    const GROUP: usize = 2;
    #[inline(always)]
    fn nothing(self) -> u8 {
        0
    }
    #[inline(always)]
    fn lane(self, x: [u8; 4]) -> Pair {
        let sign = self.0 as u32;
        // Sign extension where `sign` is 0x80, nothing where it is 0.
        let wide = |x: u8| (x as u32 ^ sign).wrapping_sub(sign);
        Pair(wide(x[0]) & 0xffff | wide(x[1]) << 16)
    }
}
impl Group for Pair {
    type Packing = Extend;
    const IN_PLACE: bool = false;
    fn left(signed: bool) -> Extend {
        Extend(if signed { 0x80 } else { 0 })
    }
    fn right(signed: bool, _: bool) -> (Extend, i32) {
        (Self::left(signed), 0)
    }
}

/// `expression` with the groups of this CPU, for an A that has a sign or not.
macro_rules! with_groups {
    ($signed:expr, |$G:ident| $expression:expr) => {{
        #[cfg(x86_dispatch)]
        if simd::has_vnni() {
            return match $signed {
                true => {
                    type $G = Quad<true>;
                    $expression
                }
                false => {
                    type $G = Quad<false>;
                    $expression
                }
            };
        }
        type $G = Pair;
        $expression
    }};
}

/// `c (+)= a b`, then the stages, where A and B are bytes and the lanes of C are `u32`. `packed` is
/// B as [`pack`] leaves it.
pub fn product<A, B, C>(
    a: Mat<A>,
    b: Mat<B>,
    packed: Option<Panels<A::Lane>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    let (a, b) = (Bytes::new(a), Bytes::new(b));
    with_groups!(a.signed, |G| blocked::<G, C>(
        a, b, packed, c, accumulate, stages
    ))
}
/// The blocks of a sum of `k` products.
pub fn blocks(k: usize) -> Blocks {
    with_groups!(true, |G| blocks_of::<G>(k))
}
fn blocks_of<G: Group>(k: usize) -> Blocks {
    Blocks::of(k.div_ceil(G::Packing::GROUP), KC)
}
/// Packs B for products by an A that is `signed` or not, into lanes that hold groups.
pub fn pack<B: Product>(b: Mat<B>, signed: bool, d: &mut [B::Lane]) {
    let b = Bytes::new(b);
    with_groups!(signed, |G| pack_as::<G, B::Lane>(b, signed, d))
}
fn pack_as<G: Group, L: Lane>(b: Bytes, signed: bool, d: &mut [L]) {
    assert!(size_of::<G>() == size_of::<L>() && align_of::<G>() <= align_of::<L>());
    // SAFETY: as many numbers of the same size, of which any bytes are one.
    let d = unsafe { core::slice::from_raw_parts_mut(d.as_mut_ptr() as *mut G, d.len()) };
    panels::pack(
        G::right(b.signed, signed).0,
        b.mat,
        blocks_of::<G>(b.mat.rows()),
        d,
    )
}

/// A matrix of bytes, signed or not.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    mat: Mat<'a, u8>,
    signed: bool,
}
impl<'a> Bytes<'a> {
    pub fn new<T: Product>(m: Mat<'a, T>) -> Self {
        // SAFETY: MAT1: the same elements; 8-bit integers are any byte.
        let mat = unsafe { Mat::new(m.as_ptr() as *const u8, m.rows(), m.cols(), m.rs(), m.cs()) };
        Bytes {
            mat,
            signed: T::BYTE.expect("8-bit integers"),
        }
    }
}

/// ```text
/// for k in equal blocks of at most KC groups    A's block: read in place, or packed into L2
///   for columns in blocks of NC                 B's block: packed before, or into L2, its rows read in long runs
///     for columns in panels: tiles              into C where its elements are lanes, else into lanes of its size
///       after the last block of k: stages, store
/// ```
pub fn blocked<G: Group, C: Product>(
    a: Bytes,
    b: Bytes,
    packed: Option<Panels<C::Lane>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    stages: Stages<C>,
) -> Result<()> {
    assert!(
        size_of::<G>() == 4
            && size_of::<C::Lane>() == 4
            && G::tile(simd::level()) == C::Lane::tile(simd::level())
    );
    let (m, n, k) = (a.mat.rows(), b.mat.cols(), a.mat.cols());
    let group = G::Packing::GROUP;
    let (lanes, widest) = G::tile(simd::level());
    let blocks = blocks_of::<G>(k);
    let kc = blocks.longest();
    let direct = G::IN_PLACE
        && a.mat.cs() == 1
        && k.is_multiple_of(group)
        && a.mat.rs() % group as isize == 0;
    let left = G::left(a.signed);
    let (right, factor) = G::right(b.signed, a.signed);

    // Lanes of C on the way to elements: all panels where k is in several blocks, else one.
    let wide = widest * lanes;
    let partial_width = if blocks.count() > 1 {
        n.next_multiple_of(wide)
    } else {
        wide
    };
    let nc = NC.next_multiple_of(wide).min(n.next_multiple_of(wide));
    let (len_a, len_b) = (
        if direct { 0 } else { m.saturating_mul(kc) },
        if packed.is_some() { 0 } else { kc * nc },
    );
    let mut scratch = Scratch::<G>::new(len_a.saturating_add(len_b))?;
    let (packed_b, packed_a) = scratch.split_at_mut(len_b);
    let mut partial = Scratch::<u32>::new(m.saturating_mul(partial_width.saturating_add(1)))?;
    let (starts, partial) = partial.split_at_mut(m);
    if factor != 0 {
        G::row_sums(a.mat, starts);
        starts
            .iter_mut()
            .for_each(|x| *x = x.wrapping_mul(factor as u32));
    }
    for block in 0..blocks.count() {
        let depth = blocks.get(block).len();
        let ks = blocks.get(block).start * group..k.min(blocks.get(block).end * group);
        let (first, last) = (block == 0, block + 1 == blocks.count());
        let a = a.mat.block(0..m, ks.clone());
        let a = if direct {
            Left {
                at: a.as_ptr() as *const G,
                strides: Some((a.rs() / group as isize, 1)),
            }
        } else {
            packing::rows_by(left, a, packed_a)
        };
        let mut j = 0;
        while j < n {
            let vectors = panels::vectors(n - j, lanes, widest);
            let width = vectors * lanes;
            let cols = j..n.min(j + width);
            let (b, next) = match packed {
                Some(p) => {
                    let panel = p.panel(block, j).as_ptr() as *const G;
                    (
                        panel,
                        Some(Ahead::panel(panel.wrapping_add(depth * width), width, m)),
                    )
                }
                None => {
                    if j % nc == 0 {
                        panels::pack_block(
                            right,
                            b.mat.block(ks.clone(), j..n.min(j + nc)),
                            packed_b,
                        );
                    }
                    (packed_b[j % nc * depth..].as_ptr(), None)
                }
            };
            let to_c = C::SAME && cols.len() == width;
            let at = if blocks.count() > 1 { j } else { 0 };
            let (o, ldo) = if to_c {
                (c.at(0, j) as *mut u32, c.rs())
            } else {
                (partial[at..].as_mut_ptr(), partial_width as isize)
            };
            if first && accumulate {
                for (i, start) in starts.iter().enumerate() {
                    // SAFETY: TILE1 for this part of `o`, see below; lanes of C are `u32`.
                    let row = unsafe {
                        core::slice::from_raw_parts_mut(o.offset(i as isize * ldo), cols.len())
                    };
                    for (q, x) in row.iter_mut().enumerate() {
                        let c = c.row(i)[j + q].widen();
                        // SAFETY: lanes of C are `u32`, as above: the same four bytes.
                        let c = unsafe { core::mem::transmute_copy::<C::Lane, u32>(&c) };
                        *x = if factor == 0 {
                            c
                        } else {
                            c.wrapping_add(*start)
                        };
                    }
                }
            }
            let accumulate = accumulate || !first;
            let job = Strips {
                k: depth,
                rows: m,
                a,
                b,
                ldb: width as isize,
                vectors,
                starts: if factor == 0 || accumulate {
                    core::ptr::null()
                } else {
                    starts.as_ptr() as *const G
                },
                o: o as *mut G,
                ldo,
                accumulate,
                next,
                fetch_a: direct && j == 0,
            };
            // SAFETY: TILE1: A's block where it lies (MAT1, whole groups) or as `rows_by` left it;
            // B's panel, padded (lanes that are groups, see `pack`); `o` is this part of C (MAT2,
            // lanes by SAME) or of the partial block, which is wide enough by its size.
            unsafe { tile::run(job) };
            if last && !(to_c && stages.is_empty()) {
                let d = (!to_c).then(|| (c.at(0, j), c.rs()));
                let (stages, lanes) = (stages.at(0, j), o as *mut C::Lane);
                // SAFETY: EPILOGUE1: the lanes just written, and the same part of C where they are
                // not C's own.
                unsafe {
                    stage::finish(Finish {
                        stages,
                        lanes,
                        rows: m,
                        cols: cols.len(),
                        ld: ldo,
                        d,
                    })
                };
            }
            j += width;
        }
    }
    Ok(())
}
