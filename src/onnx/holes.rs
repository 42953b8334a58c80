//! A model file in memory without its large weights: what is between them is read to where it lies
//! in the file, into memory that the system provides page by page, and only if touched. So a model is
//! parsed like one that was read whole, and a weight is read from the file once, into its tensor.
//!
//! The walk below follows the encoding alone, and leaves to the parser to say what is wrong: the
//! rest of what it can't follow is read.

use super::proto::{MAX_VARINT, varint};
use crate::error::Result;
use crate::io::source::FileSource;
use core::ops::Range;
use memmap2::MmapMut;

/// Bytes of a weight from which on it is left out.
const LARGE: u64 = 1 << 16;
/// Bytes that are read at a time, of small fields.
const READ: u64 = 1 << 12;
/// The field of a model's graph, that of a graph's weights, and that of a weight's bytes.
const PATH: &[u64] = &[7, 5, 9];

/// The file as far as it was read, zeros elsewhere. `None` if the system has no such memory.
///
/// Errors if the file can't be read.
pub fn without_weights(source: &mut FileSource, len: usize) -> Result<Option<MmapMut>> {
    let Ok(memory) = MmapMut::map_anon(len) else {
        return Ok(None);
    };
    // a huge page would fill the holes
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::NoHugePage);
    let mut walk = Walk {
        source,
        memory,
        read: 0..0,
    };
    walk.message(0..len as u64, PATH)?;
    Ok(Some(walk.memory))
}

struct Walk<'a, 'f> {
    source: &'a mut FileSource<'f>,
    memory: MmapMut,
    /// The part of the file that was read last.
    read: Range<u64>,
}
impl Walk<'_, '_> {
    /// The bytes of a part of the file. Those up to its end are read, unless they are.
    fn bytes(&mut self, part: Range<u64>) -> Result<&[u8]> {
        let known = self.read.contains(&part.start);
        let start = if known { self.read.end } else { part.start };
        if part.end > start {
            let end = part.end.max(start + READ).min(self.memory.len() as u64);
            let to = &mut self.memory[start as usize..end as usize];
            self.source.read(start, to)?;
            self.read = if known { self.read.start } else { start }..end;
        }
        Ok(&self.memory[part.start as usize..part.end as usize])
    }
    /// A varint within a part, and where it ends.
    fn varint(&mut self, part: Range<u64>) -> Result<Option<(u64, u64)>> {
        let end = part.end.min(part.start + MAX_VARINT as u64);
        let found = varint(self.bytes(part.start..end)?);
        Ok(found.map(|(value, len)| (value, part.start + len as u64)))
    }
    /// Reads a message, but for the bytes of weights that the path leads to.
    fn message(&mut self, mut part: Range<u64>, path: &[u64]) -> Result<()> {
        while !part.is_empty() {
            let Some(next) = self.field(part.clone(), path)? else {
                return self.bytes(part).map(drop);
            };
            part.start = next;
        }
        Ok(())
    }
    /// Reads the first field of a message, and says where the next one begins; `None` if it is
    /// malformed.
    fn field(&mut self, part: Range<u64>, path: &[u64]) -> Result<Option<u64>> {
        let Some((key, at)) = self.varint(part.clone())? else {
            return Ok(None);
        };
        let (at, len) = match key & 7 {
            0 => return Ok(self.varint(at..part.end)?.map(|(_, end)| end)),
            1 => (at, 8),
            5 => (at, 4),
            2 => match self.varint(at..part.end)? {
                Some((len, at)) => (at, len),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some(end) = at.checked_add(len).filter(|end| *end <= part.end) else {
            return Ok(None);
        };
        match path {
            [number, rest @ ..] if key == number << 3 | 2 && !rest.is_empty() => {
                self.message(at..end, rest)?;
            }
            [number] if key == number << 3 | 2 && len >= LARGE => {}
            _ => {
                self.bytes(at..end)?;
            }
        }
        Ok(Some(end))
    }
}
