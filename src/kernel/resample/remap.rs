//! Elements moved by a map of each axis, independent of their type.

use crate::kernel::images::Images;
use crate::simd::copy_run;
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// A run of outputs whose elements are adjacent too.
#[derive(Clone, Copy, Debug)]
pub struct ElementRun {
    /// The first output.
    pub output: usize,
    /// Its element.
    pub element: usize,
    /// The number of outputs.
    pub len: usize,
}

/// How the width is mapped.
pub enum Width<'a> {
    /// Output by output, each an element of the image.
    Each(&'a [u32]),
    /// Each element twice.
    Twice,
    /// In runs of adjacent elements, which cover a row.
    Runs(&'a [ElementRun]),
}

/// Rows of a result whose output `p` along an axis is element `map[p]` of the image.
pub struct Remap<'a, U> {
    /// The images.
    pub x: Images<'a, U>,
    /// The result.
    pub y: Images<'a, U>,
    /// The maps of slices and rows, each entry a slice or row of the image.
    pub maps: [&'a [u32]; 2],
    /// The columns.
    pub width: Width<'a>,
    /// The rows of the result; only this call writes them (IMAGES1).
    pub rows: Range<usize>,
}

impl<U: Copy + Send + Sync + 'static> Kernel for Remap<'_, U> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Remap {
            x,
            y,
            maps,
            width,
            rows,
        } = self;
        let inner = x.inner;
        let (height, dense) = (maps[1].len(), y.steps()[1] == y.width() as isize);
        let mut positions = y.row_positions(rows.clone());
        let mut row = rows.start;
        while let Some(output @ [plane, z, y_]) = positions.next() {
            let written = row - rows.start;
            if dense && y_ == 0 && z > 0 && maps[0][z] == maps[0][z - 1] && written >= height {
                let n = height.min(rows.end - row);
                let (from, to) = (y.row([plane, z - 1, 0]), y.row(output));
                // SAFETY: rows of this call: those of the slice before, which it wrote, and as many of
                // the next, which do not overlap them.
                unsafe { core::ptr::copy_nonoverlapping(from, to, n * y.width()) };
                row += n;
                positions.by_ref().take(n - 1).for_each(drop);
                continue;
            }
            row += 1;
            // SAFETY: a row of this call.
            let out = unsafe { y.row_mut(output) };
            if written > 0 && y_ > 0 && maps[1][y_] == maps[1][y_ - 1] {
                // SAFETY: the row that this call wrote before, as wide.
                unsafe { copy_run(y.row([plane, z, y_ - 1]), out.as_mut_ptr(), out.len()) };
                continue;
            }
            let from = [plane, maps[0][z] as usize, maps[1][y_] as usize];
            // SAFETY: a row of the image, which nobody writes (IMAGES1).
            let line = unsafe { x.row_ref(from) };
            match width {
                Width::Runs(runs) => {
                    for r in runs {
                        let (to, from, n) = (r.output * inner, r.element * inner, r.len * inner);
                        // reflections have many single elements, each cheaper than a call
                        if n == 1 {
                            out[to] = line[from];
                        } else {
                            let (to, from) = (&mut out[to..][..n], &line[from..][..n]);
                            // SAFETY: equally long slices.
                            unsafe { copy_run(from.as_ptr(), to.as_mut_ptr(), n) };
                        }
                    }
                }
                Width::Twice if inner == 1 => {
                    for (y, x) in out.chunks_exact_mut(2).zip(line) {
                        y[0] = *x;
                        y[1] = *x;
                    }
                }
                Width::Twice => {
                    for (y, x) in out
                        .chunks_exact_mut(2 * inner)
                        .zip(line.chunks_exact(inner))
                    {
                        y[..inner].copy_from_slice(x);
                        y[inner..].copy_from_slice(x);
                    }
                }
                Width::Each(map) if inner == 1 => {
                    for (y, i) in out.iter_mut().zip(map) {
                        *y = line[*i as usize];
                    }
                }
                Width::Each(map) => {
                    for (y, i) in out.chunks_exact_mut(inner).zip(map) {
                        y.copy_from_slice(&line[*i as usize * inner..][..inner]);
                    }
                }
            }
        }
    }
}
