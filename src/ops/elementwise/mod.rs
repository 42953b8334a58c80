//! Elementwise operations: one driver for the whole table.
//!
//! ```text
//! common dtype -> rule -> kernel -> program: [convert operands] [operation] [narrow, convert] -> exec
//! ```
//! Conversions are instructions of the program, so no converted copy of an operand is ever made.

pub(crate) mod check;
pub(in crate::ops) mod documentation;
mod examples;
mod functions;
mod operators;

#[cfg(feature = "nn")]
pub(crate) use functions::activations;
pub use functions::*;

use super::program::{self, operand_dtype, result_dtype, same_kind};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::few::{self, FEW};
use crate::exec::nest::LoopOperand;
use crate::exec::program::TileProgram;
use crate::exec::{self};
use crate::kernel::elementwise::{ElementKernel, Row};
use crate::layout::{self, Layout, Shape};
use crate::op::Rule;
use crate::par::{self, Cost};
use crate::scalar::{ElementBytes, Scalar};
use crate::tensor::Tensor;
use core::mem::MaybeUninit;
use smallvec::SmallVec;

/// An operand of an elementwise function: a tensor, borrowed or passed by value, or a number.
///
/// The result may take the buffer of a tensor passed by value, if its storage is not shared.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from([1.0f32, 2.0]);
/// let y = ops::multiply(&x, 10)?; // a reference and a number
/// assert_eq!(ops::add(y, &x)?.to_vec::<f32>()?, [11.0, 22.0]); // into the buffer of y
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Arg<'a> {
    /// A borrowed tensor.
    Ref(&'a Tensor),
    /// A tensor whose buffer may hold the result.
    Own(Tensor),
    /// A number, which takes the dtype of the tensors.
    Scalar(Scalar),
}
impl Arg<'_> {
    pub(crate) fn tensor(&self) -> Option<&Tensor> {
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

/// Applies a row of the table.
///
/// Errors if the dtypes have no common one, the operation is not defined for it, shapes don't
/// broadcast, a number doesn't fit, or an integer divisor is zero.
#[doc(hidden)]
pub fn apply<const N: usize>(row: &Row, mut args: [Arg<'_>; N]) -> Result<Tensor> {
    /// A larger operand that was passed by value is overwritten by a program: the copy would
    /// take longer than a program's start.
    const COPIED: usize = 4096;
    let overwritten = |a: &mut Arg<'_>| match a {
        Arg::Own(t) => t.len() * t.dtype().size() > COPIED && t.get_mut_ptr().is_some(),
        _ => false,
    };
    if !args.iter_mut().any(overwritten)
        && let Some(r) = small(row, &args)
    {
        return Ok(into_operand(r?, &mut args));
    }
    general(row, &mut args, None)
}
/// Applies a row to `target` and `rest`, and stores the result in `target`, which keeps its shape
/// and dtype; in place if its storage is unshared. Errors, leaving it unchanged, also if the result
/// is of a higher kind (a float for integers) or has another shape.
#[doc(hidden)]
pub fn apply_in_place(row: &Row, target: &mut Tensor, rest: Option<Arg<'_>>) -> Result<()> {
    // a small result is computed into a fresh tensor and copied: that takes far fewer instructions
    // than a program that reads and writes the same memory
    let apart = match &rest {
        Some(Arg::Ref(t)) => small(row, &[Arg::Ref(target), Arg::Ref(t)]),
        Some(Arg::Scalar(s)) => small(row, &[Arg::Ref(target), Arg::Scalar(*s)]),
        _ => None,
    };
    if let Some(Ok(t)) = apart
        && t.dtype() == target.dtype()
        && t.layout().is_parallel(target.layout())
    {
        match target.get_mut_ptr() {
            // SAFETY: dense elements (`small` makes no others) of the same shape, order and dtype;
            // the target's are unshared (STORAGE3).
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
    // on an error the operands have not been consumed
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

/// A small result, which was computed apart from its operands, in the buffer of one that was passed
/// by value and can hold it.
fn into_operand(y: Tensor, args: &mut [Arg<'_>]) -> Tensor {
    let parallel = |l: &Layout| l.is_parallel(y.layout());
    let Some(mut t) = take_operand(args, parallel, y.dtype()) else {
        return y;
    };
    if let Some(p) = t.get_mut_ptr() {
        // SAFETY: dense elements (`small` makes no others) of the same shape, order and size; the
        // operand's are unshared (STORAGE3).
        unsafe {
            core::ptr::copy_nonoverlapping(y.as_ptr(), p, y.len() * y.dtype().size());
        }
    }
    t
}

/// A small operand, element by element as those of another one lie.
#[repr(align(64))]
struct Expanded(MaybeUninit<[u8; FEW * size_of::<ElementBytes>()]>);

impl Expanded {
    /// The address of the elements of `t` in row-major order once they are broadcast to `shape`, of
    /// [few](FEW) elements. `None` if they don't broadcast to it.
    #[inline(never)]
    fn broadcast(&mut self, t: &Tensor, shape: &[usize]) -> Option<*const u8> {
        let missing = shape.len().checked_sub(t.rank())?;
        let mut sizes = t.shape().iter().zip(&shape[missing..]);
        if !sizes.all(|(a, b)| a == b || *a == 1) {
            return None;
        }
        let (size, to) = (t.dtype().size(), self.0.as_mut_ptr() as *mut u8);
        let mut to = LoopOperand::value(to, size, shape.len());
        let mut step = size as isize;
        for (stride, n) in to.strides.iter_mut().zip(shape).rev() {
            *stride = step;
            step *= *n as isize;
        }
        // SAFETY: PACK1: elements of the tensor (TENSOR1, TENSOR2), each as often as it is
        // broadcast, to as many of the buffer, which has room for them at any width.
        unsafe { few::copy(shape, &t.operand(shape.len()), &to) };
        Some(self.0.as_ptr() as *const u8)
    }
}

/// The most common case, without a program: few elements, and dense operands of one dtype, shape and
/// order of elements, possibly with numbers; if they are very few, operands may be broadcast. `None`
/// for any other case. Operands that were passed by value are left as they are.
#[inline(always)]
fn small<const N: usize>(row: &Row, args: &[Arg<'_>; N]) -> Option<Result<Tensor>> {
    let rule = row.op.rule();
    // a power may be a square
    if row.square.is_some()
        && let Some(Arg::Scalar(Scalar::Int(2) | Scalar::Float(2.0))) = args.last()
    {
        return None;
    }
    // the condition has a dtype of its own
    let values = if rule == Rule::Select {
        &args[1..]
    } else {
        &args[..]
    };
    let tensors = || values.iter().filter_map(Arg::tensor);
    let mut first = tensors().next()?;
    if first.len() < FEW {
        // the one that the others are broadcast to
        first = tensors().fold(first, |a, b| if b.len() > a.len() { b } else { a });
    }
    let (dtype, n) = (first.dtype(), first.len());
    let cost = Cost {
        bytes: (N + 1) * dtype.size(),
        flops: row.op.cost() as usize,
    };
    if !par::is_small(n, cost)
        || !first.layout().is_dense()
        || check::applies(row.op, dtype)
        || rule == Rule::Float && dtype.inexact() != dtype
    {
        return None;
    }
    let k = (row.lookup)(dtype)
        .map(|k| fused(k, dtype, args))
        .filter(|k| !k.wide)?;
    let mut ptrs = [first.as_ptr(); 3];
    let mut numbers: [Option<ElementBytes>; N] = [None; N];
    let mut expanded = [const { Expanded(MaybeUninit::uninit()) }; N];
    let mut scalars = 0;
    for (i, a) in args.iter().enumerate() {
        let dtype = operand_dtype(rule, i, dtype);
        match (a.tensor(), a) {
            (Some(t), _) if t.dtype() == dtype && t.layout().is_parallel(first.layout()) => {
                ptrs[i] = t.as_ptr()
            }
            (Some(t), _) if t.dtype() == dtype && n <= FEW && first.is_contiguous() => {
                ptrs[i] = expanded[i].broadcast(t, first.shape())?
            }
            // a number that doesn't fit gets its error on the general path
            (None, Arg::Scalar(s)) if s.promote(dtype) == dtype => {
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
    // SAFETY: LOOP1: dense operands of `n` elements of the kernel's dtype, or one value if its bit
    // in `scalars` is set; a fresh result.
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

/// The kernel's fused loop, if it has one and all operands are tensors of this dtype. It takes no
/// single values, so numbers keep the wide loop.
fn fused(k: ElementKernel, dtype: DType, args: &[Arg<'_>]) -> ElementKernel {
    match k.fused {
        Some(f)
            if args
                .iter()
                .all(|a| a.tensor().is_some_and(|t| t.dtype() == dtype)) =>
        {
            ElementKernel {
                f,
                wide: false,
                scalar_masks: 1,
                ..k
            }
        }
        _ => k,
    }
}

/// The common dtype of the operands; numbers take the tensors' dtype.
fn common_dtype(row: &Row, args: &[Arg<'_>]) -> Result<DType> {
    let values = match row.op.rule() {
        Rule::Select => &args[1..],
        _ => args,
    };
    program::common_dtype(
        row,
        values.iter().filter_map(Arg::tensor).map(Tensor::dtype),
        values.iter().filter_map(|a| match a {
            Arg::Scalar(s) => Some(*s),
            _ => None,
        }),
    )
}

/// The general case. `into` is the dtype and the shape that the result must have. Operands passed
/// by value may be consumed, on success.
#[inline(never)]
fn general(row: &Row, args: &mut [Arg<'_>], into: Option<(DType, Shape)>) -> Result<Tensor> {
    let name = row.op.name();
    if let (None, Some(r)) = (&into, check::mixed_comparison(row, args)?) {
        return Ok(r);
    }
    if let (None, Some(r)) = (&into, check::comparison_with_number(row, args)?) {
        return Ok(r);
    }
    let dtype = common_dtype(row, args)?;
    // a correctly rounded power with exponent 2 equals the square
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
    if row.op.rule() == Rule::Select {
        check::condition(match &args[0] {
            Arg::Scalar(Scalar::Bool(_)) => Some(DType::Bool),
            c => c.tensor().map(Tensor::dtype),
        })?;
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
        Some((to, shape_of)) => fit_target(name, (&shape, result), (&shape_of, to))?,
    };
    let program = compile(row, kernel, dtype, target, args)?;
    let inputs: SmallVec<[LoopOperand; 3]> = args
        .iter()
        .filter_map(Arg::tensor)
        .map(|t| t.operand(shape.len()))
        .collect();
    // operands stay alive in `args`, except one whose storage becomes the result's
    let mut out = result_tensor(args, &shape, target)?;
    let (d, size) = (out.as_mut_ptr()?, target.size());
    let output = LoopOperand::new(d, size, out.shape(), out.strides(), shape.len());
    // SAFETY: NEST1: operands lie inside their storages (TENSOR1), are initialised (STORAGE1) and
    // only read; the result's storage is unshared (STORAGE3), or that of an operand whose elements
    // it replaces one by one. The instructions were chosen for these dtypes.
    unsafe { exec::run(&program, &shape, &inputs, &[output]) };
    Ok(out)
}

/// The dtype of a target that receives a result in place, which is kept. Errors if the target has
/// another shape, or the result is of a higher kind.
#[doc(hidden)]
pub fn fit_target(
    op: &'static str,
    (shape, result): (&[usize], DType),
    (target, dtype): (&[usize], DType),
) -> Result<DType> {
    if target != shape {
        return Err(Error::shape(
            op,
            message!("a result of shape {shape:?} does not fit a target of {target:?}"),
        ));
    }
    if !same_kind(result, dtype) {
        return Err(Error::dtype(
            op,
            message!(
                "a result of {result} does not fit a target of {dtype}: convert it with astype"
            ),
        ));
    }
    Ok(dtype)
}

/// The program of one operation. Its inputs are the tensors among `args`; its result has dtype
/// `target`.
fn compile(
    row: &Row,
    kernel: ElementKernel,
    dtype: DType,
    target: DType,
    args: &[Arg<'_>],
) -> Result<TileProgram> {
    let result = result_dtype(row.op.rule(), dtype);
    let size = dtype.size();
    if !kernel.wide
        && target == result
        && row.op.rule() != Rule::Select
        && args
            .iter()
            .all(|a| a.tensor().is_some_and(|t| t.dtype() == dtype))
    {
        let opcode = program::opcode(row, &kernel);
        return Ok(TileProgram::of(
            opcode,
            &[size; 3][..args.len()],
            result.size(),
        ));
    }
    let mut b = program::Builder::new(row.op.name());
    let mut operands: SmallVec<[program::Operand; 3]> = SmallVec::new();
    for a in args {
        operands.push(match a {
            Arg::Scalar(s) => program::Operand::Number(*s),
            Arg::Ref(t) => program::Operand::Var(b.input(t.dtype())?),
            Arg::Own(t) => program::Operand::Var(b.input(t.dtype())?),
        });
    }
    let y = b.apply(row, &kernel, dtype, &operands)?;
    let y = b.convert(y, target)?;
    b.output(y)?;
    b.finish()
}

/// Takes an operand passed by value whose buffer can hold the result: unshared, of a layout that is
/// `wanted`, and of the result's element size.
fn take_operand(
    args: &mut [Arg<'_>],
    wanted: impl Fn(&Layout) -> bool,
    dtype: DType,
) -> Option<Tensor> {
    let fits = |a: &mut Arg<'_>| match a {
        Arg::Own(t) => {
            wanted(t.layout()) && t.dtype().size() == dtype.size() && t.get_mut_ptr().is_some()
        }
        _ => false,
    };
    let k = args.iter_mut().position(fits)?;
    match core::mem::replace(&mut args[k], Arg::Scalar(Scalar::Bool(false))) {
        Arg::Own(t) => Some(t.retyped(dtype)),
        _ => None,
    }
}

/// The buffer of an operand ([`take_operand`]), or a fresh tensor. The driver sees that the result
/// aliases an operand, and computes it in a tile.
fn result_tensor(args: &mut [Arg<'_>], shape: &Shape, dtype: DType) -> Result<Tensor> {
    match take_operand(args, |l| l.is_dense() && l.shape() == &shape[..], dtype) {
        Some(t) => Ok(t),
        None => Tensor::empty_result(shape, args.iter().filter_map(Arg::tensor), dtype),
    }
}
