//! The weights, embedded in the program's image.

use crate::model::Layer;
use alloc::vec::Vec;
use flex::{DType, Error, Result, Tensor};

/// Aligned, so that tensors can be read in place.
#[repr(align(8))]
struct Aligned<T: ?Sized>(T);

/// The position of a tensor in the file.
struct Place {
    start: usize,
    end: usize,
    shape: &'static [usize],
    dtype: DType,
}
include!(concat!(env!("OUT_DIR"), "/places.rs")); // written by build.rs

impl Place {
    fn tensor(&self) -> Result<Tensor> {
        Tensor::from_static(&FILE.0[self.start..self.end], self.shape, self.dtype)
    }
}

/// The layers of a network with `N` layers.
pub fn layers<const N: usize>() -> Result<[Layer; N]> {
    let mut layers = Vec::with_capacity(N);
    for [weight, bias, scales @ ..] in LAYERS {
        let scales = scales.first().map(Place::tensor).transpose()?;
        layers.push(Layer { weight: weight.tensor()?, bias: bias.tensor()?, scales });
    }
    layers.try_into().map_err(|_| Error::value("layers", "the file has others"))
}

/// Whether the layers are read in place.
pub fn are_in_place(layers: &[Layer]) -> bool {
    let file = FILE.0.as_ptr_range();
    let parts = layers.iter().flat_map(|l| [&l.weight, &l.bias].into_iter().chain(&l.scales));
    parts.into_iter().all(|t| !t.is_empty() && file.contains(&t.as_ptr()))
}
