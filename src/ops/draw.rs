//! Slices filled with random numbers in parallel, cut at whole groups of blocks.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::convert::Cast;
use crate::kernel::random::{
    BLOCKS, Draws, GROUP, Group, Range, Stream, Transform, Truncated, WORDS, bits, doubles, lemire,
    narrow, offset, singles, words,
};
use crate::par::{self, Cost};
use crate::simd::MICROCONTROLLER;
use crate::tensor::Tensor;

/// Groups of a chunk, whose bits stay in L1.
pub const GROUPS: usize = if MICROCONTROLLER { 1 } else { 32 };

/// The blocks of a result.
#[derive(Clone, Copy)]
pub struct Source {
    /// The stream.
    pub stream: Stream,
    /// The first block.
    pub first: u64,
}
impl Source {
    /// The block of the group of number `i`, the first of a group of so many.
    pub fn block(self, i: usize, per_group: usize) -> u64 {
        self.first
            .wrapping_add((i / per_group) as u64 * BLOCKS as u64)
    }
}
impl From<Stream> for Source {
    fn from(stream: Stream) -> Source {
        Source { stream, first: 0 }
    }
}

/// Cuts `y` into chunks of whole groups, and calls `f` with the first element and the first block of
/// each, room for its bits, and its elements.
pub fn chunks<T: Send>(
    source: Source,
    per_group: usize,
    flops: usize,
    y: &mut [T],
    f: impl Fn(usize, u64, &mut [Group], &mut [T]) + Sync,
) {
    let cost = Cost {
        bytes: size_of::<T>(),
        flops,
    };
    par::split(y, 1, per_group, cost, |r, y| {
        let mut room = [[0; GROUP]; GROUPS];
        for (k, y) in y.chunks_mut(GROUPS * per_group).enumerate() {
            let start = r.start + k * GROUPS * per_group;
            let block = source.block(start, per_group);
            f(start, block, &mut room[..y.len().div_ceil(per_group)], y);
        }
    });
}

/// Fills a tensor of floats with numbers of a distribution.
pub fn floats(
    op: &'static str,
    transform: Transform,
    source: Source,
    y: &mut Tensor,
) -> Result<()> {
    functions_of_floats(op, transform, source, &|_, _| {}, y)
}
/// What a float64 becomes: changes those from element `start` on.
pub type Change<'a> = dyn Fn(usize, &mut [f64]) + Sync + 'a;
/// Fills a tensor of floats with a function of numbers of a distribution, rounded once.
pub fn functions_of_floats(
    op: &'static str,
    transform: Transform,
    source: Source,
    change: &Change<'_>,
    y: &mut Tensor,
) -> Result<()> {
    let dtype = y.dtype();
    dispatch!(floating dtype, |T| each::<T>(transform, source, change, y.as_mut_slice()?),
        else return Err(Error::unsupported(op, dtype)));
    Ok(())
}
fn each<T: Cast + Send>(transform: Transform, source: Source, change: &Change<'_>, y: &mut [T]) {
    let (per_group, flops) = (transform.per_group(), transform.flops());
    chunks(source, per_group, flops, y, |start, block, room, y| {
        let mut wide = [0.0; WORDS * GROUPS];
        let wide = &mut wide[..room.len() * per_group];
        bits(source.stream, block, room);
        doubles(transform, room, wide);
        let wide = &mut wide[..y.len()];
        change(start, wide);
        narrow(wide, y);
    });
}

/// Fills a tensor of floats with numbers from 0 to 1, which is left out, of as many bits as the
/// dtype's fraction with the implicit one: more of them would round to 1.
pub fn uniform(op: &'static str, source: Source, y: &mut Tensor) -> Result<()> {
    let kept = match y.dtype() {
        DType::F32 => {
            chunks(source, WORDS, 12, y.as_mut_slice()?, |_, block, room, y| {
                bits(source.stream, block, room);
                singles(words(room), 24, y);
            });
            return Ok(());
        }
        DType::F16 => 11,
        DType::BF16 => 8,
        _ => 53,
    };
    floats(op, Transform::Uniform { kept }, source, y)
}
/// How many uniform numbers of a dtype a group makes.
pub fn uniform_per_group(dtype: DType) -> usize {
    if dtype == DType::F32 { WORDS } else { GROUP }
}

/// Fills a tensor of integers or bool with those of a range, from `low` on.
pub fn integers(range: Range, low: u64, source: Source, y: &mut Tensor) -> Result<()> {
    let size = y.dtype().size();
    let y = y.as_mut_bytes()?;
    match size {
        _ if y.is_empty() => {} // its address may not be aligned
        1 => ranged::<u8>(range, low, source, y),
        2 => ranged::<u16>(range, low, source, bytemuck::cast_slice_mut(y)),
        4 => ranged::<u32>(range, low, source, bytemuck::cast_slice_mut(y)),
        _ => ranged::<u64>(range, low, source, bytemuck::cast_slice_mut(y)),
    }
    Ok(())
}
fn ranged<T: Truncated + Send>(range: Range, low: u64, source: Source, y: &mut [T]) {
    let stream = source.stream;
    if range.is_short() {
        chunks(source, WORDS, 16, y, |_, block, room, y| {
            offset(range.words(stream, block, room), low, y);
        });
    } else {
        chunks(source, GROUP, 64, y, |_, block, room, y| {
            for (y, x) in y.iter_mut().zip(range.longs(stream, block, room)) {
                *y = T::of(x.wrapping_add(low));
            }
        });
    }
}

/// Fills a tensor of integers, element `i` with an integer of the range that `bounds(i)` is: its
/// lowest integer, and the number of them, 0 for 2^64.
pub fn integers_each(
    bounds: &(dyn Fn(usize) -> (u64, u64) + Sync),
    source: Source,
    y: &mut Tensor,
) -> Result<()> {
    let size = y.dtype().size();
    let y = y.as_mut_bytes()?;
    match size {
        _ if y.is_empty() => {} // its address may not be aligned
        1 => ranged_each::<u8>(bounds, source, y),
        2 => ranged_each::<u16>(bounds, source, bytemuck::cast_slice_mut(y)),
        4 => ranged_each::<u32>(bounds, source, bytemuck::cast_slice_mut(y)),
        _ => ranged_each::<u64>(bounds, source, bytemuck::cast_slice_mut(y)),
    }
    Ok(())
}
fn ranged_each<T: Truncated + Send>(
    bounds: &(dyn Fn(usize) -> (u64, u64) + Sync),
    source: Source,
    y: &mut [T],
) {
    chunks(source, GROUP, 128, y, |start, block, room, y| {
        bits(source.stream, block, room);
        for (i, (y, x)) in y.iter_mut().zip(room.as_flattened()).enumerate() {
            let (low, count) = bounds(start + i);
            let x = lemire(count, source.stream, block, i, *x);
            *y = T::of(x.wrapping_add(low));
        }
    });
}

/// Draws an element of up to three parameters.
pub type Sampler = fn(&mut Draws, [f64; 3]) -> f64;
/// The parameters of an element.
pub type Parameters<'a> = dyn Fn(usize) -> [f64; 3] + Sync + 'a;

/// Fills a tensor of floats or int64, element `i` from block `i` and its retries.
pub fn elements(
    op: &'static str,
    source: Source,
    parameters: &Parameters<'_>,
    sampler: Sampler,
    y: &mut Tensor,
) -> Result<()> {
    let dtype = y.dtype();
    match dtype {
        #[cfg(feature = "i64")]
        DType::I64 => drawn::<i64>(source, parameters, sampler, y.as_mut_slice()?),
        _ => {
            dispatch!(floating dtype, |T| drawn::<T>(source, parameters, sampler, y.as_mut_slice()?),
                else return Err(Error::unsupported(op, dtype)))
        }
    }
    Ok(())
}
fn drawn<T: Cast + Send>(
    source: Source,
    parameters: &Parameters<'_>,
    sampler: Sampler,
    y: &mut [T],
) {
    par::split(y, 1, 1, DRAWN, |r, y| {
        for (i, y) in r.zip(y) {
            let block = source.first.wrapping_add(i as u64);
            let mut draws = Draws::new(source.stream, block);
            *y = T::from_double(sampler(&mut draws, parameters(i)));
        }
    });
}
/// The cost of an element that is drawn by itself.
pub const DRAWN: Cost = Cost {
    bytes: 8,
    flops: 5000,
};
