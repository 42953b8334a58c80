//! Convolutions of bfloat16 where the matrix engine multiplies pairs: neighbouring channels share a
//! word, so that patches are those of an image of words.

use super::bands::{Bands, PAIR};
use super::run::{ConvOperands, Epilogues};
use crate::dtype::Element;
use crate::error::Result;
use crate::exec::products::products_of_sources;
use crate::kernel::conv::{Image, ImageRows, Patches};
use crate::kernel::gemm::{
    self, Interleave, Mat, MatElement, Packing, Scratch, Strided, operand::Operand,
};
use crate::ops::linalg::ResultMatrices;
use crate::par::{self, Cost};
use crate::storage::{Bytes, PackedForm};
use crate::tensor::Tensor;
use core::ops::Range;

type Pair = <Interleave as Packing>::To;

impl ConvOperands {
    /// Computes products of words, as many bands at a time as scratch has room for.
    pub(super) fn pairs<T: Element + MatElement>(
        &self,
        bands: &Bands,
        epilogues: &Epilogues<T>,
        y: &ResultMatrices<T>,
    ) -> Result<()> {
        let call = &self.call;
        let (groups, out_channels) = (call.groups, call.out_channels_per_group());
        let k = bands.channels * call.geometry.kernel_len();
        let weight = self.weight_pairs::<T>(bands.channels)?;
        let weight = Mat::from_slice(gemm::packed_slice::<Pair>(&weight), call.out_channels, k);
        let x = match self.image::<T>(0, 0).is_matrix() {
            true => self.x.clone(),
            false => self.x.contiguous()?,
        };
        let mut words = Scratch::<u32>::new(bands.scratch_len())?;
        let all = call.batch * bands.count;
        for first in (0..all).step_by(bands.together) {
            let some = first..all.min(first + bands.together);
            self.image_pairs::<T>(&x, bands, some.clone(), &mut words);
            // SAFETY: each matrix of the fresh tensor is one group of one image; each band has its
            // own positions.
            unsafe {
                products_of_sources(some.len() * groups, |i| {
                    let (task, group) = (some.start + i / groups, i % groups);
                    let n = task / bands.count;
                    let band = bands.get(call, task % bands.count);
                    let size = bands.channels * band.image.iter().product::<usize>();
                    let at = i / groups * bands.size + group * size;
                    let image = Image::of_planes(&words[at..at + size], bands.channels, band.image);
                    let c = y.get(n * groups + group);
                    (
                        Strided::rows(
                            weight.block(group * out_channels..(group + 1) * out_channels, 0..k),
                        ),
                        Patches::right(ImageRows::<_, Pair>::new(image, band.geometry)),
                        c.into_part(0..out_channels, band.columns.clone()),
                        epilogues.get(n, group).at(0, band.columns.start),
                    )
                })?
            };
        }
        Ok(())
    }
    /// The words of some bands, `[band, group, word, ..]`.
    fn image_pairs<T: Element + MatElement>(
        &self,
        x: &Tensor,
        bands: &Bands,
        some: Range<usize>,
        d: &mut [u32],
    ) {
        /// Words packed at a time: of pixels whose channels are adjacent, a cache line.
        const ABREAST: usize = 16;
        let call = &self.call;
        let tasks = bands.channels.div_ceil(ABREAST);
        let cost = Cost {
            bytes: 2 * size_of::<u32>() * bands.size / (call.groups * tasks).max(1),
            flops: 0,
        };
        let out = par::Out::new(d);
        par::chunks(some.len() * call.groups * tasks, cost, |task| {
            let (i, first) = (task / tasks, task % tasks * ABREAST);
            let (i, group) = (i / call.groups, i % call.groups);
            let (n, i_band) = (
                (some.start + i) / bands.count,
                (some.start + i) % bands.count,
            );
            let band = bands.get(call, i_band);
            let area = band.image.iter().product::<usize>();
            if area == 0 {
                return; // padding alone
            }
            let words = first..bands.channels.min(first + ABREAST);
            let channels = PAIR * words.start..call.in_channels_per_group().min(PAIR * words.end);
            let image = call.image_of::<T>(x, n, group);
            let planes = image.narrow(bands.axis, band.elements).matrix();
            let planes = Operand::<T, _>::pairs().bits(planes.block(channels, 0..area));
            let at = i * bands.size + (group * bands.channels + words.start) * area;
            // SAFETY: OUT1: each task has its own words of a band.
            let d = unsafe { out.part(at..at + words.len() * area) };
            gemm::pack_panels(Interleave, planes, area, area, gemm::packed_as_mut(d));
        });
    }
    /// The words of the weight, `[outputs, word, position]`, cached with its storage from the
    /// second use on.
    fn weight_pairs<T: Element + MatElement>(&self, words: usize) -> Result<Bytes> {
        let (weight, in_channels, kernel_len) = (
            &self.weight,
            self.call.in_channels_per_group(),
            self.call.geometry.kernel_len(),
        );
        let pack = || {
            let each = words * kernel_len;
            let mut all = Scratch::<u32>::new(self.call.out_channels.saturating_mul(each))?;
            let weight = weight.contiguous()?;
            let taps = weight.as_slice::<T>()?;
            let cost = Cost {
                bytes: 2 * each * size_of::<u32>(),
                flops: 4 * each,
            };
            par::split(&mut all, each, 1, cost, |rows, d| {
                for (row, d) in rows.zip(d.chunks_exact_mut(each)) {
                    let row = &taps[row * in_channels * kernel_len..][..in_channels * kernel_len];
                    let row = Mat::from_slice(row, in_channels, kernel_len);
                    let row = Operand::<T, _>::pairs().bits(row);
                    gemm::pack_panels(
                        Interleave,
                        row,
                        kernel_len,
                        kernel_len,
                        gemm::packed_as_mut(d),
                    );
                }
            });
            Ok(all.into_bytes())
        };
        match weight.kept(T::DTYPE, PackedForm::Words(kernel_len), pack) {
            Some(kept) => Ok(kept),
            None => pack(),
        }
    }
}
