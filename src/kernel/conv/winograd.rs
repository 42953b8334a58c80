//! Winograd's algorithm F(4x4, 3x3): four by four results of a 3x3 kernel from a tile of six by six
//! elements, by 36 products in place of 144 (Lavin and Gray, "Fast Algorithms for Convolutional
//! Neural Networks", 2016). Elements and weights are transformed by matrices B and G, multiplied, and
//! results transformed back by A: `Y = A^T [(G g G^T) * (B^T d B)] A`, where the products are added
//! up over the channels: 36 products of matrices, `[outputs, channels] x [channels, tiles]`.
//!
//! The points of interpolation are 0, +-sqrt(1/2), +-sqrt(2) and infinity, whose rounding errors are
//! a quarter of those of the usual 0, +-1, +-2.
//!
//! Tiles lie side by side in vectors. A tile with a result that is not finite is computed anew, as a product
//! of patches: NaN and infinity would reach all of its places, and overflow what has no business with
//! them.

use super::geometry::{Geometry, Image};
use super::patches::Patches;
use super::rows::{self, Columns, apart, in_turn};
use crate::error::Result;
use crate::kernel::gemm::{
    Epilogue, Mat, MatElement, MatMut, Packed, Panels, Scratch, Source, Strided, finish_into,
    macrokernel, panel_width,
};
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Results of a tile along an axis, and elements that they see.
const OUT: usize = 4;
const IN: usize = 6;
/// Elements of the kernel.
const TAPS: usize = 9;
/// Products of a tile.
pub const PRODUCTS: usize = IN * IN;
/// Tiles of a vector.
const L: usize = rows::BLOCK;
/// Tiles of a block: the columns of a panel of the widest tile of the matrix engine.
const TILES: usize = 64;
/// Channels of the result whose products are transformed back together.
pub const TOGETHER: usize = 48;

/// How the tiles of some images are cut into blocks; it follows from the sizes alone.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    geometry: Geometry,
    channels: usize,
    /// Rows of tiles of an image, and tiles of a row.
    tiles: [usize; 2],
    /// Rows of tiles of all images.
    rows: usize,
    /// Rows of a block, and tiles of each.
    block: [usize; 2],
}
impl Blocks {
    /// The blocks of `batch` images; none where the geometry is another, or they would need more than
    /// `most` bytes of scratch, of numbers of `bytes`.
    pub fn new(
        geometry: Geometry,
        channels: usize,
        batch: usize,
        bytes: usize,
        most: usize,
    ) -> Option<Blocks> {
        let (g, n) = (&geometry, geometry.places);
        let fits = g.kernel == [1, 3, 3]
            && g.stride == [1; 3]
            && g.dilation == [1; 3]
            && n[0] == 1
            && g.padding[0] == 0
            && !geometry.is_empty()
            && channels > 0;
        if !fits {
            return None;
        }
        let tiles = [n[1].div_ceil(OUT), n[2].div_ceil(OUT)];
        let rows = batch.checked_mul(tiles[0])?;
        // as equal as they can be, of half as many tiles where scratch has no room for more
        let of = |most: usize| {
            let down = (most / tiles[1]).clamp(1, rows.max(1));
            let across = tiles[1].min(most);
            let block = [
                rows.div_ceil(rows.div_ceil(down).max(1)).max(1),
                tiles[1].div_ceil(tiles[1].div_ceil(across)),
            ];
            Blocks {
                geometry,
                channels,
                tiles,
                rows,
                block,
            }
        };
        [TILES, TILES / 2, TILES / 4]
            .map(of)
            .into_iter()
            .find(|blocks| blocks.scratch(bytes) <= most)
    }
    /// How many blocks.
    pub fn len(&self) -> usize {
        self.rows.div_ceil(self.block[0]) * self.tiles[1].div_ceil(self.block[1])
    }
    /// Tiles of all images.
    pub fn tiles(&self) -> usize {
        self.rows.saturating_mul(self.tiles[1])
    }
    /// Numbers of a channel of a block: tiles, whole vectors.
    fn wide(&self) -> usize {
        (self.block[0] * self.block[1]).next_multiple_of(L)
    }
    /// Numbers of a phase of a row of elements: one of each four, and one beyond.
    fn phase(&self) -> usize {
        self.block[1].next_multiple_of(L) + L
    }
    /// Numbers of scratch: elements and products, transformed, rows of the image before and after, and results.
    fn numbers(&self) -> [usize; 4] {
        let sums = OUT * OUT * self.block[1].next_multiple_of(L);
        [
            (PRODUCTS * self.wide()).saturating_mul(self.channels) + L,
            PRODUCTS * self.wide() * TOGETHER + L,
            2 * IN * OUT * self.phase(),
            sums * TOGETHER,
        ]
    }
    /// Bytes of scratch of a block, of numbers of `bytes`.
    pub fn scratch(&self, bytes: usize) -> usize {
        let all = self
            .numbers()
            .iter()
            .fold(0, |a: usize, b| a.saturating_add(*b));
        all.saturating_mul(bytes)
    }
    /// Rows and columns of tiles of block `i`.
    fn block(&self, i: usize) -> [Range<usize>; 2] {
        let across = self.tiles[1].div_ceil(self.block[1]);
        let (y, x) = (i / across * self.block[0], i % across * self.block[1]);
        [
            y..self.rows.min(y + self.block[0]),
            x..self.tiles[1].min(x + self.block[1]),
        ]
    }
}

/// What the images of a block are multiplied with.
pub struct Weights<'a, T: MatElement> {
    /// `[outputs, channels * 9]`
    pub plain: Mat<'a, T>,
    /// The parts that [`transform`] makes of each [`TOGETHER`] outputs, one after the other.
    pub transformed: &'a [T::Acc],
}

/// Block `i`, for some of the channels of the result, from a multiple of [`TOGETHER`] on. `image(n)`, `c(n)` and
/// `epilogue(n)` are those of image `n`; `c` has a row for each channel, of all places.
///
/// Errors where there is no memory for scratch.
///
/// # Safety
/// Nobody else uses the places of this block in those channels meanwhile.
pub unsafe fn winograd<'a, 'b, T>(
    blocks: &Blocks,
    i: usize,
    outputs: Range<usize>,
    weights: &Weights<T>,
    image: impl Fn(usize) -> Image<'a, T>,
    c: impl Fn(usize) -> MatMut<'b, T>,
    epilogue: impl Fn(usize) -> Epilogue<'b, T>,
) -> Result<()>
where
    T: MatElement + 'a + 'b,
    T::Acc: Real + MatElement<Acc = T::Acc>,
{
    let [rows, cols] = blocks.block(i);
    let (wide, channels, made) = (blocks.wide(), blocks.channels, weights.plain.rows());
    assert!(weights.transformed.len() == PRODUCTS * made * channels && outputs.end <= made);
    assert!(outputs.start.is_multiple_of(TOGETHER));
    let lens = blocks.numbers();
    let len = lens.iter().fold(0, |a: usize, b| a.saturating_add(*b));
    let mut scratch = Scratch::<T::Acc>::new(len)?;
    let mut rest = &mut scratch[..];
    let [elements, products, lines, sums] =
        lens.map(|len| rest.split_off_mut(..len).unwrap_or_default());
    for (r, row) in rows.clone().enumerate() {
        simd::call(Elements {
            blocks,
            image: image(row / blocks.tiles[0]),
            row: row % blocks.tiles[0],
            cols: cols.clone(),
            lines,
            first: r * cols.len(),
            d: elements,
        });
    }
    // columns of no tile
    let held = rows.len() * cols.len();
    for d in elements[..PRODUCTS * channels * wide].chunks_exact_mut(wide) {
        d[held..].fill(T::Acc::default());
    }
    let mut o = outputs.start;
    while o < outputs.end {
        let part = o..outputs.end.min(o + TOGETHER);
        for p in 0..PRODUCTS {
            let size = part.len() * channels;
            let a = &weights.transformed[PRODUCTS * o * channels + p * size..][..size];
            let a = Strided::rows(Mat::from_slice(a, part.len(), channels));
            let elements = &elements[p * channels * wide..][..channels * wide];
            let b = Strided::columns(Mat::from_slice(elements, channels, wide));
            let d = &mut products[p * TOGETHER * wide..][..part.len() * wide];
            let mut d = MatMut::from_slice(d, part.len(), wide);
            // one panel is packed as it lies
            let panel = (panel_width::<T::Acc>(wide) == wide)
                .then(|| Panels::of(b.blocks(), wide, elements));
            macrokernel(a, b, panel, &mut d, false, Epilogue::NONE)?;
        }
        for (r, row) in rows.clone().enumerate() {
            let (n, y) = (row / blocks.tiles[0], row % blocks.tiles[0]);
            let finite = simd::call(Results {
                wide,
                first: r * cols.len(),
                tiles: cols.len(),
                outputs: part.len(),
                products,
                d: sums,
            });
            let (size, c, epilogue) = (blocks.geometry.places, c(n), epilogue(n));
            let left = cols.start * OUT;
            let len = size[2].min(cols.end * OUT) - left;
            let line = OUT * cols.len().next_multiple_of(L);
            for q in 0..OUT.min(size[1] - y * OUT) {
                let first = (y * OUT + q) * size[2] + left;
                let places = first..first + len;
                // SAFETY: places of this block, by the caller's promise.
                let mut d = unsafe { c.part(part.clone(), places.clone()) };
                let epilogue = epilogue.at(part.start, first);
                if finite {
                    finish_into(epilogue, &mut sums[q * line..], OUT * line, &mut d);
                } else {
                    let plain = &weights.plain;
                    let a = plain.block(part.clone(), 0..plain.cols());
                    let b = Patches::new(image(n), blocks.geometry).slice(places);
                    macrokernel(Strided::rows(a), b, None, &mut d, false, epilogue)?;
                }
            }
        }
        o = part.end;
    }
    Ok(())
}

/// Loads a vector of tiles.
#[inline(always)]
fn vector<F: Real>(s: &[F], at: usize) -> [F; L] {
    let mut d = [F::ZERO; L];
    d.copy_from_slice(&s[at..at + L]);
    d
}

/// `B^T d`, lane by lane.
#[inline(always)]
fn elements_of<I: Isa, F: Real + Packed>(d: &[[F; L]; IN]) -> [[F; L]; IN] {
    let c = F::from_f64;
    let (a, b) = (
        c(core::f64::consts::FRAC_1_SQRT_2),
        c(core::f64::consts::SQRT_2),
    );
    let mut t = [[F::ZERO; L]; IN];
    for l in 0..L {
        let d = [d[0][l], d[1][l], d[2][l], d[3][l], d[4][l], d[5][l]];
        let even = F::mul_add::<I>(c(-2.0), d[2], d[4]);
        let odd = F::mul_add::<I>(a, d[3], -(b * d[1]));
        let even_far = F::mul_add::<I>(c(-0.5), d[2], d[4]);
        let odd_far = F::mul_add::<I>(b, d[3], -(a * d[1]));
        t[0][l] = F::mul_add::<I>(c(-2.5), d[2], d[0] + d[4]);
        t[1][l] = even + odd;
        t[2][l] = even - odd;
        t[3][l] = even_far + odd_far;
        t[4][l] = even_far - odd_far;
        t[5][l] = F::mul_add::<I>(c(-2.5), d[3], d[1] + d[5]);
    }
    t
}

/// `A^T m`, lane by lane.
#[inline(always)]
fn results_of<I: Isa, F: Real + Packed>(m: &[[F; L]; IN]) -> [[F; L]; OUT] {
    let c = F::from_f64;
    let (a, b) = (
        c(core::f64::consts::FRAC_1_SQRT_2),
        c(core::f64::consts::SQRT_2),
    );
    let (third, far) = (
        c(core::f64::consts::FRAC_1_SQRT_2 / 2.0),
        c(core::f64::consts::SQRT_2 * 2.0),
    );
    let mut y = [[F::ZERO; L]; OUT];
    for l in 0..L {
        let m = [m[0][l], m[1][l], m[2][l], m[3][l], m[4][l], m[5][l]];
        let (even, odd) = (m[1] + m[2], m[1] - m[2]);
        let (even_far, odd_far) = (m[3] + m[4], m[3] - m[4]);
        y[0][l] = m[0] + (even + even_far);
        y[1][l] = F::mul_add::<I>(b, odd_far, a * odd);
        y[2][l] = F::mul_add::<I>(c(2.0), even_far, c(0.5) * even);
        y[3][l] = F::mul_add::<I>(far, odd_far, F::mul_add::<I>(third, odd, m[5]));
    }
    y
}

/// Transforms a row of tiles of all channels: `d[product][channel][tile]`, from tile `first` on.
struct Elements<'a, 'b, T: MatElement> {
    blocks: &'a Blocks,
    image: Image<'b, T>,
    row: usize,
    cols: Range<usize>,
    lines: &'a mut [T::Acc],
    first: usize,
    d: &'a mut [T::Acc],
}
impl<T: MatElement<Acc: Real>> Kernel for Elements<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (blocks, image) = (self.blocks, self.image);
        let (g, phase, wide) = (&blocks.geometry, blocks.phase(), blocks.wide());
        let line = OUT * phase;
        let (from, to) = self.lines.split_at_mut(IN * line);
        let tiles = self.cols.len();
        for channel in 0..blocks.channels {
            for (i, d) in from.chunks_exact_mut(line).enumerate() {
                let places = Columns {
                    first: g.element(2, self.cols.start * OUT, 0),
                    stride: 1,
                    len: OUT * tiles + IN - OUT,
                };
                match image.seen(channel, 0, g.element(1, self.row * OUT, i)) {
                    // SAFETY: IMAGE1: a row of the image.
                    Some(at) => unsafe {
                        rows::load::<I, T>(at, image.stride(2), image.sizes()[2], places, d);
                    },
                    None => rows::clear(d),
                }
            }
            // down, and the columns of tiles apart: one of each four side by side
            for x in (0..line).step_by(OUT * L) {
                let mut down = [[[T::Acc::ZERO; L]; OUT]; IN];
                for q in 0..OUT {
                    let mut d = [[T::Acc::ZERO; L]; IN];
                    for i in 0..IN {
                        d[i] = vector(from, i * line + x + q * L);
                    }
                    let t = elements_of::<I, T::Acc>(&d);
                    for i in 0..IN {
                        down[i][q] = t[i];
                    }
                }
                for i in 0..IN {
                    for (q, t) in columns(&down[i]).iter().enumerate() {
                        to[i * line + q * phase + x / OUT..][..L].copy_from_slice(t);
                    }
                }
            }
            for t in (0..tiles).step_by(L) {
                let at = self.first + t;
                // what lies beyond the row's tiles is written by the next row, or beyond all
                let len = L.min(wide - at);
                for (i, row) in to.chunks_exact(line).enumerate() {
                    let mut d = [[T::Acc::ZERO; L]; IN];
                    for j in 0..IN {
                        d[j] = vector(row, j % OUT * phase + t + j / OUT);
                    }
                    let across = elements_of::<I, T::Acc>(&d);
                    for (j, x) in across.iter().enumerate() {
                        let p = i * IN + j;
                        let to = &mut self.d[(p * blocks.channels + channel) * wide + at..];
                        if len == L {
                            to[..L].copy_from_slice(x);
                        } else {
                            to[..len].copy_from_slice(&x[..len]);
                        }
                    }
                }
            }
        }
    }
}

/// The columns of tiles of four vectors: each fourth number.
#[inline(always)]
fn columns<F: Packed>(s: &[[F; L]; OUT]) -> [[F; L]; OUT] {
    let [a, b] = [[s[0], s[1]], [s[2], s[3]]];
    let (a, b) = (apart(flat(&a)), apart(flat(&b)));
    let [even, odd] = [[a[0], b[0]], [a[1], b[1]]];
    let (even, odd) = (apart(flat(&even)), apart(flat(&odd)));
    [even[0], odd[0], even[1], odd[1]]
}
/// Two vectors as one.
#[inline(always)]
fn flat<F>(s: &[[F; L]; 2]) -> &[F; 2 * L] {
    // the lengths are equal
    s.as_flattened()
        .first_chunk()
        .unwrap_or_else(|| unreachable!())
}

/// Transforms the products of a row of tiles back, to `d[output][row][column]`; false where a result is
/// not finite.
struct Results<'a, F> {
    wide: usize,
    first: usize,
    tiles: usize,
    outputs: usize,
    products: &'a [F],
    d: &'a mut [F],
}
impl<F: Real + Packed> Kernel for Results<'_, F> {
    type Out = bool;
    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let line = OUT * self.tiles.next_multiple_of(L);
        let mut nothing = [F::ZERO; L];
        for (o, d) in (self.d.chunks_exact_mut(OUT * line).enumerate()).take(self.outputs) {
            for t in (0..self.tiles).step_by(L) {
                let at = o * self.wide + self.first + t;
                let mut down = [[[F::ZERO; L]; IN]; OUT];
                for j in 0..IN {
                    let mut m = [[F::ZERO; L]; IN];
                    for i in 0..IN {
                        m[i] = vector(self.products, (i * IN + j) * TOGETHER * self.wide + at);
                    }
                    let y = results_of::<I, F>(&m);
                    for i in 0..OUT {
                        down[i][j] = y[i];
                    }
                }
                for i in 0..OUT {
                    let y = results_of::<I, F>(&down[i]);
                    let [a, b] = [in_turn([&y[0], &y[2]]), in_turn([&y[1], &y[3]])];
                    let to = &mut d[i * line + OUT * t..][..OUT * L];
                    for (half, to) in to.chunks_exact_mut(2 * L).enumerate() {
                        let [a, b] = [vector(&a, half * L), vector(&b, half * L)];
                        to.copy_from_slice(&in_turn([&a, &b]));
                    }
                }
            }
            // zero times what is finite
            for row in d.chunks_exact(line) {
                for x in row[..OUT * self.tiles].chunks(L) {
                    for (n, x) in nothing.iter_mut().zip(x) {
                        *n = F::mul_add::<I>(*x, F::ZERO, *n);
                    }
                }
            }
        }
        nothing.iter().all(|x| *x == F::ZERO)
    }
}

/// Transforms weights of some outputs, `[outputs, channels * 9]`, to `[36][outputs][channels]`: `G g G^T`,
/// computed in double precision and rounded once. `d` has as many numbers.
pub fn transform<T: MatElement<Acc: Real>>(weight: Mat<T>, d: &mut [T::Acc]) {
    simd::call(Transform(weight, d))
}
struct Transform<'a, T: MatElement>(Mat<'a, T>, &'a mut [T::Acc]);
impl<T: MatElement<Acc: Real>> Kernel for Transform<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Transform(weight, d) = self;
        let (outputs, channels) = (weight.rows(), weight.cols() / TAPS);
        assert!(d.len() == PRODUCTS * outputs * channels);
        for (o, c) in (0..outputs).flat_map(|o| (0..channels).step_by(L).map(move |c| (o, c))) {
            let len = L.min(channels - c);
            let mut g = [[0.0; L]; TAPS];
            for l in 0..len {
                for (q, g) in g.iter_mut().enumerate() {
                    // SAFETY: MAT1: output `o` and tap `q` of channel `c + l < channels`.
                    g[l] = unsafe { weight.get(o, (c + l) * TAPS + q) }
                        .widen()
                        .to_f64();
                }
            }
            let columns = [0, 1, 2].map(|j| weights_of([g[j], g[3 + j], g[6 + j]]));
            for i in 0..IN {
                let row = weights_of([columns[0][i], columns[1][i], columns[2][i]]);
                for (j, row) in row.iter().enumerate() {
                    let at = ((i * IN + j) * outputs + o) * channels + c;
                    for (d, x) in d[at..at + len].iter_mut().zip(row) {
                        *d = T::Acc::from_f64(*x);
                    }
                }
            }
        }
    }
}

/// `G g`, lane by lane.
#[inline(always)]
fn weights_of(g: [[f64; L]; 3]) -> [[f64; L]; IN] {
    let (a, b) = (core::f64::consts::FRAC_1_SQRT_2, core::f64::consts::SQRT_2);
    let mut t = [[0.0; L]; IN];
    for l in 0..L {
        let g = [g[0][l], g[1][l], g[2][l]];
        let (even, odd) = (-(g[0] + 0.5 * g[2]) / 1.5, -a * g[1] / 1.5);
        let (even_far, odd_far) = ((g[0] + 2.0 * g[2]) / 6.0, b * g[1] / 6.0);
        t[0][l] = g[0];
        t[1][l] = even + odd;
        t[2][l] = even - odd;
        t[3][l] = even_far + odd_far;
        t[4][l] = even_far - odd_far;
        t[5][l] = g[2];
    }
    t
}
