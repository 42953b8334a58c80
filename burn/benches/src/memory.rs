//! Peak memory: how far the resident set grows while a call runs, as the system counts it. Freed memory must go back to
//! the system for that: the caller sets glibc's thresholds, and flex's pool is emptied.

use crate::Call;
use burn_backend::Backend;
use std::fs;

/// A field of the process's status, in bytes.
fn field(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    1024.0 * kibibytes.unwrap_or(0.0)
}

/// The bytes that each call needs beside its operands: the smallest of three calls' growth.
pub fn peaks(mut calls: Vec<Option<Call>>) -> Vec<Option<f64>> {
    calls
        .iter_mut()
        .map(|call| {
            let call = call.as_mut()?;
            let growth = || {
                flex_burn::Flex::memory_cleanup(&flex_burn::FlexDevice);
                fs::write("/proc/self/clear_refs", "5").ok()?; // the peak begins anew
                let before = field("VmRSS:");
                call();
                Some((field("VmHWM:") - before).max(0.0))
            };
            std::iter::repeat_with(growth)
                .take(3)
                .flatten()
                .reduce(f64::min)
        })
        .collect()
}
