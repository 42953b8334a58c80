//! Callers' functions as bodies of programs: one loop over the lines of a stretch of elements,
//! compiled for each instruction set.

use super::inputs::{ArgumentLines, Inputs, Visitor};
use super::operator::{Operator, Update};
use super::outputs::Outputs;
use crate::exec::call::Call;
use crate::simd::{self, Isa, Kernel};
use core::marker::PhantomData;

/// The assumed cost per element of a caller's function, in operations, chosen so that few elements
/// stay on one thread.
pub(super) const FLOPS: usize = 8;

/// An operator applied to lines of inputs, with results written to lines.
pub(super) struct Applied<'a, Args, I, F> {
    inputs: I,
    op: &'a F,
    args: PhantomData<fn(Args)>,
}
impl<'a, Args, I: Inputs<Args>, F: Operator<Args>> Applied<'a, Args, I, F> {
    pub fn new(inputs: I, op: &'a F) -> Self {
        Applied {
            inputs,
            op,
            args: PhantomData,
        }
    }
}
impl<Args, I: Inputs<Args>, F: Operator<Args>> Call for Applied<'_, Args, I, F> {
    fn takes(&self, values: u64) -> bool {
        I::takes(values)
    }
    unsafe fn run(&self, slots: &[*mut u8], n: usize, values: u64) {
        let (inputs, outputs) = slots.split_at(slots.len() - F::Output::DTYPES.len());
        let results = LoopVisitor {
            op: self.op,
            pointers: F::Output::pointers(outputs),
            n,
        };
        // SAFETY: CALL1 is ARGS1 for the inputs' slots and OUTPUT1 for the outputs'.
        unsafe { self.inputs.visit(inputs, values, results) }
    }
}

/// The loop, before the types of the lines are known.
struct LoopVisitor<'a, F, P> {
    op: &'a F,
    pointers: P,
    n: usize,
}
impl<Args, F: Operator<Args>> Visitor<Args>
    for LoopVisitor<'_, F, <F::Output as Outputs>::Pointers>
{
    #[inline(always)]
    unsafe fn visit<L: ArgumentLines<Args>>(self, lines: L) {
        simd::call(LineLoop {
            apply: self,
            lines,
            args: PhantomData,
        })
    }
}

/// The loop, with ARGS1 for the lines and OUTPUT1 for the pointers, up to `n`.
struct LineLoop<'a, Args, F, P, L> {
    apply: LoopVisitor<'a, F, P>,
    lines: L,
    args: PhantomData<Args>,
}
impl<Args, F: Operator<Args>, L: ArgumentLines<Args>> Kernel
    for LineLoop<'_, Args, F, <F::Output as Outputs>::Pointers, L>
{
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let LoopVisitor { op, pointers, n } = self.apply;
        for i in 0..n {
            // SAFETY: ARGS1 and OUTPUT1, by the creator of the loop, for `i < n`.
            unsafe { op.apply(self.lines.at(i)).put(pointers, i) }
        }
    }
}

/// An update of target lines from input lines.
pub(super) struct Updated<'a, Ws, Args, I, F> {
    inputs: I,
    op: &'a F,
    types: PhantomData<fn(Ws, Args)>,
}
impl<'a, Ws: Outputs, Args, I: Inputs<Args>, F: Update<Ws, Args>> Updated<'a, Ws, Args, I, F> {
    pub fn new(inputs: I, op: &'a F) -> Self {
        Updated {
            inputs,
            op,
            types: PhantomData,
        }
    }
}
impl<Ws: Outputs, Args, I: Inputs<Args>, F: Update<Ws, Args>> Call for Updated<'_, Ws, Args, I, F> {
    fn updates(&self) -> bool {
        true
    }
    unsafe fn run(&self, slots: &[*mut u8], n: usize, _values: u64) {
        let (inputs, targets) = slots.split_at(slots.len() - Ws::DTYPES.len());
        simd::call(UpdateLoop {
            op: self.op,
            pointers: Ws::pointers(targets),
            lines: (self.inputs).lines(inputs.iter().map(|slot| *slot as *const u8)),
            n,
            types: PhantomData::<fn(Ws, Args)>,
        })
    }
}

/// The loop of an update, with ARGS1 for the lines and OUTPUT1 for the pointers, which are
/// initialised, up to `n`.
struct UpdateLoop<'a, Ws: Outputs, Args, F, L> {
    op: &'a F,
    pointers: Ws::Pointers,
    lines: L,
    n: usize,
    types: PhantomData<fn(Ws, Args)>,
}
impl<Ws: Outputs, Args, F: Update<Ws, Args>, L: ArgumentLines<Args>> Kernel
    for UpdateLoop<'_, Ws, Args, F, L>
{
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        for i in 0..self.n {
            // SAFETY: ARGS1 and OUTPUT1, by the creator of the loop, for `i < n`.
            unsafe {
                let mut targets = Ws::get(self.pointers, i);
                self.op.update(&mut targets, self.lines.at(i));
                targets.put(self.pointers, i);
            }
        }
    }
}
