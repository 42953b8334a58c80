//! Elementwise operations: one driver for the whole list.
//!
//! ```text
//! common dtype -> rule -> kernel -> program: [convert operands] [operation] [narrow, convert] -> exec
//! ```
//! Conversions are instructions of the program, so no converted copy of an operand is ever made.

mod check;
mod functions;
mod operators;

pub use functions::*;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::nest::Operand;
use crate::exec::tile::{Instr, Program};
use crate::exec::{self};
use crate::kernel::convert;
use crate::kernel::elementwise::{Kernel, Row};
use crate::layout::{self, Shape};
use crate::op::Rule;
use crate::scalar::{Scalar, Value};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// An operand of an elementwise function: a tensor, lent or given, or a number.
///
/// A tensor that is given, and whose storage nobody shares, may lend it to the result.
#[derive(Clone, Debug)]
pub enum Arg<'a> {
    /// A tensor that stays as it is.
    Ref(&'a Tensor),
    /// A tensor whose buffer may hold the result.
    Own(Tensor),
    /// A number, which takes the tensors' dtype.
    Scalar(Scalar),
}
impl Arg<'_> {
    fn tensor(&self) -> Option<&Tensor> {
        match self {
            Arg::Ref(t) => Some(t),
            Arg::Own(t) => Some(t),
            Arg::Scalar(_) => None,
        }
    }
    fn shape(&self) -> &[usize] {
        self.tensor().map_or(&[], |t| t.shape())
    }
}
impl<'a> From<&'a Tensor> for Arg<'a> {
    fn from(t: &'a Tensor) -> Arg<'a> {
        Arg::Ref(t)
    }
}
impl From<Tensor> for Arg<'_> {
    fn from(t: Tensor) -> Self {
        Arg::Own(t)
    }
}
impl<S: Into<Scalar>> From<S> for Arg<'_> {
    fn from(s: S) -> Self {
        Arg::Scalar(s.into())
    }
}

/// Up to this many elements a plain operation calls its kernel at once.
const SMALL: usize = 8192;

/// Applies a row of the list.
///
/// Errors where the dtypes have no common one, the operation has no meaning for it, shapes don't
/// broadcast, a number doesn't fit, or an integer divisor is zero.
pub fn apply<const N: usize>(row: &Row, mut args: [Arg<'_>; N]) -> Result<Tensor> {
    match small(row, &args) {
        Some(r) => r,
        None => general(row, &mut args, None),
    }
}
/// Applies a row to `target` and `rest`, and puts the result in `target`, whose shape and dtype
/// stay; in its own storage where nobody shares that. Errors, leaving it as it was, also where the
/// result is of a higher kind (a float for integers) or another shape.
pub fn apply_in_place(row: &Row, target: &mut Tensor, rest: Option<Arg<'_>>) -> Result<()> {
    // few elements are computed apart and moved: far fewer instructions than a program that reads
    // and writes one place
    let apart = match &rest {
        Some(Arg::Ref(t)) => small(row, &[Arg::Ref(target), Arg::Ref(t)]),
        Some(Arg::Scalar(s)) => small(row, &[Arg::Ref(target), Arg::Scalar(*s)]),
        _ => None,
    };
    if let Some(Ok(t)) = apart
        && t.dtype() == target.dtype()
    {
        match target.get_mut_ptr() {
            // SAFETY: dense elements of one shape, order (`small` takes no others) and dtype, the
            // target's unshared (STORAGE3).
            Some(p) => unsafe {
                core::ptr::copy_nonoverlapping(t.as_ptr(), p, t.len() * t.dtype().size())
            },
            None => *target = t,
        }
        return Ok(());
    }
    let into = (target.dtype(), Shape::from_slice(target.shape()));
    let mut args: SmallVec<[Arg<'_>; 2]> = SmallVec::new();
    args.push(Arg::Own(core::mem::take(target)));
    args.extend(rest);
    let result = general(row, &mut args, Some(into));
    // an error comes before operands are consumed
    *target = match (result, args.swap_remove(0)) {
        (Ok(t), _) => t,
        (Err(e), Arg::Own(t)) => {
            *target = t;
            return Err(e);
        }
        (Err(e), _) => return Err(e),
    };
    Ok(())
}

/// The commonest case without the machine: dense operands of one dtype, shape and order of
/// elements, lent, or a number beside them; few elements.
#[inline(always)]
fn small<const N: usize>(row: &Row, args: &[Arg<'_>; N]) -> Option<Result<Tensor>> {
    let rule = row.op.rule();
    if check::applies(row.op) {
        return None;
    }
    // the condition has a dtype of its own
    let values = if rule == Rule::Select {
        &args[1..]
    } else {
        &args[..]
    };
    let first = values
        .iter()
        .find_map(|a| if let Arg::Ref(t) = a { Some(*t) } else { None })?;
    let (dtype, n) = (first.dtype(), first.len());
    if n > SMALL || !first.layout().is_dense() || rule == Rule::Float && dtype.inexact() != dtype {
        return None;
    }
    let k = (row.lookup)(dtype)
        .map(|k| fused(k, dtype, args))
        .filter(|k| !k.wide)?;
    let mut ptrs = [first.as_ptr(); 3];
    let mut numbers: [Option<Value>; N] = [None; N];
    let mut scalars = 0;
    for (i, a) in args.iter().enumerate() {
        let dtype = if rule == Rule::Select && i == 0 {
            DType::Bool
        } else {
            dtype
        };
        match a {
            Arg::Ref(t) if t.dtype() == dtype && t.layout().is_parallel(first.layout()) => {
                ptrs[i] = t.as_ptr()
            }
            // a number that doesn't fit takes the long way to its error
            Arg::Scalar(s) if s.promote(dtype) == dtype => {
                numbers[i] = Some(s.value(dtype, "").ok()?);
                scalars |= 1 << i;
            }
            _ => return None,
        }
    }
    if k.scalar_masks >> scalars & 1 == 0 {
        return None;
    }
    for (p, v) in ptrs.iter_mut().zip(&numbers) {
        if let Some(v) = v {
            *p = v.as_ptr();
        }
    }
    let mut out = match Tensor::empty_like(first, result_dtype(rule, dtype)) {
        Ok(t) => t,
        Err(e) => return Some(Err(e)),
    };
    let d = out.get_mut_ptr()?;
    // SAFETY: LOOP1: dense operands of `n` elements of the kernel's dtype or one value, as
    // `scalars` says; a fresh result.
    unsafe {
        (k.f)(
            d,
            ptrs[0],
            ptrs[1],
            ptrs[2],
            n * k.components as usize,
            scalars,
        )
    };
    Some(Ok(out))
}

/// The kernel for operands as they are, where it has one for them: numbers keep the bits that the
/// wide dtype gives them.
fn fused(k: Kernel, dtype: DType, args: &[Arg<'_>]) -> Kernel {
    match k.fused {
        Some(f)
            if args
                .iter()
                .all(|a| a.tensor().is_some_and(|t| t.dtype() == dtype)) =>
        {
            Kernel {
                f,
                wide: false,
                scalar_masks: 1,
                ..k
            }
        }
        _ => k,
    }
}

fn result_dtype(rule: Rule, common: DType) -> DType {
    match rule {
        Rule::Bool => DType::Bool,
        Rule::Real => common.real(),
        _ => common,
    }
}

/// The operands' common dtype; numbers take the tensors'.
fn common_dtype(row: &Row, args: &[Arg<'_>]) -> Result<DType> {
    let name = row.op.name();
    let values = if row.op.rule() == Rule::Select {
        &args[1..]
    } else {
        args
    };
    let mut dtype: Option<DType> = None;
    for t in values.iter().filter_map(Arg::tensor) {
        dtype = Some(dtype.map_or(Ok(t.dtype()), |d| d.promote(t.dtype(), name))?);
    }
    for a in values {
        if let Arg::Scalar(s) = a {
            dtype = Some(dtype.map_or(s.default_dtype(), |d| s.promote(d)));
        }
    }
    let dtype = dtype.ok_or_else(|| Error::value(name, "no operand"))?;
    Ok(if row.op.rule() == Rule::Float {
        dtype.inexact()
    } else {
        dtype
    })
}

/// Every case. `into`: the dtype and the shape that the result must have. Operands given may be
/// consumed, if all goes well.
#[inline(never)]
fn general(row: &Row, args: &mut [Arg<'_>], into: Option<(DType, Shape)>) -> Result<Tensor> {
    let name = row.op.name();
    if let (None, Some(r)) = (&into, check::mixed_comparison(row, args)?) {
        return Ok(r);
    }
    let dtype = common_dtype(row, args)?;
    // the same values: a square is what a power that is rounded well comes to
    if let Some(square) = row.square
        && let [x, Arg::Scalar(Scalar::Int(2) | Scalar::Float(2.0))] = &*args
        && x.tensor().is_some_and(|x| x.dtype() == dtype)
    {
        if let (Arg::Ref(x), None) = (x, &into)
            && let Some(r) = small(square, &[Arg::Ref(x)])
        {
            return r;
        }
        return general(square, &mut args[..1], into);
    }
    let kernel = (row.lookup)(dtype).ok_or_else(|| Error::unsupported(name, dtype))?;
    if row.op.rule() == Rule::Select
        && args[0].tensor().is_none_or(|c| !c.dtype().is_bool())
        && !matches!(args[0], Arg::Scalar(Scalar::Bool(_)))
    {
        let found = args[0].tensor().map_or("a number", |t| t.dtype().name());
        return Err(Error::dtype(
            name,
            message!("the condition is {found}, not bool: compare it with 0"),
        ));
    }
    let kernel = fused(kernel, dtype, args);
    let shape = layout::broadcast(
        name,
        &args
            .iter()
            .map(Arg::shape)
            .collect::<SmallVec<[&[usize]; 3]>>(),
    )?;
    check::integers(row.op, dtype, args)?;

    let result = result_dtype(row.op.rule(), dtype);
    let target = match into {
        None => result,
        Some((_, to)) if to != shape => {
            return Err(Error::shape(
                name,
                message!("a result of shape {shape:?} does not fit a target of {to:?}"),
            ));
        }
        Some((to, _)) if !same_kind(result, to) => {
            return Err(Error::dtype(
                name,
                message!(
                    "a result of {result} does not fit a target of {to}: convert it with astype"
                ),
            ));
        }
        Some((to, _)) => to,
    };
    let mut plan = Plan::new(row, kernel, dtype, args)?;
    plan.finish(result, target)?;
    let inputs: SmallVec<[Operand; 3]> = args
        .iter()
        .filter_map(Arg::tensor)
        .map(|t| t.operand(shape.len()))
        .collect();
    // operands stay alive in `args`, but for the one whose storage becomes the result's
    let mut out = result_tensor(args, &shape, target)?;
    plan.run(&inputs, &shape, &mut out)?;
    Ok(out)
}

/// Whether an in-place operation may convert: within a kind, or to a higher one.
fn same_kind(from: DType, to: DType) -> bool {
    let kind = |d: DType| match d {
        d if d.is_bool() => 0,
        d if d.is_integer() => 1,
        d if d.is_float() => 2,
        _ => 3,
    };
    kind(from) <= kind(to)
}

/// A given operand whose buffer can hold the result, taken (unshared, dense, of the result's shape
/// and element size), else a fresh tensor. The machine sees that the result lies on an operand, and
/// computes it in a tile.
fn result_tensor(args: &mut [Arg<'_>], shape: &Shape, dtype: DType) -> Result<Tensor> {
    let fits = |a: &mut Arg<'_>| match a {
        Arg::Own(t) => {
            t.layout().is_dense()
                && t.shape() == &shape[..]
                && t.dtype().size() == dtype.size()
                && t.get_mut_ptr().is_some()
        }
        _ => false,
    };
    if let Some(k) = args.iter_mut().position(fits)
        && let Arg::Own(t) = core::mem::replace(&mut args[k], Arg::Scalar(Scalar::Bool(false)))
    {
        return Ok(t.retyped(dtype));
    }
    Tensor::empty_result(shape, args.iter().filter_map(Arg::tensor), dtype)
}

/// A program under construction. Slots: operands (0..n), the result (n), constants, temporaries.
struct Plan {
    code: SmallVec<[Instr; 6]>,
    /// Numbers, as values of the dtype that the kernel takes.
    constants: SmallVec<[(Value, usize); 3]>,
    /// How many operands are tensors.
    inputs: usize,
    temps: u8,
    /// The main instruction's dtype of results: what `finish` converts from.
    wide: bool,
    name: &'static str,
}
/// Slots of temporaries, before their place is known.
const TEMP: u8 = 32;
/// Slots of constants, before their place is known.
const CONSTANT: u8 = 16;

impl Plan {
    /// Operands converted to what the kernel takes, then the operation.
    fn new(row: &Row, k: Kernel, dtype: DType, args: &[Arg<'_>]) -> Result<Plan> {
        let name = row.op.name();
        let operand_dtype = if k.wide { DType::F32 } else { dtype };
        let mut plan = Plan {
            code: SmallVec::new(),
            constants: SmallVec::new(),
            inputs: 0,
            temps: 0,
            wide: k.wide,
            name,
        };
        let mut src = [0u8; 3];
        for (i, a) in args.iter().enumerate() {
            let want = if row.op.rule() == Rule::Select && i == 0 {
                DType::Bool
            } else {
                operand_dtype
            };
            src[i] = match a {
                Arg::Scalar(s) => {
                    // checked against the dtype that the user sees, kept in the one that is
                    // computed in
                    s.value(
                        if i == 0 && want == DType::Bool {
                            want
                        } else {
                            dtype
                        },
                        name,
                    )?;
                    plan.constants.push((s.value(want, name)?, want.size()));
                    CONSTANT + plan.constants.len() as u8 - 1
                }
                a => {
                    let slot = plan.inputs as u8;
                    plan.inputs += 1;
                    match a.tensor().map(|t| t.dtype()) {
                        Some(d) if d != want => plan.convert(slot, d, want)?,
                        _ => slot,
                    }
                }
            };
        }
        let dst = plan.temp();
        let arity = args.len() as u8;
        plan.code.push(Instr {
            f: k.f,
            dst,
            src,
            arity,
            mult: k.components,
            forms: k.scalar_masks,
            cost: row.op.cost(),
        });
        Ok(plan)
    }
    fn temp(&mut self) -> u8 {
        self.temps += 1;
        TEMP + self.temps - 1
    }
    /// Appends a conversion; its slot.
    fn convert(&mut self, src: u8, from: DType, to: DType) -> Result<u8> {
        let f = convert::cast_loop(self.name, from, to)?;
        let dst = self.temp();
        self.code.push(Instr {
            f,
            dst,
            src: [src; 3],
            arity: 1,
            mult: 1,
            forms: 1,
            cost: convert::COST,
        });
        Ok(dst)
    }
    /// Narrows what was computed wide, converts it to the target's dtype; the last instruction's
    /// slot becomes the result's.
    fn finish(&mut self, result: DType, target: DType) -> Result<()> {
        let from = if self.wide && !result.is_bool() {
            DType::F32
        } else {
            result
        };
        let mut last = self.code.last().map_or(0, |c| c.dst);
        if from != result {
            last = self.convert(last, from, result)?;
        }
        if result != target {
            last = self.convert(last, result, target)?;
        }
        let (n, constants) = (self.inputs as u8, self.constants.len() as u8);
        let temps = self.temps;
        let place = |s: u8| match s {
            s if s == last => n,
            s if s >= TEMP => n + 1 + constants + (s - TEMP).min(temps),
            s if s >= CONSTANT => n + 1 + (s - CONSTANT),
            s => s,
        };
        for c in &mut self.code {
            c.dst = place(c.dst);
            c.src = c.src.map(place);
        }
        Ok(())
    }
    fn run(&self, inputs: &[Operand], shape: &Shape, out: &mut Tensor) -> Result<()> {
        let d = out.as_mut_ptr()?;
        let output = Operand::new(
            d,
            out.dtype().size(),
            out.shape(),
            out.strides(),
            shape.len(),
        );
        let constants: SmallVec<[(*const u8, usize); 3]> = self
            .constants
            .iter()
            .map(|(v, size)| (v.as_ptr(), *size))
            .collect();
        // the last instruction's became the result
        let temps = if self.code.len() == 1 {
            0
        } else {
            self.temps as usize
        };
        let program = Program {
            constants: &constants,
            temps,
            temp_size: 16,
            code: &self.code,
        };
        // SAFETY: NEST1: operands lie inside their storages (TENSOR1), are initialised (STORAGE1)
        // and only read; the result's storage is unshared (STORAGE3) but for an operand that became
        // it, which lies there element by element. Instructions were chosen for these dtypes.
        unsafe { exec::run(&program, shape, inputs, &[output]) };
        Ok(())
    }
}
