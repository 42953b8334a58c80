//! A caller's function as the body of a program: what the machine requires of it.
//!
//! The machine passes it all operands of a tile at once, as slices or scalars, and its single loop
//! is compiled in the caller's crate for each instruction set (`simd::call`), where LLVM inlines
//! the closure. So it costs as much as a built-in operation, and gives the same bits on every set,
//! since nothing is contracted. Inputs come by value and outputs are only written; the in-place
//! form reads what it writes, in one slot, and copy-on-write has copied anything that overlaps.

/// A body that is a single function instead of a list of instructions. It sees what their loops
/// see: contiguous elements, or single values.
pub trait Call: Sync {
    /// Whether outputs are updated: they hold values that the function may read.
    fn updates(&self) -> bool {
        false
    }
    /// Whether the function takes the inputs whose bits are set as single values, and the others as
    /// elements.
    fn takes(&self, values: u64) -> bool {
        values == 0
    }
    /// Computes `n` elements.
    ///
    /// # Safety
    /// Contract (CALL1): `slots` are the operands, inputs first, aligned and of the types that the
    /// function was made for. Inputs have `n` initialised elements, or one if their bit in `values`
    /// is set, which the function takes. Outputs have room for `n` elements, which are initialised
    /// if it updates them. No slot that is written overlaps another.
    unsafe fn run(&self, slots: &[*mut u8], n: usize, values: u64);
}
