//! Reductions by callers' functions, over any axes, of any number of inputs.

use super::inputs::{ArgumentLines, Inputs};
use super::lines::FLOPS;
use super::outputs::{Outputs, ResultPointers, Results};
use super::reducer::Reducer;
use crate::error::{Error, Result};
use crate::exec::fold::{SteppedFold, StridedInput, fold_stepped};
use crate::exec::view::View;
use crate::layout::{self, Axes, Layout};
use crate::ops::reduce::{Reduced, ReductionAxes};
use crate::par::{self, Cost};
use crate::simd::{self, Isa, Kernel};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::marker::PhantomData;
use smallvec::SmallVec;

/// Reduces all elements of the inputs, which broadcast, to a single result. Each step of the
/// reducer takes one element of every input.
///
/// `inputs` are as for [`ewise`](super::ewise), and at least one is a tensor. Elements are taken in
/// an order that depends on their layout, with several accumulators (enough to fill vectors, so
/// that a short `step` is vectorised), which are joined in a fixed order: the bits are the same for
/// any number of threads.
///
/// Errors if a tensor's dtype is not its argument's type, or the shapes don't broadcast. Panics if
/// the reducer panics.
///
/// ```
/// use flex::{Tensor, ops::{reduce_ewise, reducer}};
/// let (x, y) = (Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]), Tensor::from([1i32, 3]));
/// let count = |n: usize, x: f32, y: i32| n + (x > y as f32) as usize;
/// assert_eq!(reduce_ewise((&x, &y), reducer(0, count, |a, b| a + b))?, 2);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn reduce_ewise<Args, I: Inputs<Args>, R: Reducer<Args>>(
    inputs: I,
    reducer: R,
) -> Result<R::Output> {
    let all = accumulate("reduce_ewise", inputs, &reducer, Axes::ALL.into())?;
    let acc = all.acc.first().copied().unwrap_or_else(|| reducer.init());
    Ok(reducer.post(acc, all.axes.n()))
}

/// Reduces the inputs along axes of the shape that they broadcast to, like [`reduce_ewise`], into a
/// tensor for each value of the result. The axes are given as a [`ReductionAxes`], with or without
/// keepdims.
///
/// Errors like [`reduce_ewise`], and if an axis is out of range or repeated.
///
/// ```
/// use flex::{Axes, Tensor, ops::{reduce_axes_ewise, reducer}};
/// let x = Tensor::from([[3.0f32, 4.0], [6.0, 8.0]]);
/// let norm = reducer(0.0f32, |sum: f32, x: f32| sum + x * x, |a, b| a + b).post(|sum, _| sum.sqrt());
/// assert_eq!(reduce_axes_ewise(&x, 1, norm)?.to_vec::<f32>()?, [5.0, 10.0]);
///
/// // several results from several accumulators
/// let last = |(n, at): (i64, f32), x: f32, limit: f32| if x > limit { (n + 1, at.max(x)) } else { (n, at) };
/// let above = reducer((0, 0.0f32), last, |a, b| (a.0 + b.0, a.1.max(b.1)));
/// let (count, largest) = reduce_axes_ewise((&x, 3.5), Axes::from(0).keepdims(), above)?;
/// assert_eq!((count.shape(), count.to_vec::<i64>()?), (&[1, 2][..], vec![1, 2]));
/// assert_eq!(largest.to_vec::<f32>()?, [6.0, 8.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn reduce_axes_ewise<Args, I: Inputs<Args>, R: Reducer<Args, Output: Outputs>>(
    inputs: I,
    axes: impl Into<ReductionAxes>,
    reducer: R,
) -> Result<<R::Output as Outputs>::Tensors> {
    let all = accumulate("reduce_axes_ewise", inputs, &reducer, axes.into())?;
    let mut results = Results::new();
    for dtype in R::Output::DTYPES {
        results.push(all.axes.result(*dtype)?);
    }
    let slots = ResultPointers::of(&mut results)?;
    let cost = Cost {
        bytes: size_of::<R::Acc>() + size_of::<R::Output>(),
        flops: FLOPS,
    };
    par::ranges(all.acc.len(), 64, cost, |range| {
        simd::call(Post {
            reducer: &reducer,
            n: all.axes.n(),
            acc: &all.acc[range.clone()],
            first: range.start,
            pointers: R::Output::pointers(slots.get()),
            args: PhantomData,
        })
    });
    Ok(R::Output::tensors(results))
}

/// The accumulators of the reduced axes, one for each index of the other axes.
struct Accumulated<Acc> {
    axes: Reduced,
    acc: Vec<Acc>,
}

fn accumulate<Args, I: Inputs<Args>, R: Reducer<Args>>(
    op: &'static str,
    inputs: I,
    reducer: &R,
    over: ReductionAxes,
) -> Result<Accumulated<R::Acc>> {
    let tensors = inputs.tensors(op)?;
    if tensors.is_empty() {
        return Err(Error::value(op, "no input is a tensor"));
    }
    let shapes: SmallVec<[&[usize]; 6]> = tensors.iter().map(|x| x.shape()).collect();
    let shape = layout::broadcast(op, &shapes)?;
    let axes = Reduced::of_shape(op, &shape, over)?;
    let whole = tensors.iter().map(|x| x.broadcast_to(&shape));
    let whole: SmallVec<[Tensor; 6]> = whole.collect::<Result<_>>()?;
    let views: SmallVec<[View; 6]> = whole.iter().map(Tensor::elements).collect();
    let value = Layout::of_result(&shape, whole.iter().map(Tensor::layout))?;
    let steps = ReducerSteps {
        inputs,
        reducer,
        args: PhantomData,
    };
    // SAFETY: STEP1: the inputs' dtypes are those of the arguments.
    let acc = unsafe { fold_stepped(&steps, &views, &value, |k| axes.is_reduced(k))? };
    Ok(Accumulated { axes, acc })
}

/// Writes the results of accumulators, from element `first` of each output on; OUTPUT1 for these.
struct Post<'a, Args, R: Reducer<Args, Output: Outputs>> {
    reducer: &'a R,
    n: usize,
    acc: &'a [R::Acc],
    first: usize,
    pointers: <R::Output as Outputs>::Pointers,
    args: PhantomData<Args>,
}
impl<Args, R: Reducer<Args, Output: Outputs>> Kernel for Post<'_, Args, R> {
    type Out = ();
    #[inline(always)]
    fn run<S: Isa>(self) {
        for (k, acc) in self.acc.iter().enumerate() {
            // SAFETY: OUTPUT1: the outputs have an element for each accumulator.
            unsafe { (self.reducer.post(*acc, self.n)).put(self.pointers, self.first + k) }
        }
    }
}

/// A reducer with its inputs.
struct ReducerSteps<'a, Args, I, R> {
    inputs: I,
    reducer: &'a R,
    args: PhantomData<fn(Args)>,
}
impl<Args, I: Inputs<Args>, R: Reducer<Args>> SteppedFold for ReducerSteps<'_, Args, I, R> {
    type Acc = R::Acc;
    const FLOPS: usize = FLOPS;
    fn init(&self) -> R::Acc {
        self.reducer.init()
    }
    unsafe fn runs(&self, inputs: &[StridedInput], n: usize, acc: &mut [R::Acc]) {
        simd::call(Runs {
            steps: self,
            inputs,
            n,
            acc,
        })
    }
    unsafe fn rows(&self, inputs: &[StridedInput], rows: usize, acc: &mut [R::Acc]) {
        simd::call(StepColumns {
            steps: self,
            inputs,
            rows,
            acc,
        })
    }
    fn join(&self, a: &mut [R::Acc], b: &[R::Acc]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = self.reducer.join(*a, *b);
        }
    }
}

impl<Args, I: Inputs<Args>, R: Reducer<Args>> ReducerSteps<'_, Args, I, R> {
    /// Line `k` of each input.
    #[inline(always)]
    fn line(&self, inputs: &[StridedInput], k: usize) -> I::Lines {
        let lane = |lane: &StridedInput| lane.ptr.wrapping_offset(lane.stride * k as isize);
        self.inputs.lines(inputs.iter().map(lane))
    }
    /// Reduces `L` columns of `rows` lines, from column `at` on.
    ///
    /// # Safety
    /// ARGS1 for these columns.
    #[inline(always)]
    unsafe fn columns<const L: usize>(
        &self,
        inputs: &[StridedInput],
        rows: usize,
        at: usize,
        out: &mut [R::Acc],
    ) {
        let mut acc = [self.reducer.init(); L];
        for r in 0..rows {
            let lines = self.line(inputs, r);
            for (l, acc) in acc.iter_mut().enumerate() {
                // SAFETY: ARGS1, by the caller.
                *acc = self.reducer.step(*acc, unsafe { lines.at(at + l) });
            }
        }
        out[at..at + L].copy_from_slice(&acc);
    }
}

/// Reduces a line of `n` elements with `lanes` accumulators, which are joined by halves; the rest
/// of the line goes into as many accumulators as it fills. A macro, like `lanes`: accumulators stay
/// in registers only if arrays are indexed by constants once loops are unrolled.
macro_rules! run {
    ([$lanes:literal $($half:literal)*] $reducer:ident, $lines:ident, $n:ident) => {{
        let (mut acc, mut at) = ([$reducer.init(); $lanes], 0);
        while $n - at >= $lanes {
            run!(# acc $lanes $reducer, $lines, at);
        }
        run!(/ acc [$($half)*] $reducer, $lines, $n, at)
    }};
    (/ $all:ident [] $reducer:ident, $lines:ident, $n:ident, $at:ident) => {{
        let _ = $at;
        $all[0]
    }};
    (/ $all:ident [$half:literal $($less:literal)*] $reducer:ident, $lines:ident, $n:ident, $at:ident) => {{
        let mut acc = [$reducer.init(); $half];
        for l in 0..$half {
            acc[l] = $reducer.join($all[l], $all[l + $half]);
        }
        if $n - $at >= $half {
            run!(# acc $half $reducer, $lines, $at);
        }
        run!(/ acc [$($less)*] $reducer, $lines, $n, $at)
    }};
    (# $acc:ident $lanes:literal $reducer:ident, $lines:ident, $at:ident) => {
        for l in 0..$lanes {
            // SAFETY: ARGS1 by STEP1: this many elements are left.
            $acc[l] = $reducer.step($acc[l], unsafe { $lines.at($at + l) });
        }
        $at += $lanes;
    };
}

/// STEP1 for as many lines as there are accumulators, of `n` elements each.
struct Runs<'a, Args, I, R: Reducer<Args>> {
    steps: &'a ReducerSteps<'a, Args, I, R>,
    inputs: &'a [StridedInput],
    n: usize,
    acc: &'a mut [R::Acc],
}
impl<Args, I: Inputs<Args>, R: Reducer<Args>> Kernel for Runs<'_, Args, I, R> {
    type Out = ();
    #[inline(always)]
    fn run<S: Isa>(self) {
        let (steps, n) = (self.steps, self.n);
        let reducer = steps.reducer;
        for (k, acc) in self.acc.iter_mut().enumerate() {
            let lines = steps.line(self.inputs, k);
            // large accumulators are few, so that they stay in registers
            *acc = match size_of::<R::Acc>() {
                0..=8 if !simd::MICROCONTROLLER => run!([64 32 16 8 4 2 1] reducer, lines, n),
                9..=32 if !simd::MICROCONTROLLER => run!([16 8 4 2 1] reducer, lines, n),
                _ => run!([4 2 1] reducer, lines, n),
            };
        }
    }
}

/// STEP1 for `rows` lines of as many elements as there are accumulators.
struct StepColumns<'a, Args, I, R: Reducer<Args>> {
    steps: &'a ReducerSteps<'a, Args, I, R>,
    inputs: &'a [StridedInput],
    rows: usize,
    acc: &'a mut [R::Acc],
}
impl<Args, I: Inputs<Args>, R: Reducer<Args>> Kernel for StepColumns<'_, Args, I, R> {
    type Out = ();
    #[inline(always)]
    fn run<S: Isa>(self) {
        let (n, mut at) = (self.acc.len(), 0);
        // SAFETY: ARGS1 by STEP1, and the loops' conditions.
        unsafe {
            while size_of::<R::Acc>() <= 8 && at + 64 <= n {
                (self.steps).columns::<64>(self.inputs, self.rows, at, self.acc);
                at += 64;
            }
            while at + 8 <= n {
                (self.steps).columns::<8>(self.inputs, self.rows, at, self.acc);
                at += 8;
            }
            while at < n {
                (self.steps).columns::<1>(self.inputs, self.rows, at, self.acc);
                at += 1;
            }
        }
    }
}
