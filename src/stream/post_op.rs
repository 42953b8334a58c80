//! Elementwise operations after a product, block by block of its result, while a cache has the
//! block.

use super::costs::{BESIDE, WORTH_FOLLOWING};
use super::plan_step::{PostOpStep, Slots, shape_of, tensor};
use super::segment::Segment;
use super::traffic::bytes;
use super::walk::OP;
use crate::error::Result;
use crate::exec;
use crate::exec::nest::LoopOperand;
use crate::kernel::gemm::PostOp;
use crate::layout::Layout;
use crate::ops::linalg::BindPostOp;
use crate::tensor::Tensor;
use core::ops::Range;
use smallvec::SmallVec;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Takes over the result of a product.
pub(super) struct WalkPostOp<'a> {
    then: &'a PostOpStep,
    slots: &'a Slots,
    /// Whether nobody else reads the product.
    dies: bool,
    begun: OnceLock<Begun>,
    /// Number of elements taken over.
    taken: AtomicUsize,
}

/// An operand as a batch of matrices: its first element, the bytes of an element, and strides in
/// elements.
struct MatrixBatch {
    ptr: *mut u8,
    size: usize,
    strides: [isize; 3],
}

struct Begun {
    inputs: SmallVec<[MatrixBatch; 6]>,
    outputs: SmallVec<[MatrixBatch; 2]>,
    /// The results; none for one that overwrites the product.
    stored: SmallVec<[Option<Tensor>; 2]>,
    elements: usize,
}
// SAFETY: addresses only; blocks on several threads write disjoint elements (POSTOP1 at `block`),
// and tensors are not written through a shared reference.
unsafe impl Sync for Begun {}
// SAFETY: as above; addresses belong to no thread.
unsafe impl Send for Begun {}

impl<'a> WalkPostOp<'a> {
    /// For a step that is its whole segment.
    pub fn new(then: &'a PostOpStep, segment: &Segment, slots: &'a Slots) -> Self {
        let product = &then.product;
        let dies = segment.inner.contains(product) || segment.dead.contains(product);
        WalkPostOp {
            then,
            slots,
            dies,
            begun: OnceLock::new(),
            taken: AtomicUsize::new(0),
        }
    }
    /// The results, if the whole product was taken over, and the product if it is still needed.
    /// Otherwise the product alone.
    pub fn finish(self, product: Tensor) -> (Option<SmallVec<[Tensor; 2]>>, Option<Tensor>) {
        let taken = self.taken.into_inner();
        let begun = self.begun.into_inner();
        // once begun, all of the result is taken over: a part done in place would be computed twice
        debug_assert!(taken == 0 || begun.as_ref().is_some_and(|b| b.elements == taken));
        let Some(begun) = begun.filter(|b| b.elements == taken) else {
            return (None, Some(product));
        };
        let dtypes = self.then.walk.outputs.iter();
        let mut product = Some(product);
        let stored = begun.stored.into_iter().zip(dtypes);
        let stored = stored.filter_map(|(y, dtype)| match y {
            Some(y) => Some(y),
            None => product.take().map(|y| y.retyped(*dtype)),
        });
        let stored = stored.collect();
        (Some(stored), product.filter(|_| !self.dies))
    }
    fn prepare(&self, result: &mut Tensor, matrices: [usize; 3]) -> Result<Option<Begun>> {
        let (walk, product) = (&self.then.walk, self.then.product);
        let first = result.as_mut_ptr()?;
        let mut x: SmallVec<[&Tensor; 6]> = SmallVec::new();
        for slot in &walk.inputs {
            x.push(match *slot == product {
                true => &*result,
                false => tensor(self.slots, *slot)?,
            });
        }
        let shape = shape_of(x.iter().map(|x| x.shape()))?;
        // other operands come from memory, and prefetching keeps up only if they are read in one go
        let read: usize = x.iter().map(|x| bytes(x)).sum();
        let beside = read.saturating_sub(bytes(result)); // the product is one of the inputs
        if shape[..] != *result.shape() || beside > bytes(result) / BESIDE {
            return Ok(None);
        }
        let place = |ptr: *mut u8, size: usize, layout: &Layout| {
            let whole = layout.broadcast_to(OP, &shape).ok()?;
            let strides = whole.reshape(&matrices)?.strides().try_into().ok()?;
            Some(MatrixBatch { ptr, size, strides })
        };
        let mut inputs = SmallVec::new();
        for (slot, x) in walk.inputs.iter().zip(&x) {
            let ptr = match *slot == product {
                true => first,
                false => x.as_ptr() as *mut u8,
            };
            let Some(place) = place(ptr, x.dtype().size(), x.layout()) else {
                return Ok(None);
            };
            inputs.push(place);
        }
        let layouts = walk.order.layouts(&shape, &x)?;
        let fits = |layout: &Layout| place(first, 1, layout).is_some();
        if !layouts.iter().all(fits) {
            return Ok(None);
        }
        let (mut outputs, mut stored, mut free) = (SmallVec::new(), SmallVec::new(), self.dies);
        for (layout, dtype) in layouts.into_iter().zip(&walk.outputs) {
            let size = dtype.size();
            let reused = free
                && size == result.dtype().size()
                && layout.strides() == result.layout().strides();
            let (ptr, y) = match reused {
                true => (first, None),
                false => {
                    let mut y = Tensor::empty_of(layout.clone(), *dtype)?;
                    (y.as_mut_ptr()?, Some(y))
                }
            };
            free &= !reused;
            outputs.extend(place(ptr, size, &layout));
            stored.push(y);
        }
        Ok(Some(Begun {
            inputs,
            outputs,
            stored,
            elements: result.len(),
        }))
    }
}

impl BindPostOp for WalkPostOp<'_> {
    fn bind(&self, result: &mut Tensor, matrices: [usize; 3]) -> Result<Option<&dyn PostOp>> {
        if bytes(result) < WORTH_FOLLOWING {
            return Ok(None);
        }
        let begun = self.prepare(result, matrices)?;
        let began = begun.is_some_and(|begun| self.begun.set(begun).is_ok());
        Ok(began.then_some(self as &dyn PostOp))
    }
}

impl PostOp for WalkPostOp<'_> {
    unsafe fn block(&self, i: usize, rows: Range<usize>, cols: Range<usize>) {
        let Some(begun) = self.begun.get() else {
            return;
        };
        let operand = |x: &MatrixBatch| {
            let [s0, s1, s2] = x.strides.map(|s| s * x.size as isize);
            let at = s0 * i as isize + s1 * rows.start as isize + s2 * cols.start as isize;
            LoopOperand {
                ptr: x.ptr.wrapping_offset(at),
                size: x.size,
                strides: SmallVec::from_slice(&[s1, s2]),
            }
        };
        let inputs: SmallVec<[LoopOperand; 6]> = begun.inputs.iter().map(operand).collect();
        let outputs: SmallVec<[LoopOperand; 2]> = begun.outputs.iter().map(operand).collect();
        let shape = [rows.len(), cols.len()];
        // SAFETY: NEST1 by POSTOP1: the elements of a block, which the product has written, no
        // longer uses, and hands over once. Operands broadcast to the result's shape, lie within
        // their storages (TENSOR1) and are initialised (STORAGE1); results are fresh, or overwrite
        // the product element by element.
        unsafe { exec::run(&self.then.walk.code, &shape, &inputs, &outputs) };
        self.taken.fetch_add(rows.len() * cols.len(), Relaxed);
    }
}
