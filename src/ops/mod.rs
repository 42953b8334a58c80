//! The operations: validate, promote and broadcast, pick a kernel, hand it to `exec`.

mod compare;
pub mod create;
pub mod decimals;
#[cfg(any(feature = "nn", feature = "random"))]
pub(crate) mod draw;
pub mod einsum;
pub mod elementwise;
pub mod ewise;
pub(crate) mod formula;
pub mod index;
pub mod join;
pub mod linalg;
pub(crate) mod methods;
pub(crate) mod program;
pub mod reduce;
pub mod scan;
pub mod set;
pub mod shape;
pub mod sort;
pub mod special;
pub mod stacks;
pub mod turn;
mod values;

pub use compare::{Allclose, allclose, array_equal, isclose};
pub use create::*;
pub use decimals::round_to;
pub use einsum::{EinsumOptions, EinsumOrder, EinsumPath, einsum, einsum_path, einsum_with};
pub use elementwise::*;
pub use ewise::{
    Apply, Elementwise, Operator, Reducer, ewise, ewise_inplace, ewise_into, iwise,
    reduce_axes_ewise, reduce_ewise, reducer,
};
pub use index::*;
pub use join::*;
pub use linalg::{
    TensordotAxes, cross, dot, inner, kron, matmul, matmul_as, matrix_transpose, outer, tensordot,
    vdot, vecdot,
};
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use reduce::{Chosen, logsumexp_signed, logsumexp_weighted};
pub use reduce::{
    Interpolation, NanToNum, ReductionAxes, all, any, argmax, argmin, count_nonzero, logsumexp,
    max, max_with_indices, mean, median, min, min_with_indices, nan_to_num, nanmax, nanmean,
    nanmedian, nanmin, nanquantile, nanstd, nansum, nanvar, prod, prod_as, ptp, quantile, std, sum,
    sum_as, var,
};
pub use scan::{Cumulative, cumulative_max, cumulative_min, cumulative_prod, cumulative_sum, diff};
pub use set::{Unique, isin, unique_all, unique_counts, unique_inverse, unique_values};
pub use shape::*;
pub use sort::*;
pub use special::{digamma, erfinv, i0, i0e, i1, i1e, lgamma};
pub use stacks::{atleast_1d, atleast_2d, atleast_3d, column_stack, dstack, hstack, vstack};
pub use turn::{Sections, array_split, diag, fliplr, flipud, hsplit, ravel, rot90, vsplit};
pub use values::Iter;
