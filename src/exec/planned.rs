//! Elementwise programs that are planned once and run at many addresses: on blocks of tensors.

use super::nest::{Nest, Operand};
use super::program::Program;
use super::tile::Machine;

/// A program, planned for operands of one layout.
pub struct Planned<'a> {
    program: &'a Program,
    nest: Nest,
}

impl<'a> Planned<'a> {
    /// Plans the program for a shape. The operands only serve for their strides, which are not
    /// negative, and their sizes.
    pub fn new(
        program: &'a Program,
        shape: &[usize],
        inputs: &[Operand],
        outputs: &[Operand],
    ) -> Planned<'a> {
        program.expect(inputs, outputs);
        let all = inputs.iter().chain(outputs);
        assert!(all.flat_map(|o| &o.strides).all(|s| *s >= 0));
        let mut nest = Nest::new(shape, inputs, outputs).without_addresses();
        nest.pair_transposed();
        Planned { program, nest }
    }
    /// The program, ready to run.
    pub fn ready(&self) -> Ready<'_> {
        Ready(Machine::new(self.program, &self.nest))
    }
}

/// A [`Planned`] program, ready to run.
pub struct Ready<'a>(Machine<'a>);

impl Ready<'_> {
    /// Bytes of scratch memory that [`run`](Ready::run) needs.
    pub fn scratch(&self) -> usize {
        self.0.scratch()
    }
    /// Runs, on this thread: `ptrs` are the first elements of the inputs and then the outputs.
    ///
    /// # Safety
    /// NEST1 of [`tile::run`](super::tile::run) for these operands, in the layouts that were planned
    /// for; no output overlaps an input; `scratch` is valid for [`scratch`](Ready::scratch) bytes,
    /// aligned to a cache line, and unused.
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
