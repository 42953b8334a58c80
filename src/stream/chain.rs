//! Fuses operations of a program into single instructions: a product with the one sum that needs
//! it, and chains of such pairs with a common factor, as in Horner's rule.

use super::graph::{Graph, Operand, Value};
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
        for x in graph.nodes[*k].values() {
            if let Some(at) = place(x.at()) {
                uses[at] += 1;
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
    let apply = |k: usize, name: Op| {
        let step = &graph.nodes[k].step;
        match (&step.operation, &step.operands[..]) {
            (Operation::Apply { op, .. }, [x, y]) if *op == name => Some([*x, *y]),
            _ => None,
        }
    };
    let pair = |k: usize| {
        let terms = apply(k, Op::Add)?;
        let found = (0..2).find_map(|side| {
            let product = single(&terms[side])?;
            let factors = apply(all[product], Op::Multiply)?;
            (dtype(all[product]) == dtype(k)).then_some(ProductPlusTerm {
                product,
                factors,
                term: terms[1 - side],
            })
        });
        found.filter(|_| dtype(k).is_some_and(|d| chains::multiply_add(d).is_some()))
    };
    let mut merged = alloc::vec![Merged::Alone; all.len()];
    for at in 0..all.len() {
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
