//! Elementwise functions written by the caller: any number of inputs that broadcast, of mixed
//! dtypes and any layout, and several outputs, into fresh tensors, into the caller's tensors, or in
//! place.
//!
//! A function sees values, never addresses. The driver of all elementwise operations (`exec/tile`)
//! passes contiguous lines of elements, and the function is compiled into a loop over them for each
//! instruction set, like the kernels of [`ops`](crate::ops).

mod index;
mod inputs;
mod lines;
mod operator;
mod outputs;
mod reduce;
mod reducer;

pub use index::iwise;
pub use inputs::{Input, Inputs};
pub use operator::{Apply, Elementwise, Operator, Update};
pub use outputs::{Outputs, Targets};
pub use reduce::{reduce_axes_ewise, reduce_ewise};
pub use reducer::{Closures, Reducer, reducer};

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::call::Call;
use crate::exec::nest::LoopOperand;
use crate::exec::run_call;
use crate::layout;
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use inputs::InputTensors;
use lines::{Applied, FLOPS, Updated};
use outputs::Results;
use smallvec::SmallVec;

/// Applies a function to the elements of the inputs and returns fresh tensors, of the shape that
/// the inputs broadcast to and the dtypes that the function returns.
///
/// `inputs` is a tuple with a `&Tensor` (of any layout) or a value for each argument of the
/// function, up to six; for a single one, `&x` alone. The function takes values of Rust types and
/// returns one, or a tuple of up to four.
///
/// The function is called once for each element, in any order and on any thread, so its results
/// should depend on its arguments alone. It is compiled for each instruction set of x86-64, chosen
/// at run time like the operations of [`ops`](crate::ops): a short function without calls to others
/// is vectorised. (A long one may not be inlined where it is called: see [`Elementwise`].)
///
/// Errors if a tensor's dtype is not its argument's type, or the shapes don't broadcast. Panics if
/// the function panics.
///
/// ```
/// use flex::{Tensor, ops::ewise};
/// let (x, n) = (Tensor::from([[1.5f32, 2.5], [3.5, 4.5]]), Tensor::from([1i32, 2]));
/// let y = ewise((&x, &n, 0.5), |x: f32, n: i32, c: f32| c * x.powi(n))?;
/// assert_eq!(y.to_vec::<f32>()?, [0.75, 3.125, 1.75, 10.125]);
///
/// // several results, each with its own dtype
/// let (root, exact) = ewise(&n, |n: i32| ((n as f32).sqrt(), n == 1))?;
/// assert_eq!((root.dtype(), exact.to_vec::<bool>()?), (flex::DType::F32, vec![true, false]));
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("Zip", "map_collect"))]
pub fn ewise<Args, I: Inputs<Args>, F: Operator<Args>>(
    inputs: I,
    op: F,
) -> Result<<F::Output as Outputs>::Tensors> {
    ewise_as("ewise", inputs, op)
}
/// [`ewise`] with errors that carry `name`.
pub(in crate::ops) fn ewise_as<Args, I: Inputs<Args>, F: Operator<Args>>(
    name: &'static str,
    inputs: I,
    op: F,
) -> Result<<F::Output as Outputs>::Tensors> {
    let tensors = inputs.tensors(name)?;
    let call = Applied::new(inputs, &op);
    // SAFETY: EWISE1: the function's loops are made for these inputs, whose dtypes are checked, and
    // for outputs of `DTYPES`.
    let results = unsafe { create(name, &call, &tensors, F::Output::DTYPES)? };
    Ok(F::Output::tensors(results))
}

/// Applies a function like [`ewise`], and writes the results to the caller's tensors: a `&mut
/// Tensor`, or a tuple with one for each value that the function returns. The inputs broadcast to
/// the shape of the outputs.
///
/// Other tensors that share storage with an output keep their values, even inputs: tensors are
/// values.
///
/// Errors like [`ewise`], and if the outputs differ in shape, or an output's dtype is not the one
/// that the function returns; then no output has changed. If the function panics, some elements may
/// have been written.
///
/// ```
/// use flex::{DType, Tensor, ops::ewise_into};
/// let (x, y) = (Tensor::from([1.0f32, 2.0]), Tensor::from([[3.0f32], [4.0]]));
/// let mut sum = Tensor::zeros((2, 2), DType::F32)?;
/// let mut less = Tensor::zeros((2, 2), DType::Bool)?;
/// ewise_into((&x, &y), (&mut sum, &mut less), |x: f32, y: f32| (x + y, x < y - 1.0))?;
/// assert_eq!(sum.to_vec::<f32>()?, [4.0, 5.0, 5.0, 6.0]);
/// assert_eq!(less.to_vec::<bool>()?, [true, false, true, true]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn ewise_into<Args, I: Inputs<Args>, F: Operator<Args>>(
    inputs: I,
    outputs: <F::Output as Outputs>::Targets<'_>,
    op: F,
) -> Result<()> {
    const OP: &str = "ewise_into";
    let tensors = inputs.tensors(OP)?;
    let mut outputs = F::Output::targets(outputs);
    let call = Applied::new(inputs, &op);
    // SAFETY: EWISE1, as in `ewise_as`.
    unsafe { write(OP, &call, &tensors, &mut outputs, F::Output::DTYPES) }
}

/// Updates elements in place: the function takes a `&mut` to an element of each target, followed by
/// the arguments for the inputs, which broadcast to the targets' shape.
///
/// `targets` is a `&mut Tensor`, or a tuple of up to four; `inputs` is as for [`ewise`], or `()`
/// for none.
///
/// This is the form for a function that reads what it writes. Inputs and targets may be the same
/// elements or overlap: a target whose storage is shared, as is checked at run time, is copied
/// first, so that the function always sees the old values; an unshared target is updated in place.
///
/// Errors like [`ewise_into`]; then no target has changed. If the function panics, some elements
/// may have been updated.
///
/// ```
/// use flex::{Tensor, ops::ewise_inplace};
/// let mut x = Tensor::from([1.0f32, 2.0, 3.0]);
/// let mut velocity = Tensor::from([0.0f32; 3]);
/// let force = Tensor::from([2.0f32]);
/// let step = |x: &mut f32, v: &mut f32, force: f32, time: f32| {
///     *v += force * time;
///     *x += *v * time;
/// };
/// ewise_inplace((&mut x, &mut velocity), (&force, 0.5), step)?;
/// assert_eq!(x.to_vec::<f32>()?, [1.5, 2.5, 3.5]);
///
/// // the values from before are those that a clone has
/// let backwards = x.flip(0)?;
/// ewise_inplace(&mut x, (&backwards,), |x: &mut f32, y: f32| *x -= y)?;
/// assert_eq!(x.to_vec::<f32>()?, [-2.0, 0.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("for_each"))]
pub fn ewise_inplace<'a, Ws: Outputs, Args, T, I, F>(targets: T, inputs: I, op: F) -> Result<()>
where
    T: Targets<'a, Ws>,
    I: Inputs<Args>,
    F: Update<Ws, Args>,
{
    update_as("ewise_inplace", targets, inputs, op)
}
/// [`ewise_inplace`] with errors that carry `name`.
pub(in crate::ops) fn update_as<'a, Ws: Outputs, Args, T, I, F>(
    name: &'static str,
    targets: T,
    inputs: I,
    op: F,
) -> Result<()>
where
    T: Targets<'a, Ws>,
    I: Inputs<Args>,
    F: Update<Ws, Args>,
{
    let tensors = inputs.tensors(name)?;
    let call = Updated::<Ws, Args, I, F>::new(inputs, &op);
    // SAFETY: EWISE1, as in `ewise_as`.
    unsafe { write(name, &call, &tensors, &mut targets.list(), Ws::DTYPES) }
}

/// The outputs of a function of these inputs, as fresh tensors.
///
/// # Safety
/// Contract (EWISE1): the function's loops are made for slots of the inputs, followed by outputs of
/// these dtypes.
unsafe fn create(
    op: &'static str,
    call: &dyn Call,
    inputs: &InputTensors,
    dtypes: &[DType],
) -> Result<Results> {
    let parallel = |x: &&Tensor| inputs[0].layout().is_parallel(x.layout());
    let mut results: Results = match inputs.first() {
        Some(first) if first.layout().is_dense() && inputs.iter().all(parallel) => {
            let fresh = |dtype: &DType| Tensor::empty_like(first, *dtype);
            dtypes.iter().map(fresh).collect::<Result<_>>()?
        }
        _ => {
            let shapes: SmallVec<[&[usize]; 6]> = inputs.iter().map(|x| x.shape()).collect();
            let shape = layout::broadcast(op, &shapes)?;
            let inputs = inputs.iter().copied();
            let fresh = |dtype: &DType| Tensor::empty_result(&shape, inputs.clone(), *dtype);
            dtypes.iter().map(fresh).collect::<Result<_>>()?
        }
    };
    let mut pointers = SmallVec::<[*mut u8; 4]>::new();
    for y in &mut results {
        pointers.push(y.as_mut_ptr()?);
    }
    // SAFETY: EWISE1; fresh tensors of these dtypes, to whose shape the inputs broadcast.
    unsafe { launch(call, inputs, results.iter().zip(pointers)) };
    Ok(results)
}

/// Writes the outputs of a function of these inputs to the caller's tensors, or updates these.
///
/// # Safety
/// EWISE1.
unsafe fn write(
    op: &'static str,
    call: &dyn Call,
    inputs: &InputTensors,
    outputs: &mut [&mut Tensor],
    dtypes: &[DType],
) -> Result<()> {
    assert!(outputs.len() == dtypes.len() && !outputs.is_empty());
    for (k, (y, dtype)) in outputs.iter().zip(dtypes).enumerate() {
        if y.dtype() != *dtype {
            return Err(Error::dtype(
                op,
                message!(
                    "value {k} of the function is {dtype}, and output {k}, of shape {:?}, is {}",
                    y.shape(),
                    y.dtype()
                ),
            ));
        }
        if y.shape() != outputs[0].shape() {
            return Err(Error::shape(
                op,
                message!(
                    "outputs 0 and {k} have different shapes, {:?} and {:?}",
                    outputs[0].shape(),
                    y.shape()
                ),
            ));
        }
    }
    let shapes: SmallVec<[&[usize]; 7]> = (inputs.iter().map(|x| x.shape()))
        .chain([outputs[0].shape()])
        .collect();
    let shape = layout::broadcast(op, &shapes)?;
    drop(shapes);
    if shape[..] != *outputs[0].shape() {
        return Err(Error::shape(
            op,
            message!(
                "inputs broadcast to shape {shape:?}, and the outputs have {:?}",
                outputs[0].shape()
            ),
        ));
    }
    // an output that is shared, or has one element for several indices, is written to a fresh
    // tensor, and not read
    let mut apart: SmallVec<[Option<Tensor>; 4]> = SmallVec::new();
    let mut pointers = SmallVec::<[*mut u8; 4]>::new();
    for (y, dtype) in outputs.iter_mut().zip(dtypes) {
        let mut fresh = None;
        pointers.push(match y.get_mut_ptr() {
            Some(p) => p,
            None if call.updates() => y.as_mut_ptr()?,
            None => fresh.insert(Tensor::empty(&shape, *dtype)?).as_mut_ptr()?,
        });
        apart.push(fresh);
    }
    let to = outputs.iter().zip(&apart);
    let to = to.map(|(y, fresh)| fresh.as_ref().unwrap_or(y));
    // SAFETY: EWISE1; outputs have these dtypes, and one shape, to which the inputs broadcast.
    unsafe { launch(call, inputs, to.zip(pointers)) };
    for (y, fresh) in outputs.iter_mut().zip(apart) {
        if let Some(fresh) = fresh {
            **y = fresh;
        }
    }
    Ok(())
}

/// Runs a function over inputs that broadcast to the shape of the outputs. The pointers are to the
/// outputs' first elements.
///
/// # Safety
/// EWISE1 for the outputs' dtypes; each output's storage is unshared (STORAGE3), and its
/// elements are disjoint.
unsafe fn launch<'a>(
    call: &dyn Call,
    inputs: &InputTensors,
    outputs: impl Iterator<Item = (&'a Tensor, *mut u8)> + Clone,
) {
    let Some((first, _)) = outputs.clone().next() else {
        return;
    };
    let (n, rank) = (first.len(), first.rank());
    let outs = outputs.clone().map(|(y, _)| y);
    let mut all = inputs.iter().copied().chain(outs);
    let cost = Cost {
        bytes: all.clone().map(|x| x.dtype().size()).sum(),
        flops: FLOPS,
    };
    let one_order = |x: &Tensor| x.layout().is_parallel(first.layout());
    if n > 0 && par::is_small(n, cost) && first.layout().is_dense() && all.all(one_order) {
        let slots = inputs.iter().map(|x| x.as_ptr() as *mut u8);
        let slots: SmallVec<[*mut u8; 10]> = slots.chain(outputs.map(|(_, p)| p)).collect();
        // SAFETY: CALL1: dense elements of all operands in one order, initialised (STORAGE1).
        return unsafe { call.run(&slots, n, 0) };
    }
    let sources: SmallVec<[LoopOperand; 6]> = inputs.iter().map(|x| x.operand(rank)).collect();
    let operand = |(y, p): (&Tensor, *mut u8)| {
        LoopOperand::new(p, y.dtype().size(), y.shape(), y.strides(), rank)
    };
    let targets: SmallVec<[LoopOperand; 4]> = outputs.map(operand).collect();
    // SAFETY: NEST1: operands lie inside their storages (TENSOR1), are initialised (STORAGE1), and
    // inputs are only read; outputs have storage of their own. The function is made for these
    // dtypes (EWISE1).
    unsafe { run_call(call, FLOPS, first.shape(), &sources, &targets) }
}
