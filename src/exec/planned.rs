//! Elementwise programs that are planned once and run at many addresses: on blocks of tensors.

use super::nest::{LoopOperand, Nest};
use super::program::TileProgram;
use super::tile::{CachePolicy, Machine};

/// A program, planned for operands of one layout.
pub struct PlannedProgram<'a> {
    program: &'a TileProgram,
    nest: Nest,
}

impl<'a> PlannedProgram<'a> {
    /// Plans the program for a shape. The operands only serve for their strides, which are not
    /// negative, and their sizes.
    pub fn new(
        program: &'a TileProgram,
        shape: &[usize],
        inputs: &[LoopOperand],
        outputs: &[LoopOperand],
    ) -> PlannedProgram<'a> {
        program.expect(inputs, outputs);
        let all = inputs.iter().chain(outputs);
        assert!(all.flat_map(|o| &o.strides).all(|s| *s >= 0));
        let mut nest = Nest::new(shape, inputs, outputs).without_addresses();
        nest.pair_transposed();
        PlannedProgram { program, nest }
    }
    /// The program, ready to run.
    pub fn ready(&self) -> ReadyProgram<'_> {
        ReadyProgram(Machine::new(
            self.program,
            &self.nest,
            CachePolicy::default(),
        ))
    }
}

/// A [`PlannedProgram`], ready to run.
pub struct ReadyProgram<'a>(Machine<'a>);

impl ReadyProgram<'_> {
    /// Bytes of scratch memory that [`run`](ReadyProgram::run) needs.
    pub fn scratch(&self) -> usize {
        self.0.scratch()
    }
    /// Runs, on this thread: `ptrs` are the first elements of the inputs and then the outputs.
    ///
    /// # Safety
    /// NEST1 of [`tile::run`](super::tile::run) for these operands, in the layouts that were
    /// planned for; no output overlaps an input; `scratch` is valid for
    /// [`scratch`](ReadyProgram::scratch) bytes, aligned to a cache line, and unused.
    pub unsafe fn run(&self, ptrs: impl Iterator<Item = *mut u8>, scratch: *mut u8) {
        // SAFETY: by the caller.
        unsafe {
            let mut state = self.0.state(scratch);
            for (to, ptr) in state.ptrs.iter_mut().zip(ptrs) {
                *to = ptr;
            }
            self.0.all(&mut state)
        }
    }
}
