//! Fuses operations of a program into single instructions: a product with the one sum that needs
//! it, chains of such pairs with a common factor, as in Horner's rule, and signs with numbers.

use super::graph::{Graph, Operand, Value, negated_operand};
use super::step::Operation;
use crate::dtype::DType;
use crate::kernel::elementwise::chains;
use crate::op::Op;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// How a value of a program is computed.
#[derive(Clone)]
pub(super) enum Merged {
    /// By an instruction of its own.
    Alone,
    /// Within the instruction of the only value that needs it.
    Within,
    /// By another operation.
    Apply(Op, SmallVec<[Operand; 3]>),
    /// As the product of the first two operands plus the third.
    MultiplyAdd([Operand; 3]),
    /// As the value of a polynomial.
    Horner {
        first: Operand,
        x: Value,
        coefficients: SmallVec<[Operand; 4]>,
    },
}

/// A product of two factors, plus a term.
struct ProductPlusTerm {
    product: usize,
    factors: [Operand; 2],
    term: Operand,
}

/// How to compute each of the values `all` of a program, in its order, if its outputs are
/// `targets`. `dtype` is the dtype that an operation computes in, if it rounds to that.
pub(super) fn merge(
    graph: &Graph,
    all: &[usize],
    targets: &[usize],
    dtype: impl Fn(usize) -> Option<DType>,
) -> Vec<Merged> {
    let place = |k: usize| all.binary_search(&k).ok();
    let mut uses = alloc::vec![0usize; all.len()];
    for k in all {
        let node = &graph.nodes[*k];
        let each = match node.step.operation {
            Operation::Apply { op: Op::Square, .. } => 2, // both factors
            _ => 1,
        };
        for x in node.values() {
            if let Some(at) = place(x.at()) {
                uses[at] += each;
            }
        }
    }
    for k in targets {
        if let Some(at) = place(*k) {
            uses[at] += 2; // an output needs its own instruction
        }
    }
    let single = |x: &Operand| match x {
        Operand::Value(x) => place(x.at()).filter(|at| uses[*at] == 1),
        _ => None,
    };
    let op_of = |k: usize| match &graph.nodes[k].step.operation {
        Operation::Apply { op, .. } => Some((*op, &graph.nodes[k].step.operands[..])),
        _ => None,
    };
    let factors = |k: usize| match op_of(k)? {
        (Op::Multiply, [x, y]) => Some([*x, *y]),
        (Op::Square, [x]) => Some([*x, *x]),
        _ => None,
    };
    let pair = |k: usize| {
        let (terms, negative) = match op_of(k)? {
            (Op::Add, [x, y]) => ([*x, *y], false),
            (Op::Subtract, [x, y]) => ([*x, *y], true),
            _ => return None,
        };
        let found = (negative as usize..2).find_map(|side| {
            let product = single(&terms[side])?;
            let mut factors = factors(all[product])?;
            if negative {
                factors[1] = negated_operand(factors[1], dtype(k)?)?;
            }
            (dtype(all[product]) == dtype(k)).then_some(ProductPlusTerm {
                product,
                factors,
                term: terms[1 - side],
            })
        });
        found.filter(|_| dtype(k).is_some_and(|d| chains::multiply_add(d).is_some()))
    };
    // a product or a quotient whose sign is that of its number
    let scaled = |k: usize| {
        let (Op::Negative, [x]) = op_of(k)? else {
            return None;
        };
        let at = single(x)?;
        let (op @ (Op::Multiply | Op::Divide), [a, b]) = op_of(all[at])? else {
            return None;
        };
        let computed = graph.nodes[all[at]].computed;
        let negated = |x: &Operand| negated_operand(*x, computed);
        let operands = match (negated(a), negated(b)) {
            (_, Some(b)) => [*a, b],
            (Some(a), _) => [a, *b],
            _ => return None,
        };
        let operands = SmallVec::from_slice(&operands);
        (!computed.is_complex()).then_some((at, Merged::Apply(op, operands)))
    };
    let mut merged = alloc::vec![Merged::Alone; all.len()];
    for at in 0..all.len() {
        if let Some((product, apply)) = scaled(all[at]) {
            (merged[product], merged[at]) = (Merged::Within, apply);
            continue;
        }
        let Some(ProductPlusTerm {
            product,
            factors,
            term,
        }) = pair(all[at])
        else {
            continue;
        };
        merged[product] = Merged::Within;
        let longest = dtype(all[at]).map_or(0, chains::most_coefficients);
        let is_number = |x: &Operand| !matches!(x, Operand::Value(_));
        // a preceding pair whose value is only a factor here, and the other factor
        let before = (0..2).find_map(|side| {
            let before = single(&factors[side])?;
            let Operand::Value(x) = factors[1 - side] else {
                return None;
            };
            let (first, mut coefficients) = match &merged[before] {
                Merged::MultiplyAdd([a, b, c]) if is_number(c) => {
                    let first = match (*a, *b) {
                        (a, Operand::Value(b)) if b == x => a,
                        (Operand::Value(a), b) if a == x => b,
                        _ => return None,
                    };
                    (first, SmallVec::from_slice(&[*c]))
                }
                Merged::Horner {
                    first,
                    x: y,
                    coefficients,
                } if *y == x => (*first, coefficients.clone()),
                _ => return None,
            };
            let fits = is_number(&term) && coefficients.len() < longest;
            fits.then(|| {
                coefficients.push(term);
                (before, first, x, coefficients)
            })
        });
        merged[at] = match before {
            Some((before, first, x, coefficients)) => {
                merged[before] = Merged::Within;
                Merged::Horner {
                    first,
                    x,
                    coefficients,
                }
            }
            None => {
                // elements come first: the vectorised loops take single values as later operands
                let [a, b] = factors;
                let (a, b) = if is_number(&a) { (b, a) } else { (a, b) };
                Merged::MultiplyAdd([a, b, term])
            }
        };
    }
    merged
}
