//! Linear layers whose weights are quantised.

use super::qtensor::{QTensor, floats_of_bytes};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::Failure;
use crate::exec::products::{Sizes, product_of_bytes, products_of_sources};
use crate::fallible;
use crate::kernel::gemm::{
    self, Activation, Dequantize, Epilogue, EpilogueOp, Map, MatElement, MatMut, Panels, Scratch, Strided,
};
use crate::kernel::quant::{self, Calibration, FEW_ROWS, Levels, Rule, Scales, Step, Weights};
use crate::layout::Shape;
use crate::ops::linalg::{Matrices, kept_panels};
use crate::par::{self, Cost};
use crate::simd;
#[cfg(feature = "std")]
use crate::storage::{PackedForm, PackedKey};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// How [`linear`] takes its input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Inputs {
    /// As floats: weights of any kind are decoded while they are packed for the product, or, for up to
    /// four rows, in registers.
    #[default]
    Float,
    /// Each row as uint8 with a zero point of its own, found from the least and the largest number. Of weights
    /// of int8 without zero points, per tensor or per row.
    Dynamic,
    /// The same as int8, without zero points: a sum over the weight less, which counts where it is not
    /// kept, as on a microcontroller.
    DynamicSymmetric,
    /// All as uint8 of this scale and zero point.
    Static {
        /// Positive.
        scale: f32,
        /// What stands for 0.
        zero: u8,
    },
}

/// What goes with the product in [`linear`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Linear<'a> {
    /// `[out]`, added to each row.
    pub bias: Option<&'a Tensor>,
    /// Applied after the bias.
    pub activation: Option<Activation>,
    /// Of the result's shape or broadcast to it, added last.
    pub residual: Option<&'a Tensor>,
    /// How the input is taken.
    pub inputs: Inputs,
}

const OP: &str = "quant.linear";
/// Terms of a sum whose products of bytes fit 32 bits.
const TERMS: usize = (i32::MAX / (255 * 128)) as usize;

/// `activation(x weight^T + bias) + residual` by a quantised weight `[out, in]`: `x` is `[.., in]`, the
/// result `[.., out]`, float32, or the dtype of `x` where that is narrower.
///
/// With [`Inputs::Dynamic`] each row of `x` is quantised as by [`quantize`](super::quantize) and the products are
/// summed exactly in int32: the result is `(sum((q - zero) w)) * scale_x * scale_w`, rounded after each of these
/// three steps (conversion, and two multiplications). NaN in `x` counts as 0 there. A weight that is used
/// again stays packed beside its values, as those of [`nn::linear`](crate::nn::linear).
///
/// Errors where sizes don't fit, `x` is no float, the activation does not exist, or the weight is none that
/// the inputs can be multiplied by as integers.
///
/// ```
/// use flex::{Tensor, quant};
/// let weight = quant::quantize(&Tensor::from([[1.0f32, 0.5], [-1.0, 0.0]]), Default::default())?;
/// let x = Tensor::from([[3.0f32, 2.0]]);
/// let y = quant::linear(&x, &weight, quant::Linear { inputs: quant::Inputs::Dynamic, ..Default::default() })?;
/// assert!((y.at::<f32>((0, 0))? - 4.0).abs() < 0.02 && y.at::<f32>((0, 1))? == -3.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linear(x: &Tensor, weight: &QTensor, options: Linear) -> Result<Tensor> {
    let layer = Layer::new(x, weight, options)?;
    let y = match options.inputs {
        _ if layer.sizes.k == 0 => layer.empty_sums(),
        Inputs::Float => layer.decoded(weight),
        Inputs::Dynamic => layer.by_rows::<u8>(weight),
        Inputs::DynamicSymmetric => layer.by_rows::<i8>(weight),
        Inputs::Static { scale, zero } => layer.by_step(weight, scale, zero),
    }?;
    match x.dtype().size() < 4 {
        true => y.astype(x.dtype()),
        false => Ok(y),
    }
}

/// Operands as contiguous float32, and what follows the product.
struct Layer {
    x: Tensor,
    bias: Option<Tensor>,
    activation: Option<Map<f32>>,
    residual: Option<Tensor>,
    sizes: Sizes,
    shape: Shape,
}
impl Layer {
    fn new(x: &Tensor, weight: &QTensor, options: Linear) -> Result<Layer> {
        let operands = [("x", x.shape(), x.dtype()), ("weight", weight.shape(), weight.values.dtype())];
        if weight.rank() != 2 || x.rank() == 0 || x.shape()[x.rank() - 1] != weight.shape()[1] {
            let message = "x must have the shape [.., in] and weight [out, in]";
            return Err(Error::shape_of(OP, message, &operands));
        }
        if !x.dtype().is_float() || !x.dtype().is_available() {
            return Err(Error::dtype(OP, message!("x must be of floats, not {}", x.dtype())));
        }
        let (n, k) = (weight.shape()[0], weight.shape()[1]);
        let lead = &x.shape()[..x.rank() - 1];
        let m = lead.iter().product::<usize>();
        let shape: Shape = lead.iter().copied().chain([n]).collect();
        let float = |name: &'static str, t: &Tensor, to: &[usize]| {
            if !t.dtype().is_float() {
                return Err(Error::dtype(OP, message!("{name} must be of floats, not {}", t.dtype())));
            }
            let whole = t.broadcast_to(to).map_err(|_| {
                let message = message!("{name} does not broadcast to {to:?}");
                Error::shape_of(OP, message, &[operands[0], operands[1], (name, t.shape(), t.dtype())])
            })?;
            whole.astype(DType::F32)
        };
        let bias = options.bias.map(|b| float("bias", b, &[n])?.contiguous()).transpose()?;
        let residual = options.residual.map(|r| float("residual", r, &shape)?.reshape((m, n)));
        let activation = match options.activation {
            None => None,
            Some(f) => Some(Map::new(f).ok_or_else(|| Error::unsupported(OP, DType::F32))?),
        };
        Ok(Layer {
            x: x.astype(DType::F32)?.contiguous()?.reshape((m, k))?,
            bias,
            activation,
            residual: residual.transpose()?,
            sizes: Sizes { m, n, k },
            shape,
        })
    }
    /// A result, written by `f` as `[m, n]` with the operations that end the product, `first` before
    /// them.
    fn result<'a>(
        &'a self,
        first: Option<Dequantize<'a>>,
        f: impl FnOnce(MatMut<f32>, Epilogue<f32>) -> Result<()>,
    ) -> Result<Tensor> {
        let Sizes { m, n, .. } = self.sizes;
        let mut y = Tensor::empty(&self.shape, DType::F32)?;
        let mut ops = SmallVec::<[EpilogueOp<f32>; 4]>::new();
        ops.extend(first.map(EpilogueOp::Dequantize));
        if let Some(b) = &self.bias {
            ops.push(EpilogueOp::Bias(b.as_slice()?));
        }
        ops.extend(self.activation.map(EpilogueOp::Map));
        ops.extend(self.residual.as_ref().map(|r| EpilogueOp::Add(Matrices::new(r).get(0))));
        f(MatMut::from_slice(y.as_mut_slice()?, m, n), Epilogue::new(&ops, m, n))?;
        Ok(y)
    }
    /// The result where nothing is summed.
    fn empty_sums(&self) -> Result<Tensor> {
        self.result(None, |mut c, epilogue| {
            for i in 0..c.rows() {
                let row = c.row(i);
                row.fill(0.0);
                let cols = row.len();
                gemm::finish_in_place(epilogue.at(i, 0), row, cols);
            }
            Ok(())
        })
    }

    /// The product by floats.
    fn decoded(&self, weight: &QTensor) -> Result<Tensor> {
        let Sizes { m, n, k } = self.sizes;
        let weight = match weight.packed {
            Some(0) => weight.unpacked()?,
            _ => weight.clone(),
        };
        let per_row = weight.scales.shape()[0] == n;
        let scales = match per_row {
            true => weight.scales.contiguous()?,
            // one for all, or for some rows together
            false => {
                let (rows, blocks) = (weight.scales.shape()[0], weight.scales.shape()[1]);
                match rows {
                    1 => weight.scales.contiguous()?,
                    _ => each_row(&weight.scales, n, blocks)?,
                }
            }
        };
        let per_row = scales.shape()[0] == n;
        let zeros = match &weight.zeros {
            None => None,
            Some(z) if z.shape() == scales.shape() => Some(z.contiguous()?),
            Some(z) => Some(each_row(z, n, z.shape()[1])?),
        };
        let values = weight.values.contiguous()?;
        let zeros = zeros.as_ref().map_or(&[][..], Tensor::as_bytes);
        let of = match scales.dtype() {
            #[cfg(feature = "half")]
            DType::F16 => Scales::F16(scales.as_slice()?),
            #[cfg(feature = "half")]
            DType::BF16 => Scales::Bf16(scales.as_slice()?),
            _ => Scales::F32(scales.as_slice()?),
        };
        let weights = Weights::new(values.as_bytes(), weight.levels, [n, k], of, zeros, per_row);
        let x = self.x.as_slice::<f32>()?;
        self.result(None, |c, epilogue| {
            if m <= FEW_ROWS && !simd::MICROCONTROLLER {
                return self.few_rows(x, &weights, c, epilogue);
            }
            let c = Parts(c);
            // SAFETY: the only result.
            unsafe {
                products_of_sources(1, |_| {
                    let a = Strided::rows(gemm::Mat::from_slice(x, m, k));
                    (a, weights, c.whole(), epilogue)
                })
            }
        })
    }
    fn few_rows(&self, x: &[f32], w: &Weights, mut c: MatMut<f32>, epilogue: Epilogue<f32>) -> Result<()> {
        let Sizes { m, n, k } = self.sizes;
        if m * n == 0 {
            return Ok(());
        }
        let mut ordered = fallible::filled(0.0f32, m * k)?;
        for (x, d) in x.chunks_exact(k).zip(ordered.chunks_exact_mut(k)) {
            quant::in_order(w, x, d);
        }
        let mut sums = fallible::filled(0.0f32, n * m)?;
        let cost = Cost {
            bytes: k / w.levels().per_byte() + 4 * w.blocks(),
            flops: m * k,
        };
        let failure = Failure::default();
        par::split(&mut sums, m, 4, cost, |rows, d| {
            failure.note(quant::few_rows(w, &ordered, rows, d));
        });
        failure.result()?;
        for i in 0..m {
            let row = c.row(i);
            for (y, sums) in row.iter_mut().zip(sums.chunks_exact(m)) {
                *y = sums[i];
            }
            gemm::finish_in_place(epilogue.at(i, 0), row, n);
        }
        Ok(())
    }

    /// The product by rows that are quantised each by itself.
    fn by_rows<A: Element + MatElement<Acc = u32>>(&self, weight: &QTensor) -> Result<Tensor> {
        let Sizes { m, k, .. } = self.sizes;
        let affine = A::DTYPE == DType::U8;
        let levels = if affine { Levels::U8 } else { Levels::I8 };
        let rule = Rule {
            levels: levels.range(!affine),
            affine,
            calibration: Calibration::MinMax,
            round: |scale| scale,
        };
        let mut q = Tensor::empty([m, k], A::DTYPE)?;
        let mut steps = fallible::filled(Step::default(), m)?;
        super::quantize::together(self.x.as_slice()?, k, &rule, q.as_mut_bytes()?, &mut steps)?;
        self.integers::<A>(&q, &steps, weight)
    }
    /// The product by an input of one step.
    fn by_step(&self, weight: &QTensor, scale: f32, zero: u8) -> Result<Tensor> {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Error::value(OP, message!("scale is {scale}; it must be positive and finite")));
        }
        let Sizes { m, k, .. } = self.sizes;
        let step = Step { scale, zero: zero as i32 };
        let x = self.x.as_slice::<f32>()?;
        let mut q = Tensor::empty([m, k], DType::U8)?;
        par::split(q.as_mut_bytes()?, 1, 64, Cost { bytes: 5, flops: 8 }, |r, d| {
            quant::encode(&x[r], step, Levels::U8.range(false), d)
        });
        self.integers::<u8>(&q, &fallible::filled(step, m)?, weight)
    }
    /// The product by rows of integers with a step each.
    fn integers<A: Element + MatElement<Acc = u32>>(
        &self,
        q: &Tensor,
        steps: &[Step],
        weight: &QTensor,
    ) -> Result<Tensor> {
        let Sizes { n, k, .. } = self.sizes;
        let scales = &weight.scales;
        let exact = weight.zeros.as_ref().map_or(Ok(true), |z| {
            Ok::<_, Error>(floats_of_bytes(z, weight.levels)?.iter().all(|z| *z == 0.0))
        })?;
        if weight.levels != Levels::I8 || !exact || !(scales.shape()[0] == n || scales.shape()[0] == 1) || scales.shape()[1] != 1 {
            return Err(Error::value(
                OP,
                message!(
                    "inputs are quantised for weights of int8 without zero points, per tensor or axis 0, not for \
                     {} in blocks of {:?}: take Inputs::Float",
                    weight.levels.name(),
                    &weight.block()[..]
                ),
            ));
        }
        if k > TERMS {
            return Err(Error::value(OP, message!("sums of {k} products of bytes don't fit int32: {TERMS} do")));
        }
        let columns = scales.astype(DType::F32)?.broadcast_to([n, 1])?.contiguous()?;
        let rows: Vec<f32> = fallible::collect(steps.iter().map(|s| Ok::<_, Error>(s.scale)))?;
        let offsets: Vec<i32> = fallible::collect(steps.iter().map(|s| Ok::<_, Error>(s.zero)))?;
        let sums = match offsets.iter().all(|zero| *zero == 0) {
            true => fallible::filled(0, n)?,
            false => row_sums(&weight.values)?,
        };
        let b = weight.values.transpose(0, 1)?;
        let kept = kept_panels::<A, i8>(self.sizes, &b).flatten();
        let packed = kept.as_ref().map(|packed| {
            let blocks = gemm::blocks::<A, i8>(k);
            Panels::of(blocks, n, gemm::packed_slice(packed))
        });
        let dequantize = Dequantize {
            rows: &rows,
            columns: columns.as_slice()?,
            offsets: &offsets,
            sums: &sums,
        };
        let (a, b) = (Matrices::<A>::new(q), Matrices::<i8>::new(&b));
        self.result(Some(dequantize), |c, epilogue| {
            product_of_bytes(a.get(0), b.get(0), c, packed, epilogue)
        })
    }
}

/// A result that is handed out once.
struct Parts<'a>(MatMut<'a, f32>);
impl Parts<'_> {
    fn whole(&self) -> MatMut<'_, f32> {
        // SAFETY: the caller of `products_of_sources` asks for it once a task, which takes a part of its own.
        unsafe { self.0.part(0..self.0.rows(), 0..self.0.cols()) }
    }
}

/// Scales or zero points of rows that share them, one a row.
fn each_row(t: &Tensor, n: usize, blocks: usize) -> Result<Tensor> {
    let groups = t.shape()[0];
    let each = t.expand_dims(1)?.broadcast_to([groups, n / groups.max(1), blocks])?;
    each.reshape((n, blocks))?.contiguous()
}

/// The sum of each row of int8, which stays with the storage from the second time on.
fn row_sums(values: &Tensor) -> Result<Vec<i32>> {
    let (n, k) = (values.shape()[0], values.shape()[1]);
    let compute = || {
        let values = values.contiguous()?;
        let q = values.as_bytes();
        let mut sums = fallible::filled(0i32, n)?;
        par::split(&mut sums, 1, 1, Cost { bytes: k, flops: k }, |r, d| {
            quant::row_sums(&q[r.start * k..r.end * k], k, d)
        });
        Ok(sums)
    };
    #[cfg(feature = "std")]
    if values.storage().caches_packed() {
        let key = PackedKey {
            first: values.layout().offset(),
            sizes: [n, k],
            strides: [values.strides()[0], values.strides()[1]],
            dtypes: [DType::I32, DType::I8],
            form: PackedForm::Sums,
        };
        let kept = values.storage().packed(key, true, || {
            let sums: Vec<i32> = compute()?;
            let mut kept = Scratch::<u32>::new(n)?;
            kept.iter_mut().zip(&sums).for_each(|(kept, sum)| *kept = *sum as u32);
            Ok(kept.into_bytes())
        });
        if let Some(kept) = kept {
            let kept: &[u32] = gemm::packed_slice(&kept);
            return fallible::collect(kept[..n].iter().map(|sum| Ok(*sum as i32)));
        }
    }
    compute()
}
