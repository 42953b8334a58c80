//! Dimensions of a reduction, collapsed: those that stay and those that go, each among themselves.

use crate::layout::sort_by_key;
use smallvec::SmallVec;

/// A dimension: its size, and its steps in bytes. Those of the output don't count where it is
/// reduced.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub n: usize,
    pub step: isize,
    pub out: isize,
}
pub(super) type Axes = SmallVec<[Axis; 6]>;

/// No dimension shorter is an inner loop if there is a longer one, since the lanes would be empty;
/// nor are rows read where they lie.
pub(super) const NARROW: usize = 8;

/// No dimension of size 1, none that runs backwards, innermost (smallest step) first, adjacent ones
/// merged.
pub(super) fn collapse(axes: Axes, from: &mut *const u8, to: &mut *mut u8) -> Axes {
    let mut axes: Axes = axes.into_iter().filter(|a| a.n != 1).collect();
    for a in axes.iter_mut().filter(|a| a.step < 0) {
        *from = from.wrapping_offset(a.step * (a.n as isize - 1));
        *to = to.wrapping_offset(a.out * (a.n as isize - 1));
        (a.step, a.out) = (-a.step, -a.out);
    }
    // repeated elements last: they are no inner loop
    sort_by_key(&mut axes, |a| if a.step == 0 { isize::MAX } else { a.step });
    let mut merged = Axes::new();
    for a in axes {
        match merged.last_mut() {
            Some(inner)
                if a.step == inner.step * inner.n as isize
                    && a.out == inner.out * inner.n as isize =>
            {
                inner.n *= a.n
            }
            _ => merged.push(a),
        }
    }
    merged
}

/// Removes the innermost dimension that is long enough for an inner loop, else the longest.
pub(super) fn take_inner(axes: &mut Axes) -> Axis {
    let longest = (0..axes.len()).max_by_key(|k| axes[*k].n);
    match axes.iter().position(|a| a.n >= NARROW).or(longest) {
        Some(k) => axes.remove(k),
        None => Axis {
            n: 1,
            step: 0,
            out: 0,
        },
    }
}
