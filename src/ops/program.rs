//! Programs of operations of the list: dtypes on top of [`exec::program`](crate::exec::program).
//! Here stand promotion, the conversions that it asks for, and computing 16-bit floats in float32.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::program::{self, Opcode, Program};
use crate::kernel::convert;
use crate::kernel::elementwise::{Kernel, Row};
use crate::op::Rule;
use crate::scalar::{Scalar, Value};
use smallvec::SmallVec;

/// The dtype that an operation is computed in: the common one of its tensors, which its numbers
/// take.
#[inline]
pub(crate) fn common_dtype(
    row: &Row,
    tensors: impl Iterator<Item = DType>,
    numbers: impl Iterator<Item = Scalar>,
) -> Result<DType> {
    let name = row.op.name();
    let mut dtype: Option<DType> = None;
    for t in tensors {
        dtype = Some(dtype.map_or(Ok(t), |d| d.promote(t, name))?);
    }
    for s in numbers {
        dtype = Some(dtype.map_or(s.default_dtype(), |d| s.promote(d)));
    }
    let dtype = dtype.ok_or_else(|| Error::value(name, "no operand"))?;
    Ok(if row.op.rule() == Rule::Float {
        dtype.inexact()
    } else {
        dtype
    })
}

/// The dtype of the result of an operation that is computed in `common`.
#[inline]
pub(crate) fn result_dtype(rule: Rule, common: DType) -> DType {
    match rule {
        Rule::Bool => DType::Bool,
        Rule::Real => common.real(),
        _ => common,
    }
}

/// The dtype that operand `k` is converted to: of a selection, the first is a condition.
#[inline]
pub(crate) fn operand_dtype(rule: Rule, k: usize, common: DType) -> DType {
    match rule {
        Rule::Select if k == 0 => DType::Bool,
        _ => common,
    }
}

/// Whether a result may be stored as another dtype: within a kind, or as a higher one.
#[inline]
pub(crate) fn same_kind(from: DType, to: DType) -> bool {
    let kind = |d: DType| match d {
        d if d.is_bool() => 0,
        d if d.is_integer() => 1,
        d if d.is_float() => 2,
        _ => 3,
    };
    kind(from) <= kind(to)
}

/// The instruction that converts; errors of `op`.
fn cast(op: &'static str, from: DType, to: DType) -> Result<Opcode> {
    let f = convert::cast_loop(op, from, to)?;
    Ok(Opcode::unary(f, 1, convert::COST))
}

/// The program that converts its input.
pub(crate) fn conversion(op: &'static str, from: DType, to: DType) -> Result<Program> {
    Ok(Program::of(cast(op, from, to)?, &[from.size()], to.size()))
}

/// What an instruction of this kernel does.
#[inline]
pub(crate) fn opcode(row: &Row, kernel: &Kernel) -> Opcode {
    Opcode {
        f: kernel.f,
        arity: row.op.arity() as u8,
        components: kernel.components,
        scalar_masks: kernel.scalar_masks,
        cost: row.op.cost(),
    }
}

/// The value of a number that is an operand of dtype `seen`, and computed with in `kept`: it fits the
/// dtype that the user sees, and keeps the bits of the one that is computed in.
#[inline]
pub(crate) fn number(s: Scalar, seen: DType, kept: DType, op: &'static str) -> Result<Value> {
    let value = s.value(seen, op)?;
    if kept != seen {
        s.value(kept, op)
    } else {
        Ok(value)
    }
}

/// A variable of a [`Builder`].
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Var {
    var: program::Var,
    pub dtype: DType,
}

/// An operand of an operation in a program.
#[derive(Clone, Copy)]
pub(crate) enum Operand {
    Var(Var),
    Number(Scalar),
    /// A constant that [`Builder::constant`] made.
    #[cfg(feature = "std")]
    Constant(program::Var),
}
impl From<Var> for Operand {
    fn from(x: Var) -> Operand {
        Operand::Var(x)
    }
}
impl From<f64> for Operand {
    fn from(x: f64) -> Operand {
        Operand::Number(Scalar::Float(x))
    }
}

/// A program of operations under construction.
pub(crate) struct Builder {
    op: &'static str,
    program: program::Builder,
}

impl Builder {
    /// No program yet; errors are those of `op`.
    #[inline]
    pub fn new(op: &'static str) -> Builder {
        Builder {
            op,
            program: program::Builder::new(op),
        }
    }
    /// The next input.
    #[inline]
    pub fn input(&mut self, dtype: DType) -> Result<Var> {
        let var = self.program.input(dtype.size())?;
        Ok(Var { var, dtype })
    }
    /// Another dtype's nearest values; `x` itself where it has that dtype.
    #[inline]
    pub fn convert(&mut self, x: Var, dtype: DType) -> Result<Var> {
        if x.dtype == dtype {
            return Ok(x);
        }
        let cast = cast(self.op, x.dtype, dtype)?;
        let var = self.program.compute(cast, &[x.var], dtype.size())?;
        Ok(Var { var, dtype })
    }
    /// One value of `size` bytes for all elements, and which of the program's constants it is.
    #[cfg(feature = "std")]
    pub fn constant(&mut self, value: Value, size: usize) -> Result<(Operand, usize)> {
        let k = self.program.constants();
        let var = self.program.constant(value, size)?;
        Ok((Operand::Constant(var), k))
    }
    /// An instruction of `kernel/elementwise/chains`: its loop, and operands of `dtype`. It stands for
    /// so many operations of `cost`.
    #[cfg(feature = "std")]
    pub fn chain(
        &mut self,
        f: crate::simd::LoopFn,
        cost: u8,
        dtype: DType,
        operands: [Operand; 3],
    ) -> Result<Var> {
        let mut src: SmallVec<[program::Var; 3]> = SmallVec::new();
        for x in operands {
            src.push(self.source(&x, dtype, dtype)?);
        }
        let op = Opcode {
            f,
            arity: 3,
            components: 1,
            scalar_masks: crate::kernel::elementwise::chains::MASKS,
            cost,
        };
        let var = self.program.compute(op, &src, dtype.size())?;
        Ok(Var { var, dtype })
    }
    /// What an instruction reads as this operand.
    fn source(&mut self, x: &Operand, seen: DType, kept: DType) -> Result<program::Var> {
        Ok(match x {
            Operand::Var(x) => self.convert(*x, kept)?.var,
            Operand::Number(s) => {
                let value = number(*s, seen, kept, self.op)?;
                self.program.constant(value, kept.size())?
            }
            #[cfg(feature = "std")]
            Operand::Constant(x) => *x,
        })
    }
    /// An operation computed in `dtype` by its kernel for that.
    pub fn apply(
        &mut self,
        row: &Row,
        kernel: &Kernel,
        dtype: DType,
        operands: &[Operand],
    ) -> Result<Var> {
        let rule = row.op.rule();
        let computed = |d: DType| match d {
            d if d == dtype && kernel.wide => DType::F32,
            d => d,
        };
        let mut src: SmallVec<[program::Var; 3]> = SmallVec::new();
        for (k, operand) in operands.iter().enumerate() {
            let seen = operand_dtype(rule, k, dtype);
            let kept = computed(seen);
            src.push(self.source(operand, seen, kept)?);
        }
        let result = result_dtype(rule, dtype);
        let size = computed(result).size();
        let var = self.program.compute(opcode(row, kernel), &src, size)?;
        let dtype = computed(result);
        self.convert(Var { var, dtype }, result)
    }
    /// The next output.
    #[inline]
    pub fn output(&mut self, x: Var) -> Result<()> {
        self.program.output(x.var)
    }
    /// The program.
    #[inline]
    pub fn finish(self) -> Result<Program> {
        self.program.finish()
    }
}
