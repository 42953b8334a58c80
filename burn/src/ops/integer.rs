//! Tensors of integers: results have the tensor's dtype, sums and numbers wrap in it.

use super::{
    binary, compare, ordered, pad, positions, reductions, scalar, scatter, structure, truths, unary,
};
use crate::convert::{along, bound, done, float, int, integer, wrapped};
use crate::{Flex, FlexDevice, FlexTensor, random};
use alloc::vec::Vec;
use burn_backend::ops::{IntTensorOps, PadMode};
use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{
    BoolDType, Distribution, ExecutionError, FloatDType, IntDType, Scalar, Slice, TensorData,
};
use burn_std::Shape;
use core::ops::Range;
use flex::ops::{Cumulative, ReductionAxes, ewise};
use flex::{Axes, DType, Error, Result, Tensor, ops};

/// `integers!(dtype, |T| value)`: the value for the element type of an integer dtype.
macro_rules! integers {
    ($dtype:expr, |$T:ident| $value:expr) => {
        integers!($dtype, |$T| $value, I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32, U16 u16, U8 u8)
    };
    ($dtype:expr, |$T:ident| $value:expr, $($V:ident $E:ty),*) => {
        match $dtype {
            $(DType::$V => {
                type $T = $E;
                $value
            })*
            other => panic!("{other} is no dtype of integers"),
        }
    };
}

impl IntTensorOps<Flex> for Flex {
    structure! {
        int_from_data int_into_data int_to_device int_reshape int_swap_dims int_transpose int_permute int_flip int_expand
        int_unfold int_slice int_slice_assign int_gather int_select int_mask_where int_mask_select int_cat int_repeat_dim
    }
    unary! { int_neg negative, int_abs abs, int_sign sign, int_square square, bitwise_not bitwise_invert }
    binary! {
        int_add add, int_sub subtract, int_mul multiply, int_remainder remainder, int_powi pow,
        bitwise_and bitwise_and, bitwise_or bitwise_or, bitwise_xor bitwise_xor,
    }
    scalar! { |x, dtype| wrapped(x, dtype);
        int_add_scalar add, int_sub_scalar subtract, int_mul_scalar multiply, int_remainder_scalar remainder,
        bitwise_and_scalar bitwise_and, bitwise_or_scalar bitwise_or, bitwise_xor_scalar bitwise_xor,
    }
    scalar! { |x, dtype| bound(x, dtype); int_clamp_min maximum, int_clamp_max minimum }
    compare! { |x| flex::Scalar::Int(integer(x));
        int_equal int_equal_elem equal, int_not_equal int_not_equal_elem not_equal,
        int_greater int_greater_elem greater, int_greater_equal int_greater_equal_elem greater_equal,
        int_lower int_lower_elem less, int_lower_equal int_lower_equal_elem less_equal,
    }
    reductions! { int_max int_max_dim max, int_min int_min_dim min }
    truths! { int_any int_any_dim any, int_all int_all_dim all }
    positions! { []
        int_argmax int_argmin int_max_dim_with_indices int_min_dim_with_indices int_argsort int_sort_with_indices
        int_argtopk int_topk_with_indices
    }
    ordered! { int_sort int_topk int_max_abs int_max_abs_dim int_cummin int_cummax }

    fn int_random(
        shape: Shape,
        distribution: Distribution,
        _: &FlexDevice,
        dtype: IntDType,
    ) -> FlexTensor {
        random::draw(shape.as_slice(), distribution, int(dtype))
    }
    fn int_empty(shape: Shape, _: &FlexDevice, dtype: IntDType) -> FlexTensor {
        done(Tensor::empty(shape.as_slice(), int(dtype))).into()
    }
    fn int_zeros(shape: Shape, _: &FlexDevice, dtype: IntDType) -> FlexTensor {
        done(Tensor::zeros(shape.as_slice(), int(dtype))).into()
    }
    fn int_ones(shape: Shape, _: &FlexDevice, dtype: IntDType) -> FlexTensor {
        done(ops::ones(shape.as_slice(), int(dtype))).into()
    }
    fn int_full(shape: Shape, fill_value: Scalar, _: &FlexDevice, dtype: IntDType) -> FlexTensor {
        let dtype = int(dtype);
        done(ops::full(
            shape.as_slice(),
            wrapped(fill_value, dtype),
            dtype,
        ))
        .into()
    }
    fn int_arange_step(
        range: Range<i64>,
        step: usize,
        _: &FlexDevice,
        dtype: IntDType,
    ) -> FlexTensor {
        let values = ops::arange(range.start, range.end.max(range.start), step, DType::I64);
        done(values.and_then(|x| x.astype(int(dtype)))).into()
    }
    fn int_arange(range: Range<i64>, device: &FlexDevice, dtype: IntDType) -> FlexTensor {
        Flex::int_arange_step(range, 1, device, dtype)
    }
    fn int_cast(tensor: FlexTensor, dtype: IntDType) -> FlexTensor {
        tensor.view(|x| x.astype(int(dtype)))
    }
    fn int_into_float(tensor: FlexTensor, out_dtype: FloatDType) -> FlexTensor {
        tensor.view(|x| x.astype(float(out_dtype)))
    }

    fn int_matmul(lhs: FlexTensor, rhs: FlexTensor) -> FlexTensor {
        lhs.view(|x| x.matmul(rhs.tensor()))
    }
    fn int_div(lhs: FlexTensor, rhs: FlexTensor) -> FlexTensor {
        lhs.view(|x| quotient(x, rhs.tensor()))
    }
    fn int_div_scalar(lhs: FlexTensor, rhs: Scalar) -> FlexTensor {
        lhs.view(|x| quotient(x, &Tensor::scalar(wrapped(rhs, x.dtype()), x.dtype())?))
    }
    fn int_powi_scalar(lhs: FlexTensor, rhs: Scalar) -> FlexTensor {
        match integer(rhs) {
            1 => lhs,
            n if n < 0 => lhs.view(|x| inverse_power(x, n % 2 != 0)),
            // the number is an exponent, not an element: it may be beyond the dtype
            n => lhs.view(|x| power(x, n.min(u32::MAX.into()) as u32)),
        }
    }
    fn int_powi_scalar_impl(lhs: FlexTensor, rhs: Scalar) -> FlexTensor {
        Flex::int_powi_scalar(lhs, rhs)
    }
    fn int_clamp(tensor: FlexTensor, min: Scalar, max: Scalar) -> FlexTensor {
        let dtype = tensor.tensor().dtype();
        tensor.map(|x| ops::clip(x, bound(min, dtype), bound(max, dtype)))
    }
    fn bitwise_left_shift(lhs: FlexTensor, rhs: FlexTensor) -> FlexTensor {
        lhs.map(|x| {
            let by = shift(&x, rhs.into_tensor())?;
            ops::bitwise_left_shift(x, by)
        })
    }
    fn bitwise_left_shift_scalar(lhs: FlexTensor, rhs: Scalar) -> FlexTensor {
        lhs.map(|x| {
            let by = shift_by(&x, rhs);
            ops::bitwise_left_shift(x, by)
        })
    }
    fn bitwise_right_shift(lhs: FlexTensor, rhs: FlexTensor) -> FlexTensor {
        lhs.map(|x| {
            let by = shift(&x, rhs.into_tensor())?;
            ops::bitwise_right_shift(x, by)
        })
    }
    fn bitwise_right_shift_scalar(lhs: FlexTensor, rhs: Scalar) -> FlexTensor {
        lhs.map(|x| {
            let by = shift_by(&x, rhs);
            ops::bitwise_right_shift(x, by)
        })
    }

    fn int_sum(tensor: FlexTensor) -> FlexTensor {
        tensor.view(|x| x.sum_as((), x.dtype()))
    }
    fn int_sum_dim(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| x.sum_as(along(dim), x.dtype()))
    }
    fn int_prod(tensor: FlexTensor) -> FlexTensor {
        tensor.view(|x| x.prod_as((), x.dtype()))
    }
    fn int_prod_dim(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| x.prod_as(along(dim), x.dtype()))
    }
    fn int_mean(tensor: FlexTensor) -> FlexTensor {
        tensor.view(|x| mean(x, Axes::ALL.into(), x.len()))
    }
    fn int_mean_dim(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| mean(x, along(dim), x.shape()[dim]))
    }
    fn int_cumsum(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| x.cumulative_sum(cumulative(x, dim)))
    }
    fn int_cumprod(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| x.cumulative_prod(cumulative(x, dim)))
    }
    fn int_mask_fill(tensor: FlexTensor, mask: FlexTensor, value: Scalar) -> FlexTensor {
        let value = wrapped(value, tensor.tensor().dtype());
        tensor.map(|x| ops::where_(mask.into_tensor(), value, x))
    }

    fn int_scatter(
        dim: usize,
        tensor: FlexTensor,
        indices: FlexTensor,
        value: FlexTensor,
        update: IndexingUpdateOp,
    ) -> FlexTensor {
        tensor.map(|x| scatter::along_axis(x, dim, indices.tensor(), value.tensor(), update))
    }
    fn int_select_assign(
        tensor: FlexTensor,
        dim: usize,
        indices: FlexTensor,
        value: FlexTensor,
        update: IndexingUpdateOp,
    ) -> FlexTensor {
        tensor.map(|x| scatter::slices(x, dim, indices.tensor(), value.tensor(), update))
    }
    fn int_gather_nd(data: FlexTensor, indices: FlexTensor) -> FlexTensor {
        data.view(|x| scatter::gather_nd(x, indices.tensor()))
    }
    fn int_scatter_nd(
        data: FlexTensor,
        indices: FlexTensor,
        values: FlexTensor,
        reduction: IndexingUpdateOp,
    ) -> FlexTensor {
        data.map(|x| scatter::scatter_nd(x, indices.tensor(), values.tensor(), reduction))
    }
    fn int_pad(tensor: FlexTensor, padding: &[(usize, usize)], mode: PadMode) -> FlexTensor {
        let dtype = tensor.tensor().dtype();
        tensor.view(|x| pad::pad(x, padding, mode, |value| wrapped(value, dtype)))
    }
}

/// The quotient truncated towards zero, as Burn has it; flex's `floor_divide` rounds down.
fn quotient(x: &Tensor, by: &Tensor) -> Result<Tensor> {
    if !by.all(())?.item::<bool>()? {
        return Err(Error::value("int_div", "division by zero"));
    }
    // without its remainder a dividend has one quotient, floored or truncated: in vectors
    let whole = ops::subtract(x, ops::fmod(x, by)?)?;
    ops::floor_divide(whole, by)
}

/// The mean truncated towards zero. The sum is that of 64 bits, in which small dtypes don't wrap.
fn mean(x: &Tensor, over: ReductionAxes, n: usize) -> Result<Tensor> {
    if n == 0 {
        return Err(Error::shape("int_mean", "the mean of no integers"));
    }
    let wide = match x.dtype().is_signed() {
        true => DType::I64,
        false => DType::U64,
    };
    let n = Tensor::scalar(flex::Scalar::from(n), wide)?;
    quotient(&x.sum_as(over, wide)?, &n)?.astype(x.dtype())
}

/// A power that wraps.
fn power(x: &Tensor, n: u32) -> Result<Tensor> {
    if n == 2 {
        return ops::square(x);
    }
    integers!(x.dtype(), |T| ewise(x, move |a: T| a.wrapping_pow(n)))
}

/// A power with an exponent below zero, truncated: of 1 and -1 it is one of them, of 0 what the
/// infinity becomes, of others 0.
fn inverse_power(x: &Tensor, odd: bool) -> Result<Tensor> {
    integers!(x.dtype(), |T| ewise(x, move |a: T| {
        let minus = (0 as T).wrapping_sub(1);
        match a {
            0 => T::MAX,
            1 => 1,
            _ if a == minus && T::MIN != 0 => match odd {
                true => minus,
                false => 1,
            },
            _ => 0,
        }
    }))
}

/// How far to shift: Burn counts modulo the width, flex shifts everything out.
fn shift(x: &Tensor, by: Tensor) -> Result<Tensor> {
    ops::bitwise_and(by, 8 * x.dtype().size() - 1)
}
fn shift_by(x: &Tensor, by: Scalar) -> flex::Scalar {
    flex::Scalar::Int(integer(by).rem_euclid(8 * x.dtype().size() as i128))
}

fn cumulative(x: &Tensor, dim: usize) -> Cumulative {
    Cumulative {
        dtype: Some(x.dtype()),
        ..dim.into()
    }
}
