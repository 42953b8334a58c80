//! The weights, in the program's image.

use crate::model::Layer;
use flex::{DType, Result, Tensor};

/// Aligned, so that tensors can lie in it.
#[repr(align(8))]
struct Aligned<T: ?Sized>(T);
static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../digits.safetensors"));

/// The position of a tensor in the file.
struct Place {
    start: usize,
    end: usize,
    shape: &'static [usize],
}
include!(concat!(env!("OUT_DIR"), "/places.rs")); // written by build.rs

impl Place {
    fn tensor(&self) -> Result<Tensor> {
        Tensor::from_static(&FILE.0[self.start..self.end], self.shape, DType::F32)
    }
}

pub fn layers() -> Result<[Layer; 2]> {
    Ok([Layer { weight: WEIGHT_0.tensor()?, bias: BIAS_0.tensor()? }, Layer { weight: WEIGHT_2.tensor()?, bias: BIAS_2.tensor()? }])
}

/// Whether they are read in place.
pub fn are_in_place(layers: &[Layer]) -> bool {
    let file = FILE.0.as_ptr_range();
    layers.iter().flat_map(|l| [&l.weight, &l.bias]).all(|t| !t.is_empty() && file.contains(&t.as_ptr()))
}
