//! The cache of plans and tables, which take longer to compute than a transform.

use super::plan::{FftPlan, Purpose};
use crate::error::Result;
use crate::kernel::fft::Float;

/// The owner of a cached plan.
#[cfg(not(feature = "std"))]
pub(super) type PlanOwner<P> = P;
/// Without `std` there is no cache: each call makes its own plan, unless the caller keeps one.
#[cfg(not(feature = "std"))]
pub(super) fn held<P>(
    _n: usize,
    _purpose: Purpose,
    make: impl FnOnce() -> Result<P>,
    _bytes: impl FnOnce(&P) -> usize,
) -> Result<P> {
    make()
}

#[cfg(feature = "std")]
pub(super) use kept::{PlanOwner, held};

/// The plan for `n` complex numbers.
pub(super) fn plan<T: Float>(n: usize, purpose: Purpose) -> Result<PlanOwner<FftPlan<T>>> {
    held(n, purpose, || FftPlan::new(n, purpose), FftPlan::bytes)
}

#[cfg(feature = "std")]
mod kept {
    use super::*;
    use crate::fallible;
    use alloc::sync::Arc;
    use core::any::Any;
    use std::sync::{Mutex, MutexGuard, TryLockError};

    /// The owner of a cached plan.
    pub type PlanOwner<P> = Arc<P>;

    struct CacheEntry {
        n: usize,
        purpose: Purpose,
        bytes: usize,
        value: Arc<dyn Any + Send + Sync>,
    }

    /// The most entries, and the most bytes of tables.
    const MAX_PLANS: usize = 32;
    const MAX_BYTES: usize = 64 << 20;

    /// In order of use, the most recent first.
    static ALL: Mutex<Vec<CacheEntry>> = Mutex::new(Vec::new());

    /// Locks the cache, or gives up after a while: in the child of a fork there may be no thread
    /// left that could unlock it.
    fn all() -> Option<MutexGuard<'static, Vec<CacheEntry>>> {
        for _ in 0..1000 {
            match ALL.try_lock() {
                Ok(all) => return Some(all),
                Err(TryLockError::Poisoned(all)) => return Some(all.into_inner()),
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
        None
    }

    /// The cached value for a length and a purpose, or a new one from `make`, whose size `bytes`
    /// gives.
    pub fn held<P: Any + Send + Sync>(
        n: usize,
        purpose: Purpose,
        make: impl FnOnce() -> Result<P>,
        bytes: impl FnOnce(&P) -> usize,
    ) -> Result<Arc<P>> {
        if let Some(mut all) = all() {
            for k in 0..all.len() {
                if all[k].n == n
                    && all[k].purpose == purpose
                    && let Ok(value) = all[k].value.clone().downcast::<P>()
                {
                    all[..=k].rotate_right(1);
                    return Ok(value);
                }
            }
        }
        let value = Arc::new(make()?);
        let bytes = bytes(&value);
        let mut dropped = Vec::new();
        if bytes <= MAX_BYTES
            && let Some(mut all) = all()
        {
            fallible::reserve(&mut all, 1)?;
            let kept = CacheEntry {
                n,
                purpose,
                bytes,
                value: value.clone(),
            };
            all.insert(0, kept);
            let (mut len, mut sum) = (0, 0usize);
            for kept in all.iter() {
                sum += kept.bytes;
                if len == MAX_PLANS || sum > MAX_BYTES {
                    break;
                }
                len += 1;
            }
            // freed after the lock is released
            dropped = all.split_off(len);
        }
        drop(dropped);
        Ok(value)
    }
}
