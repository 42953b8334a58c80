//! Elements in memory as the drivers take them: somebody else's, read or written for as long as a
//! lifetime says.

use super::nest::Operand;
use crate::layout::Layout;
use core::marker::PhantomData;

/// The elements that a layout reaches.
///
/// Invariant VIEW1: each element is `size` bytes at its place from `ptr`, the element of index 0,
/// 0, .., by the layout's strides; aligned as TENSOR2 says, and initialised while `'a` lasts.
#[derive(Clone, Copy)]
pub struct View<'a> {
    ptr: *const u8,
    size: usize,
    layout: &'a Layout,
}

/// Elements that are written.
///
/// Invariant VIEW2: VIEW1, and no two indices share an element, nor does anybody else read or write
/// one while `'a` lasts.
pub struct ViewMut<'a> {
    ptr: *mut u8,
    size: usize,
    layout: &'a Layout,
    _elements: PhantomData<&'a mut [u8]>,
}

impl<'a> View<'a> {
    /// Elements of `size` bytes, the first at `ptr` whatever the layout's offset is.
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
    /// Where the elements lie.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }
    /// As an operand of loops over a shape of `rank` dimensions, to which it broadcasts.
    pub fn operand(&self, rank: usize) -> Operand {
        Operand::new(
            self.ptr as *mut u8,
            self.size,
            self.layout.shape(),
            self.layout.strides(),
            rank,
        )
    }
}

// SAFETY: by reference, no element is reached: that takes `&mut`.
unsafe impl Sync for ViewMut<'_> {}

impl<'a> ViewMut<'a> {
    /// Elements of `size` bytes, the first at `ptr` whatever the layout's offset is.
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
    /// Where the elements lie.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }
}
