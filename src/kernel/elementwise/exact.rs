//! Comparisons of integers and bool with numbers, which are exact although the number may be a
//! float or out of the dtype's range: each asks whether an element lies in an interval of its dtype.

use crate::dtype::{Class, DType};
use crate::op::Op;
use crate::scalar::Scalar;

/// What to compare elements with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exact {
    /// A number of their dtype.
    Number(Scalar),
    /// Nothing: the answer is the same for all of them.
    Always(bool),
}

#[cfg(feature = "stream")]
impl Exact {
    /// The comparison `op` as one with a number of the dtype.
    pub fn comparison(self, op: Op, dtype: DType) -> (Op, Scalar) {
        let lowest = element(dtype, dtype.integers()[0]);
        match self {
            Exact::Number(n) => (op, n),
            Exact::Always(true) => (Op::GreaterEqual, lowest),
            Exact::Always(false) => (Op::Less, lowest),
        }
    }
}

/// Whether a comparison with the number needs [`exact`]: it is of another kind than the dtype, an
/// integer or bool, or out of its range. Complex numbers are only equal or not.
pub fn applies(op: Op, dtype: DType, x: Scalar) -> bool {
    let [lowest, highest] = dtype.integers();
    let equality = matches!(op, Op::Equal | Op::NotEqual);
    match (dtype.class(), x) {
        (_, Scalar::Bool(_)) => false,
        (Class::Boolean, Scalar::Int(_)) => true,
        (Class::Signed | Class::Unsigned, Scalar::Int(x)) => !(lowest..=highest).contains(&x),
        (Class::Boolean | Class::Signed | Class::Unsigned, Scalar::Float(_)) => true,
        (Class::Boolean | Class::Signed | Class::Unsigned, Scalar::Complex(..)) => equality,
        _ => false,
    }
}

/// The comparison with its sides exchanged.
pub fn mirrored(op: Op) -> Op {
    match op {
        Op::Less => Op::Greater,
        Op::LessEqual => Op::GreaterEqual,
        Op::Greater => Op::Less,
        Op::GreaterEqual => Op::LessEqual,
        op => op,
    }
}

/// The elements of an integer dtype or bool to which the comparison with `x` applies are those from
/// the first to the second, of [`Op::NotEqual`] all others. There are none if the first is larger.
pub fn interval(op: Op, dtype: DType, x: Scalar) -> [i128; 2] {
    let [lowest, highest] = dtype.integers();
    let none = [highest, lowest];
    // the integers next to it; conversions saturate, beyond every dtype
    let [below, above] = match x {
        Scalar::Bool(x) => [x as i128; 2],
        Scalar::Int(x) => [x; 2],
        Scalar::Complex(_, imag) if imag != 0.0 => return none,
        Scalar::Float(x) | Scalar::Complex(x, _) => {
            if x.is_nan() {
                return none;
            }
            let whole = x as i128;
            [
                whole.saturating_sub((whole as f64 > x) as i128),
                whole.saturating_add(((whole as f64) < x) as i128),
            ]
        }
    };
    let [first, last] = match op {
        Op::Less => [lowest, above.saturating_sub(1)],
        Op::LessEqual => [lowest, below],
        Op::Greater => [below.saturating_add(1), highest],
        Op::GreaterEqual => [above, highest],
        _ => [above, below],
    };
    match (first.max(lowest), last.min(highest)) {
        (first, last) if first <= last => [first, last],
        _ => none,
    }
}

/// An integer as a number of the dtype.
pub fn element(dtype: DType, x: i128) -> Scalar {
    match dtype.is_bool() {
        true => Scalar::Bool(x != 0),
        false => Scalar::Int(x),
    }
}

/// What the comparison `op` of elements with `x` compares them with instead; `None` for `x` itself.
/// If `on_left`, `x` is the first operand.
pub fn exact(op: Op, dtype: DType, x: Scalar, on_left: bool) -> Option<Exact> {
    if !applies(op, dtype, x) {
        return None;
    }
    let op = if on_left { mirrored(op) } else { op };
    let all = dtype.integers();
    let [first, last] = interval(op, dtype, x);
    if first > last || [first, last] == all {
        return Some(Exact::Always((first <= last) != (op == Op::NotEqual)));
    }
    let number = match op {
        Op::Less => last + 1,
        Op::LessEqual => last,
        Op::Greater => first - 1,
        _ => first,
    };
    Some(Exact::Number(element(dtype, number)))
}
