//! Types that drivers hand out slices of.

/// Any bytes of its size are a value: the dtype table's types (`Bool` for bool, never `bool`), and the integers that stand for an
/// element of their width where elements are only moved.
///
/// # Safety
/// No padding, no invalid bytes, aligned by at most its size and 16.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($(($V:ident, $T:ty, $name:literal, $class:ident, $Class:ident, $bits:literal, $fmt:literal, $dl:literal, $st:literal, $feature:literal, ($($cfg:tt)*)))*) => {
        $(
            // SAFETY: a primitive number, or a `repr(transparent)`/`repr(C)` struct of one or two equal ones.
            #[cfg($($cfg)*)]
            unsafe impl Plain for $T {}
        )*
    };
}
dtypes!(plain!);

// SAFETY: two primitive numbers.
unsafe impl Plain for [u64; 2] {}
// SAFETY: a primitive number: a sorting key and its position.
unsafe impl Plain for i128 {}
#[cfg(not(feature = "ints"))]
mod widths {
    // SAFETY: a primitive number.
    unsafe impl super::Plain for i16 {}
    // SAFETY: a primitive number.
    unsafe impl super::Plain for u16 {}
    // SAFETY: a primitive number.
    unsafe impl super::Plain for u32 {}
    // SAFETY: a primitive number.
    unsafe impl super::Plain for u64 {}
}
#[cfg(not(feature = "f64"))]
// SAFETY: a primitive number: what sums are exact in, with or without its row of the table.
unsafe impl Plain for f64 {}
