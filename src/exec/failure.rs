//! What pieces of parallel work can't return.

use crate::error::{Error, Result};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Memory that some piece of parallel work did not get.
#[derive(Default)]
pub struct Failure(AtomicUsize);
impl Failure {
    /// Keeps the error, of which only one kind is met in the middle of an operation.
    pub fn note(&self, result: Result<()>) {
        if let Err(Error::Memory { bytes, .. }) = result {
            self.0.store((bytes as usize).max(1), Ordering::Relaxed);
        }
    }
    /// What became of all pieces.
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
