//! Burn's operations. What is a row of a list is generated from it.

mod activation;
mod boolean;
mod conv;
pub mod fft;
mod float;
mod integer;
mod module;
mod pad;
mod pool;
mod quantized;
mod resample;
mod scatter;

/// `unary! { method function, .. }`: functions of one tensor.
macro_rules! unary {
    ($($method:ident $function:ident),* $(,)?) => { $(
        fn $method(tensor: FlexTensor) -> FlexTensor {
            tensor.map(ops::$function)
        }
    )* };
}
pub(crate) use unary;

/// `binary! { method function, .. }`: functions of two tensors that broadcast.
macro_rules! binary {
    ($($method:ident $function:ident),* $(,)?) => { $(
        fn $method(lhs: FlexTensor, rhs: FlexTensor) -> FlexTensor {
            lhs.map(|x| ops::$function(x, rhs.into_tensor()))
        }
    )* };
}
pub(crate) use binary;

/// `scalar! { |x, dtype| number; method function, .. }`: functions of a tensor and a number, which
/// becomes one for the tensor's dtype.
macro_rules! scalar {
    (|$x:ident, $dtype:ident| $number:expr; $($method:ident $function:ident),* $(,)?) => { $(
        fn $method(lhs: FlexTensor, $x: Scalar) -> FlexTensor {
            let $dtype = lhs.tensor().dtype();
            let number = $number;
            lhs.map(|t| ops::$function(t, number))
        }
    )* };
}
pub(crate) use scalar;

/// `compare! { |x| number; method method_of_a_number function, .. }`: comparisons.
macro_rules! compare {
    (|$x:ident| $number:expr; $($method:ident $elem:ident $function:ident),* $(,)?) => { $(
        fn $method(lhs: FlexTensor, rhs: FlexTensor, out_dtype: BoolDType) -> FlexTensor {
            let (x, y) = (lhs.into_tensor(), rhs.into_tensor());
            FlexTensor::of_bool(done(ops::$function(x, y)), out_dtype)
        }
        fn $elem(lhs: FlexTensor, $x: Scalar, out_dtype: BoolDType) -> FlexTensor {
            let number = $number;
            FlexTensor::of_bool(done(ops::$function(lhs.into_tensor(), number)), out_dtype)
        }
    )* };
}
pub(crate) use compare;

/// `structure! { from_data into_data .. }`: what tensors of all three kinds have in common, under
/// the names of one kind.
macro_rules! structure {
    ($from_data:ident $into_data:ident $to_device:ident $reshape:ident $swap_dims:ident $transpose:ident $permute:ident
     $flip:ident $expand:ident $unfold:ident $slice:ident $slice_assign:ident $gather:ident $select:ident $mask_where:ident
     $mask_select:ident $cat:ident $repeat_dim:ident) => {
        fn $from_data(data: TensorData, _: &FlexDevice) -> FlexTensor {
            FlexTensor::from_data(data)
        }
        async fn $into_data(tensor: FlexTensor) -> core::result::Result<TensorData, ExecutionError> {
            Ok(tensor.into_data())
        }
        fn $to_device(tensor: FlexTensor, _: &FlexDevice) -> FlexTensor {
            tensor
        }
        fn $reshape(tensor: FlexTensor, shape: Shape) -> FlexTensor {
            tensor.view(|x| x.reshape(shape.as_slice()))
        }
        fn $swap_dims(tensor: FlexTensor, dim1: usize, dim2: usize) -> FlexTensor {
            tensor.view(|x| x.transpose(dim1, dim2))
        }
        fn $transpose(tensor: FlexTensor) -> FlexTensor {
            tensor.view(|x| x.transpose(-2, -1))
        }
        fn $permute(tensor: FlexTensor, axes: &[usize]) -> FlexTensor {
            tensor.view(|x| x.permute(axes))
        }
        fn $flip(tensor: FlexTensor, axes: &[usize]) -> FlexTensor {
            tensor.view(|x| x.flip(axes))
        }
        fn $expand(tensor: FlexTensor, shape: Shape) -> FlexTensor {
            tensor.view(|x| x.broadcast_to(shape.as_slice()))
        }
        fn $unfold(tensor: FlexTensor, dim: usize, size: usize, step: usize) -> FlexTensor {
            tensor.view(|x| x.unfold(dim, size, step))
        }
        fn $slice(tensor: FlexTensor, slices: &[Slice]) -> FlexTensor {
            tensor.view(|x| x.slice($crate::convert::indices(slices, x.shape())))
        }
        fn $slice_assign(tensor: FlexTensor, slices: &[Slice], value: FlexTensor) -> FlexTensor {
            tensor.map(|mut x| {
                let indices = $crate::convert::indices(slices, x.shape());
                ops::set(&mut x, &indices, value.tensor())?;
                Ok(x)
            })
        }
        fn $gather(dim: usize, tensor: FlexTensor, indices: FlexTensor) -> FlexTensor {
            tensor.view(|x| x.take_along_axis(indices.tensor(), dim))
        }
        fn $select(tensor: FlexTensor, dim: usize, indices: FlexTensor) -> FlexTensor {
            tensor.view(|x| x.take(indices.tensor(), dim))
        }
        fn $mask_where(tensor: FlexTensor, mask: FlexTensor, value: FlexTensor) -> FlexTensor {
            tensor.map(|x| ops::where_(mask.into_tensor(), value.into_tensor(), x))
        }
        async fn $mask_select(tensor: FlexTensor, mask: FlexTensor) -> FlexTensor {
            tensor.view(|x| x.masked_select(mask.tensor()))
        }
        fn $cat(tensors: Vec<FlexTensor>, dim: usize) -> FlexTensor {
            let mut tensors = tensors.into_iter();
            let first = tensors.next().expect("at least one tensor");
            first.map(|x| {
                let all: Vec<Tensor> =
                    core::iter::once(x).chain(tensors.map(FlexTensor::into_tensor)).collect();
                ops::concat(&all, dim)
            })
        }
        fn $repeat_dim(tensor: FlexTensor, dim: usize, times: usize) -> FlexTensor {
            tensor.view(|x| {
                let mut counts = alloc::vec![1; x.rank()];
                counts[dim] = times;
                x.tile(counts)
            })
        }
    };
}
pub(crate) use structure;

/// `reductions! { method method_of_an_axis function, .. }`: of all elements, and along an axis, which
/// stays.
macro_rules! reductions {
    ($($method:ident $along:ident $function:ident),* $(,)?) => { $(
        fn $method(tensor: FlexTensor) -> FlexTensor {
            tensor.view(|x| x.$function(()))
        }
        fn $along(tensor: FlexTensor, dim: usize) -> FlexTensor {
            tensor.view(|x| x.$function($crate::convert::along(dim)))
        }
    )* };
}
pub(crate) use reductions;

/// `truths! { any any_dim any, .. }`: reductions to bool.
macro_rules! truths {
    ($($method:ident $along:ident $function:ident),* $(,)?) => { $(
        fn $method(tensor: FlexTensor, out_dtype: BoolDType) -> FlexTensor {
            FlexTensor::of_bool(done(tensor.tensor().$function(())), out_dtype)
        }
        fn $along(tensor: FlexTensor, dim: usize, out_dtype: BoolDType) -> FlexTensor {
            FlexTensor::of_bool(done(tensor.tensor().$function($crate::convert::along(dim))), out_dtype)
        }
    )* };
}
pub(crate) use truths;

/// Methods that return positions, in a given dtype for floats, `[out_dtype: IntDType]`, and in the
/// tensor's own for integers, `[]`.
macro_rules! positions {
    ([$($given:ident: $Given:ty)?] $argmax:ident $argmin:ident $max_with:ident $min_with:ident $argsort:ident
     $sort_with:ident $argtopk:ident $topk_with:ident) => {
        fn $argmax(tensor: FlexTensor, dim: usize $(, $given: $Given)?) -> FlexTensor {
            let dtype = $crate::ops::positions!(@ tensor $($given)?);
            tensor.view(|x| x.argmax($crate::convert::along(dim))?.astype(dtype))
        }
        fn $argmin(tensor: FlexTensor, dim: usize $(, $given: $Given)?) -> FlexTensor {
            let dtype = $crate::ops::positions!(@ tensor $($given)?);
            tensor.view(|x| x.argmin($crate::convert::along(dim))?.astype(dtype))
        }
        fn $max_with(tensor: FlexTensor, dim: usize $(, $given: $Given)?) -> (FlexTensor, FlexTensor) {
            let dtype = $crate::ops::positions!(@ tensor $($given)?);
            $crate::ops::pair(tensor.tensor().max_with_indices($crate::convert::along(dim)), dtype)
        }
        fn $min_with(tensor: FlexTensor, dim: usize $(, $given: $Given)?) -> (FlexTensor, FlexTensor) {
            let dtype = $crate::ops::positions!(@ tensor $($given)?);
            $crate::ops::pair(tensor.tensor().min_with_indices($crate::convert::along(dim)), dtype)
        }
        fn $argsort(tensor: FlexTensor, dim: usize, descending: bool $(, $given: $Given)?) -> FlexTensor {
            let dtype = $crate::ops::positions!(@ tensor $($given)?);
            tensor.view(|x| x.argsort($crate::ops::order(dim, descending))?.astype(dtype))
        }
        fn $sort_with(tensor: FlexTensor, dim: usize, descending: bool $(, $given: $Given)?) -> (FlexTensor, FlexTensor) {
            let dtype = $crate::ops::positions!(@ tensor $($given)?);
            $crate::ops::pair(tensor.tensor().sort_with_indices($crate::ops::order(dim, descending)), dtype)
        }
        fn $argtopk(tensor: FlexTensor, dim: usize, k: usize $(, $given: $Given)?) -> FlexTensor {
            let dtype = $crate::ops::positions!(@ tensor $($given)?);
            tensor.view(|x| x.topk(k, dim)?.1.astype(dtype))
        }
        fn $topk_with(tensor: FlexTensor, dim: usize, k: usize $(, $given: $Given)?) -> (FlexTensor, FlexTensor) {
            let dtype = $crate::ops::positions!(@ tensor $($given)?);
            $crate::ops::pair(tensor.tensor().topk(k, dim), dtype)
        }
    };
    (@ $tensor:ident $given:ident) => { $crate::convert::int($given) };
    (@ $tensor:ident) => { $tensor.tensor().dtype() };
}
pub(crate) use positions;

/// What tensors of numbers have in common, under the names of one kind.
macro_rules! ordered {
    ($sort:ident $topk:ident $max_abs:ident $max_abs_dim:ident $cummin:ident $cummax:ident) => {
        fn $sort(tensor: FlexTensor, dim: usize, descending: bool) -> FlexTensor {
            tensor.view(|x| x.sort($crate::ops::order(dim, descending)))
        }
        fn $topk(tensor: FlexTensor, dim: usize, k: usize) -> FlexTensor {
            tensor.view(|x| Ok(x.topk(k, dim)?.0))
        }
        fn $max_abs(tensor: FlexTensor) -> FlexTensor {
            tensor.map(|x| ops::abs(x)?.max(()))
        }
        fn $max_abs_dim(tensor: FlexTensor, dim: usize) -> FlexTensor {
            tensor.map(|x| ops::abs(x)?.max($crate::convert::along(dim)))
        }
        fn $cummin(tensor: FlexTensor, dim: usize) -> FlexTensor {
            tensor.view(|x| x.cumulative_min(dim))
        }
        fn $cummax(tensor: FlexTensor, dim: usize) -> FlexTensor {
            tensor.view(|x| x.cumulative_max(dim))
        }
    };
}
pub(crate) use ordered;

/// Values, and positions in a dtype.
#[track_caller]
fn pair(
    both: flex::Result<(flex::Tensor, flex::Tensor)>,
    dtype: flex::DType,
) -> (crate::FlexTensor, crate::FlexTensor) {
    let (values, positions) = crate::convert::done(both);
    let positions = crate::convert::done(positions.astype(dtype));
    (values.into(), positions.into())
}

fn order(dim: usize, descending: bool) -> flex::ops::Sort {
    flex::ops::Sort {
        descending,
        ..dim.into()
    }
}
