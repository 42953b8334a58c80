//! The variables that choose less than the machine has. A value that is not understood counts as none, and is reported here.

use super::isa::Level;
use alloc::{format, string::String, vec::Vec};

/// What a variable says, or what is wrong with it; none where it is not set, or empty.
type Setting<T> = Option<Result<T, String>>;

fn setting<T>(name: &str, accepted: &str, understand: impl FnOnce(&str) -> Option<T>) -> Setting<T> {
    let value = std::env::var_os(name).filter(|v| !v.is_empty())?;
    let understood = value.to_str().and_then(|v| understand(v.trim()));
    Some(understood.ok_or_else(|| format!("{name}={} is ignored: it takes {accepted}", value.to_string_lossy())))
}

/// `FLEX_ISA`: the instruction set, where the CPU has it.
pub fn isa() -> Setting<Level> {
    setting("FLEX_ISA", "scalar, avx2 or avx512", |v| match v {
        "scalar" | "base" | "sse" | "sse2" => Some(Level::Base),
        "avx2" => Some(Level::Avx2),
        "avx512" => Some(Level::Avx512),
        _ => None,
    })
}

/// `FLEX_NUM_THREADS`: the number of threads at the start.
pub fn num_threads() -> Setting<usize> {
    setting("FLEX_NUM_THREADS", "a number of threads, at least 1", |v| v.parse().ok().filter(|n| *n > 0))
}

/// A line for each variable of the environment (`FLEX_ISA`, `FLEX_NUM_THREADS`) whose value is not understood, and therefore ignored.
///
/// ```
/// for line in flex::ignored_settings() {
///     eprintln!("warning: {line}"); // FLEX_ISA=foo is ignored: it takes scalar, avx2 or avx512
/// }
/// ```
pub fn ignored_settings() -> Vec<String> {
    [isa().and_then(Result::err), num_threads().and_then(Result::err)].into_iter().flatten().collect()
}
