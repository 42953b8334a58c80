//! The order of contractions.

use super::expression::{Expression, Set};
use super::{EinsumOptions, OP};
use crate::error::{Error, Result};
use crate::fallible;
use alloc::vec;
use alloc::vec::Vec;

/// The order in which operands are contracted.
///
/// Example: [`einsum_with`](super::einsum_with).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EinsumOrder {
    /// Of up to five operands the optimal order, else a greedy one.
    #[default]
    Best,
    /// The first with the second, the result with the third, and so on.
    Given,
    /// The pair next whose contraction frees most elements.
    Greedy,
    /// The pairwise order with the fewest multiplications and intermediate elements; a greedy one
    /// for more than 12 operands.
    Optimal,
    /// Steps, each with the positions of the operands that it contracts. These are removed, and the
    /// result is appended to the list of operands.
    Path(Vec<Vec<usize>>),
}

/// The most operands whose orders are all searched, unasked and if asked to.
const FEW: usize = 5;
const SEARCHABLE: usize = 12;
/// With more operands, only pairs with the smallest of them are compared.
const MANY: usize = 64;

/// The steps that contract terms with these labels to one; positions within a step ascend.
pub(super) fn steps(
    expression: &Expression,
    terms: &[Set],
    options: &EinsumOptions,
) -> Result<Vec<Vec<usize>>> {
    let n = terms.len();
    if let EinsumOrder::Path(path) = &options.order {
        return checked(path, n);
    }
    let search = Search {
        expression,
        output: expression.output(),
        limit: options.limit.map_or(f64::INFINITY, |n| n as f64),
    };
    match options.order {
        _ if n == 1 => Ok(Vec::new()),
        EinsumOrder::Given => {
            let last = |k: usize| if k == 0 { 1 } else { n - 1 - k };
            fallible::collect((0..n - 1).map(|k| Ok::<_, Error>(vec![0, last(k)])))
        }
        EinsumOrder::Optimal if n <= SEARCHABLE => search.optimal(terms),
        EinsumOrder::Best if n <= FEW => search.optimal(terms),
        _ => search.greedy(terms),
    }
}

/// A caller's path for `n` operands.
fn checked(path: &[Vec<usize>], n: usize) -> Result<Vec<Vec<usize>>> {
    let (mut steps, mut left) = (fallible::with_capacity(path.len())?, n);
    for step in path {
        let mut step = fallible::copy(step)?;
        step.sort_unstable();
        let repeated = step.windows(2).any(|pair| pair[0] == pair[1]);
        if step.is_empty() || repeated || step.last().is_some_and(|k| *k >= left) {
            return Err(Error::value(
                OP,
                message!(
                    "step {} of the path, {step:?}, is not one of {left} operands",
                    steps.len()
                ),
            ));
        }
        left -= step.len() - 1;
        steps.push(step);
    }
    if left != 1 {
        let message = message!("the path leaves {left} of {n} operands uncontracted");
        return Err(Error::value(OP, message));
    }
    Ok(steps)
}

struct Search<'a> {
    expression: &'a Expression,
    output: Set,
    /// The most elements of an intermediate result.
    limit: f64,
}

impl Search<'_> {
    fn greedy(&self, terms: &[Set]) -> Result<Vec<Vec<usize>>> {
        let mut terms = fallible::copy(terms)?;
        let mut steps = fallible::with_capacity(terms.len())?;
        while terms.len() > 2 {
            let (mut once, mut twice) = (0, 0); // labels that occur no more often
            let (mut any, mut several, mut many) = (0, 0, 0);
            for term in &terms {
                many |= several & term;
                several |= any & term;
                any |= term;
            }
            once |= any & !several;
            twice |= several & !many;
            let firsts = match terms.len() > MANY {
                false => 0..terms.len(),
                true => {
                    let size = |k: &usize| self.expression.size(terms[*k]);
                    let smallest = (0..terms.len()).min_by(|a, b| size(a).total_cmp(&size(b)));
                    smallest.unwrap_or(0)..smallest.unwrap_or(0) + 1
                }
            };
            let mut best: Option<((bool, f64, f64), [usize; 2], Set)> = None;
            for i in firsts.clone() {
                let others = if firsts.len() == 1 { 0 } else { i + 1 };
                for j in (others..terms.len()).filter(|j| *j != i) {
                    let (a, b) = (terms[i], terms[j]);
                    let summed = (once & (a | b) | twice & a & b) & !self.output;
                    let result = (a | b) & !summed;
                    let elements = self.expression.size(result);
                    if elements > self.limit {
                        continue;
                    }
                    let freed = elements - self.expression.size(a) - self.expression.size(b);
                    let cost = (a & b == 0, freed, self.expression.size(a | b));
                    let better = best.as_ref().is_none_or(|(least, ..)| {
                        let by_size = cost.1.total_cmp(&least.1).then(cost.2.total_cmp(&least.2));
                        cost.0.cmp(&least.0).then(by_size).is_lt()
                    });
                    if better {
                        best = Some((cost, [i.min(j), i.max(j)], result));
                    }
                }
            }
            let Some((_, [i, j], result)) = best else {
                break; // the rest at once, without an intermediate result
            };
            steps.push(vec![i, j]);
            terms.remove(j);
            terms.remove(i);
            terms.push(result);
        }
        steps.push(fallible::collect((0..terms.len()).map(Ok::<_, Error>))?);
        Ok(steps)
    }
    /// By dynamic programming over sets of operands: the cheapest way to contract each set is that of
    /// two parts of it, and their contraction.
    fn optimal(&self, terms: &[Set]) -> Result<Vec<Vec<usize>>> {
        let n = terms.len();
        let all = (1usize << n) - 1;
        let mut labels = fallible::filled(0 as Set, 1 << n)?;
        for of in 1..=all {
            labels[of] = labels[of & (of - 1)] | terms[of.trailing_zeros() as usize];
        }
        let result = |of: usize| labels[of] & (labels[all ^ of] | self.output);
        let mut cost = fallible::filled(0.0, 1 << n)?;
        let mut part = fallible::filled(0usize, 1 << n)?;
        for of in (1..=all).filter(|of| !of.is_power_of_two()) {
            let elements = self.expression.size(result(of));
            cost[of] = f64::INFINITY;
            if elements > self.limit && of != all {
                continue;
            }
            let (lowest, mut a) = (of & of.wrapping_neg(), (of - 1) & of);
            while a > 0 {
                if a & lowest != 0 {
                    let b = of ^ a;
                    let products = self.expression.size(result(a) | result(b));
                    let total = cost[a] + cost[b] + products + elements;
                    if total < cost[of] {
                        (cost[of], part[of]) = (total, a);
                    }
                }
                a = (a - 1) & of;
            }
        }
        if cost[all].is_infinite() {
            return self.greedy(terms);
        }
        let mut live: Vec<usize> = (0..n).map(|k| 1 << k).collect();
        let mut steps = fallible::with_capacity(n)?;
        tree(all, &part, &mut live, &mut steps);
        Ok(steps)
    }
}

/// The steps that contract a set of operands, in the order of a tree.
fn tree(of: usize, part: &[usize], live: &mut Vec<usize>, steps: &mut Vec<Vec<usize>>) {
    if of.is_power_of_two() {
        return;
    }
    let parts = [part[of], of ^ part[of]];
    for part_of in parts {
        tree(part_of, part, live, steps);
    }
    let step = (0..live.len()).filter(|k| parts.contains(&live[*k]));
    steps.push(step.collect());
    live.retain(|x| !parts.contains(x));
    live.push(of);
}
