//! A contraction: the sum of products of several terms over the labels that nothing else needs.

use super::OP;
use super::expression::{Labels, Set, size};
use super::term::Term;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::fold::fold_computed;
use crate::exec::view::View;
use crate::kernel::elementwise::rows;
use crate::layout::{Layout, Shape};
use crate::ops::formula::evaluate;
use crate::ops::linalg::matmul_with_post_op;
use crate::ops::program::Builder;
use crate::ops::reduce::{accumulator, sum_end};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The most terms that one pass multiplies.
const FACTORS: usize = 8;
/// Matrices of a batch whose product has fewer multiplications are multiplied in one pass over all:
/// to begin a product costs about as much as these.
const FEW_PRODUCTS: f64 = 128.0;
/// The fewest rows or columns of a matrix for which a batch of views is better than one product of
/// a copy.
const FEW_ROWS: usize = 16;

/// The labels that remain, and the dtype of the result.
pub(super) struct Contraction<'a> {
    pub sizes: &'a [usize],
    pub kept: Set,
    pub dtype: DType,
}

/// The labels of a product of matrices.
struct Product {
    /// Both operands have them, and the result.
    batch: Labels,
    /// The rows of the left operand, and the columns of the right one: the labels in one dimension,
    /// and others that count as batches.
    rows: [Labels; 2],
    columns: [Labels; 2],
    summed: Labels,
}

impl Contraction<'_> {
    pub fn of(&self, mut terms: Vec<Term>) -> Result<Term> {
        let all = terms.iter().fold(0, |all, t| all | t.set());
        if terms.len() > 2 {
            if terms.len() <= FACTORS && size(self.sizes, all) <= Layout::MAX_LEN as f64 {
                return self.one_pass(&terms);
            }
            // in pairs: the rest of the terms decides what each keeps
            let mut rest = terms.split_off(1).into_iter();
            let mut result = terms.remove(0);
            while let Some(next) = rest.next() {
                let kept = rest
                    .as_slice()
                    .iter()
                    .fold(self.kept, |kept, t| kept | t.set());
                result = Contraction { kept, ..*self }.pair(result, next)?;
            }
            return Ok(result);
        }
        match (terms.pop(), terms.pop()) {
            (Some(b), Some(a)) => self.pair(a, b),
            (Some(a), None) => Ok(a),
            _ => Err(Error::value(OP, "a step without operands")),
        }
    }
    fn count(&self, labels: &[u8]) -> usize {
        labels.iter().map(|l| self.sizes[*l as usize]).product()
    }
    fn pair(&self, a: Term, b: Term) -> Result<Term> {
        let both = a.set() & b.set();
        let (batch, summed) = (both & self.kept, both & !self.kept);
        if summed == 0 || self.is_one_pass(&a, &b) {
            return self.one_pass(&[a, b]);
        }
        // the innermost label of the output is one of columns, so that the result is contiguous
        let innermost = |t: &Term| (t.set() & self.kept & !both).checked_ilog2();
        let (mut left, mut right) = match innermost(&a) > innermost(&b) {
            true => (b, a),
            false => (a, b),
        };
        let summed = self.order_of_sum(&mut left, &mut right, summed)?;
        let (rows, columns) = (left.set() & !both, right.set() & !both);
        let rows = self.side(&mut left, rows, batch, &summed)?;
        let columns = self.side(&mut right, columns, batch, &summed)?;
        let mut all = left.by_stride(batch);
        all.sort_unstable();
        self.product(
            &left,
            &right,
            &Product {
                batch: all,
                rows,
                columns,
                summed,
            },
        )
    }
    /// Whether a batch of matrix products is slower than one pass: many dot products, one of terms
    /// that are no lines, and many small products.
    fn is_one_pass(&self, a: &Term, b: &Term) -> bool {
        let batch = a.set() & b.set() & self.kept;
        if a.set() == b.set() {
            let order = a.by_stride(a.set());
            let is_line = |t: &Term| t.merged(&order, self.sizes) == order.len();
            return batch != 0 || !is_line(a) || !is_line(b);
        }
        batch != 0 && size(self.sizes, (a.set() | b.set()) & !batch) < FEW_PRODUCTS
    }
    /// The order of the labels summed over in which they are one dimension of both operands; if there
    /// is none, the smaller operand is copied.
    fn order_of_sum(&self, left: &mut Term, right: &mut Term, summed: Set) -> Result<Labels> {
        let orders = [left.by_stride(summed), right.by_stride(summed)];
        let merged = |t: &Term, order: &Labels| t.merged(order, self.sizes) == order.len();
        for order in &orders {
            if merged(left, order) && merged(right, order) {
                return Ok(order.clone());
            }
        }
        let keep_left = match (merged(left, &orders[0]), merged(right, &orders[1])) {
            (left, right) if left != right => left,
            _ => left.tensor.len() >= right.tensor.len(),
        };
        let [of_left, of_right] = orders;
        let order = if keep_left { of_left } else { of_right };
        for term in [left, right] {
            if !merged(term, &order) {
                let free = term.by_stride(term.set() & !summed);
                self.copy(term, &[&free, &order])?;
            }
        }
        Ok(order)
    }
    /// The labels of the rows or columns of an operand: those that are one dimension of it, and the
    /// others. There are no others if the operand is copied.
    fn side(&self, term: &mut Term, free: Set, batch: Set, summed: &[u8]) -> Result<[Labels; 2]> {
        let order = term.by_stride(free);
        let (mut start, mut longest) = (0, 0..0);
        while start < order.len() {
            let end = start + term.merged(&order[start..], self.sizes);
            if longest.is_empty()
                || self.count(&order[start..end]) > self.count(&order[longest.clone()])
            {
                longest = start..end;
            }
            start = end;
        }
        let one = Labels::from_slice(&order[longest.clone()]);
        let mut others = order.clone();
        others.retain(|label| !one.contains(label));
        if self.count(&others) > 1 && self.count(&one) < FEW_ROWS {
            let batch = term.by_stride(batch);
            self.copy(term, &[&batch, &order, summed])?;
            return Ok([order, Labels::new()]);
        }
        others.sort_unstable();
        Ok([one, others])
    }
    /// Makes the dimensions contiguous in this order.
    fn copy(&self, term: &mut Term, order: &[&[u8]]) -> Result<()> {
        let labels: Labels = order.iter().flat_map(|part| part.iter().copied()).collect();
        term.tensor = term.view(&labels, &[], self.sizes, false)?.contiguous()?;
        term.labels = labels;
        Ok(())
    }
    fn product(&self, left: &Term, right: &Term, of: &Product) -> Result<Term> {
        let [rows, more_rows] = &of.rows;
        let [columns, more_columns] = &of.columns;
        let mut labels = of.batch.clone();
        labels.extend_from_slice(more_rows);
        labels.extend_from_slice(more_columns);
        let a = left.view(&labels, &[rows, &of.summed], self.sizes, false)?;
        let b = right.view(&labels, &[&of.summed, columns], self.sizes, false)?;
        let common = a.dtype().promote(b.dtype(), OP)?;
        let sum = common.promote(self.dtype, OP)?;
        let c = matmul_with_post_op(&a, &b, (sum != common).then_some(sum), None)?;
        labels.extend_from_slice(rows);
        labels.extend_from_slice(columns);
        let shape: Shape = labels.iter().map(|l| self.sizes[*l as usize]).collect();
        Ok(Term {
            tensor: c.into_dtype(self.dtype)?.reshape(shape)?,
            labels,
        })
    }
    /// Multiplies the elements of all terms and sums the products, tile by tile.
    fn one_pass(&self, terms: &[Term]) -> Result<Term> {
        let all = terms.iter().fold(0, |all, t| all | t.set());
        let mut labels = Labels::new();
        labels.extend((0..self.sizes.len() as u8).filter(|l| (all & self.kept) >> l & 1 == 1));
        let kept = labels.len();
        for term in terms {
            for label in term.by_stride(all & !self.kept) {
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
        }
        let mut inputs = SmallVec::<[Tensor; 4]>::new();
        for term in terms {
            inputs.push(term.view(&labels, &[], self.sizes, true)?);
        }
        let shape: Shape = labels.iter().map(|l| self.sizes[*l as usize]).collect();
        let dtype = self.dtype.wide();
        let kernel =
            (rows::Multiply::ROW.lookup)(dtype).ok_or_else(|| Error::unsupported(OP, dtype))?;
        let mut builder = Builder::new(OP);
        let mut vars = SmallVec::<[_; 4]>::new();
        for input in &inputs {
            vars.push(builder.input(input.dtype())?);
        }
        let mut product = builder.convert(vars[0], dtype)?;
        for var in &vars[1..] {
            let factors = [product.into(), builder.convert(*var, dtype)?.into()];
            product = builder.apply(&rows::Multiply::ROW, &kernel, dtype, &factors)?;
        }
        if kept == labels.len() {
            product = builder.convert(product, self.dtype)?;
        }
        builder.output(product)?;
        let program = builder.finish()?;
        let result = |tensor| {
            Ok(Term {
                tensor,
                labels: Labels::from_slice(&labels[..kept]),
            })
        };
        if kept == labels.len() {
            let mut y = Tensor::empty_result(&shape, inputs.iter(), self.dtype)?;
            evaluate(&program, inputs.iter(), &mut y)?;
            return result(y);
        }
        let views: SmallVec<[View; 4]> = inputs.iter().map(Tensor::elements).collect();
        let value = Layout::of_result(&shape, inputs.iter().map(Tensor::layout))?;
        let mut sums = Tensor::empty(&shape[..kept], accumulator(dtype))?;
        let mut ends = [sum_end(OP, dtype, sums.elements_mut()?)?];
        fold_computed(&program, &views, &value, |k| k >= kept, &mut ends)?;
        result(sums.into_dtype(self.dtype)?)
    }
}
