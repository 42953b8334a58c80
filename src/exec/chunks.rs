//! Long lines cut into chunks for all threads: each chunk is reduced, the results are joined along
//! their line, and a second pass hands them back to the chunks. Chunk boundaries follow from the
//! line alone, so the bits don't depend on the number of threads.

use crate::par::{self, Cost, Out};
use core::ops::Range;

/// This many lines keep the threads busy without being cut.
const ENOUGH: usize = 16;

/// Elements of a chunk that is read once, as for masks and extremes.
pub const READ: usize = 1 << 15;

/// Contiguous lines, one after the other, each cut into chunks.
#[derive(Clone, Copy)]
pub struct Chunks {
    /// Elements of a line, and of a chunk (the last one of a line may be shorter).
    line: usize,
    chunk: usize,
    lines: usize,
    per_line: usize,
}

/// One chunk.
pub struct Chunk {
    /// The line it belongs to.
    pub line: usize,
    /// Elements of the line before the chunk.
    pub first: usize,
    /// Its range among the elements of all lines.
    pub range: Range<usize>,
}

impl Chunks {
    /// Cuts `elements` elements, in lines of `line` each, into chunks of `chunk`.
    pub fn new(elements: usize, line: usize, chunk: usize) -> Chunks {
        Chunks {
            line,
            chunk,
            lines: elements / line.max(1),
            per_line: line.div_ceil(chunk),
        }
    }
    /// The same if cutting pays: there are few lines, of at least `least` chunks each.
    pub fn of_few(elements: usize, line: usize, chunk: usize, least: usize) -> Option<Chunks> {
        let few = elements > 0 && elements / line < ENOUGH;
        (few && line >= least * chunk).then(|| Chunks::new(elements, line, chunk))
    }
    /// Number of chunks per line.
    pub fn per_line(&self) -> usize {
        self.per_line
    }
    /// Number of chunks of all lines.
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
    /// Calls `f` with each chunk, its entry of `found`, and its part of `y`. `y` is empty or has as
    /// many lines: of the same length, or longer by some elements in front, which go to the first
    /// chunk of each line. `cost` is that of a chunk.
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
            // SAFETY: OUT1: chunks are disjoint, and so are their parts of `y`.
            f(c, found, unsafe { out.part(range) })
        });
    }
}
