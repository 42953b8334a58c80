//! Reductions, scans, sorts and transforms along lines.

use super::rows;
use crate::data::{bools, floats, ints};
use burn_backend::IntDType;

const N: &[usize] = &[1024, 1024];

rows! { B;
    "reduction" {
        "sum 1M" => { let x = floats::<B>(N, 1); move || B::float_sum(x.clone()) };
        "sum_dim rows" => { let x = floats::<B>(N, 1); move || B::float_sum_dim(x.clone(), 1) };
        "sum_dim columns" => { let x = floats::<B>(N, 1); move || B::float_sum_dim(x.clone(), 0) };
        "mean_dim of a transpose" => { let x = B::float_swap_dims(floats::<B>(N, 1), 0, 1); move || B::float_mean_dim(x.clone(), 1) };
        "max 1M" => { let x = floats::<B>(N, 1); move || B::float_max(x.clone()) };
        "max_dim rows" => { let x = floats::<B>(N, 1); move || B::float_max_dim(x.clone(), 1) };
        "argmax rows" => { let x = floats::<B>(N, 1); move || B::float_argmax(x.clone(), 1, IntDType::I32) };
        "argmax columns" => { let x = floats::<B>(N, 1); move || B::float_argmax(x.clone(), 0, IntDType::I32) };
        "argmax of 65536 x 16" => { let x = floats::<B>(&[65536, 16], 1); move || B::float_argmax(x.clone(), 1, IntDType::I32) };
        "max_dim_with_indices rows" => { let x = floats::<B>(N, 1); move || B::float_max_dim_with_indices(x.clone(), 1, IntDType::I32) };
        "int sum 1M" => { let x = ints::<B>(N, 1000, 1); move || B::int_sum(x.clone()) };
        "bool any 1M" => { let x = B::bool_and(bools::<B>(N, 1), B::bool_not(bools::<B>(N, 1))); move || B::bool_any(x.clone()) };
    }
    "cumulative" {
        "cumsum rows" => { let x = floats::<B>(N, 1); move || B::float_cumsum(x.clone(), 1) };
        "cumsum columns" => { let x = floats::<B>(N, 1); move || B::float_cumsum(x.clone(), 0) };
        "cumprod rows" => { let x = floats::<B>(N, 1); move || B::float_cumprod(x.clone(), 1) };
        "cummax rows" => { let x = floats::<B>(N, 1); move || B::float_cummax(x.clone(), 1) };
        "int cumsum columns" => { let x = ints::<B>(N, 1000, 1); move || B::int_cumsum(x.clone(), 0) };
    }
    "sort" {
        "sort rows" => { let x = floats::<B>(&[256, 1024], 1); move || B::float_sort(x.clone(), 1, false) };
        "argsort rows" => { let x = floats::<B>(&[256, 1024], 1); move || B::float_argsort(x.clone(), 1, false, IntDType::I32) };
        "topk 8 of rows" => { let x = floats::<B>(N, 1); move || B::float_topk_with_indices(x.clone(), 1, 8, IntDType::I32) };
    }
    "rfft" {
        "256 lines of 1024" => { let x = floats::<B>(&[256, 1024], 1); move || B::rfft(x.clone(), 1) };
        "one line of 65536" => { let x = floats::<B>(&[65536], 1); move || B::rfft(x.clone(), 0) };
        "1024 columns of 256" => { let x = floats::<B>(&[256, 1024], 1); move || B::rfft(x.clone(), 0) };
    }
}
