//! Plans that are kept, since tables take longer to compute than a transform.

use super::plan::{Plan, Purpose};
use crate::error::Result;
use crate::kernel::fft::Float;

/// Who holds a plan.
#[cfg(not(feature = "std"))]
pub(super) type Held<T> = Plan<T>;
/// Without an operating system each call makes its plan, or the caller keeps one.
#[cfg(not(feature = "std"))]
pub(super) fn plan<T: Float>(n: usize, purpose: Purpose) -> Result<Held<T>> {
    Plan::new(n, purpose)
}

#[cfg(feature = "std")]
pub(super) use kept::{Held, plan};

#[cfg(feature = "std")]
mod kept {
    use super::*;
    use crate::fallible;
    use alloc::sync::Arc;
    use core::any::Any;
    use std::sync::{Mutex, MutexGuard, TryLockError};

    /// Who holds a plan.
    pub type Held<T> = Arc<Plan<T>>;

    struct Kept {
        n: usize,
        purpose: Purpose,
        bytes: usize,
        plan: Arc<dyn Any + Send + Sync>,
    }

    /// The most plans that are kept, and the most bytes of their tables.
    const MOST: usize = 32;
    const MOST_BYTES: usize = 64 << 20;

    /// The plan that was used last comes first.
    static PLANS: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

    /// The plans, unless somebody else holds them for long: in the child of a fork there may be nobody
    /// left to give them back.
    fn plans() -> Option<MutexGuard<'static, Vec<Kept>>> {
        for _ in 0..1000 {
            match PLANS.try_lock() {
                Ok(plans) => return Some(plans),
                Err(TryLockError::Poisoned(plans)) => return Some(plans.into_inner()),
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
        None
    }

    /// The plan of so many complex numbers.
    pub fn plan<T: Float>(n: usize, purpose: Purpose) -> Result<Held<T>> {
        if let Some(mut plans) = plans() {
            for k in 0..plans.len() {
                if plans[k].n == n
                    && plans[k].purpose == purpose
                    && let Ok(plan) = plans[k].plan.clone().downcast::<Plan<T>>()
                {
                    plans[..=k].rotate_right(1);
                    return Ok(plan);
                }
            }
        }
        let plan = Arc::new(Plan::<T>::new(n, purpose)?);
        let bytes = plan.bytes();
        let mut dropped = Vec::new();
        if bytes <= MOST_BYTES
            && let Some(mut plans) = plans()
        {
            fallible::reserve(&mut plans, 1)?;
            plans.insert(
                0,
                Kept {
                    n,
                    purpose,
                    bytes,
                    plan: plan.clone(),
                },
            );
            let (mut len, mut sum) = (0, 0usize);
            for kept in plans.iter() {
                sum += kept.bytes;
                if len == MOST || sum > MOST_BYTES {
                    break;
                }
                len += 1;
            }
            // their memory is freed after the lock
            dropped = plans.split_off(len);
        }
        drop(dropped);
        Ok(plan)
    }
}
