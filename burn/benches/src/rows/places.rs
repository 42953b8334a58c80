//! Elements moved: gathers and scatters, joins, views that are read, data in and out.

use super::rows;
use crate::data::{bools, floats, ints, values, weights};
use burn_backend::tensor::FloatTensor;
use burn_backend::tensor::IndexingUpdateOp::Add;
use burn_backend::{Backend, Slice, TensorData};
use burn_std::reader::try_read_sync;

const N: &[usize] = &[1024, 1024];

/// The elements of a view, moved: views by themselves move nothing.
fn read<B: Backend>(view: FloatTensor<B>) -> FloatTensor<B> {
    B::float_mul_scalar(view, 2.0.into())
}

rows! { B;
    "gather" {
        "select 1024 rows" => { let (x, at) = (floats::<B>(N, 1), ints::<B>(&[1024], 1024, 2)); move || B::float_select(x.clone(), 0, at.clone()) };
        "select 1024 columns" => { let (x, at) = (floats::<B>(N, 1), ints::<B>(&[1024], 1024, 2)); move || B::float_select(x.clone(), 1, at.clone()) };
        "gather rows" => { let (x, at) = (floats::<B>(N, 1), ints::<B>(N, 1024, 2)); move || B::float_gather(1, x.clone(), at.clone()) };
        "gather_nd 16384" => { let (x, at) = (floats::<B>(N, 1), ints::<B>(&[16384, 2], 1024, 2)); move || B::float_gather_nd(x.clone(), at.clone()) };
        "embedding 64 x 128 of 10000 x 256" => {
            let (w, at) = (weights::<B>(&[10000, 256], 1), ints::<B>(&[64, 128], 10000, 2));
            move || B::embedding(w.clone(), at.clone())
        };
        "mask_select 1M" => { let (x, mask) = (floats::<B>(N, 1), bools::<B>(N, 2)); move || pollster(B::float_mask_select(x.clone(), mask.clone())) };
    }
    "scatter" {
        "scatter add rows" => {
            let (x, at, y) = (floats::<B>(N, 1), ints::<B>(N, 1024, 2), floats::<B>(N, 3));
            move || B::float_scatter(1, x.clone(), at.clone(), y.clone(), Add)
        };
        "select_assign 1024 rows" => {
            let (x, at, y) = (floats::<B>(N, 1), ints::<B>(&[1024], 1024, 2), floats::<B>(N, 3));
            move || B::float_select_assign(x.clone(), 0, at.clone(), y.clone(), Add)
        };
        "scatter_nd add 16384" => {
            let (x, at, y) = (floats::<B>(N, 1), ints::<B>(&[16384, 2], 1024, 2), floats::<B>(&[16384], 3));
            move || B::float_scatter_nd(x.clone(), at.clone(), y.clone(), Add)
        };
        "embedding_backward 64 x 128 x 256" => {
            let (w, at, g) = (weights::<B>(&[1000, 256], 1), ints::<B>(&[64, 128], 1000, 2), floats::<B>(&[64, 128, 256], 3));
            move || B::embedding_backward(w.clone(), g.clone(), at.clone())
        };
        "slice_assign half" => {
            let (x, y) = (floats::<B>(N, 1), floats::<B>(&[1024, 512], 2));
            move || B::float_slice_assign(x.clone(), &[Slice::new(0, None, 1), Slice::new(256, Some(768), 1)], y.clone())
        };
    }
    "join" {
        "cat 4 along the first axis" => { let x = floats::<B>(&[256, 1024], 1); move || B::float_cat(vec![x.clone(); 4], 0) };
        "cat 4 along the last axis" => { let x = floats::<B>(&[1024, 256], 1); move || B::float_cat(vec![x.clone(); 4], 1) };
        "repeat_dim 4" => { let x = floats::<B>(&[256, 1024], 1); move || B::float_repeat_dim(x.clone(), 0, 4) };
    }
    "view, read" {
        "unfold" => { let x = floats::<B>(&[256, 1024], 1); move || read::<B>(B::float_unfold(x.clone(), 1, 8, 2)) };
        "expand" => { let x = floats::<B>(&[1024, 1], 1); move || read::<B>(B::float_expand(x.clone(), N.to_vec().into())) };
        "flip the last axis" => { let x = floats::<B>(N, 1); move || read::<B>(B::float_flip(x.clone(), &[1])) };
        "flip the first axis" => { let x = floats::<B>(N, 1); move || read::<B>(B::float_flip(x.clone(), &[0])) };
        "permute 64 x 128 x 128" => { let x = floats::<B>(&[64, 128, 128], 1); move || read::<B>(B::float_permute(x.clone(), &[2, 0, 1])) };
        "slice with steps" => { let x = floats::<B>(N, 1); move || read::<B>(B::float_slice(x.clone(), &[Slice::new(0, None, 2), Slice::new(0, None, 2)])) };
        "reshape a transpose" => { let x = B::float_swap_dims(floats::<B>(N, 1), 0, 1); move || B::float_reshape(x.clone(), vec![1 << 20].into()) };
    }
    "data" {
        "from_data 1M" => {
            let data = TensorData::new(values(1 << 20, 1).collect::<Vec<f32>>(), N);
            move || B::float_from_data(data.clone(), &Default::default())
        };
        "into_data 1M" => { let x = floats::<B>(N, 1); move || pollster(B::float_into_data(x.clone())).unwrap() };
        "into_data of a transpose" => { let x = B::float_swap_dims(floats::<B>(N, 1), 0, 1); move || pollster(B::float_into_data(x.clone())).unwrap() };
    }
}

/// The result of a call that is ready at once.
pub(super) fn pollster<T>(future: impl Future<Output = T>) -> T {
    try_read_sync(future).expect("processors don't wait")
}
