//! Linear layers.

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::kernel::gemm::{Activation, Product, Stage, Stages};
#[cfg(feature = "std")]
use crate::kernel::gemm::{Panels, Scratch, lanes};
use crate::layout::Shape;
#[cfg(feature = "std")]
use crate::ops::linalg::tiles;
use crate::ops::linalg::{Matrices, Results, Sizes, products};
#[cfg(feature = "std")]
use crate::storage::{Bytes, Key};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// What follows the product in [`linear`]. Made from a bias, or none, by `into`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linear<'a> {
    /// `[out]`, added to each row.
    pub bias: Option<&'a Tensor>,
    /// Applied after the bias.
    pub activation: Option<Activation>,
    /// Of the result's shape or broadcast to it, added last.
    pub residual: Option<&'a Tensor>,
}
impl<'a> From<Option<&'a Tensor>> for Linear<'a> {
    fn from(bias: Option<&'a Tensor>) -> Self {
        Linear { bias, ..Default::default() }
    }
}

/// `activation(x weight^T + bias) + residual`: `x` is `[.., in]`, `weight` `[out, in]`, the result `[.., out]`. All that follows the
/// product is done while it is in cache, 16-bit floats rounded once, at the end. Dtypes are promoted.
///
/// A float32 or float64 weight that is used again is kept in the order in which products read it, beside the weight and until that is
/// written to or gone: see [`set_weight_packing`](crate::set_weight_packing).
///
/// Errors where the sizes don't fit, the dtypes have no common one or are bool, or an activation is asked for of what is no float.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
/// let weight = Tensor::from_slice(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0], [3, 2])?;
/// let bias = Tensor::from_slice(&[0.5f32, 0.0, 0.0], [3])?;
/// assert_eq!(nn::linear(&x, &weight, Some(&bias))?.to_vec::<f32>()?, [1.5, 2.0, 3.0]);
/// let residual = nn::Linear { residual: Some(&bias), ..Default::default() };
/// assert_eq!(nn::linear(&x, &weight, residual)?.to_vec::<f32>()?, [1.5, 2.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linear<'a>(x: &Tensor, weight: &Tensor, options: impl Into<Linear<'a>>) -> Result<Tensor> {
    let layer = Layer::new(x, weight, options.into())?;
    let mut y = Tensor::empty(&layer.shape, layer.dtype)?;
    layer.write(&mut y)?;
    Ok(y)
}

/// [`linear`] into a tensor of the result's shape and dtype, in its own storage where nobody shares that. Errors also where it has others.
///
/// ```
/// use flex::{DType, Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
/// let weight = Tensor::from_slice(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0], [3, 2])?;
/// let mut y = Tensor::zeros(&[1, 3], DType::F32)?;
/// nn::linear_into(&x, &weight, None, &mut y)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linear_into<'a>(x: &Tensor, weight: &Tensor, options: impl Into<Linear<'a>>, out: &mut Tensor) -> Result<()> {
    let layer = Layer::new(x, weight, options.into())?;
    out.make_result(OP, &layer.shape, layer.dtype)?;
    layer.write(out)
}

const OP: &str = "linear";

/// Operands of one dtype, as matrices, and what the result is.
struct Layer {
    x: Tensor,
    /// `[in, out]`.
    weight: Tensor,
    bias: Option<Tensor>,
    activation: Option<Activation>,
    residual: Option<Tensor>,
    sizes: Sizes,
    shape: Shape,
    dtype: DType,
}
impl Layer {
    fn new(x: &Tensor, weight: &Tensor, options: Linear) -> Result<Layer> {
        let Linear { bias, activation, residual } = options;
        let operands = [("x", x.shape(), x.dtype()), ("weight", weight.shape(), weight.dtype())];
        if weight.rank() != 2 || x.rank() == 0 {
            return Err(Error::shape_of(OP, "x must have the shape [.., in] and weight [out, in]", &operands));
        }
        let (n, k) = (weight.shape()[0], weight.shape()[1]);
        if x.shape()[x.rank() - 1] != k {
            let message = message!("last axis of x is {} but that of weight is {k}", x.shape()[x.rank() - 1]);
            return Err(Error::shape_of(OP, message, &operands));
        }
        let mut dtype = x.dtype().promote(weight.dtype(), OP)?;
        if let Some(b) = bias {
            dtype = dtype.promote(b.dtype(), OP)?;
            if b.shape() != [n] {
                let message = message!("bias must have the shape [{n}]");
                return Err(Error::shape_of(OP, message, &[operands[0], operands[1], ("bias", b.shape(), b.dtype())]));
            }
        }
        let lead = &x.shape()[..x.rank() - 1];
        let m = lead.iter().product::<usize>();
        let shape: Shape = lead.iter().copied().chain([n]).collect();
        if let Some(r) = residual {
            dtype = dtype.promote(r.dtype(), OP)?;
        }
        if !dtype.is_available() || dtype.is_bool() {
            return Err(Error::unsupported(OP, dtype));
        }
        if activation.is_some() && !dtype.is_float() {
            return Err(Error::dtype(OP, message!("activations are of floats, not of {dtype}")));
        }
        let residual = match residual {
            None => None,
            Some(r) => {
                let whole = r.broadcast_to(&shape).map_err(|_| {
                    let message = message!("residual does not broadcast to {:?}", shape.as_slice());
                    Error::shape_of(OP, message, &[operands[0], operands[1], ("residual", r.shape(), r.dtype())])
                })?;
                Some(whole.astype(dtype)?.reshape(&[m as isize, n as isize])?)
            }
        };
        let x = x.astype(dtype)?.reshape(&[m as isize, k as isize])?;
        let weight = weight.astype(dtype)?.transpose(0, 1)?;
        let bias = bias.map(|b| b.astype(dtype)?.contiguous()).transpose()?;
        Ok(Layer { x, weight, bias, activation, residual, sizes: Sizes { m, n, k }, shape, dtype })
    }
    /// Computes into `y`, contiguous, of the shape and dtype.
    fn write(&self, y: &mut Tensor) -> Result<()> {
        let unsupported = || Err(Error::unsupported(OP, self.dtype));
        match self.activation {
            Some(f) => dispatch!(floating self.dtype, |T| self.run::<T>(Some(f.function::<<T as Product>::Lane>()), y), else unsupported()),
            None => dispatch!(number self.dtype, |T| self.run::<T>(None, y), else unsupported()),
        }
    }
    fn run<T: Element + Product>(&self, activation: Option<fn(&mut [T::Lane])>, y: &mut Tensor) -> Result<()> {
        let Sizes { m, n, .. } = self.sizes;
        let mut list = SmallVec::<[Stage<T>; 3]>::new();
        if let Some(b) = &self.bias {
            list.push(Stage::Bias(b.as_slice()?));
        }
        list.extend(activation.map(Stage::Map));
        list.extend(self.residual.as_ref().map(|r| Stage::Add(Matrices::new(r).get(0))));
        let (a, b, c) = (Matrices::<T>::new(&self.x), Matrices::<T>::new(&self.weight), Results::<T>::new(y, m, n)?);
        let stages = Stages::new(&list, m, n);
        #[cfg(feature = "std")]
        if let Some(packed) = self.packed::<T>() {
            let panels = packed.as_ref().map(|p| Panels::of(self.sizes.k, n, lanes(p)));
            // SAFETY: as below.
            return unsafe { tiles(self.sizes, |i| (a.get(i), b.get(i), c.get(i)), panels, stages) };
        }
        // SAFETY: the shapes are those of `linear`; `c.get(0)` is the fresh result.
        unsafe { products(self.sizes, 1, |i| (a.get(i), b.get(i), c.get(i)), stages) }
    }
    /// The weight as panels, which stay with its storage from the second product on (none in the first one); nothing where they would not
    /// be worth it. Whether a product is one of tiles follows from its shape and the storage's kind, never from what happened before:
    /// it would show in the bits.
    #[cfg(feature = "std")]
    fn packed<T: Element + Product>(&self) -> Option<Option<Bytes>> {
        /// Rows for which packing is less than a fiftieth of the work.
        const MOST_ROWS: usize = 1024;
        let (w, Sizes { m, n, k }) = (&self.weight, self.sizes);
        // One row is bound by memory, of which the weight itself is no more.
        if !(T::SAME && T::DTYPE.is_float() && m > 1 && n.min(k) >= 16 && w.storage().keeps()) {
            return None;
        }
        let key = Key {
            first: w.layout().offset().wrapping_mul(size_of::<T>()),
            sizes: [k, n],
            strides: [w.strides()[0], w.strides()[1]],
            width: size_of::<T>(),
        };
        Some(w.storage().derived(key, m <= MOST_ROWS, || {
            let mut panels = Scratch::new(Panels::<T::Lane>::len(k, n))?;
            Panels::pack(Matrices::<T>::new(w).get(0), &mut panels);
            Ok(panels.into_bytes())
        }))
    }
}
