//! Functions written out, on flex under Burn's queue: in the column of flex-burn, `Fusion<Flex>`.

use super::elementwise::{erf, gelu};
use super::rows;
use crate::data::floats;
use burn_backend::tensor::FloatTensor;
use burn_backend::{Backend, TensorData};
use burn_std::reader::try_read_sync;
use flex_burn::{Flex, Fusion};

const N: &[usize] = &[1024, 1024];

rows! { B of [Fusion<Flex>, burn_flex::Flex, burn_ndarray::NdArray];
    "fusion" {
        "gelu 1M" => { let x = floats::<B>(N, 1); move || done::<B>(B::gelu(x.clone())) };
        "gelu by erf 1M" => { let x = floats::<B>(N, 1); move || done::<B>(gelu::<B>(x.clone(), B::float_erf)) };
        "gelu by an erf of its own 1M" => { let x = floats::<B>(N, 1); move || done::<B>(gelu::<B>(x.clone(), erf::<B>)) };
        "gelu by an erf of its own, 16 elements" => { let x = floats::<B>(&[4, 4], 1); move || done::<B>(gelu::<B>(x.clone(), erf::<B>)) };
    }
}

/// A result's values, since a queue only computes what is read, and tells its errors then.
fn done<B: Backend>(x: FloatTensor<B>) -> TensorData {
    let data = try_read_sync(B::float_into_data(x)).expect("data that is there at once");
    data.expect("the queue runs")
}
