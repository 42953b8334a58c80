//! Long lines cut in chunks, for all threads: what is found in each chunk is joined along its line,
//! and then, in a second pass, given back to each. Where chunks end follows from the line alone, so
//! the bits don't depend on the threads.

use crate::par::{self, Cost, Out};
use core::ops::Range;

/// Lines enough to keep threads busy without cutting any.
const ENOUGH: usize = 16;

/// Elements of a chunk that a scan passes over twice, from the second-level cache the second time.
pub const SCANNED: usize = 1 << 13;
/// Elements of a chunk that is read once, as masks are, and where extremes are looked for.
pub const READ: usize = 1 << 15;

/// Lines of elements that lie one after the other, each cut in chunks.
#[derive(Clone, Copy)]
pub struct Chunks {
    /// Elements of a line, and of a chunk but for the last of a line.
    line: usize,
    chunk: usize,
    lines: usize,
    per_line: usize,
}

/// One chunk.
pub struct Chunk {
    /// Its line.
    pub line: usize,
    /// Elements of the line before it.
    pub first: usize,
    /// Its elements, among those of all lines.
    pub range: Range<usize>,
}

impl Chunks {
    /// Of so many elements, lines of `line` each, in chunks of `chunk`.
    pub fn new(elements: usize, line: usize, chunk: usize) -> Chunks {
        Chunks {
            line,
            chunk,
            lines: elements / line.max(1),
            per_line: line.div_ceil(chunk),
        }
    }
    /// The same where lines are better cut: they are few, and have `least` chunks.
    pub fn of_few(elements: usize, line: usize, chunk: usize, least: usize) -> Option<Chunks> {
        let few = elements > 0 && elements / line < ENOUGH;
        (few && line >= least * chunk).then(|| Chunks::new(elements, line, chunk))
    }
    /// How many chunks a line has.
    pub fn per_line(&self) -> usize {
        self.per_line
    }
    /// How many chunks there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.lines * self.per_line
    }
    /// Chunk `k`.
    pub fn get(&self, k: usize) -> Chunk {
        let (line, first) = (k / self.per_line, k % self.per_line * self.chunk);
        let start = line * self.line;
        Chunk {
            line,
            first,
            range: start + first..start + self.line.min(first + self.chunk),
        }
    }
    /// Calls `f` with each chunk, what is `found` in it, and its part of `y`, which has as many
    /// lines (or no element): as long, or longer by elements that the first chunk of each has in
    /// front. `cost` is that of a chunk.
    pub fn run<R: Send, T: Send>(
        &self,
        found: &mut [R],
        y: &mut [T],
        cost: Cost,
        f: impl Fn(Chunk, &mut R, &mut [T]) + Sync,
    ) {
        assert!(found.len() == self.len());
        let more = match y.len() {
            0 => None,
            n => (n / self.lines.max(1)).checked_sub(self.line),
        };
        assert!(y.is_empty() || more.is_some_and(|n| y.len() == self.lines * (self.line + n)));
        let out = Out::new(y);
        par::each(found, cost, |k, found| {
            let c = self.get(k);
            let range = match more {
                None => 0..0,
                Some(n) if c.first == 0 => {
                    c.range.start + c.line * n..c.range.end + (c.line + 1) * n
                }
                Some(n) => c.range.start + (c.line + 1) * n..c.range.end + (c.line + 1) * n,
            };
            // SAFETY: OUT1: chunks are disjoint, and lie as far apart in `y`.
            f(c, found, unsafe { out.part(range) })
        });
    }
}
