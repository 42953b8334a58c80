//! A caller's function as the body of a program: what the machine requires of it.

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
