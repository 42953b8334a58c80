//! Convolution in integers: products of words that hold four bytes, or two.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{self, Frame, Geometry, Image, ImageRows, Patches};
use crate::kernel::gemm::{
    self, ByGroups, Dequantize, Epilogue, EpilogueOp, Group, Map, Mat, PostOp, Scratch, Strided,
};
use crate::kernel::quant::Levels;
use crate::layout::Shape;
use crate::nn::{Conv, ConvCall};
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost};
use crate::quant::output::{Encoder, Encoding};
use crate::quant::qtensor::{QTensor, floats_of_bytes};
use crate::quant::weights::row_sums;
use crate::storage::Bytes;
#[cfg(feature = "std")]
use crate::storage::PackedForm;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The operands of a convolution in integers.
pub(super) struct Integers<'a> {
    call: &'a ConvCall,
    /// `[batch, channels, height, width]`, contiguous, with one step per image or a single one.
    images: &'a QTensor,
    /// `[outputs, taps]`
    weight: Tensor,
    /// One scale per row of the weight.
    scales: Tensor,
    bias: Option<&'a Tensor>,
    activation: Option<Map<f32>>,
    /// `[batch, outputs, positions]`
    residual: Option<Tensor>,
}
impl<'a> Integers<'a> {
    pub fn new(
        call: &'a ConvCall,
        images: &'a QTensor,
        weight: &QTensor,
        options: &Conv<'a>,
    ) -> Result<Self> {
        let taps = call.in_channels_per_group() * call.geometry.kernel_len();
        let activation = match options.activation {
            None => None,
            Some(f) => Some(Map::new(f).ok_or_else(|| Error::unsupported(super::OP, DType::F32))?),
        };
        let matrices = |r: &Tensor| r.reshape((call.batch, call.out_channels, call.geometry.len()));
        Ok(Integers {
            call,
            images,
            weight: weight.values.reshape((call.out_channels, taps))?,
            scales: weight
                .scales
                .reshape(weight.scales.len())?
                .astype(DType::F32)?
                .broadcast_to(call.out_channels)?
                .contiguous()?,
            bias: options.bias,
            activation,
            residual: options.residual.map(matrices).transpose()?,
        })
    }
    /// Computes the convolution, in float32 or an encoding; the result has this shape.
    pub fn result(&self, shape: &Shape, encoding: Option<Encoding>) -> Result<Tensor> {
        let call = self.call;
        let (outputs, positions) = (call.out_channels, call.geometry.len());
        let (group, offset) = conv::grouping(self.signed());
        let steps = &self.images.scales;
        let steps = steps.reshape(steps.len())?;
        let steps = steps.as_slice::<f32>()?;
        let zeros: Vec<i32> = match self.images.zeros() {
            None => fallible::filled(0, steps.len())?,
            Some(z) => {
                let zeros = floats_of_bytes(z, self.images.levels())?;
                fallible::collect(zeros.iter().map(|z| Ok::<_, Error>(*z as i32)))?
            }
        };
        let frame = Frame::new(&call.geometry, [call.image[1], call.image[2]]);
        let images = self.image_words(group, frame, &zeros)?;
        let weight = self.weight_words(group)?;

        // for each image its scale and the zero point of its words, combined with each row's
        let sums = row_sums(&self.weight)?;
        let rows = self.scales.as_slice::<f32>()?;
        let count = steps.len() * outputs;
        let mut scales = fallible::with_capacity(count)?;
        let mut offsets = fallible::with_capacity(count)?;
        for (step, zero) in steps.iter().zip(&zeros) {
            scales.extend(rows.iter().map(|row| step * row));
            offsets.extend(sums.iter().map(|sum| sum.wrapping_mul(zero + offset)));
        }
        let ones = (
            fallible::filled(1.0f32, positions)?,
            fallible::filled(1i32, positions)?,
        );
        let residual = self.residual.as_ref().map(Matrices::<f32>::new);
        let bias = self.bias.map(|b| b.as_slice::<f32>()).transpose()?;
        let mut ops = fallible::with_capacity(4 * call.batch)?;
        for n in 0..call.batch {
            let first = n % steps.len() * outputs;
            ops.push(EpilogueOp::Dequantize(Dequantize {
                rows: &scales[first..first + outputs],
                columns: &ones.0,
                offsets: &offsets[first..first + outputs],
                sums: &ones.1,
            }));
            ops.extend(bias.map(EpilogueOp::RowBias));
            ops.extend(self.activation.map(EpilogueOp::Map));
            ops.extend(residual.as_ref().map(|r| EpilogueOp::Add(r.get(n))));
        }
        let (geometry, sizes) = framed(&call.geometry, frame);
        let mut y = Tensor::empty(shape, DType::F32)?;
        let mut encoded = encoding
            .map(|e| Tensor::empty(shape, e.levels.dtype()))
            .transpose()?;
        let encoder = encoding.zip(encoded.as_mut()).map(|(encoding, d)| {
            // SAFETY: `y` outlives the products.
            unsafe { Encoder::new(encoding, &mut y, [outputs, positions], d) }
        });
        let encoder = encoder.transpose()?;
        gemm::by_groups(Products {
            call,
            geometry,
            sizes,
            words: call.in_channels_per_group().div_ceil(group),
            images: &images,
            weight: gemm::packed_slice(&weight),
            ops: &ops,
            post_op: encoder.as_ref().map(|e| e as &dyn PostOp),
            y: ResultMatrices::new(&mut y, call.out_channels_per_group(), positions)?,
        })?;
        Ok(encoded.unwrap_or(y))
    }
    fn signed(&self) -> bool {
        self.images.levels() == Levels::I8
    }
    /// The packed words of the weight, of `group` channels each. Cached with its storage from the
    /// second use on.
    fn weight_words(&self, group: usize) -> Result<Bytes> {
        let (values, kernel_len) = (&self.weight, self.call.geometry.kernel_len());
        let (outputs, taps) = (values.shape()[0], values.shape()[1]);
        let words = self.call.in_channels_per_group().div_ceil(group) * kernel_len;
        let pack = || {
            let values = values.contiguous()?;
            let q = values.as_bytes();
            let mut all = Scratch::<u32>::new(outputs.saturating_mul(words))?;
            let cost = Cost {
                bytes: taps + 4 * words,
                flops: 4 * words,
            };
            par::split(&mut all, words, 1, cost, |rows, d| {
                for (i, d) in rows.zip(d.chunks_exact_mut(words)) {
                    conv::weight_words(&q[i * taps..][..taps], kernel_len, d);
                }
            });
            Ok(all.into_bytes())
        };
        #[cfg(feature = "std")]
        if let Some(kept) = values.kept(DType::U8, PackedForm::Words(kernel_len), pack) {
            return Ok(kept);
        }
        pack()
    }
    /// The padded words of all images, `[batch, groups, words, ..]`.
    fn image_words(&self, group: usize, frame: Frame, zeros: &[i32]) -> Result<Scratch<u32>> {
        let call = self.call;
        let (in_channels, area) = (call.in_channels_per_group(), call.image[1] * call.image[2]);
        let (words, plane) = (in_channels.div_ceil(group), frame.area());
        let planes = (call.batch * call.groups).saturating_mul(words);
        let mut all = Scratch::<u32>::new(planes.saturating_mul(plane))?;
        let (q, signed) = (self.images.values.as_bytes(), self.signed());
        let cost = Cost {
            bytes: 4 * plane,
            flops: 2 * plane,
        };
        par::split(&mut all, plane, 1, cost, |range, d| {
            for (p, d) in range.zip(d.chunks_exact_mut(plane)) {
                let (image, word) = (p / words, p % words);
                let first = image * in_channels + word * group;
                let count = (in_channels - word * group).min(group);
                let channel = |c: usize| &q[(first + c.min(count - 1)) * area..][..area];
                let channels: [&[u8]; 4] = core::array::from_fn(channel);
                let around = zeros[image / call.groups % zeros.len()] as u8;
                conv::words(signed, &channels[..count], frame, around, d);
            }
        });
        Ok(all)
    }
}

/// The products of the weight's and the images' words, for each image and group.
struct Products<'a> {
    call: &'a ConvCall,
    geometry: Geometry,
    /// The sizes of padded planes, and the number of planes per group.
    sizes: [usize; 3],
    words: usize,
    images: &'a [u32],
    weight: &'a [u32],
    /// The epilogues of all images, in order.
    ops: &'a [EpilogueOp<'a, f32>],
    post_op: Option<&'a dyn PostOp>,
    y: ResultMatrices<f32>,
}
impl ByGroups for Products<'_> {
    type Out = Result<()>;
    fn run<G: Group>(self) -> Result<()> {
        let (call, words) = (self.call, self.words);
        let (out_channels, outputs, positions) = (
            call.out_channels_per_group(),
            call.out_channels,
            call.geometry.len(),
        );
        let k = words * self.geometry.kernel_len();
        let weight = Mat::from_slice(gemm::packed_as::<_, G::To>(self.weight), outputs, k);
        let size = words * self.sizes.iter().product::<usize>();
        let each = self.ops.len() / call.batch.max(1);
        // SAFETY: each matrix of the fresh tensor is one group of one image, and their parts don't
        // overlap.
        unsafe {
            products_of_sources(call.batch * call.groups, |i| {
                let (n, group) = (i / call.groups, i % call.groups);
                let rows = group * out_channels..(group + 1) * out_channels;
                let epilogue =
                    Epilogue::new(&self.ops[n * each..(n + 1) * each], outputs, positions);
                let image = &self.images[i * size..(i + 1) * size];
                let image = Image::of_planes(image, words, self.sizes);
                (
                    Strided::rows(weight.block(rows, 0..k)),
                    Patches::right(ImageRows::<_, G::To>::new(image, self.geometry)),
                    self.y.get(i),
                    epilogue
                        .with_post_op(self.post_op)
                        .of(n)
                        .at(group * out_channels, 0),
                )
            })
        }
    }
}

/// The geometry over padded planes, and their sizes. If every element is an output position, the
/// plane is a single row.
fn framed(g: &Geometry, frame: Frame) -> (Geometry, [usize; 3]) {
    let [height, width] = frame.sizes();
    let geometry = Geometry {
        padding: [0; 3],
        ..*g
    };
    if !geometry.is_pointwise([1, height, width]) {
        return (geometry, [1, height, width]);
    }
    let row = [1, 1, height * width];
    (
        Geometry {
            output_size: row,
            ..geometry
        },
        row,
    )
}
