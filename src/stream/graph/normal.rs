//! The normal form of elementwise operations: spellings of one computation become one value, so
//! that a graph holds it once.
//!
//! Only identities that hold bit for bit are used, except for the sign of a NaN, which no operation
//! specifies:
//!
//! | identity | dtypes |
//! |---|---|
//! | `-(-x)` and `+x` are x | all |
//! | `abs(-x)` is `abs(x)` | floats, signed integers |
//! | `(-x) ** 2` is `x * x`, `x * x` is `square(x)` | floats, integers |
//! | `(-x) * y` is `-(x * y)`, `x * -1` is `-x`, `x * 1` is x, `x * y` is `y * x` | floats, integers |
//! | `(-x) / y` and `x / (-y)` are `-(x / y)`, `x / 1` is x, `1 / x` is `reciprocal(x)` | floats |
//! | `x / c` is `x * (1 / c)` for powers of two, whose reciprocals are exact; both round once | floats |
//! | `x - c` is `x + (-c)`, `(-x) + y` is `y - x`, `x - (-y)` is `x + y`, `x + y` is `y + x` | floats, integers |
//! | `(-x) - y` is `(-y) - x` (but not `-(x + y)`, which as a float may be the other zero) | floats, integers |
//! | `x + (-0.0)` is x (`-0.0 + 0.0` is not -0.0) | floats |
//! | `x + 0` is x | integers |
//! | `-x < c` is `x > -c`, `-x < -y` is `y < x`, `-x < y` is `-y < x`; integers may wrap | floats |
//! | `max(-x, y)` is `-min(x, -y)`, `clip(-x, a, b)` is `-clip(x, -b, -a)` unless a bound is 0 | floats |
//! | `x > y` is `y < x`, `where(c, x, x)` is x if c is computed from x | all |
//! | `where(c, -x, y)` is `-where(c, x, -y)` | floats, integers |
//! | a conversion there and back is x, if the other dtype has all of its values | all but 16-bit floats |
//!
//! A sign that no operation takes over stays as a negation of the result, from which the readers of
//! the result take it in turn.
//!
//! The layout of a result follows from those of its operands, and decides how sums of it round. A
//! negation has the layout of a result, its operand perhaps not, if it is an input or a view. Then
//! its sign is taken only where no other value decides the layout, and x alone is a copy of it.

use super::super::step::{Operation, Outcome, Step};
use super::draft::{Draft, Operands, Signed, is_interval, negated, to_float};
use super::{Graph, Operand, Value};
use crate::dtype::DType;
use crate::op::Op;
use smallvec::SmallVec;

/// The normal form of an operation.
enum Normal {
    /// Another operation.
    Apply(Draft),
    /// An operand, perhaps negated.
    Operand(Value, bool),
}

impl Graph {
    /// The value of an elementwise operation whose numbers are those of its dtype.
    pub(super) fn normal(
        &mut self,
        op: Op,
        operands: Operands,
        in_place: bool,
        outcome: Outcome,
    ) -> Value {
        let mut draft = match self.rewritten(op, operands, in_place, &outcome) {
            Normal::Operand(x, negative) => return self.same(x, negative),
            Normal::Apply(draft) => draft,
        };
        for (k, x) in draft.operands.iter_mut().enumerate() {
            if let (1, Some(value)) = (draft.negates >> k & 1, x.value()) {
                *x = self.same(value, true).into();
            }
        }
        let y = self.push_apply(draft.op, draft.operands, draft.in_place, outcome);
        match draft.negative {
            true => self.same(y, true),
            false => y,
        }
    }
    /// A value as the result of an operation of its own, or its negation.
    pub(super) fn same(&mut self, x: Value, negative: bool) -> Value {
        let node = &self.nodes[x.at()];
        let op = match negative {
            false if node.is_elementwise() => return x,
            false => Op::Positive,
            true => Op::Negative,
        };
        let outcome = Outcome::of(node.shape.clone(), node.dtype);
        self.push_apply(op, SmallVec::from_slice(&[x.into()]), false, outcome)
    }
    fn push_apply(
        &mut self,
        op: Op,
        operands: Operands,
        in_place: bool,
        outcome: Outcome,
    ) -> Value {
        let operation = Operation::Apply { op, in_place };
        self.push(
            Step {
                operation,
                operands,
            },
            outcome,
        )
    }

    /// Applies the identities.
    fn rewritten(
        &self,
        op: Op,
        mut operands: Operands,
        in_place: bool,
        outcome: &Outcome,
    ) -> Normal {
        let dtype = outcome.computed;
        let (floats, integers) = (dtype.is_float(), dtype.is_integer());
        let signed = integers && dtype.is_signed();
        if floats {
            operands.iter_mut().for_each(to_float);
        }
        let (bare, alone) = self.bare(&mut operands, in_place, dtype);
        let mut draft = Draft {
            op,
            operands,
            in_place: in_place && !alone,
            negates: 0,
            negative: false,
        };
        let fits = |x: Value| {
            let node = &self.nodes[x.at()];
            node.dtype == outcome.dtype && node.shape == outcome.shape
        };
        let operand = match (op, &bare[..]) {
            (Op::Negative | Op::Positive, [(Operand::Value(x), negative)]) if fits(*x) => {
                Some((*x, *negative != (op == Op::Negative)))
            }
            (Op::Abs, [x]) if floats || signed => {
                draft.operands[0] = x.0;
                None
            }
            (Op::Square, [x]) if floats || integers => {
                draft.operands[0] = x.0;
                None
            }
            (Op::Multiply, [x, y]) if floats || integers => draft.multiply(self, *x, *y, dtype),
            (Op::Divide, [x, y]) if floats => draft.divide(*x, *y, dtype),
            (Op::Add | Op::Subtract, [x, y]) if floats || integers => {
                draft.add(self, *x, (y.0, y.1 != (op == Op::Subtract)), dtype)
            }
            (Op::Maximum | Op::Minimum, [x, y]) if floats => {
                if draft.negate(self, 0, [*x, *y], dtype) {
                    draft.op = match op {
                        Op::Maximum => Op::Minimum,
                        _ => Op::Maximum,
                    };
                }
                None
            }
            (Op::Clip, [(x, true), (Operand::Number(a), _), (Operand::Number(b), _)])
                if floats && is_interval(*a, *b) =>
            {
                let [low, high] = [*b, *a].map(|s| Operand::Number(negated(s, dtype)));
                draft.operands.copy_from_slice(&[*x, low, high]);
                draft.negative = true;
                None
            }
            (Op::Where, [c, x, y]) => {
                let exists = |x: Value| floats || integers || self.nodes[x.at()].is_elementwise();
                let decides = |x: Value| {
                    let c = c.0.value().map(|c| &self.nodes[c.at()]);
                    let other = |y: &Value| self.signed(&(*y).into(), self.dtype(*y)).0 != x.into();
                    c.is_some_and(|c| !c.is_elementwise() || c.values().iter().any(other))
                };
                let _ = (floats || integers) && draft.negate(self, 1, [*x, *y], dtype);
                match draft.operands[1..] {
                    [Operand::Value(x), Operand::Value(y)]
                        if x == y && draft.negates == 0 && exists(x) && !decides(x) =>
                    {
                        Some((x, draft.negative))
                    }
                    _ => None,
                }
            }
            (op, [x, y]) if op.row().exact.is_some() => {
                draft.compare(self, *x, *y, dtype);
                None
            }
            _ => None,
        };
        match operand.filter(|x| fits(x.0)) {
            Some((x, negative)) => Normal::Operand(x, negative),
            None => Normal::Apply(draft),
        }
    }
    /// The operands without their signs where these may be taken, and whether no other value
    /// decides the layout of the result. Copies are replaced by what they copy.
    fn bare(
        &self,
        operands: &mut Operands,
        in_place: bool,
        dtype: DType,
    ) -> (SmallVec<[Signed; 3]>, bool) {
        let mut bare: SmallVec<[Signed; 3]> =
            operands.iter().map(|x| self.signed(x, dtype)).collect();
        let mut values = bare.iter().filter_map(|x| x.0.value());
        let first = values.next();
        let alone = values.all(|x| Some(x) == first);
        for (k, (x, given)) in bare.iter_mut().zip(operands).enumerate() {
            let is_elementwise = |x: Value| self.nodes[x.at()].is_elementwise();
            let replaced = in_place && k == 0;
            if !alone && (replaced || !x.0.value().is_some_and(is_elementwise)) {
                *x = (*given, false);
            }
            if !x.1 {
                *given = x.0;
            }
        }
        (bare, alone)
    }
    /// An operand of an operation that is computed in `dtype`: what it negates or copies.
    fn signed(&self, x: &Operand, dtype: DType) -> Signed {
        let Operand::Value(v) = x else {
            return (*x, false);
        };
        let node = &self.nodes[v.at()];
        let negative = match node.step.operation {
            Operation::Apply {
                op: Op::Negative, ..
            } => true,
            Operation::Apply {
                op: Op::Positive, ..
            } => false,
            _ => return (*x, false),
        };
        match node.step.operands[..] {
            [inner @ Operand::Value(_)] if !negative || self.can_negate(*v, dtype) => {
                (inner, negative)
            }
            _ => (*x, false),
        }
    }
    /// Whether a value may be negated before or after it is converted to `dtype`: a conversion of
    /// integers sees whether they wrapped.
    pub(super) fn can_negate(&self, x: Value, dtype: DType) -> bool {
        let own = self.dtype(x);
        own == dtype || own.is_float() && dtype.is_float()
    }
    /// The place of a value among the operands of an operation that takes them in any order.
    pub(super) fn order_of(&self, x: Value) -> (bool, Value) {
        (self.nodes[x.at()].is_input(), x)
    }
    /// What a conversion to `dtype` gives back, if `x` was converted from that without loss.
    pub(super) fn converted_back(&self, x: Value, dtype: DType) -> Option<Value> {
        let node = &self.nodes[x.at()];
        let of = match (&node.step.operation, &node.step.operands[..]) {
            (Operation::Convert { .. }, [Operand::Value(of)]) => *of,
            _ => return None,
        };
        let has_copy = self.nodes[of.at()].is_elementwise() || !dtype.is_bool();
        (self.dtype(of) == dtype && has_copy && is_lossless(dtype, node.dtype)).then_some(of)
    }
}

/// Whether the second dtype has all values of the first, and 16-bit floats are not among them: when
/// these are rounded is up to the plan.
fn is_lossless(from: DType, to: DType) -> bool {
    let bits = 8 * from.size();
    match to {
        to if to.is_integer() => from.is_bool() || from.is_integer() && to.size() >= from.size(),
        DType::F64 => from.is_bool() || from.is_integer() && bits <= 32 || from == DType::F32,
        DType::F32 => from.is_bool() || from.is_integer() && bits <= 16,
        DType::Complex128 => from == DType::Complex64,
        _ => false,
    }
}
