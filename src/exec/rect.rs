//! Rectangles of memory.

/// A rectangle of memory: its first element, its rows and columns, and their steps.
#[derive(Clone, Copy)]
pub struct Rect {
    /// First element.
    pub ptr: *const u8,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Bytes from one row to the next.
    pub row_step: isize,
    /// Bytes from one column to the next.
    pub col_step: isize,
}
