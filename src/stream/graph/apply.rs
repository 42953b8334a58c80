//! Elementwise operations of a graph.

use super::{Expr, Graph, Operand, Value, Whole};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::Row;
use crate::layout::{self, Shape};
use crate::op::{Op, Rule};
use crate::ops;
use crate::ops::elementwise::{Arg, check};
use crate::ops::program::{common_dtype, operand_dtype, result_dtype};
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
        self.apply_row(op.row(), operands, false)
    }
    /// The same for a row of the table of operations; `in_place` if the result replaces the first
    /// operand in memory that nobody else sees.
    #[doc(hidden)]
    pub fn apply_row(
        &mut self,
        row: &'static Row,
        operands: &[Operand],
        in_place: bool,
    ) -> Result<Value> {
        let (name, rule) = (row.op.name(), row.op.rule());
        if operands.len() != row.op.arity() {
            return Err(Error::value(
                name,
                message!("{} operands for {}", operands.len(), row.op.arity()),
            ));
        }
        let values = if rule == Rule::Select {
            &operands[1..]
        } else {
            operands
        };
        let dtypes = || {
            values
                .iter()
                .filter_map(Operand::value)
                .map(|x| self.dtype(x))
        };
        let shape = {
            let of = |x: &Operand| x.value().map_or(&[][..], |x| self.shape(x));
            layout::broadcast(
                name,
                &operands.iter().map(of).collect::<SmallVec<[&[usize]; 3]>>(),
            )
        };
        if check::is_mixed_comparison(row.op, dtypes()) {
            return Ok(self.call_row(row, operands, shape?, DType::Bool));
        }
        let numbers = values.iter().filter_map(Operand::number);
        let dtype = common_dtype(row, dtypes(), numbers)?;
        if let (
            Some(square),
            [
                x @ Operand::Value(v),
                Operand::Number(Scalar::Int(2) | Scalar::Float(2.0)),
            ],
        ) = (row.square, operands)
            && self.dtype(*v) == dtype
        {
            return self.apply_row(square, &[*x], false);
        }
        (row.lookup)(dtype).ok_or_else(|| Error::unsupported(name, dtype))?;
        if rule == Rule::Select {
            check::condition(match operands[0] {
                Operand::Value(x) => Some(self.dtype(x)),
                _ => match operands[0].number() {
                    Some(Scalar::Bool(_)) => Some(DType::Bool),
                    _ => None,
                },
            })?;
        }
        for (k, x) in operands.iter().enumerate() {
            if let Some(s) = x.number() {
                s.value(operand_dtype(rule, k, dtype), name)?;
            }
        }
        let (shape, result) = (shape?, result_dtype(rule, dtype));
        if check::applies(row.op, dtype) {
            return Ok(self.call_row(row, operands, shape, result));
        }
        let whole = |x: &Operand| x.value().is_some_and(|x| self.shape(x) == &shape[..]);
        let expr = Expr::Apply {
            row,
            dtype,
            operands: SmallVec::from_slice(operands),
            // other operands don't decide the layout
            in_place: in_place && operands.iter().all(whole),
        };
        Ok(self.push(expr, shape, result))
    }
    /// Adds an operation of the table that runs as it is.
    fn call_row(
        &mut self,
        row: &'static Row,
        operands: &[Operand],
        shape: Shape,
        dtype: DType,
    ) -> Value {
        let operands: SmallVec<[Operand; 3]> = SmallVec::from_slice(operands);
        let values = operands.iter().filter_map(Operand::value).collect();
        let f = move |x: &[Tensor]| {
            let mut x = x.iter();
            let mut arg = |k: usize| match operands[k] {
                Operand::Number(s) => Ok(Arg::Scalar(s)),
                // an operation that looks at elements keeps the number it was added with
                Operand::Parameter(p) => Ok(Arg::Scalar(p.number)),
                Operand::Value(_) => {
                    let missing = || Error::value(row.op.name(), "an operand is missing");
                    x.next().map(Arg::Ref).ok_or_else(missing)
                }
            };
            match operands.len() {
                1 => ops::apply(row, [arg(0)?]),
                2 => ops::apply(row, [arg(0)?, arg(1)?]),
                _ => ops::apply(row, [arg(0)?, arg(1)?, arg(2)?]),
            }
        };
        let expr = Expr::Call {
            name: row.op.name(),
            f: Whole::Function(Arc::new(f)),
            operands: values,
        };
        self.push(expr, shape, dtype)
    }
}
