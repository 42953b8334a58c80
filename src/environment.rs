//! Variables that choose less than the machine has. A value that is not understood counts as none,
//! and is reported ([`crate::ignored_settings`]).

use alloc::{format, string::String};

/// What a variable says, or what is wrong with it; none where it is not set, or empty.
pub type Setting<T> = Option<Result<T, String>>;

/// Reads a variable; `accepted` says what it takes.
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
