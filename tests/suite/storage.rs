//! Size classes of blocks, and the memory that the process may use.

use flex::storage::class::*;
use flex::storage::limit::*;

#[test]
#[cfg(not(miri))] // Miri knows no machine
fn the_limit_is_plausible_and_stable() {
    assert!(limit() > 16 << 20);
    assert_eq!(limit(), limit());
}
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn control_groups_of_both_versions_are_parsed() {
    assert_eq!(
        limit_files("0::/user.slice/a"),
        Some(("/sys/fs/cgroup", "/user.slice/a", "memory.max"))
    );
    assert_eq!(
        limit_files("7:cpu,memory:/docker/x"),
        Some((
            "/sys/fs/cgroup/memory",
            "/docker/x",
            "memory.limit_in_bytes"
        ))
    );
    assert_eq!(limit_files("3:cpuset:/"), None);
    assert_eq!(limit_files(""), None);
}

#[test]
fn the_class_is_the_smallest_that_fits() {
    for class in 0..CLASSES {
        let size = capacity(class);
        assert_eq!(of(size), Some(class));
        assert_eq!(of(size - 1), Some(class));
        assert_eq!(
            of(size + 1),
            Some(class + 1).filter(|c| *c < CLASSES),
            "{size}"
        );
    }
    assert_eq!(
        (of(0), of(1), of(129), of(1 << 20).map(capacity)),
        (Some(0), Some(0), Some(1), Some(1 << 20))
    );
    assert_eq!((of(isize::MAX as usize), of(usize::MAX)), (None, None));
}
