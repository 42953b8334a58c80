//! Elementwise operations of a graph.

use super::super::step::{Operation, Outcome, Step};
use super::{Graph, NumberForm, Operand, Parameter, Value};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::exact::mirrored;
use crate::layout::Shape;
use crate::op::Op;
use crate::ops::elementwise::{Arg, check};
use crate::ops::program::operand_dtype;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::sync::Arc;
use smallvec::SmallVec;

impl Graph {
    /// Adds an elementwise operation, by the rules of the function of that name in
    /// [`ops`](crate::ops): its shape, its dtype, its errors. An operation that must look at
    /// elements first (integer division) runs as it is.
    ///
    /// Example: [`Graph`].
    pub fn apply(&mut self, op: Op, operands: &[Operand]) -> Result<Value> {
        self.add(Step {
            operation: Operation::apply(op),
            operands: SmallVec::from_slice(operands),
        })
    }
    /// Adds an elementwise operation whose outcome is known.
    pub(super) fn add_elementwise(
        &mut self,
        op: Op,
        step: Step<Operand>,
        outcome: Outcome,
    ) -> Result<Value> {
        let (row, operands) = (op.row(), &step.operands[..]);
        if let Some(y) = self.compare_with_number(op, operands)? {
            return Ok(y);
        }
        if let (
            Some(square),
            [
                x @ Operand::Value(v),
                Operand::Number(Scalar::Int(2) | Scalar::Float(2.0)),
            ],
        ) = (row.square, operands)
            && self.dtype(*v) == outcome.computed
        {
            return self.apply(square.op, &[*x]);
        }
        let values: SmallVec<[Value; 3]> = operands.iter().filter_map(Operand::value).collect();
        let is_mixed = check::is_mixed_comparison(op, values.iter().map(|x| self.dtype(*x)));
        if is_mixed || check::applies(op, outcome.computed) {
            return Ok(self.call_row(op, operands, outcome));
        }
        // other operands don't decide the layout
        let in_place = step.operation.is_in_place()
            && values.len() == operands.len()
            && values.iter().all(|x| self.shape(*x) == &outcome.shape[..]);
        let mut operands = step.operands;
        for (k, x) in operands.iter_mut().enumerate() {
            let seen = operand_dtype(op.rule(), k, outcome.computed);
            match x {
                Operand::Value(_) => (),
                Operand::Number(s) => *s = s.rounded(seen),
                Operand::Parameter(p) => p.form = NumberForm::Element(seen),
            }
        }
        Ok(self.normal(op, operands, in_place, outcome))
    }
    /// Adds a comparison of an integer or bool with a number of another kind, or out of its range,
    /// which is exact; `None` for all other operations.
    fn compare_with_number(&mut self, op: Op, operands: &[Operand]) -> Result<Option<Value>> {
        let (x, number, on_left) = match operands {
            [Operand::Value(x), n] => (*x, n, false),
            [n, Operand::Value(x)] => (*x, n, true),
            _ => return Ok(None),
        };
        let (Some(exact), Some(s), dtype) = (op.row().exact, number.number(), self.dtype(x)) else {
            return Ok(None);
        };
        let Some(found) = exact(op, dtype, s, on_left) else {
            return Ok(None);
        };
        let op = match on_left {
            true => mirrored(op),
            false => op,
        };
        let Operand::Parameter(p) = number else {
            let (op, n) = found.comparison(op, dtype);
            return self.apply(op, &[x.into(), n.into()]).map(Some);
        };
        // whatever number replaces it: whether elements lie in an interval
        let mut compared = |op: Op, form: NumberForm| {
            (op.row().lookup)(dtype).ok_or_else(|| Error::unsupported(op.name(), dtype))?;
            let step = Step {
                operation: Operation::apply(op),
                operands: SmallVec::from_slice(&[x.into(), Parameter { form, ..*p }.into()]),
            };
            let outcome = Outcome {
                shape: Shape::from_slice(self.shape(x)),
                dtype: DType::Bool,
                computed: dtype,
            };
            Ok(Operand::Value(self.push(step, outcome)))
        };
        let first = compared(Op::GreaterEqual, NumberForm::First(op, dtype))?;
        let last = compared(Op::LessEqual, NumberForm::Last(op, dtype))?;
        let within = self.apply(Op::BitwiseAnd, &[first, last])?;
        match op {
            Op::NotEqual => self.apply(Op::BitwiseInvert, &[within.into()]).map(Some),
            _ => Ok(Some(within)),
        }
    }
    /// Adds an elementwise operation that runs as it is, since it looks at elements. It keeps the
    /// numbers that it was added with.
    fn call_row(&mut self, op: Op, operands: &[Operand], outcome: Outcome) -> Value {
        let numbers: SmallVec<[Option<Scalar>; 3]> = operands.iter().map(Operand::number).collect();
        let values: SmallVec<[Value; 3]> = operands.iter().filter_map(Operand::value).collect();
        let f = move |x: &[Tensor]| {
            let mut x = x.iter();
            let all = numbers.iter().map(|s| match s {
                Some(s) => Some(Arg::Scalar(*s)),
                None => x.next().map(Arg::Ref),
            });
            let all: Option<SmallVec<[Arg; 3]>> = all.collect();
            let missing = || Error::value(op.name(), "an operand is missing");
            Operation::apply(op).run(&all.ok_or_else(missing)?)
        };
        self.call(
            op.name(),
            &values,
            &outcome.shape,
            outcome.dtype,
            Arc::new(f),
        )
    }
}
