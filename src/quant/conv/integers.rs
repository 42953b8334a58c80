//! The convolution in integers: products of words of four bytes, or two.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{self, Frame, Geometry, Image, Patches};
use crate::kernel::gemm::{
    self, ByGroups, Dequantize, Epilogue, EpilogueOp, Group, Map, Mat, Scratch, Strided,
};
use crate::kernel::quant::Levels;
use crate::layout::Shape;
use crate::nn::{Call, Conv};
use crate::ops::linalg::{Matrices, Results};
use crate::par::{self, Cost};
use crate::quant::qtensor::{QTensor, floats_of_bytes};
use crate::quant::weights::row_sums;
use crate::storage::Bytes;
#[cfg(feature = "std")]
use crate::storage::{PackedForm, PackedKey};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// Operands of a convolution whose groups see some channels and make some.
pub(super) struct Integers<'a> {
    call: &'a Call,
    /// `[batch, channels, height, width]`, contiguous, a step for each image or one for all.
    images: &'a QTensor,
    /// `[outputs, taps]`
    weight: Tensor,
    /// Of the weight's rows.
    scales: Tensor,
    bias: Option<&'a Tensor>,
    activation: Option<Map<f32>>,
    /// `[batch, outputs, places]`
    residual: Option<Tensor>,
}
impl<'a> Integers<'a> {
    pub fn new(
        call: &'a Call,
        images: &'a QTensor,
        weight: &QTensor,
        options: &Conv<'a>,
    ) -> Result<Self> {
        let taps = call.seen() * call.geometry.positions();
        let activation = match options.activation {
            None => None,
            Some(f) => Some(Map::new(f).ok_or_else(|| Error::unsupported(super::OP, DType::F32))?),
        };
        let matrices = |r: &Tensor| r.reshape((call.batch, call.outputs, call.geometry.len()));
        Ok(Integers {
            call,
            images,
            weight: weight.values.reshape((call.outputs, taps))?,
            scales: weight
                .scales
                .reshape(weight.scales.len())?
                .astype(DType::F32)?
                .broadcast_to(call.outputs)?
                .contiguous()?,
            bias: options.bias,
            activation,
            residual: options.residual.map(matrices).transpose()?,
        })
    }
    /// The convolution, of a shape.
    pub fn result(&self, shape: &Shape) -> Result<Tensor> {
        let mut y = Tensor::empty(shape, DType::F32)?;
        gemm::by_groups(ByWords(self, &mut y))?;
        Ok(y)
    }
    /// The words of the weight, which stay with its storage from the second time on.
    fn weight_words<G: Group>(&self, packing: G) -> Result<Bytes> {
        let (values, positions) = (&self.weight, self.call.geometry.positions());
        let (outputs, taps) = (values.shape()[0], values.shape()[1]);
        let words = self.call.seen().div_ceil(G::GROUP) * positions;
        let pack = || {
            let values = values.contiguous()?;
            let q = values.as_bytes();
            let mut all = Scratch::<G::To>::new(outputs.saturating_mul(words))?;
            let cost = Cost {
                bytes: taps + 4 * words,
                flops: 4 * words,
            };
            par::split(&mut all, words, 1, cost, |rows, d| {
                for (i, d) in rows.zip(d.chunks_exact_mut(words)) {
                    conv::weight_words(packing, &q[i * taps..][..taps], positions, d);
                }
            });
            Ok(all.into_bytes())
        };
        #[cfg(feature = "std")]
        if values.storage().caches_packed() {
            let key = PackedKey {
                first: values.layout().offset(),
                sizes: [outputs, taps],
                strides: [values.strides()[0], values.strides()[1]],
                dtypes: [DType::U8, DType::I8],
                form: PackedForm::Words(positions),
            };
            if let Some(kept) = values.storage().packed(key, true, pack) {
                return Ok(kept);
            }
        }
        pack()
    }
    /// The framed words of all images, `[batch, groups, words, ..]`.
    fn image_words<G: Group>(
        &self,
        packing: G,
        frame: Frame,
        zeros: &[i32],
    ) -> Result<Scratch<G::To>> {
        let call = self.call;
        let (seen, area) = (call.seen(), call.image[1] * call.image[2]);
        let (words, plane) = (seen.div_ceil(G::GROUP), frame.len());
        let planes = (call.batch * call.groups).saturating_mul(words);
        let mut all = Scratch::<G::To>::new(planes.saturating_mul(plane))?;
        let q = self.images.values.as_bytes();
        let cost = Cost {
            bytes: 4 * plane,
            flops: 2 * plane,
        };
        par::split(&mut all, plane, 1, cost, |range, d| {
            for (p, d) in range.zip(d.chunks_exact_mut(plane)) {
                let (group, word) = (p / words, p % words);
                let first = group * seen + word * G::GROUP;
                let count = (seen - word * G::GROUP).min(G::GROUP);
                let channel = |c: usize| &q[(first + c.min(count - 1)) * area..][..area];
                let channels: [&[u8]; 4] = core::array::from_fn(channel);
                let around = zeros[group / call.groups % zeros.len()] as u8;
                conv::words(packing, &channels[..count], frame, around, d);
            }
        });
        Ok(all)
    }
}

struct ByWords<'a, 'b>(&'b Integers<'a>, &'b mut Tensor);
impl ByGroups for ByWords<'_, '_> {
    type Out = Result<()>;
    fn run<G: Group>(self) -> Result<()> {
        let ByWords(operands, y) = self;
        let call = operands.call;
        let (made, outputs, places) = (call.made(), call.outputs, call.geometry.len());
        let signed = operands.images.levels() == Levels::I8;
        let (left, right) = (G::left(true), G::right(signed, true));
        let steps = &operands.images.scales;
        let steps = steps.reshape(steps.len())?;
        let steps = steps.as_slice::<f32>()?;
        let zeros: Vec<i32> = match operands.images.zeros() {
            None => fallible::filled(0, steps.len())?,
            Some(z) => {
                let zeros = floats_of_bytes(z, operands.images.levels())?;
                fallible::collect(zeros.iter().map(|z| Ok::<_, Error>(*z as i32)))?
            }
        };
        let frame = Frame::new(&call.geometry, [call.image[1], call.image[2]]);
        let image_words = operands.image_words(right, frame, &zeros)?;
        let weight_words = operands.weight_words(left)?;
        let (geometry, image) = framed(&call.geometry, frame);
        let words = call.seen().div_ceil(G::GROUP);
        let k = words * geometry.positions();
        let weight = Mat::from_slice(gemm::packed_slice::<G::To>(&weight_words), outputs, k);

        // of each image its scale and the zero of its words, times what each row has
        let sums = row_sums(&operands.weight)?;
        let rows = operands.scales.as_slice::<f32>()?;
        let each = |i: usize| (steps[i / outputs], zeros[i / outputs] + right.offset());
        let count = steps.len() * outputs;
        let scales =
            fallible::collect((0..count).map(|i| Ok::<_, Error>(each(i).0 * rows[i % outputs])))?;
        let offsets = fallible::collect(
            (0..count).map(|i| Ok::<_, Error>(sums[i % outputs].wrapping_mul(each(i).1))),
        )?;
        let ones = (
            fallible::filled(1.0f32, places)?,
            fallible::filled(1i32, places)?,
        );
        let residual = operands.residual.as_ref().map(Matrices::<f32>::new);
        let bias = operands.bias.map(|b| b.as_slice::<f32>()).transpose()?;
        let ops = |n: usize| {
            let of = n % steps.len() * outputs..(n % steps.len() + 1) * outputs;
            let first = EpilogueOp::Dequantize(Dequantize {
                rows: &scales[of.clone()],
                columns: &ones.0,
                offsets: &offsets[of],
                sums: &ones.1,
            });
            [
                Some(first),
                bias.map(EpilogueOp::RowBias),
                operands.activation.map(EpilogueOp::Map),
                residual.as_ref().map(|r| EpilogueOp::Add(r.get(n))),
            ]
        };
        let mut all = fallible::with_capacity(4 * call.batch)?;
        all.extend((0..call.batch).flat_map(|n| ops(n).into_iter().flatten()));
        let each = all.len() / call.batch.max(1);

        let y = Results::<f32>::new(y, made, places)?;
        let size = words * frame.len();
        // SAFETY: each matrix of the fresh tensor is one group of one image, whose parts don't overlap.
        unsafe {
            products_of_sources(call.batch * call.groups, |i| {
                let (n, group) = (i / call.groups, i % call.groups);
                let rows = group * made..(group + 1) * made;
                let epilogue = Epilogue::new(&all[n * each..(n + 1) * each], outputs, places);
                let words = Image::of_planes(&image_words[i * size..(i + 1) * size], words, image);
                (
                    Strided::rows(weight.block(rows, 0..k)),
                    Patches::new(words, geometry),
                    y.get(i),
                    epilogue.at(group * made, 0),
                )
            })
        }
    }
}

/// How a kernel moves over framed planes, and their sizes: where each element is a place, they are one row.
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
    let places = row;
    (Geometry { places, ..geometry }, row)
}
