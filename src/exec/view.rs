//! Elements in memory as the drivers take them: borrowed, to be read or written for a lifetime.

use super::nest::LoopOperand;
use crate::layout::Layout;
use core::marker::PhantomData;

/// The elements that a layout addresses.
///
/// Invariant VIEW1: each index addresses `size` bytes, at its offset by the layout's strides from
/// `ptr`, which is the element of index 0, 0, ..; they are aligned as TENSOR2 says, and initialised
/// while `'a` lasts.
#[derive(Clone, Copy)]
pub struct View<'a> {
    ptr: *const u8,
    size: usize,
    layout: &'a Layout,
}

/// Elements to be written.
///
/// Invariant VIEW2: VIEW1, no two indices address the same element, and nobody else reads or writes
/// one while `'a` lasts.
pub struct ViewMut<'a> {
    ptr: *mut u8,
    size: usize,
    layout: &'a Layout,
    _elements: PhantomData<&'a mut [u8]>,
}

impl<'a> View<'a> {
    /// Elements of `size` bytes, the first of them at `ptr` whatever the layout's offset.
    ///
    /// # Safety
    /// VIEW1.
    pub unsafe fn new(ptr: *const u8, size: usize, layout: &'a Layout) -> View<'a> {
        View { ptr, size, layout }
    }
    /// The first element.
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr
    }
    /// Bytes of an element.
    pub fn size(&self) -> usize {
        self.size
    }
    /// The layout of the elements.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }
    /// The operand for loops over a shape of `rank` dimensions, to which it broadcasts.
    pub fn operand(&self, rank: usize) -> LoopOperand {
        LoopOperand::new(
            self.ptr as *mut u8,
            self.size,
            self.layout.shape(),
            self.layout.strides(),
            rank,
        )
    }
}

// SAFETY: a shared reference gives access to no element: that takes `&mut`.
unsafe impl Sync for ViewMut<'_> {}

impl<'a> ViewMut<'a> {
    /// Elements of `size` bytes, the first of them at `ptr` whatever the layout's offset.
    ///
    /// # Safety
    /// VIEW2.
    pub unsafe fn new(ptr: *mut u8, size: usize, layout: &'a Layout) -> ViewMut<'a> {
        ViewMut {
            ptr,
            size,
            layout,
            _elements: PhantomData,
        }
    }
    /// The first element.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr
    }
    /// Bytes of an element.
    pub fn size(&self) -> usize {
        self.size
    }
    /// The layout of the elements.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }
}
