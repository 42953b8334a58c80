//! Environment variables that limit what flex uses of the machine. A value that is not understood
//! is ignored, and reported ([`crate::ignored_settings`]).

use alloc::{format, string::String};

/// The value of a variable, or what is wrong with it; `None` if it is unset or empty.
pub type Setting<T> = Option<Result<T, String>>;

/// Reads a variable; `accepted` describes the values it takes.
pub fn setting<T>(
    name: &str,
    accepted: &str,
    understand: impl FnOnce(&str) -> Option<T>,
) -> Setting<T> {
    let value = std::env::var_os(name).filter(|v| !v.is_empty())?;
    let understood = value.to_str().and_then(|v| understand(v.trim()));
    Some(understood.ok_or_else(|| {
        format!(
            "{name}={} is ignored: it takes {accepted}",
            value.to_string_lossy()
        )
    }))
}
