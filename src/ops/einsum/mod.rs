//! Einstein summation: sums of products over labelled dimensions. Subscripts become sets of labels
//! (`expression`), an order of pairwise contractions is chosen (`order`), and each contraction is a
//! batch of matrix products of views, or one pass that multiplies and sums (`contract`).

mod contract;
mod expression;
mod order;
mod path;
mod term;

pub use order::EinsumOrder;
pub use path::EinsumPath;

use self::contract::Contraction;
use self::expression::{Expression, Set};
use self::term::Term;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::borrow::Borrow;
use smallvec::SmallVec;

const OP: &str = "einsum";

/// How [`einsum_with`] computes.
///
/// Example: [`einsum_with`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EinsumOptions {
    /// The order of contractions.
    pub order: EinsumOrder,
    /// The most elements of an intermediate result in an order that is searched for. What can't be
    /// contracted so is multiplied and summed in one pass.
    pub limit: Option<usize>,
    /// The dtype that operands are converted to, and of the result; by default their common dtype.
    pub dtype: Option<DType>,
}

/// The sum of products of operands whose dimensions are named by letters, as in `numpy.einsum`:
/// `"ij,jk->ik"` is the product of matrices.
///
/// Operands are separated by commas. A letter that the output, after `->`, doesn't name is summed
/// over; one that an operand names twice takes its diagonal. `...` stands for the dimensions that
/// have no letter, which broadcast. Without `->`, the output has the dimensions under `...` and then
/// the letters that occur once, in alphabetical order, upper case first. Spaces are ignored. A size
/// of 1 broadcasts.
///
/// Operands are contracted in pairs, in an order that [`EinsumOrder::Best`] finds; the result of a
/// permutation or a diagonal is a view. The dtype is the operands' common one: integers wrap, 16-bit
/// floats are multiplied and summed in float32 and rounded once.
///
/// Errors if subscripts don't fit the operands' dimensions, sizes of a label differ and none is 1,
/// the output repeats a label or names one of no operand, or the dtypes have no common one or, where
/// something is computed, are bool.
///
/// ```
/// use flex::{Tensor, ops};
/// let a = Tensor::from([[1, 2], [3, 4]]);
/// let x = Tensor::from([10, 1]);
/// assert_eq!(ops::einsum("ij,j->i", &[&a, &x])?.to_vec::<i32>()?, [12, 34]);
/// assert_eq!(ops::einsum("ii", &[&a])?.item::<i32>()?, 5);
/// assert_eq!(ops::einsum("i,...->...i", &[&x, &x])?.to_vec::<i32>()?, [100, 10, 10, 1]);
/// let e = ops::einsum("ij,k->i", &[&a, &a]).unwrap_err().to_string();
/// assert_eq!(e, "einsum: \"ij,k->i\": subscripts \"k\" don't name the dimensions of operand 1, \
///     whose shape is [2, 2] (add '...' for the others)");
/// # Ok::<(), flex::Error>(())
/// ```
pub fn einsum<T: Borrow<Tensor>>(subscripts: &str, operands: &[T]) -> Result<Tensor> {
    einsum_with(subscripts, operands, &EinsumOptions::default())
}

/// [`einsum`] with an order of contractions and a dtype.
///
/// Errors also if the path is not one of contractions of these operands, or `dtype` can't hold the
/// values of their common dtype.
///
/// ```
/// use flex::{DType, Tensor, ops::{self, EinsumOptions, EinsumOrder}};
/// let a = Tensor::from([[1i8, 2], [3, 100]]);
/// let options = EinsumOptions {
///     order: EinsumOrder::Path(vec![vec![1, 2], vec![0, 1]]),
///     dtype: Some(DType::I32),
///     ..EinsumOptions::default()
/// };
/// let y = ops::einsum_with("ij,jk,kl->il", &[&a, &a, &a], &options)?;
/// assert_eq!(y.to_vec::<i32>()?, [613, 20214, 30321, 1001206]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn einsum_with<T: Borrow<Tensor>>(
    subscripts: &str,
    operands: &[T],
    options: &EinsumOptions,
) -> Result<Tensor> {
    computed(subscripts, &borrowed(operands)?, options)
}

/// The order in which [`einsum_with`] contracts operands of these shapes, and what it costs.
///
/// Errors like [`einsum_with`] for subscripts and a path.
///
/// ```
/// use flex::{Tensor, ops::{self, EinsumOptions}};
/// let (a, x) = (Tensor::from([[1, 2], [3, 4]]), Tensor::from([10, 1]));
/// let path = ops::einsum_path("ij,jk,k->i", &[&a, &a, &x], &EinsumOptions::default())?;
/// assert_eq!(path.steps(), [[1, 2], [0, 1]]);
/// assert!(path.to_string().contains("k,jk->j"));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn einsum_path<T: Borrow<Tensor>>(
    subscripts: &str,
    operands: &[T],
    options: &EinsumOptions,
) -> Result<EinsumPath> {
    let operands = borrowed(operands)?;
    let shapes = fallible::collect(operands.iter().map(|x| Ok::<_, Error>(x.shape())))?;
    let expression = Expression::new(subscripts, &shapes)?;
    let mut terms = fallible::with_capacity(operands.len())?;
    for (x, labels) in operands.iter().zip(&expression.operands) {
        let sizes = x.shape().iter();
        let longer = sizes.zip(labels).filter(|(size, _)| **size != 1);
        terms.push(longer.fold(0, |set: Set, (_, label)| set | 1 << label));
    }
    expression.drop_summed(&mut terms);
    let steps = order::steps(&expression, &terms, options)?;
    Ok(EinsumPath::new(expression, steps))
}

fn borrowed<T: Borrow<Tensor>>(operands: &[T]) -> Result<Vec<&Tensor>> {
    fallible::collect(operands.iter().map(|x| Ok::<_, Error>(x.borrow())))
}

fn computed(subscripts: &str, operands: &[&Tensor], options: &EinsumOptions) -> Result<Tensor> {
    let shapes = fallible::collect(operands.iter().map(|x| Ok::<_, Error>(x.shape())))?;
    let expression = Expression::new(subscripts, &shapes)?;
    let dtype = dtype_of(operands, options.dtype)?;
    let mut terms = fallible::with_capacity(operands.len())?;
    for (x, labels) in operands.iter().zip(&expression.operands) {
        terms.push(Term::new(x, labels)?);
    }
    let mut sets = fallible::collect(terms.iter().map(|t| Ok::<_, Error>(t.set())))?;
    let before = fallible::copy(&sets)?;
    expression.drop_summed(&mut sets);
    let steps = order::steps(&expression, &sets, options)?;
    if terms.len() > 1 || before != sets {
        let unsupported = || Err(Error::unsupported(OP, dtype));
        dispatch!(number dtype, |T| { let _ = size_of::<T>(); }, else return unsupported());
    }
    let wide = dtype.wide();
    let last = terms.len() == 1;
    for (term, kept) in terms.iter_mut().zip(&sets) {
        term.sum(*kept, if last { dtype } else { wide })?;
    }
    let output = expression.output();
    for (k, step) in steps.iter().enumerate() {
        let mut taken = fallible::with_capacity(step.len())?;
        for at in step.iter().rev() {
            taken.push(terms.remove(*at));
        }
        taken.reverse();
        let kept = terms.iter().fold(output, |set, term| set | term.set());
        let last = k + 1 == steps.len();
        let contraction = Contraction {
            sizes: &expression.sizes,
            kept,
            dtype: if last { dtype } else { wide },
        };
        terms.push(contraction.of(taken)?);
    }
    let result = terms.swap_remove(0);
    let shape: SmallVec<[usize; 6]> = expression.sizes[..expression.rank]
        .iter()
        .copied()
        .collect();
    result.into_output(&shape)?.into_dtype(dtype)
}

/// The dtype of the result.
fn dtype_of(operands: &[&Tensor], dtype: Option<DType>) -> Result<DType> {
    let mut all = operands.iter().map(|x| x.dtype());
    let first = all
        .next()
        .ok_or_else(|| Error::value(OP, "at least one operand is needed"))?;
    let common = all.try_fold(first, |d, other| d.promote(other, OP))?;
    let Some(dtype) = dtype else {
        return Ok(common);
    };
    super::linalg::sums_in(OP, common, dtype)?;
    Ok(dtype)
}
