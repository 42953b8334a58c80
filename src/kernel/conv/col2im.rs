//! Transposed convolutions as products: each element of an image times the kernels of some outputs.
//! The products are then added up for each position of the result, in the order of taps (col2im).
//! Those of an output stay in L2 in between, and no position is written twice.
//!
//! Phase by phase, kernels of 2x2 with a stride of 2 take 1.2 times as long on AVX2, of 2x2x2 1.5
//! times, and small images of many channels 20 times; on SSE2 1.1, 1.2 and 4.7 times.

use super::geometry::{Geometry, Image, Three};
use super::image_rows::ImageRows;
use super::patches::Patches;
use super::rows::{self, BLOCK};
use crate::error::Result;
use crate::fallible;
use crate::kernel::gemm::{
    Epilogue, KBlocks, Mat, MatElement, MatMut, Packed, Panels, Scratch, Source, Strided,
    equal_parts, finish_into, macrokernel,
};
use crate::simd::{self, Isa, Kernel};
use alloc::vec::Vec;
use core::ops::Range;

/// Target sizes, in elements, of the panels of a block of elements and of the products of an
/// output: both stay in L2.
const PANELS: usize = 1 << 15;
const PRODUCTS: usize = 1 << 15;

/// The sizes of a transposed convolution, and how its positions are split into blocks, which
/// depends on the sizes alone. Tap `t` of element `e` adds to position `e * stride + t * dilation -
/// padding`.
#[derive(Clone, Copy, Debug)]
pub struct Col2Im {
    /// Its `padding` is the number of positions cropped before the result.
    geometry: Geometry,
    /// The sizes of an image.
    image: Three,
    channels: usize,
    /// The axis that is split, and positions of a block along it: a multiple of the stride.
    axis: usize,
    block: usize,
    /// The most outputs that are multiplied together.
    together: usize,
}
impl Col2Im {
    /// The blocks of an image of `channels` channels, for `made` outputs; none if they would need
    /// more than `most` bytes of scratch, with elements of `bytes` bytes.
    pub fn new(
        geometry: Geometry,
        image: Three,
        (channels, made): (usize, usize),
        bytes: usize,
        most: usize,
    ) -> Option<Col2Im> {
        let n = geometry.output_size;
        let axis = (0..3).find(|k| image[*k] > 1 || n[*k] > 1).unwrap_or(2);
        let stride = geometry.stride[axis];
        let mut col2im = Col2Im {
            geometry,
            image,
            channels,
            axis,
            block: n[axis].checked_next_multiple_of(stride)?,
            together: 1,
        };
        let taps = geometry.kernel_len();
        let all = col2im.elements();
        while col2im.block > stride.saturating_mul(2)
            && (col2im.elements().saturating_mul(channels) > PANELS
                || col2im.elements().saturating_mul(taps) > PRODUCTS)
        {
            let block = (col2im.block / 2).next_multiple_of(stride);
            let half = Col2Im { block, ..col2im };
            // elements that contribute to two blocks are multiplied twice
            let twice = half.elements().saturating_mul(half.count());
            if twice > all.saturating_add(all / 4) && col2im.bytes(bytes) <= most {
                break;
            }
            col2im = half;
        }
        let each = col2im.elements().saturating_mul(taps).max(1);
        col2im.together = (2 * PRODUCTS / each).clamp(1, made.max(1));
        (col2im.bytes(bytes) <= most).then_some(col2im)
    }
    /// Bytes of scratch, for elements of `bytes` bytes.
    fn bytes(&self, bytes: usize) -> usize {
        let elements = (self.scratch_len().iter()).fold(self.panels(), |a, b| a.saturating_add(*b));
        elements.saturating_mul(bytes)
    }
    /// The most elements of an image that contribute to a block.
    fn elements(&self) -> usize {
        let k = self.axis;
        let along = self.seen(0..self.block).len().min(self.image[k]);
        (0..3)
            .filter(|i| *i != k)
            .fold(along, |n, i| n.saturating_mul(self.image[i]))
    }
    /// The elements along the axis that is split that contribute to these positions, were the image
    /// unbounded.
    fn seen(&self, positions: Range<usize>) -> Range<isize> {
        let (g, k) = (&self.geometry, self.axis);
        let stride = g.stride[k] as isize;
        let span = ((g.kernel[k] - 1) * g.dilation[k]) as isize;
        let first = positions.start as isize + g.padding[k] - span;
        let last = positions.end as isize - 1 + g.padding[k];
        -(-first).div_euclid(stride)..last.div_euclid(stride) + 1
    }
    /// The most packed elements.
    fn panels(&self) -> usize {
        self.channels
            .saturating_mul(self.elements().saturating_add(64))
    }
    /// Elements of a phase of a row of the result: every `stride`th position.
    fn phase(&self) -> usize {
        self.size()[2]
            .div_ceil(self.geometry.stride[2])
            .next_multiple_of(BLOCK)
    }
    /// The sizes of a block of positions.
    fn size(&self) -> Three {
        let mut size = self.geometry.output_size;
        size[self.axis] = size[self.axis].min(self.block);
        size
    }
    /// Elements of scratch: products of some outputs, the phases of a row, and the sums of an
    /// output.
    fn scratch_len(&self) -> [usize; 3] {
        let stride = self.geometry.stride[2];
        let positions = self
            .size()
            .iter()
            .fold(1, |a: usize, b| a.saturating_mul(*b));
        [
            (self.elements().saturating_mul(self.geometry.kernel_len()))
                .saturating_mul(self.together),
            self.phase().saturating_mul(stride),
            positions.saturating_add(2 * BLOCK),
        ]
    }
    /// The number of blocks.
    pub fn count(&self) -> usize {
        self.geometry.output_size[self.axis].div_ceil(self.block)
    }
    /// The positions of block `i` along the axis that is split, and the elements that contribute to
    /// them.
    fn block(&self, i: usize) -> [Range<usize>; 2] {
        let k = self.axis;
        let positions = i * self.block..self.geometry.output_size[k].min((i + 1) * self.block);
        let seen = self.seen(positions.clone());
        let end = seen.end.clamp(0, self.image[k] as isize);
        let start = seen.start.clamp(0, end);
        [positions, start as usize..end as usize]
    }
}

/// Computes block `i` of the positions of an image, for a range of channels of the result. `weight`
/// has a row for each tap of each of these, with a column for each channel of the image; `c` and
/// `epilogue` have a row for each channel, of all positions. Panics if sizes don't match.
///
/// Errors if there is no memory for scratch.
///
/// # Safety
/// Nobody else uses the positions of this block in those channels meanwhile.
pub unsafe fn col2im<T>(
    col2im: &Col2Im,
    i: usize,
    outputs: Range<usize>,
    image: Image<T>,
    weight: Mat<T::Acc>,
    c: &MatMut<T>,
    epilogue: Epilogue<T>,
) -> Result<()>
where
    T: MatElement,
    T::Acc: MatElement<Acc = T::Acc>,
{
    let g = &col2im.geometry;
    let (taps, channels) = (g.kernel_len(), col2im.channels);
    assert!(image.sizes() == col2im.image && image.channels() == channels);
    assert!(weight.cols() == channels && outputs.end * taps <= weight.rows());
    let [positions, seen] = col2im.block(i);
    let image = image.narrow(col2im.axis, seen.clone());
    let sizes = image.sizes();
    let elements = sizes.iter().product();
    let mut packed = Scratch::<T::Acc>::new(col2im.panels())?;
    let blocks = if image.is_matrix() {
        pack(&Strided::columns(image.matrix()), &mut packed)
    } else {
        let pointwise = Geometry {
            kernel: [1; 3],
            stride: [1; 3],
            dilation: [1; 3],
            padding: [0; 3],
            output_size: sizes,
        };
        pack(
            &Patches::right(ImageRows::new(image, pointwise)),
            &mut packed,
        )
    };
    let b = Strided::columns(Mat::from_slice(
        &packed[..channels * elements],
        channels,
        elements,
    ));
    let panels = Panels::of(blocks, elements, &packed);
    let lens = col2im.scratch_len();
    let len = lens.iter().fold(0, |a: usize, b| a.saturating_add(*b));
    let mut scratch = Scratch::<T::Acc>::new(len)?;
    let mut rest = &mut scratch[..];
    let [products, phases, sums] = lens.map(|len| rest.split_off_mut(..len).unwrap_or_default());
    let mut size = g.output_size;
    size[col2im.axis] = positions.len();
    let (len, mut first) = (size.iter().product::<usize>(), [0; 3]);
    first[col2im.axis] = positions.start;
    let position = (first[0] * g.output_size[1] + first[1]) * g.output_size[2] + first[2];
    let columns = columns(g, col2im.axis == 2, seen.start, first[2])?;
    let together = equal_parts(outputs.len(), col2im.together, 1);
    let mut o = outputs.start;
    while o < outputs.end {
        let part = o..outputs.end.min(o + together);
        let rows = part.len() * taps;
        let a = Strided::rows(weight.block(o * taps..o * taps + rows, 0..channels));
        let mut d = MatMut::from_slice(&mut products[..rows * elements], rows, elements);
        macrokernel(&a, &b, Some(panels), &mut d, false, Epilogue::NONE)?;
        for (k, o) in part.clone().enumerate() {
            simd::call(Gather {
                geometry: g,
                first,
                size,
                axis: col2im.axis,
                seen: seen.start,
                image: sizes,
                phase: col2im.phase(),
                columns: &columns,
                products: &products[k * taps * elements..][..taps * elements],
                phases,
                d: sums,
            });
            // SAFETY: positions of this block, by the caller's promise.
            let mut d = unsafe { c.part(o..o + 1, position..position + len) };
            finish_into(epilogue.at(o, position), sums, len, &mut d);
        }
        o = part.end;
    }
    Ok(())
}

/// For each tap along the width, the phase that the first element adds to, and the position in it.
/// If rows are split (`cut`), the first element is `seen`, and positions begin at `first`, a
/// multiple of the stride.
fn columns(g: &Geometry, cut: bool, seen: usize, first: usize) -> Result<Vec<(usize, isize)>> {
    let stride = g.stride[2] as isize;
    let seen = if cut { seen as isize } else { 0 };
    let mut columns = fallible::with_capacity(g.kernel[2])?;
    columns.extend((0..g.kernel[2]).map(|tap| {
        let to = (tap * g.dilation[2]) as isize - g.padding[2] + seen * stride - first as isize;
        (to.rem_euclid(stride) as usize, to.div_euclid(stride))
    }));
    Ok(columns)
}

/// Packs all of B, and returns how its sum is split.
fn pack<T: Packed>(b: &dyn Source<Packed = T>, d: &mut [T]) -> KBlocks {
    let blocks = b.blocks();
    let len = Panels::<T>::len(blocks, b.lines());
    Panels::pack(b, 0..b.lines(), &mut d[..len]);
    blocks
}

/// Adds up the products of an output, `[tap][element]`, for each position of a block.
struct Gather<'a, F> {
    geometry: &'a Geometry,
    /// The first position, and the numbers of positions.
    first: Three,
    size: Three,
    /// The axis that is split, the first element along it, and the sizes of the image's part.
    axis: usize,
    seen: usize,
    image: Three,
    /// Elements of a phase of a row.
    phase: usize,
    /// For each tap along the width, the phase that the first element adds to, and the position in
    /// it.
    columns: &'a [(usize, isize)],
    products: &'a [F],
    phases: &'a mut [F],
    d: &'a mut [F],
}
impl<F: Packed> Kernel for Gather<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let g = self.geometry;
        let [depth, high, wide] = self.image;
        let [kz, ky, kx] = g.kernel;
        let (stride, phase) = (g.stride[2], self.phase);
        let len = self.size[2].div_ceil(stride);
        for row in 0..self.size[0] * self.size[1] {
            let [z, y] = [row / self.size[1], row % self.size[1]];
            rows::clear(self.phases);
            for tz in 0..kz {
                let Some(z) = self.element(0, z, tz) else {
                    continue;
                };
                for ty in 0..ky {
                    let Some(y) = self.element(1, y, ty) else {
                        continue;
                    };
                    for (tx, (to, position)) in self.columns.iter().enumerate() {
                        let tap = (tz * ky + ty) * kx + tx;
                        let at = ((tap * depth + z) * high + y) * wide;
                        let from = (-position).max(0) as usize;
                        let start = (*position).max(0) as usize;
                        let end = (wide as isize + position).clamp(0, len as isize) as usize;
                        if start < end {
                            let s = &self.products[at + from..][..end - start];
                            add(&mut self.phases[to * phase + start..][..end - start], s);
                        }
                    }
                }
            }
            let d = &mut self.d[row * self.size[2]..];
            if stride == 2 {
                let (even, odd) = self.phases.split_at(phase);
                let both = even.as_chunks().0.iter().zip(odd.as_chunks().0);
                // writes beyond the row hit the next one, which overwrites them
                for (d, (a, b)) in d.as_chunks_mut::<{ 2 * BLOCK }>().0.iter_mut().zip(both) {
                    *d = rows::interleave([a, b]);
                }
                continue;
            }
            for (p, s) in self.phases.chunks_exact(phase).enumerate() {
                let d = &mut d[..self.size[2]];
                for (d, s) in d.iter_mut().skip(p).step_by(stride).zip(s) {
                    *d = *s;
                }
            }
        }
    }
}
impl<F: Packed> Gather<'_, F> {
    /// The element whose tap adds to a position of the block, along an axis.
    #[inline(always)]
    fn element(&self, axis: usize, position: usize, tap: usize) -> Option<usize> {
        let g = self.geometry;
        let at = (self.first[axis] + position) as isize + g.padding[axis];
        let at = usize::try_from(at - (tap * g.dilation[axis]) as isize).ok()?;
        let seen = if self.axis == axis { self.seen } else { 0 };
        let element = match g.stride[axis] {
            1 => at,
            2 => (at % 2 == 0).then_some(at / 2)?,
            stride => at.is_multiple_of(stride).then(|| at / stride)?,
        };
        element.checked_sub(seen).filter(|e| *e < self.image[axis])
    }
}

/// `d + s`, by whole blocks: rows are short.
#[inline(always)]
fn add<F: Packed>(d: &mut [F], s: &[F]) {
    let done = blocks::<F, BLOCK>(d, s);
    let (d, s) = (&mut d[done..], &s[done..]);
    let done = blocks::<F, 4>(d, s);
    for (d, s) in d[done..].iter_mut().zip(&s[done..]) {
        *d = F::add(*d, *s);
    }
}
/// Adds as many blocks of `N` as there are, and returns the elements that they cover.
#[inline(always)]
fn blocks<F: Packed, const N: usize>(d: &mut [F], s: &[F]) -> usize {
    let (d, s) = (d.as_chunks_mut::<N>().0, s.as_chunks::<N>().0);
    for (d, s) in d.iter_mut().zip(s) {
        let (mut sum, s) = (*d, *s);
        for l in 0..N {
            sum[l] = F::add(sum[l], s[l]);
        }
        *d = sum;
    }
    d.len() * N
}
