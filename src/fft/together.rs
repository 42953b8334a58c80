//! Lines of complex numbers side by side, a lane each: those along an axis that others follow in memory, and short
//! rows.

use super::cache::plan;
use super::factors::radices;
use super::memory::{Ends, Work};
use super::plan::{Form, Purpose};
use super::run::cost;
use crate::error::Result;
use crate::exec::failure::Failure;
use crate::kernel::fft::Float;
use crate::kernel::fft::columns::{Columns, Rows, Sink, Source, columns, lanes};
use crate::par;

/// Lines that are no longer are put side by side though they lie one after the other: there is too little to do along
/// each.
const SHORT: usize = 256;
/// Lines that lie side by side are no longer: two buffers of them fit the second cache.
const LONG: usize = 1024;

/// The lines along the middle of complex numbers `[outer, n, inner]`, transformed; `false`, and nothing is
/// done, where they are better taken one by one.
///
/// # Safety
/// Both ends are valid for these numbers, are the same memory or don't overlap, and nobody else writes
/// there.
pub(super) unsafe fn lines<T: Float>(
    ends: Ends<T>,
    (outer, n, inner): (usize, usize, usize),
    inverse: bool,
    scale: f64,
) -> Result<bool> {
    let lanes = lanes::<T>();
    let rows = inner == 1;
    let (most, least) = if rows { (SHORT, outer) } else { (LONG, inner) };
    if n > most || 2 * least < lanes || lanes == 1 || radices(n).is_none() {
        return Ok(false);
    }
    let plan = plan::<T>(n, Purpose::Columns)?;
    let Form::Column(passes) = &plan.form else {
        return Ok(false);
    };
    let (all, groups) = if rows { (outer, 1) } else { (inner, outer) };
    let blocks = all.div_ceil(lanes);
    let (len, scale) = (2 * outer * n * inner, T::from_f64(scale));
    let in_place = ends.x == ends.y.cast_const();
    let (ends, failure) = (&ends, Failure::default());
    par::ranges(
        groups * blocks,
        1,
        cost(n * lanes, size_of::<T>()),
        |range| {
            failure.note(Work::<T>::new(4 * lanes * n).map(|mut work| {
                let work = work.as_mut_ptr();
                for k in range {
                    let first = k % blocks * lanes;
                    let count = lanes.min(all - first);
                    // numbers from the start, and from a value or a line to the next
                    let (at, step) = match rows {
                        true => (2 * n * first, 2 * n),
                        false => (2 * (k / blocks * n * inner + first), 2 * inner),
                    };
                    // SAFETY: COLUMNS1: lines of both, which one piece has, in memory of its own.
                    unsafe {
                        let from = Rows {
                            first: ends.x.add(at),
                            step,
                            columns: count,
                            // behind the last columns are others, which in place are written meanwhile
                            room: if in_place { 0 } else { len - at },
                            swapped: inverse,
                        };
                        let to = Rows {
                            first: ends.y.add(at),
                            step,
                            columns: count,
                            room: 0,
                            swapped: inverse,
                        };
                        let (source, sink) = match rows {
                            true => (Source::Lines(from), Sink::Lines(to, scale)),
                            false => (Source::Complex(from), Sink::Complex(to, scale)),
                        };
                        let buffers = [work, work.add(2 * lanes * n)];
                        columns(Columns::new(
                            n,
                            &passes.stages,
                            &passes.factors,
                            source,
                            buffers,
                            sink,
                        ));
                    }
                }
            }))
        },
    );
    failure.result()?;
    Ok(true)
}
