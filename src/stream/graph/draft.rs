//! Identities of single operations, for the normal form of a graph: operands come without their
//! signs, and what an identity leaves of these is said beside them.

use super::{Graph, NumberForm, Operand, Parameter, Value};
use crate::dtype::DType;
use crate::kernel::elementwise::exact::mirrored;
use crate::op::Op;
use crate::scalar::Scalar;
use smallvec::SmallVec;

pub(super) type Operands = SmallVec<[Operand; 3]>;

/// An operand without its sign, and whether it is negated.
pub(super) type Signed = (Operand, bool);

/// An operation on its way to the normal form.
pub(super) struct Draft {
    pub op: Op,
    pub operands: Operands,
    pub in_place: bool,
    /// Bit k: operand k is to be negated.
    pub negates: u8,
    /// Whether the result is to be negated.
    pub negative: bool,
}

impl Draft {
    /// Takes operands in an order of their own: what is computed first, numbers last. The result's
    /// layout does not depend on the order, unless the first is replaced. Returns whether they were
    /// exchanged.
    fn order(&mut self, graph: &Graph) -> bool {
        let swaps = match self.operands[..] {
            [Operand::Value(x), Operand::Value(y)] => {
                graph.order_of(x) > graph.order_of(y) && !self.in_place
            }
            [_, Operand::Value(_)] => true,
            _ => false,
        };
        if swaps {
            self.operands.swap(0, 1);
        }
        swaps
    }
    pub fn multiply(
        &mut self,
        graph: &Graph,
        x: Signed,
        y: Signed,
        dtype: DType,
    ) -> Option<(Value, bool)> {
        self.operands.copy_from_slice(&[x.0, y.0]);
        self.negative = x.1 != y.1;
        self.order(graph);
        match &mut self.operands[..] {
            [Operand::Value(x), Operand::Number(n)] => {
                self.negative ^= take_sign(n, dtype);
                return is_one(*n).then_some((*x, self.negative));
            }
            [Operand::Value(x), Operand::Value(y)] if x == y => {
                self.op = Op::Square;
                self.operands.truncate(1);
            }
            _ => (),
        }
        None
    }
    pub fn divide(&mut self, x: Signed, y: Signed, dtype: DType) -> Option<(Value, bool)> {
        self.operands.copy_from_slice(&[x.0, y.0]);
        self.negative = x.1 != y.1;
        match &mut self.operands[..] {
            [Operand::Value(x), Operand::Number(c)] => {
                self.negative ^= take_sign(c, dtype);
                if is_one(*c) {
                    return Some((*x, self.negative));
                }
                if let Some(factor) = reciprocal(*c, dtype) {
                    (self.op, *c) = (Op::Multiply, factor);
                }
            }
            [Operand::Number(c), Operand::Value(_)] => {
                self.negative ^= take_sign(c, dtype);
                if is_one(*c) {
                    self.op = Op::Reciprocal;
                    self.operands.remove(0);
                }
            }
            _ => (),
        }
        None
    }
    /// The sum of two operands.
    pub fn add(
        &mut self,
        graph: &Graph,
        x: Signed,
        y: Signed,
        dtype: DType,
    ) -> Option<(Value, bool)> {
        let (op, pair) = match (x, y) {
            ((Operand::Value(_), false), (Operand::Value(_), false)) => (Op::Add, [x.0, y.0]),
            ((Operand::Value(_), false), (Operand::Value(_), true)) => (Op::Subtract, [x.0, y.0]),
            ((Operand::Value(_), true), (Operand::Value(_), false)) => (Op::Subtract, [y.0, x.0]),
            ((Operand::Value(a), true), (Operand::Value(b), true)) => {
                // not -(x + y): for x = -y, zeros have different signs
                self.negates = 1;
                (Op::Subtract, if a <= b { [x.0, y.0] } else { [y.0, x.0] })
            }
            ((Operand::Value(v), sign), n) | (n, (Operand::Value(v), sign)) => {
                let n = match n {
                    (n, true) => negated_operand(n, dtype)?,
                    (n, false) => n,
                };
                match n {
                    Operand::Number(s) if is_neutral(s, dtype) => return Some((v, sign)),
                    n if sign => (Op::Subtract, [n, v.into()]),
                    n => (Op::Add, [v.into(), n]),
                }
            }
            _ => return None,
        };
        self.op = op;
        self.operands.copy_from_slice(&pair);
        if op == Op::Add {
            self.order(graph);
        }
        None
    }
    /// Negates the result and the operands from `at` on, if the first value among them is negated.
    pub fn negate(&mut self, graph: &Graph, at: usize, pair: [Signed; 2], dtype: DType) -> bool {
        let first = pair.iter().find(|x| x.0.value().is_some());
        let mut operands: SmallVec<[Operand; 2]> = SmallVec::new();
        let mut negates = 0;
        for (k, (x, negative)) in pair.into_iter().enumerate() {
            match x {
                Operand::Value(v) if negative || graph.can_negate(v, dtype) => {
                    operands.push(x);
                    negates |= (!negative as u8) << (at + k);
                }
                n => operands.extend(negated_operand(n, dtype)),
            }
        }
        let negated = first.is_some_and(|x| x.1) && operands.len() == 2;
        if negated {
            self.operands[at..].copy_from_slice(&operands);
            (self.negates, self.negative) = (negates, true);
        }
        negated
    }
    /// A comparison of two operands.
    pub fn compare(&mut self, graph: &Graph, x: Signed, y: Signed, dtype: DType) {
        if self.in_place {
            return;
        }
        let mut pair = match dtype.is_float() {
            true => [x, y],
            false => [(self.operands[0], false), (self.operands[1], false)],
        };
        let mut op = self.op;
        let is_value = |x: &Signed| x.0.value().is_some();
        let (both, greater) = (
            pair.iter().all(is_value),
            matches!(op, Op::Greater | Op::GreaterEqual),
        );
        if both && pair[0].1 && pair[1].1 {
            pair = pair.map(|x| (x.0, false));
            pair.swap(0, 1);
        }
        if both && greater || !is_value(&pair[0]) {
            pair.swap(0, 1);
            op = mirrored(op);
        }
        match pair {
            [(Operand::Value(x), _), (Operand::Value(y), _)] => {
                let later = graph.order_of(x) > graph.order_of(y);
                let symmetric = mirrored(op) == op;
                if symmetric && later {
                    pair.swap(0, 1);
                }
                // -x < y is -y < x: the earlier is negated if it can be
                let (earlier, of) = match later {
                    true => (!symmetric as usize, y),
                    false => (0, x),
                };
                if pair[1 - earlier].1 && graph.can_negate(of, dtype) {
                    match symmetric {
                        true => (pair[0].1, pair[1].1) = (true, false),
                        false => (pair[0].0, pair[1].0) = (pair[1].0, pair[0].0),
                    }
                }
            }
            [(x, true), (n, _)] => match negated_operand(n, dtype) {
                Some(n) => {
                    pair = [(x, false), (n, false)];
                    op = mirrored(op);
                }
                None => return,
            },
            _ => (),
        }
        self.op = op;
        self.operands.copy_from_slice(&pair.map(|x| x.0));
        self.negates = pair[0].1 as u8 | (pair[1].1 as u8) << 1;
    }
}

/// A number with the other sign.
pub(in crate::stream) fn negated_operand(x: Operand, dtype: DType) -> Option<Operand> {
    Some(match x {
        Operand::Number(s @ (Scalar::Int(_) | Scalar::Float(_))) => {
            Operand::Number(negated(s, dtype))
        }
        Operand::Parameter(p) => Operand::Parameter(Parameter {
            form: match p.form {
                NumberForm::Element(dtype) => NumberForm::Negated(dtype),
                NumberForm::Negated(dtype) => NumberForm::Element(dtype),
                _ => return None,
            },
            ..p
        }),
        _ => return None,
    })
}
/// The element of the dtype with the other sign; integers wrap.
pub(super) fn negated(x: Scalar, dtype: DType) -> Scalar {
    match x {
        Scalar::Int(n) if dtype.is_integer() => {
            let [lowest, highest] = dtype.integers();
            Scalar::Int(match -n {
                n if n < lowest => n + (highest - lowest + 1),
                n if n > highest => n - (highest - lowest + 1),
                n => n,
            })
        }
        x => Scalar::Float(-x.to_f64()),
    }
}
/// Numbers of floats are floats.
pub(super) fn to_float(x: &mut Operand) {
    match x {
        // rounded once, to the dtype
        Operand::Number(Scalar::Int(n)) if *n as f64 as i128 != *n => (),
        Operand::Number(s @ (Scalar::Int(_) | Scalar::Bool(_))) => {
            *s = Scalar::Float(s.to_f64());
        }
        _ => (),
    }
}
/// Makes a number positive, if that is one of the dtype, and returns whether it was not.
fn take_sign(x: &mut Scalar, dtype: DType) -> bool {
    match x {
        Scalar::Float(v) if v.is_sign_negative() && !v.is_nan() => *v = -*v,
        Scalar::Int(n) if *n < 0 && dtype.is_integer() && -*n <= dtype.integers()[1] => *n = -*n,
        _ => return false,
    }
    true
}
fn is_one(x: Scalar) -> bool {
    matches!(x, Scalar::Int(1) | Scalar::Float(1.0))
}
/// Whether any element plus this number is the element.
fn is_neutral(x: Scalar, dtype: DType) -> bool {
    match x {
        Scalar::Int(0) => dtype.is_integer(),
        x => dtype.is_float() && x.is(&Scalar::Float(-0.0)),
    }
}
/// The reciprocal of a power of two if neither is subnormal in the dtype, so that products with it
/// are the quotients, rounded once.
fn reciprocal(x: Scalar, dtype: DType) -> Option<Scalar> {
    let Scalar::Float(x) = x else {
        return None;
    };
    let most = match dtype {
        DType::F16 => 14,
        DType::F64 => 1022,
        _ => 126,
    };
    let exponent = (x.to_bits() >> 52) as i64 - 1023;
    let is_power = x.to_bits() << 12 == 0 && exponent.abs() <= most;
    is_power.then(|| Scalar::Float(1.0 / x))
}
/// Whether these are the ends of an interval, and none is zero, which has two signs.
pub(super) fn is_interval(a: Scalar, b: Scalar) -> bool {
    const NORMAL: f64 = 1e-30;
    let [a, b] = [a, b].map(Scalar::to_f64);
    a <= b && a.abs() >= NORMAL && b.abs() >= NORMAL
}
