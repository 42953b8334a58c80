//! The sizes and options of a convolution, and operands whose sums are exact.

use super::*;

/// A convolution's sizes, with options for each spatial axis.
#[derive(Clone, Debug)]
pub struct Case {
    pub batch: usize,
    pub channels: usize,
    pub image: Vec<usize>,
    pub outputs: usize,
    pub kernel: Vec<usize>,
    pub stride: Vec<usize>,
    pub padding: Vec<(usize, usize)>,
    pub dilation: Vec<usize>,
    pub groups: usize,
}
impl Case {
    /// The output size along an axis.
    pub fn places(&self, axis: usize) -> usize {
        let seen = self.dilation[axis] * (self.kernel[axis] - 1) + 1;
        let padded = self.image[axis] + self.padding[axis].0 + self.padding[axis].1;
        (padded - seen) / self.stride[axis] + 1
    }
    pub fn image_shape(&self) -> Vec<usize> {
        [&[self.batch, self.channels], &self.image[..]].concat()
    }
    pub fn weight_shape(&self) -> Vec<usize> {
        let lead = [self.outputs, self.channels / self.groups];
        [&lead, &self.kernel[..]].concat()
    }
    pub fn result_shape(&self) -> Vec<usize> {
        let places = (0..self.image.len()).map(|axis| self.places(axis));
        [self.batch, self.outputs]
            .into_iter()
            .chain(places)
            .collect()
    }
    pub fn options(&self) -> Conv<'static> {
        Conv {
            stride: PerAxis::from(&self.stride[..]),
            padding: Padding::Pairs(self.padding.iter().copied().collect()),
            dilation: PerAxis::from(&self.dilation[..]),
            groups: self.groups,
            ..Default::default()
        }
    }
}

/// Small integers, exact in every dtype, in one of several layouts.
pub fn integers(shape: &[usize], dtype: DType, seed: u64, layout: usize) -> Tensor {
    let mut random = Rng(seed);
    let n: usize = shape.iter().product();
    let values: Vec<f32> = (0..n).map(|_| random.below(5) as f32 - 2.0).collect();
    let t = Tensor::from_slice(&values, shape).unwrap();
    let t = t.astype(dtype).unwrap();
    match layout {
        1 => channels_last(&t),
        // reversed in memory
        2 => {
            let flipped = t.flip(-1).unwrap().contiguous().unwrap();
            flipped.flip(-1).unwrap()
        }
        // every second element of a larger tensor
        3 => {
            let twice = t.expand_dims(-1).unwrap();
            let both = ops::concat(&[&twice, &twice], -1).unwrap();
            both.select(-1, 0).unwrap()
        }
        _ => t,
    }
}
