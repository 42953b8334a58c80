//! The gradient of a channel's weights where each channel is convolved by itself: for each tap the
//! sum of products of rows of the gradient and of the image, in lanes that are joined at the end.

use super::geometry::{Geometry, Image};
use super::rows::{self, Columns};
use crate::error::Result;
use crate::kernel::gemm::{MatElement, Packed, Scratch};
use crate::simd::{self, Isa, Kernel};

/// Sums of a tap.
const LANES: usize = if simd::MICROCONTROLLER { 1 } else { 16 };
/// Taps of a row whose sums are in registers at once.
const TAPS: usize = 3;

/// Writes what each position of the kernel gets: the sum over the places of `grad`, those of all
/// images one after the other, of its elements times what the tap sees of the image's one channel.
///
/// Errors where there is no memory for scratch.
pub fn channel_gradient<'a, T>(
    images: impl Iterator<Item = (Image<'a, T>, &'a [T])>,
    geometry: &Geometry,
    d: &mut [T],
) -> Result<()>
where
    T: MatElement<Acc = T> + Packed,
{
    let (g, width) = (geometry, geometry.places[2].next_multiple_of(LANES));
    // columns that all taps see of a phase, and whole blocks from any of them on
    let beyond = (g.kernel[2] - 1).saturating_mul(g.dilation[2]) / g.stride[2];
    let phase = beyond.saturating_add(width);
    let sums = g.positions().saturating_mul(LANES);
    let line = phase.saturating_mul(g.stride[2]);
    let mut scratch = Scratch::<T>::new(sums.saturating_add(line).saturating_add(width))?;
    let (sums, rest) = scratch.split_at_mut(sums);
    let (row, line) = rest.split_at_mut(width);
    sums.fill(T::default());
    row.fill(T::default());
    for (image, grad) in images {
        assert!(image.channels() == 1 && grad.len() == g.len());
        simd::call(Add {
            image,
            grad,
            geometry: g,
            row,
            line,
            sums,
        });
    }
    for (d, sums) in d.iter_mut().zip(sums.as_chunks_mut::<LANES>().0) {
        let mut n = LANES;
        while n > 1 {
            n /= 2;
            (0..n).for_each(|l| sums[l] = T::add(sums[l], sums[l + n]));
        }
        *d = sums[0];
    }
    Ok(())
}

/// Adds what an image gives to `sums[position][lane]`.
struct Add<'a, 'b, T> {
    image: Image<'b, T>,
    grad: &'a [T],
    geometry: &'a Geometry,
    /// A row of the gradient, zeros behind it.
    row: &'a mut [T],
    /// What taps see of a row of the image, `[phase of the columns][column]`.
    line: &'a mut [T],
    sums: &'a mut [T],
}
impl<T: MatElement<Acc = T> + Packed> Kernel for Add<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (g, image, n) = (self.geometry, &self.image, self.geometry.places);
        let phase = self.line.len() / g.stride[2];
        for (i, grad) in self.grad.chunks_exact(n[2]).enumerate() {
            let (z, y) = (i / n[1], i % n[1]);
            self.row[..n[2]].copy_from_slice(grad);
            let taps = self.sums.chunks_exact_mut(g.kernel[2] * LANES);
            for (k, sums) in taps.enumerate() {
                let (kz, ky) = (k / g.kernel[1], k % g.kernel[1]);
                let Some(from) = image.seen(0, g.element(0, z, kz), g.element(1, y, ky)) else {
                    continue;
                };
                for (p, d) in self.line.chunks_exact_mut(phase).enumerate() {
                    let places = Columns {
                        first: g.element(2, 0, 0) + p as isize,
                        stride: g.stride[2],
                        len: phase,
                    };
                    // SAFETY: IMAGE1: a row of the image.
                    unsafe {
                        rows::load::<I, T>(from, image.stride(2), image.sizes()[2], places, d);
                    }
                }
                let line = &*self.line;
                let column = |tap: usize| {
                    let at = tap * g.dilation[2];
                    &line[at % g.stride[2] * phase + at / g.stride[2]..]
                };
                let sums = sums.as_chunks_mut::<LANES>().0;
                let (some, rest) = sums.as_chunks_mut::<TAPS>();
                let done = some.len() * TAPS;
                for (k, sums) in some.iter_mut().enumerate() {
                    let seen = core::array::from_fn(|i| column(k * TAPS + i));
                    dots::<I, T, TAPS>(self.row, n[2], seen, sums);
                }
                for (k, sums) in rest.iter_mut().enumerate() {
                    dots::<I, T, 1>(
                        self.row,
                        n[2],
                        [column(done + k)],
                        core::array::from_mut(sums),
                    );
                }
            }
        }
    }
}

/// Adds products of the first `len` elements of `row`, which has whole blocks, to `N` sums.
#[inline(always)]
fn dots<I: Isa, T: Packed, const N: usize>(
    row: &[T],
    len: usize,
    seen: [&[T]; N],
    sums: &mut [[T; LANES]; N],
) {
    let mut c = [T::begin([T::default(); LANES]); N];
    for k in 0..N {
        c[k] = T::begin(sums[k]);
    }
    let seen = seen.map(|s| &s[..row.len()]);
    let whole = len / LANES;
    for (i, grad) in row.as_chunks::<LANES>().0.iter().enumerate() {
        for k in 0..N {
            let mut x = [T::default(); LANES];
            x.copy_from_slice(&seen[k][i * LANES..][..LANES]);
            if i == whole {
                // behind the last place zero times what is there need not be zero
                for (l, x) in x.iter_mut().enumerate() {
                    *x = if i * LANES + l < len {
                        *x
                    } else {
                        T::default()
                    };
                }
            }
            c[k] = T::mul_add_lanes::<I, LANES>(*grad, x, c[k]);
        }
    }
    for k in 0..N {
        sums[k] = T::end(c[k]);
    }
}
