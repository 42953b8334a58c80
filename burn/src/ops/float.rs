//! Tensors of floats.

use super::{
    binary, compare, ordered, pad, positions, reductions, resample, scalar, scatter, structure,
    truths, unary,
};
use crate::convert::{done, float, int, number};
use crate::{Flex, FlexDevice, FlexTensor, random};
use alloc::vec::Vec;
use burn_backend::ops::{FloatTensorOps, GridSampleOptions, PadMode};
use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{
    BoolDType, Distribution, ExecutionError, FloatDType, IntDType, Scalar, Slice, TensorData,
};
use burn_std::Shape;
use flex::{Axes, Tensor, ops};

impl FloatTensorOps<Flex> for Flex {
    structure! {
        float_from_data float_into_data float_to_device float_reshape float_swap_dims float_transpose float_permute
        float_flip float_expand float_unfold float_slice float_slice_assign float_gather float_select float_mask_where
        float_mask_select float_cat float_repeat_dim
    }
    unary! {
        float_neg negative, float_recip reciprocal, float_abs abs, float_sign sign, float_sqrt sqrt,
        float_exp exp, float_log log, float_log1p log1p, float_erf erf,
        float_sin sin, float_cos cos, float_tan tan, float_asin asin, float_acos acos, float_atan atan,
        float_sinh sinh, float_cosh cosh, float_tanh tanh, float_asinh asinh, float_acosh acosh, float_atanh atanh,
        float_round round, float_floor floor, float_ceil ceil, float_trunc trunc,
    }
    binary! {
        float_add add, float_sub subtract, float_mul multiply, float_div divide, float_remainder remainder,
        float_powf pow, float_atan2 atan2, float_hypot hypot,
    }
    scalar! { |x, _dtype| number(x);
        float_add_scalar add, float_sub_scalar subtract, float_mul_scalar multiply, float_div_scalar divide,
        float_remainder_scalar remainder, float_powf_scalar_impl pow,
        float_clamp_min maximum, float_clamp_max minimum,
    }
    compare! { |x| number(x);
        float_equal float_equal_elem equal, float_not_equal float_not_equal_elem not_equal,
        float_greater float_greater_elem greater, float_greater_equal float_greater_equal_elem greater_equal,
        float_lower float_lower_elem less, float_lower_equal float_lower_equal_elem less_equal,
    }
    reductions! {
        float_sum float_sum_dim sum, float_prod float_prod_dim prod, float_mean float_mean_dim mean,
        float_max float_max_dim max, float_min float_min_dim min,
    }
    truths! { float_any float_any_dim any, float_all float_all_dim all }
    positions! { [out_dtype: IntDType]
        float_argmax float_argmin float_max_dim_with_indices float_min_dim_with_indices float_argsort
        float_sort_with_indices float_argtopk float_topk_with_indices
    }
    ordered! { float_sort float_topk float_max_abs float_max_abs_dim float_cummin float_cummax }

    fn float_random(
        shape: Shape,
        distribution: Distribution,
        _: &FlexDevice,
        dtype: FloatDType,
    ) -> FlexTensor {
        random::draw(shape.as_slice(), distribution, float(dtype))
    }
    fn float_empty(shape: Shape, _: &FlexDevice, dtype: FloatDType) -> FlexTensor {
        done(Tensor::empty(shape.as_slice(), float(dtype))).into()
    }
    fn float_zeros(shape: Shape, _: &FlexDevice, dtype: FloatDType) -> FlexTensor {
        done(Tensor::zeros(shape.as_slice(), float(dtype))).into()
    }
    fn float_ones(shape: Shape, _: &FlexDevice, dtype: FloatDType) -> FlexTensor {
        done(ops::ones(shape.as_slice(), float(dtype))).into()
    }
    fn float_full(
        shape: Shape,
        fill_value: Scalar,
        _: &FlexDevice,
        dtype: FloatDType,
    ) -> FlexTensor {
        done(ops::full(
            shape.as_slice(),
            number(fill_value),
            float(dtype),
        ))
        .into()
    }
    fn float_cast(tensor: FlexTensor, dtype: FloatDType) -> FlexTensor {
        tensor.view(|x| x.astype(float(dtype)))
    }
    fn float_into_int(tensor: FlexTensor, out_dtype: IntDType) -> FlexTensor {
        tensor.view(|x| x.astype(int(out_dtype)))
    }

    fn float_clamp(tensor: FlexTensor, min: Scalar, max: Scalar) -> FlexTensor {
        tensor.map(|x| ops::clip(x, number(min), number(max)))
    }
    fn float_powi(lhs: FlexTensor, rhs: FlexTensor) -> FlexTensor {
        let dtype = lhs.tensor().dtype();
        lhs.map(|x| ops::pow(x, rhs.tensor().astype(dtype)?))
    }
    fn float_powi_scalar(lhs: FlexTensor, rhs: Scalar) -> FlexTensor {
        match rhs.elem::<i64>() {
            0 => lhs.view(|x| ops::ones(x.shape(), x.dtype())),
            1 => lhs,
            2 => lhs.map(ops::square),
            -1 => lhs.map(ops::reciprocal),
            -2 => lhs.map(|x| ops::reciprocal(ops::square(x)?)),
            n => lhs.map(|x| ops::pow(x, n as f64)),
        }
    }
    fn float_matmul(lhs: FlexTensor, rhs: FlexTensor) -> FlexTensor {
        lhs.view(|x| x.matmul(rhs.tensor()))
    }
    fn float_cross(lhs: FlexTensor, rhs: FlexTensor, dim: usize) -> FlexTensor {
        lhs.view(|x| x.cross(rhs.tensor(), dim))
    }
    fn float_sum_dims(tensor: FlexTensor, dims: &[usize]) -> FlexTensor {
        tensor.view(|x| x.sum(Axes::from(dims).keepdims()))
    }
    fn float_cumsum(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| x.cumulative_sum(dim))
    }
    fn float_cumprod(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| x.cumulative_prod(dim))
    }
    fn float_mask_fill(tensor: FlexTensor, mask: FlexTensor, value: Scalar) -> FlexTensor {
        tensor.map(|x| ops::where_(mask.into_tensor(), number(value), x))
    }
    fn float_is_nan(tensor: FlexTensor, out_dtype: BoolDType) -> FlexTensor {
        FlexTensor::of_bool(done(ops::isnan(tensor.into_tensor())), out_dtype)
    }
    fn float_is_inf(tensor: FlexTensor, out_dtype: BoolDType) -> FlexTensor {
        FlexTensor::of_bool(done(ops::isinf(tensor.into_tensor())), out_dtype)
    }

    fn float_scatter(
        dim: usize,
        tensor: FlexTensor,
        indices: FlexTensor,
        value: FlexTensor,
        update: IndexingUpdateOp,
    ) -> FlexTensor {
        tensor.map(|x| scatter::along_axis(x, dim, indices.tensor(), value.tensor(), update))
    }
    fn float_select_assign(
        tensor: FlexTensor,
        dim: usize,
        indices: FlexTensor,
        value: FlexTensor,
        update: IndexingUpdateOp,
    ) -> FlexTensor {
        tensor.map(|x| scatter::slices(x, dim, indices.tensor(), value.tensor(), update))
    }
    fn float_gather_nd(data: FlexTensor, indices: FlexTensor) -> FlexTensor {
        data.view(|x| scatter::gather_nd(x, indices.tensor()))
    }
    fn float_scatter_nd(
        data: FlexTensor,
        indices: FlexTensor,
        values: FlexTensor,
        reduction: IndexingUpdateOp,
    ) -> FlexTensor {
        data.map(|x| scatter::scatter_nd(x, indices.tensor(), values.tensor(), reduction))
    }
    fn float_pad(tensor: FlexTensor, padding: &[(usize, usize)], mode: PadMode) -> FlexTensor {
        tensor.view(|x| pad::pad(x, padding, mode, number))
    }
    fn float_grid_sample_2d(
        tensor: FlexTensor,
        grid: FlexTensor,
        options: GridSampleOptions,
    ) -> FlexTensor {
        tensor.view(|x| resample::grid_sample(x, grid.tensor(), &options))
    }
}
