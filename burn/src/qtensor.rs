//! Quantised tensors: small integers, and a scale for all of them or for each block.

use crate::FlexDevice;
use crate::convert::done;
use alloc::vec::Vec;
use burn_backend::quantization::{BlockLayout, QuantScheme, QuantValue, global_scale_dtype};
use burn_backend::{DType, TensorMetadata};
use burn_std::Shape;
use flex::ops::ewise;
use flex::{Result, Tensor};

/// A quantised tensor of the backend [`Flex`](crate::Flex): int8 values, and scales.
///
/// ```
/// use burn_backend::{TensorData, TensorMetadata, ops::{FloatTensorOps, QTensorOps}};
/// use burn_std::{QuantScheme, QuantStore, QuantValue};
/// use flex_burn::{Flex, FlexDevice};
/// let x = Flex::float_from_data(TensorData::from([127.0f32, -64.0, 0.6]), &FlexDevice);
/// let scheme = QuantScheme::default().with_value(QuantValue::Q8S).with_store(QuantStore::Native);
/// let q = Flex::quantize_dynamic(x, &scheme);
/// assert_eq!((q.scales(), q.shape().as_slice()), (&[1.0f32][..], &[3][..]));
/// assert_eq!(q.values().to_vec::<i8>().unwrap(), [127, -64, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct FlexQTensor {
    values: Tensor,
    scheme: QuantScheme,
    /// In row-major order of the blocks.
    scales: Vec<f32>,
    /// What the scales of blocks are relative to, in schemes of two levels.
    global: Option<f32>,
}

impl FlexQTensor {
    /// Panics if the values are not int8, or not as many blocks as scales.
    pub(crate) fn new(
        values: Tensor,
        scheme: QuantScheme,
        scales: Vec<f32>,
        global: Option<f32>,
    ) -> FlexQTensor {
        assert_eq!(values.dtype(), flex::DType::I8, "values must be int8");
        let expected = Blocks::new(values.shape(), &scheme).map_or(1, |b| b.count());
        assert_eq!(scales.len(), expected, "scales of {scheme:?}");
        assert_eq!(
            global.is_some(),
            global_scale_dtype(&scheme).is_some(),
            "the scale of all blocks belongs to schemes of two levels"
        );
        FlexQTensor {
            values,
            scheme,
            scales,
            global,
        }
    }
    /// The integers.
    pub fn values(&self) -> &Tensor {
        &self.values
    }
    /// The scales: one, or one for each block, in row-major order of the blocks.
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }
    /// What the scales of blocks are relative to, in schemes of two levels.
    pub fn global_scale(&self) -> Option<f32> {
        self.global
    }
    /// How values are quantised.
    pub(crate) fn quant_scheme(&self) -> QuantScheme {
        self.scheme
    }
    /// With other values of the same scheme and scales; for one scale only.
    #[track_caller]
    pub(crate) fn map(self, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> FlexQTensor {
        let values = done(f(&self.values));
        FlexQTensor::new(values, self.scheme, self.scales, self.global)
    }
    /// A permutation, or a reversal: of the blocks too.
    #[track_caller]
    pub(crate) fn rearranged(
        self,
        scheme: QuantScheme,
        f: impl Fn(&Tensor) -> Result<Tensor>,
    ) -> FlexQTensor {
        let values = done(f(&self.values));
        let scales = match Blocks::new(self.values.shape(), &self.scheme) {
            None => self.scales,
            Some(blocks) => {
                let grid = Tensor::from_vec(self.scales, blocks.grid());
                done(grid.and_then(|grid| f(&grid)?.to_vec()))
            }
        };
        FlexQTensor::new(values, scheme, scales, self.global)
    }
    /// Whether all values have one scale.
    pub(crate) fn has_one_scale(&self) -> bool {
        self.scheme.block_size().is_none()
    }
    /// The numbers, in float32.
    pub(crate) fn dequantized(&self) -> Result<Tensor> {
        let global = self.global.unwrap_or(1.0);
        let Some(blocks) = Blocks::new(self.values.shape(), &self.scheme) else {
            let scale = self.scales[0];
            return ewise(&self.values, move |q: i8| scale * f32::from(q));
        };
        let scales = self.scales.iter().map(|s| global * s).collect();
        let scales = Tensor::from_vec(scales, blocks.one_each())?;
        let values = self.values.reshape(blocks.split())?;
        let x = ewise((&values, &scales), |q: i8, scale: f32| scale * f32::from(q))?;
        x.reshape(self.values.shape())
    }
    /// A float32 tensor quantised with these scales, each rounded half away from zero.
    pub(crate) fn quantized(
        x: &Tensor,
        scheme: QuantScheme,
        scales: Vec<f32>,
        global: Option<f32>,
    ) -> Result<FlexQTensor> {
        if let QuantValue::E4M3 | QuantValue::E5M2 | QuantValue::E2M1 = scheme.value {
            panic!("flex quantises to integers, not to {:?}", scheme.value);
        }
        let (low, high) = scheme.value.range();
        let values = match Blocks::new(x.shape(), &scheme) {
            None => {
                let factor = 1.0 / scales[0];
                ewise(x, move |x: f32| nearest(x * factor, low, high))?
            }
            Some(blocks) => {
                let global = global.unwrap_or(1.0);
                let factors = scales.iter().map(|s| 1.0 / (global * s)).collect();
                let factors = Tensor::from_vec(factors, blocks.one_each())?;
                let x = x.reshape(blocks.split())?;
                let nearest = move |x: f32, factor: f32| nearest(x * factor, low, high);
                ewise((&x, &factors), nearest)?
            }
        };
        let values = values.reshape(x.shape())?;
        Ok(FlexQTensor::new(values, scheme, scales, global))
    }
}

impl TensorMetadata for FlexQTensor {
    type Device = FlexDevice;

    fn dtype(&self) -> DType {
        DType::QFloat(self.scheme)
    }
    fn shape(&self) -> Shape {
        Shape::from(self.values.shape())
    }
    fn rank(&self) -> usize {
        self.values.rank()
    }
    fn device(&self) -> FlexDevice {
        FlexDevice
    }
    fn can_mut(&self) -> bool {
        self.values.storage().is_unique()
    }
}

/// The nearest integer within two others; the one further from zero of two.
#[inline(always)]
fn nearest(x: f32, low: f32, high: f32) -> i8 {
    // The largest float below 1/2: with 1/2 itself, the float below 1/2 would become 1.
    let half = 0.5f32.next_down();
    let x = x.clamp(low, high);
    (x + half.copysign(x)) as i8
}

/// The blocks of a tensor: axes cut in pieces.
pub(crate) struct Blocks {
    /// Pieces of each axis, and elements of a piece.
    axes: Vec<[usize; 2]>,
}

impl Blocks {
    /// None for a scheme with one scale. Panics if blocks do not fill the tensor.
    pub fn new(shape: &[usize], scheme: &QuantScheme) -> Option<Blocks> {
        let size = scheme.block_size()?;
        let whole = BlockLayout::new(&Shape::from(shape), &size).divides();
        assert!(whole, "{shape:?} is not a whole number of {size:?} blocks");
        let of = |(n, block): (&usize, u8)| [n / block as usize, block as usize];
        let sizes = size.to_dim_vec(shape.len());
        Some(Blocks {
            axes: shape.iter().zip(sizes).map(of).collect(),
        })
    }
    pub fn count(&self) -> usize {
        self.axes.iter().map(|[n, _]| n).product()
    }
    /// The tensor's shape with each axis as two: pieces, and elements of a piece.
    pub fn split(&self) -> Vec<usize> {
        self.axes.iter().flatten().copied().collect()
    }
    /// One number for each block, that broadcasts to [`split`](Blocks::split).
    pub fn one_each(&self) -> Vec<usize> {
        self.axes.iter().flat_map(|[n, _]| [*n, 1]).collect()
    }
    pub fn grid(&self) -> Vec<usize> {
        self.axes.iter().map(|[n, _]| *n).collect()
    }
    /// The axes of [`split`](Blocks::split) that a block has.
    pub fn inner(&self) -> Vec<usize> {
        (0..self.axes.len()).map(|k| 2 * k + 1).collect()
    }
}
