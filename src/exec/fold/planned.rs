//! Reductions that are planned once and run at many addresses: on blocks of tensors.

use super::computed::{Tiles, tile_of};
use super::ends::End;
use super::erased::Erased;
use super::plan::{FoldPlan, Pointers};
use super::tree::FoldTree;
use super::{FoldSource, no_elements, plan};
use crate::exec::nest::{MAX_OPERANDS, Nest};
use crate::exec::program::TileProgram;
use crate::exec::view::View;
use crate::layout::Layout;

/// A reduction with one end, planned for operands of one layout.
pub struct PlannedFold<'a> {
    plan: FoldPlan,
    fold: [&'a dyn Erased; 1],
    /// The program that computes the elements, unless they are in memory, and the loops of a tile.
    computed: Option<(&'a TileProgram, Nest)>,
    /// The first output among the plan's operands.
    outputs: usize,
}

impl<'a> PlannedFold<'a> {
    /// Plans the reduction of one input in memory ([`fold_to`](super::fold_to)), or of what a
    /// program computes from its inputs ([`fold_computed`](super::fold_computed)). The views and
    /// the end only serve for their layouts and sizes.
    ///
    /// None unless each result is reduced in one tile, and operands are walked from their first
    /// element on.
    pub fn new(
        program: Option<&'a TileProgram>,
        inputs: &[View<'_>],
        value: &Layout,
        reduced: impl Fn(usize) -> bool,
        end: End<'a>,
    ) -> Option<PlannedFold<'a>> {
        let source = match program {
            Some(program) => FoldSource::Computed(program, inputs, value),
            None => FoldSource::Stored(inputs[0]),
        };
        let mut ends = [end];
        let plan = plan(&source, &reduced, &mut ends);
        let outputs = 1 + source.inputs().len();
        let begins = |first: usize, x: *const u8| core::ptr::eq(plan.ptrs[first], x);
        let first = if program.is_some() { 1 } else { 0 };
        let forward = inputs.iter().enumerate();
        let mut forward = forward.map(|(k, x)| begins(first + k, x.as_ptr()));
        if plan.parts != 1 || !forward.all(|begins| begins) {
            return None;
        }
        Some(PlannedFold {
            computed: program.map(|p| (p, tile_of(&plan, p))),
            fold: [ends[0].fold],
            plan,
            outputs,
        })
    }
    /// The reduction, ready to run.
    pub fn ready(&self) -> ReadyFold<'_> {
        let computed = self.computed.as_ref();
        ReadyFold(FoldTree {
            plan: &self.plan,
            folds: &self.fold,
            computed: computed.map(|(p, tile)| Tiles::new(p, tile, false)),
            outputs: self.outputs,
        })
    }
}

/// A [`PlannedFold`], ready to run.
pub struct ReadyFold<'a>(FoldTree<'a>);

impl ReadyFold<'_> {
    /// Bytes of scratch memory that [`run`](ReadyFold::run) needs.
    pub fn scratch(&self) -> usize {
        self.0.scratch()
    }
    /// Reduces, on this thread: `ptrs` are the first elements of the inputs and of the output.
    ///
    /// # Safety
    /// VIEW1 for the inputs and VIEW2 for the output, in the layouts that were planned for;
    /// `scratch` is valid for [`scratch`](ReadyFold::scratch) bytes, aligned to a cache line, and
    /// unused.
    pub unsafe fn run(&self, ptrs: impl Iterator<Item = *mut u8>, scratch: *mut u8) {
        let mut from: Pointers = [no_elements() as *mut u8; MAX_OPERANDS];
        let first = self.0.computed.is_some() as usize;
        for (to, ptr) in from[first..].iter_mut().zip(ptrs) {
            *to = ptr;
        }
        // SAFETY: FOLD1 for these operands, by the caller.
        unsafe { self.0.run_at(&from, scratch) }
    }
}
