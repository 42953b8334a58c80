//! Few elements: walking them takes less time than a plan for it would.

use super::nest::LoopOperand;
use smallvec::SmallVec;

/// At most as many; where there is no system, they are on small stacks.
pub const FEW: usize = if cfg!(feature = "std") { 128 } else { 16 };

/// Calls `f` with each run of the last dimension: its length, and the address of its first element
/// in each operand, which broadcast to this shape.
pub fn rows<const N: usize>(
    shape: &[usize],
    operands: [&LoopOperand; N],
    mut f: impl FnMut(usize, [*mut u8; N]),
) {
    if shape.contains(&0) {
        return;
    }
    let (n, outer) = match shape.split_last() {
        Some((n, outer)) => (*n, outer),
        None => (1, shape),
    };
    let mut ptrs = operands.map(|o| o.ptr);
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, outer.len());
    loop {
        f(n, ptrs);
        let mut k = outer.len();
        loop {
            if k == 0 {
                return;
            }
            k -= 1;
            index[k] += 1;
            let ended = index[k] == outer[k];
            // back to the first one, if it was the last
            let steps = if ended { 1 - outer[k] as isize } else { 1 };
            for (p, o) in ptrs.iter_mut().zip(operands) {
                *p = p.wrapping_offset(steps * o.strides[k]);
            }
            if !ended {
                break;
            }
            index[k] = 0;
        }
    }
}

/// The distance of neighbours in the last dimension, in bytes.
pub fn step(x: &LoopOperand) -> isize {
    x.strides.last().copied().unwrap_or(0)
}

/// Copies the elements of a shape.
///
/// # Safety
/// PACK1 for all elements of `from`, which broadcasts to the shape; those of `to` are writable, and
/// none of the former.
pub unsafe fn copy(shape: &[usize], from: &LoopOperand, to: &LoopOperand) {
    dispatch_width!(from.size, |U| {
        let (s, d) = (step(from), step(to));
        rows(shape, [from, to], |n, [x, y]| {
            for i in 0..n as isize {
                // SAFETY: PACK1, by the caller; `U` is as wide as an element.
                unsafe { *(y.offset(d * i) as *mut U) = *(x.offset(s * i) as *const U) };
            }
        })
    })
}
