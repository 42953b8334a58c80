//! The transforms of rows of tiles: elements of an image, and products back to results.

use super::blocks::{Blocks, TOGETHER};
use super::lanes::{IN, L, OUT, columns, elements_of, results_of, vector};
use crate::kernel::conv::Image;
use crate::kernel::conv::rows::{self, Columns, in_turn};
use crate::kernel::gemm::{MatElement, Packed};
use crate::kernel::math::Real;
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// Transforms a row of tiles of all channels: `d[product][channel][tile]`, from tile `first` on.
pub struct Elements<'a, 'b, T: MatElement> {
    pub blocks: &'a Blocks,
    pub image: Image<'b, T>,
    pub row: usize,
    pub cols: Range<usize>,
    pub lines: &'a mut [T::Acc],
    pub first: usize,
    pub d: &'a mut [T::Acc],
}
impl<T: MatElement<Acc: Real>> Kernel for Elements<'_, '_, T> {
    type Out = ();
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep lanes in registers"
    )]
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

/// Transforms the products of a row of tiles back, to `d[output][row][column]`; false where a result is
/// not finite.
pub struct Results<'a, F> {
    pub wide: usize,
    pub first: usize,
    pub tiles: usize,
    pub outputs: usize,
    pub products: &'a [F],
    pub d: &'a mut [F],
}
impl<F: Real + Packed> Kernel for Results<'_, F> {
    type Out = bool;
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep lanes in registers"
    )]
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
