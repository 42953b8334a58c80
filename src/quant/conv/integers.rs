//! Convolution in integers: products of words that hold four bytes, or two.

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{self, Frame, Geometry, Image, ImageRows, Patches};
use crate::kernel::gemm::{
    self, Activation, ByGroups, Dequantize, Epilogue, EpilogueOp, Group, Map, Mat, MatElement,
    PostOp, Scratch, Strided,
};
use crate::kernel::quant::{Levels, Requantized};
use crate::layout::Shape;
use crate::nn::{Conv, ConvCall};
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost};
use crate::quant::output::{Encoder, Encoding};
use crate::quant::qtensor::{QTensor, floats_of_bytes};
use crate::quant::weights::{Facts, facts};
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
    activation: Option<Activation>,
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
            activation: options.activation,
            residual: options.residual.map(matrices).transpose()?,
        })
    }
    /// Computes the convolution, in float32 or an encoding; the result has this shape.
    pub fn result(&self, shape: &Shape, encoding: Option<Encoding>) -> Result<Tensor> {
        let call = self.call;
        let (outputs, positions) = (call.out_channels, call.geometry.len());
        let Facts { sums, narrow } = facts(&self.weight, call.geometry.kernel_len())?;
        let (group, offset) = conv::grouping(narrow, self.signed());
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
        // bytes are packed from where they lie if every element is a position, unless that shifts them,
        // which the macrokernel would compensate for by itself
        let in_place = call.geometry.is_pointwise(call.image) && offset == 0;
        let images = match in_place {
            true => None,
            false => Some(self.image_words((narrow, group), frame, &zeros)?),
        };
        let weight = self.weight_words((narrow, group))?;

        // for each image its scale and the zero point of its words, combined with each row's
        let rows = self.scales.as_slice::<f32>()?;
        let count = steps.len() * outputs;
        let mut scales = fallible::with_capacity(count)?;
        let mut offsets = fallible::with_capacity(count)?;
        for (step, zero) in steps.iter().zip(&zeros) {
            scales.extend(rows.iter().map(|row| step * row));
            offsets.extend(sums.iter().map(|sum| sum.wrapping_mul(zero + offset)));
        }
        let of_image = |n: usize| {
            let first = n % steps.len() * outputs;
            first..first + outputs
        };
        let bias = self.bias.map(|b| b.as_slice::<f32>()).transpose()?;
        let (geometry, sizes) = framed(&call.geometry, frame);
        let products = Operands {
            call,
            geometry,
            sizes,
            words: call.in_channels_per_group().div_ceil(group),
            bytes: self.images.values.as_bytes(),
            signed: self.signed(),
            images: images.as_deref(),
            weight: gemm::packed_slice(&weight),
        };
        if let Some(Encoding { step, levels }) = encoding.filter(|_| self.rounds_at_once()) {
            let mut y = Tensor::empty(shape, DType::U8)?;
            let images = (0..call.batch).map(|n| {
                Ok::<_, Error>(Requantized {
                    offsets: &offsets[of_image(n)],
                    scales: &scales[of_image(n)],
                    bias: bias.unwrap_or_default(),
                    step,
                    levels: levels.range(false),
                    relu: self.activation.is_some(),
                })
            });
            let images = fallible::collect(images)?;
            let ops = images
                .iter()
                .map(|r| Ok::<_, Error>(EpilogueOp::Requantize(r)));
            let ops: Vec<EpilogueOp<u8>> = fallible::collect(ops)?;
            products.multiply(narrow, &ops, None, &mut y)?;
            return y.bitcast(levels.dtype());
        }
        let ones = (
            fallible::filled(1.0f32, positions)?,
            fallible::filled(1i32, positions)?,
        );
        let activation = match self.activation {
            None => None,
            Some(f) => Some(Map::new(f).ok_or_else(|| Error::unsupported(super::OP, DType::F32))?),
        };
        let residual = self.residual.as_ref().map(Matrices::<f32>::new);
        let mut ops = fallible::with_capacity(4 * call.batch)?;
        for n in 0..call.batch {
            ops.push(EpilogueOp::Dequantize(Dequantize {
                rows: &scales[of_image(n)],
                columns: &ones.0,
                offsets: &offsets[of_image(n)],
                sums: &ones.1,
            }));
            ops.extend(bias.map(EpilogueOp::RowBias));
            ops.extend(activation.map(EpilogueOp::Map));
            ops.extend(residual.as_ref().map(|r| EpilogueOp::Add(r.get(n))));
        }
        let mut y = Tensor::empty(shape, DType::F32)?;
        let mut encoded = encoding
            .map(|e| Tensor::empty(shape, e.levels.dtype()))
            .transpose()?;
        let encoder = encoding.zip(encoded.as_mut()).map(|(encoding, d)| {
            // SAFETY: `y` outlives the products.
            unsafe { Encoder::new(encoding, &mut y, [outputs, positions], d) }
        });
        let encoder = encoder.transpose()?;
        let post_op = encoder.as_ref().map(|e| e as &dyn PostOp);
        products.multiply(narrow, &ops, post_op, &mut y)?;
        Ok(encoded.unwrap_or(y))
    }
    /// Whether sums become an encoding without floats in between that are kept.
    fn rounds_at_once(&self) -> bool {
        self.activation.is_none_or(|f| f == Activation::Relu) && self.residual.is_none()
    }
    fn signed(&self) -> bool {
        self.images.levels() == Levels::I8
    }
    /// The packed words of the weight, of `group` channels each. Cached with its storage from the
    /// second use on.
    fn weight_words(&self, (narrow, group): (bool, usize)) -> Result<Bytes> {
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
                    conv::weight_words(narrow, &q[i * taps..][..taps], kernel_len, d);
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
    fn image_words(
        &self,
        (narrow, group): (bool, usize),
        frame: Frame,
        zeros: &[i32],
    ) -> Result<Scratch<u32>> {
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
                conv::words((narrow, signed), &channels[..count], frame, around, d);
            }
        });
        Ok(all)
    }
}

/// The operands of the products, for each image and group.
struct Operands<'a> {
    call: &'a ConvCall,
    geometry: Geometry,
    /// The sizes of padded planes, and the number of planes per group.
    sizes: [usize; 3],
    words: usize,
    /// The images as bytes, signed or not.
    bytes: &'a [u8],
    signed: bool,
    images: Option<&'a [u32]>,
    weight: &'a [u32],
}
impl Operands<'_> {
    /// Multiplies the words of the weight and of images, the weight's bytes being narrow or not. `ops`
    /// are the epilogues of all images, in order.
    fn multiply<C: Element + MatElement>(
        &self,
        narrow: bool,
        ops: &[EpilogueOp<C>],
        post_op: Option<&dyn PostOp>,
        y: &mut Tensor,
    ) -> Result<()> {
        let (rows, positions) = (self.call.out_channels_per_group(), self.call.geometry.len());
        let products = Products {
            operands: self,
            ops,
            post_op,
            y: ResultMatrices::<C>::new(y, rows, positions)?,
        };
        gemm::by_groups::<true, _>(narrow, products)
    }
}
struct Products<'a, C: MatElement> {
    operands: &'a Operands<'a>,
    ops: &'a [EpilogueOp<'a, C>],
    post_op: Option<&'a dyn PostOp>,
    y: ResultMatrices<C>,
}
impl<C: Element + MatElement> ByGroups for Products<'_, C> {
    type Out = Result<()>;
    fn run<G: Group>(self) -> Result<()> {
        let &Operands { call, words, .. } = self.operands;
        let (out_channels, positions) = (call.out_channels_per_group(), call.geometry.len());
        let k = words * self.operands.geometry.kernel_len();
        let weight = gemm::packed_as::<_, G::To>(self.operands.weight);
        let weight = Mat::from_slice(weight, call.out_channels, k);
        let each = self.ops.len() / call.batch.max(1);
        // SAFETY: each matrix of the fresh tensor is one group of one image, and their parts don't
        // overlap.
        let operands = |i: usize| unsafe {
            let (n, group) = (i / call.groups, i % call.groups);
            let rows = group * out_channels..(group + 1) * out_channels;
            let ops = &self.ops[n * each..(n + 1) * each];
            let epilogue = Epilogue::new(ops, call.out_channels, positions);
            let epilogue = epilogue.with_post_op(self.post_op).of(n).at(rows.start, 0);
            let weight = Strided::rows(weight.block(rows, 0..k));
            (weight, self.y.get(i), epilogue)
        };
        let (count, channels) = (call.batch * call.groups, call.in_channels_per_group());
        let Some(images) = self.operands.images else {
            let size = channels * positions;
            // SAFETY: as above.
            return unsafe {
                products_of_sources(count, |i| {
                    let (weight, y, epilogue) = operands(i);
                    let bytes = &self.operands.bytes[i * size..(i + 1) * size];
                    let bytes = Mat::from_slice(bytes, channels, positions);
                    let right = G::right(self.operands.signed, true);
                    (weight, Strided::b(right, bytes), y, epilogue)
                })
            };
        };
        let size = words * self.operands.sizes.iter().product::<usize>();
        // SAFETY: as above.
        unsafe {
            products_of_sources(count, |i| {
                let (weight, y, epilogue) = operands(i);
                let image = &images[i * size..(i + 1) * size];
                let image = Image::of_planes(image, words, self.operands.sizes);
                let image = ImageRows::<_, G::To>::new(image, self.operands.geometry);
                (weight, Patches::right(image), y, epilogue)
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
