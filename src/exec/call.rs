//! A function of a caller's own as the body of a program: what the machine asks of it.

/// What is computed on a stretch of elements, where that is no list of instructions but one
/// function. It sees what loops see: contiguous elements, or one value.
pub trait Call: Sync {
    /// Whether outputs hold values before, which the function may read.
    fn updates(&self) -> bool {
        false
    }
    /// Whether it takes the inputs whose bits are set as one value each, the others as elements.
    fn takes(&self, values: u64) -> bool {
        values == 0
    }
    /// Computes `n` elements.
    ///
    /// # Safety
    /// Contract (CALL1): `slots` are the operands, inputs first, of the types that the function was
    /// made for, aligned: `n` initialised elements of each input, one where its bit in `values` is
    /// set, which the function takes; room for `n` elements of each output, initialised where it
    /// updates them. No slot that is written overlaps another.
    unsafe fn run(&self, slots: &[*mut u8], n: usize, values: u64);
}
