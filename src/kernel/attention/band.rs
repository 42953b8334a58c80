//! Position masks: which keys a query sees, as a band along the diagonal.

use core::ops::Range;

/// A band of the score matrix: query `i` sees those of keys `i + first` to `i + last`, inclusive,
/// that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    first: isize,
    last: isize,
}
impl Band {
    /// All keys.
    pub const ALL: Band = Band {
        first: isize::MIN,
        last: isize::MAX,
    };
    /// This many keys before and after key `i + shift`, or all of them for `None`.
    pub fn new(shift: isize, before: Option<usize>, after: Option<usize>) -> Band {
        let number = |n: usize| isize::try_from(n).unwrap_or(isize::MAX);
        Band {
            first: before.map_or(isize::MIN, |n| shift.saturating_sub(number(n))),
            last: after.map_or(isize::MAX, |n| shift.saturating_add(number(n))),
        }
    }
    /// The band of the transposed matrix: which queries see a key.
    pub fn t(self) -> Band {
        Band {
            first: self.last.saturating_neg(),
            last: self.first.saturating_neg(),
        }
    }
    /// The keys, out of `keys`, that query `i` sees.
    pub fn of(self, i: usize, keys: usize) -> Range<usize> {
        let (i, keys) = (i as isize, keys as isize);
        let end = i.saturating_add(self.last).saturating_add(1);
        let end = end.clamp(0, keys);
        i.saturating_add(self.first).clamp(0, end) as usize..end as usize
    }
    /// The keys that any of several queries sees.
    pub fn over(self, queries: Range<usize>, keys: usize) -> Range<usize> {
        if queries.is_empty() {
            return 0..0;
        }
        let (first, last) = (self.of(queries.start, keys), self.of(queries.end - 1, keys));
        // the range is empty for queries before the first key or past the reach of the last one
        first.start.min(last.end)..last.end
    }
    /// Sets the elements of a tile outside the band to `none` (minus infinity for scores). The
    /// tile's lines are `lines`, `width` apart, and start at `across.start`.
    pub fn confine<F: Copy>(
        self,
        tile: &mut [F],
        width: usize,
        lines: Range<usize>,
        across: Range<usize>,
        none: F,
    ) {
        if lines.is_empty() {
            return;
        }
        let [low, high] = [lines.start, lines.end - 1].map(|i| self.of(i, across.end));
        if low.end == across.end && high.start <= across.start {
            return; // every query sees every key
        }
        for (line, i) in tile.chunks_exact_mut(width).zip(lines) {
            let seen = self.of(i, across.end);
            let at = |i: usize| i.max(across.start) - across.start;
            line[..at(seen.start)].fill(none);
            line[at(seen.end)..across.len()].fill(none);
        }
    }
}
