//! Programs of elementwise operations: adds dtypes to [`exec::program`](crate::exec::program), that
//! is promotion, the conversions that it requires, and the computation of 16-bit floats in float32.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::program::{self, Opcode, TileProgram};
use crate::kernel::convert;
use crate::kernel::elementwise::{ElementKernel, Row};
use crate::op::Rule;
use crate::scalar::{ElementBytes, Scalar};
use smallvec::SmallVec;

/// The dtype that an operation is computed in: the common dtype of its tensors; numbers take the
/// tensors' dtype.
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

/// The result dtype of an operation that is computed in `common`.
#[inline]
pub(crate) fn result_dtype(rule: Rule, common: DType) -> DType {
    match rule {
        Rule::Bool => DType::Bool,
        Rule::Real => common.real(),
        _ => common,
    }
}

/// The dtype that operand `k` is converted to; the first operand of a selection is its condition.
#[inline]
pub(crate) fn operand_dtype(rule: Rule, k: usize, common: DType) -> DType {
    match rule {
        Rule::Select if k == 0 => DType::Bool,
        _ => common,
    }
}

/// Whether a result may be stored in a dtype: one of the same kind or a higher one.
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

/// The instruction for a conversion; errors carry the name `op`.
fn cast(op: &'static str, from: DType, to: DType) -> Result<Opcode> {
    let f = convert::cast_loop(op, from, to)?;
    Ok(Opcode::unary(f, 1, convert::COST))
}

/// The program that only converts its input.
pub(crate) fn conversion(op: &'static str, from: DType, to: DType) -> Result<TileProgram> {
    Ok(TileProgram::of(
        cast(op, from, to)?,
        &[from.size()],
        to.size(),
    ))
}

/// The instruction of this kernel.
#[inline]
pub(crate) fn opcode(row: &Row, kernel: &ElementKernel) -> Opcode {
    Opcode {
        f: kernel.f,
        arity: row.op.arity() as u8,
        components: kernel.components,
        scalar_masks: kernel.scalar_masks,
        cost: row.op.cost(),
    }
}

/// A number as a value of dtype `seen`, the dtype that the user sees, kept in `kept` for a
/// computation in that dtype: the same as an element of a tensor. Errors if it doesn't fit `seen`.
#[inline]
pub(crate) fn number(
    s: Scalar,
    seen: DType,
    kept: DType,
    op: &'static str,
) -> Result<ElementBytes> {
    let value = s.value(seen, op)?;
    if kept != seen {
        s.rounded(seen).value(kept, op)
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
    #[cfg(feature = "stream")]
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
    /// An empty program; errors carry the name `op`.
    #[inline]
    pub fn new(op: &'static str) -> Builder {
        Builder {
            op,
            program: program::Builder::new(op),
        }
    }
    /// Adds the next input.
    #[inline]
    pub fn input(&mut self, dtype: DType) -> Result<Var> {
        let var = self.program.input(dtype.size())?;
        Ok(Var { var, dtype })
    }
    /// Converts to another dtype; `x` itself if it already has it.
    #[inline]
    pub fn convert(&mut self, x: Var, dtype: DType) -> Result<Var> {
        if x.dtype == dtype {
            return Ok(x);
        }
        let cast = cast(self.op, x.dtype, dtype)?;
        let var = self.program.compute(cast, &[x.var], dtype.size())?;
        Ok(Var { var, dtype })
    }
    /// A constant of `size` bytes, and its index among the program's constants.
    #[cfg(feature = "stream")]
    pub fn constant(&mut self, value: ElementBytes, size: usize) -> Result<(Operand, usize)> {
        let k = self.program.constants();
        let var = self.program.constant(value, size)?;
        Ok((Operand::Constant(var), k))
    }
    /// Adds an instruction of `kernel/elementwise/chains`: `f` is its loop, and the operands are of
    /// `dtype`. `cost` is that of the operations that it stands for.
    #[cfg(feature = "stream")]
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
    /// The variable that an instruction reads for this operand.
    fn source(&mut self, x: &Operand, seen: DType, kept: DType) -> Result<program::Var> {
        Ok(match x {
            Operand::Var(x) => self.convert(*x, kept)?.var,
            Operand::Number(s) => {
                let value = number(*s, seen, kept, self.op)?;
                self.program.constant(value, kept.size())?
            }
            #[cfg(feature = "stream")]
            Operand::Constant(x) => *x,
        })
    }
    /// An operation computed in `dtype` by its kernel for that dtype.
    pub fn apply(
        &mut self,
        row: &Row,
        kernel: &ElementKernel,
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
    /// Adds the next output.
    #[inline]
    pub fn output(&mut self, x: Var) -> Result<()> {
        self.program.output(x.var)
    }
    #[inline]
    pub fn finish(self) -> Result<TileProgram> {
        self.program.finish()
    }
}
