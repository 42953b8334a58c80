//! Tensors of bools. A result has its first operand's name for bytes.

use super::{binary, scatter, structure, unary};
use crate::convert::{along, done, float, int, truth};
use crate::{Flex, FlexDevice, FlexTensor};
use alloc::vec::Vec;
use burn_backend::ops::BoolTensorOps;
use burn_backend::{BoolDType, ExecutionError, FloatDType, IntDType, Scalar, Slice, TensorData};
use burn_std::Shape;
use flex::{DType, Tensor, ops};

macro_rules! reductions {
    ($($method:ident $along:ident $function:ident),*) => { $(
        fn $method(tensor: FlexTensor) -> FlexTensor {
            tensor.view(|x| x.$function(()))
        }
        fn $along(tensor: FlexTensor, dim: usize) -> FlexTensor {
            tensor.view(|x| x.$function(along(dim)))
        }
    )* };
}

impl BoolTensorOps<Flex> for Flex {
    structure! {
        bool_from_data bool_into_data bool_to_device bool_reshape bool_swap_dims bool_transpose bool_permute bool_flip
        bool_expand bool_unfold bool_slice bool_slice_assign bool_gather bool_select bool_mask_where bool_mask_select
        bool_cat bool_repeat_dim
    }
    unary! { bool_not logical_not }
    binary! {
        bool_and logical_and, bool_or logical_or, bool_xor logical_xor, bool_equal equal, bool_not_equal not_equal,
    }
    reductions! { bool_any bool_any_dim any, bool_all bool_all_dim all }

    fn bool_empty(shape: Shape, _: &FlexDevice, dtype: BoolDType) -> FlexTensor {
        FlexTensor::of_bool(done(Tensor::empty(shape.as_slice(), DType::Bool)), dtype)
    }
    fn bool_zeros(shape: Shape, _: &FlexDevice, dtype: BoolDType) -> FlexTensor {
        FlexTensor::of_bool(done(Tensor::zeros(shape.as_slice(), DType::Bool)), dtype)
    }
    fn bool_ones(shape: Shape, _: &FlexDevice, dtype: BoolDType) -> FlexTensor {
        FlexTensor::of_bool(done(ops::ones(shape.as_slice(), DType::Bool)), dtype)
    }
    fn bool_into_int(tensor: FlexTensor, out_dtype: IntDType) -> FlexTensor {
        tensor.view(|x| x.astype(int(out_dtype)))
    }
    fn bool_into_float(tensor: FlexTensor, out_dtype: FloatDType) -> FlexTensor {
        tensor.view(|x| x.astype(float(out_dtype)))
    }
    fn bool_equal_elem(lhs: FlexTensor, rhs: Scalar) -> FlexTensor {
        lhs.map(|x| ops::equal(x, truth(rhs)))
    }
    fn bool_not_equal_elem(lhs: FlexTensor, rhs: Scalar) -> FlexTensor {
        lhs.map(|x| ops::not_equal(x, truth(rhs)))
    }
    fn bool_mask_fill(tensor: FlexTensor, mask: FlexTensor, value: Scalar) -> FlexTensor {
        tensor.map(|x| ops::where_(mask.into_tensor(), truth(value), x))
    }
    fn bool_scatter_or(
        dim: usize,
        tensor: FlexTensor,
        indices: FlexTensor,
        value: FlexTensor,
    ) -> FlexTensor {
        tensor.map(|x| scatter::or_along_axis(x, dim, indices.tensor(), value.tensor()))
    }
    fn bool_select_or(
        tensor: FlexTensor,
        dim: usize,
        indices: FlexTensor,
        value: FlexTensor,
    ) -> FlexTensor {
        tensor.map(|x| scatter::or_slices(x, dim, indices.tensor(), value.tensor()))
    }
    async fn bool_argwhere(tensor: FlexTensor, out_dtype: IntDType) -> FlexTensor {
        done(
            tensor
                .tensor()
                .argwhere()
                .and_then(|x| x.astype(int(out_dtype))),
        )
        .into()
    }
}
