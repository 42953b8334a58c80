//! Carries an error out of parallel work, whose pieces can't return one.

use crate::error::{Error, Result};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The failed allocation, if any, of some piece of parallel work.
#[derive(Default)]
pub struct Failure(AtomicUsize);
impl Failure {
    /// Records a failed allocation, the only error in the middle of an operation.
    pub fn note(&self, result: Result<()>) {
        if let Err(Error::Memory { bytes, .. }) = result {
            self.0.store((bytes as usize).max(1), Ordering::Relaxed);
        }
    }
    /// An error if any piece failed.
    pub fn result(self) -> Result<()> {
        match self.0.into_inner() {
            0 => Ok(()),
            bytes => Err(Error::Memory {
                bytes: bytes as u128,
                limit: 0,
            }),
        }
    }
}
