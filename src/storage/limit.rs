//! The memory that the process may use, read once.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The bytes of memory that the machine has or the process's control group may use, whichever is
/// less; `u64::MAX` if unknown.
pub fn limit() -> u64 {
    // Not a OnceLock: a child forked while another thread initialises it would wait for ever.
    // Computing it twice does no harm.
    static LIMIT: AtomicU64 = AtomicU64::new(0);
    match LIMIT.load(Relaxed) {
        0 => {
            let bytes = physical().min(control_group()).max(1);
            LIMIT.store(bytes, Relaxed);
            bytes
        }
        bytes => bytes,
    }
}

#[cfg(all(unix, not(miri)))]
fn physical() -> u64 {
    // SAFETY: takes no pointer, and reads settings of the system.
    let (pages, size) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    match (u64::try_from(pages), u64::try_from(size)) {
        (Ok(pages), Ok(size)) => pages.saturating_mul(size),
        _ => u64::MAX,
    }
}
#[cfg(any(not(unix), miri))]
fn physical() -> u64 {
    u64::MAX
}

#[cfg(any(not(target_os = "linux"), miri))]
fn control_group() -> u64 {
    u64::MAX
}
/// The smallest limit of the process's control groups and their ancestors.
#[cfg(all(target_os = "linux", not(miri)))]
fn control_group() -> u64 {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    groups
        .lines()
        .filter_map(limit_files)
        .flat_map(|(root, path, file)| chain(root, path, file))
        .min()
        .unwrap_or(u64::MAX)
}
/// The file with the limit of a line of `/proc/self/cgroup`: `0::/path` (version 2) or
/// `4:cpu,memory:/path` (version 1).
#[cfg(all(target_os = "linux", not(miri)))]
pub fn limit_files(line: &str) -> Option<(&'static str, &str, &'static str)> {
    let (_, line) = line.split_once(':')?;
    let (controllers, path) = line.split_once(':')?;
    match controllers {
        "" => Some(("/sys/fs/cgroup", path, "memory.max")),
        c if c.split(',').any(|c| c == "memory") => {
            Some(("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"))
        }
        _ => None,
    }
}
/// The limits of a group and its ancestors. In a container the path may be the host's, of which
/// only the root is visible.
#[cfg(all(target_os = "linux", not(miri)))]
fn chain(root: &'static str, path: &str, file: &'static str) -> impl Iterator<Item = u64> {
    let path = std::path::Path::new(path.trim_start_matches('/'));
    let files: Vec<_> = path
        .ancestors()
        .map(|group| std::path::Path::new(root).join(group).join(file))
        .collect();
    // "max", and the number that version 1 writes for it, are not below the machine's memory
    files
        .into_iter()
        .filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok())
}
