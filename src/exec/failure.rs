//! Carries an error out of parallel work, whose pieces can't return one.

use crate::error::{Error, Result};
use crate::par::{self, Cost};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The failed allocation, if any, of some piece of parallel work.
#[derive(Default)]
struct Failure(AtomicUsize);
impl Failure {
    /// Records a failed allocation, the only error in the middle of an operation.
    fn note(&self, result: Result<()>) {
        if let Err(Error::Memory { bytes, .. }) = result {
            self.0.store((bytes as usize).max(1), Ordering::Relaxed);
        }
    }
    /// What `work` does, and an error if it noted one.
    fn of(work: impl FnOnce(&Failure)) -> Result<()> {
        let failure = Failure::default();
        work(&failure);
        match failure.0.into_inner() {
            0 => Ok(()),
            bytes => Err(Error::Memory {
                bytes: bytes as u128,
                limit: 0,
            }),
        }
    }
}

/// [`par::ranges`] of work that may lack memory: an error if some piece did.
pub fn try_ranges(
    n: usize,
    unit: usize,
    cost: Cost,
    f: impl Fn(Range<usize>) -> Result<()> + Sync,
) -> Result<()> {
    Failure::of(|failure| par::ranges(n, unit, cost, |r| failure.note(f(r))))
}

/// [`par::chunks`], likewise.
pub fn try_chunks(n: usize, cost: Cost, f: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    Failure::of(|failure| par::chunks(n, cost, |k| failure.note(f(k))))
}

/// [`par::each`], likewise.
pub fn try_each<T: Send>(
    out: &mut [T],
    cost: Cost,
    f: impl Fn(usize, &mut T) -> Result<()> + Sync,
) -> Result<()> {
    Failure::of(|failure| par::each(out, cost, |k, x| failure.note(f(k, x))))
}

/// [`par::split`], likewise.
pub fn try_split<T: Send>(
    out: &mut [T],
    per_item: usize,
    unit: usize,
    cost: Cost,
    f: impl Fn(Range<usize>, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    Failure::of(|failure| {
        par::split(out, per_item, unit, cost, |r, part| {
            failure.note(f(r, part))
        })
    })
}
