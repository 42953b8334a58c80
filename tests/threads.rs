//! Threads: each piece runs once; nested and concurrent calls, panics, changing numbers of threads,
//! forks.
#![cfg(feature = "std")]

use flex::par::{Cost, Out, chunks, ranges};
use flex::{num_threads, set_local_threads, set_num_threads, with_threads};
use random::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

#[path = "suite/common/random.rs"]
mod random;

/// The team belongs to the process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(|e| e.into_inner())
}

/// `n`, or a hundredth of it under Miri, which is that much slower.
const fn many(n: usize) -> usize {
    if cfg!(miri) { n.div_ceil(100) } else { n }
}

/// Enough work that the team takes part in it.
const LARGE: Cost = Cost {
    bytes: 1 << 30,
    flops: 0,
};
/// 20 us.
const SMALL: Cost = Cost {
    bytes: 640_000,
    flops: 0,
};

fn each_once(n: usize, cost: Cost) {
    let calls: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
    chunks(n, cost, |k| {
        calls[k].fetch_add(1, SeqCst);
    });
    assert!(calls.iter().all(|c| c.load(SeqCst) == 1), "{n} chunks");
}

#[test]
fn each_chunk_runs_once() {
    let _alone = alone();
    for threads in [1, 2, 3, 7, 64] {
        with_threads(threads, || {
            for n in [0, 1, 2, 3, 15, 16, 17, 100, 511, 513, 70_000]
                .map(|n| if n > 100 { many(n) } else { n })
            {
                each_once(n, LARGE);
                each_once(n, SMALL);
                each_once(n, Cost::default());
            }
        })
    }
}

#[test]
fn ranges_partition_on_multiples_of_the_unit() {
    let _alone = alone();
    for threads in [1, 2, 3, 5] {
        for (n, unit) in [
            (0, 1),
            (1, 1),
            (1, 64),
            (63, 64),
            (64, 64),
            (65, 64),
            (1000, 7),
            (100_000, 64),
            (100_000, 0),
            (5, 100_000),
        ] {
            let seen = Mutex::new(Vec::new());
            with_threads(threads, || {
                ranges(n, unit, LARGE, |r| seen.lock().unwrap().push(r))
            });
            let mut seen = seen.into_inner().unwrap();
            seen.sort_by_key(|r| r.start);
            let mut next = 0;
            for r in seen {
                assert!(
                    r.start == next && r.end > r.start && (r.end % unit.max(1) == 0 || r.end == n),
                    "{r:?} of {n}, unit {unit}"
                );
                next = r.end;
            }
            assert_eq!(next, n);
        }
    }
}

#[test]
fn two_pieces_run_concurrently() {
    let _alone = alone();
    let (met, deadline) = (
        AtomicUsize::new(0),
        Instant::now() + Duration::from_secs(20),
    );
    with_threads(2, || {
        chunks(2, LARGE, |_| {
            met.fetch_add(1, SeqCst);
            while met.load(SeqCst) < 2 {
                assert!(Instant::now() < deadline, "the other piece never began");
                thread::yield_now();
            }
        })
    });
}

#[test]
fn small_jobs_run_on_the_caller() {
    let _alone = alone();
    let here = thread::current().id();
    with_threads(1, || {
        chunks(100, LARGE, |_| assert_eq!(thread::current().id(), here))
    });
    with_threads(4, || {
        chunks(
            100,
            Cost {
                bytes: 1000,
                flops: 0,
            },
            |_| assert_eq!(thread::current().id(), here),
        )
    });
}

#[test]
fn nested_jobs_run_in_place() {
    let _alone = alone();
    let sum = AtomicUsize::new(0);
    with_threads(4, || {
        chunks(20, LARGE, |i| {
            assert_eq!(num_threads(), 1);
            let here = thread::current().id();
            chunks(30, LARGE, |k| {
                assert_eq!(thread::current().id(), here);
                sum.fetch_add(i * 30 + k, SeqCst);
            });
            // an explicit request for more threads finds the team busy
            with_threads(3, || {
                ranges(10, 1, LARGE, |r| {
                    assert!(sum.fetch_add(r.len(), SeqCst) < 1 << 30)
                })
            });
        });
        assert_eq!(num_threads(), 4);
    });
    assert_eq!(sum.into_inner(), 600 * 599 / 2 + 20 * 10);
}

#[test]
fn a_panic_reaches_the_caller_and_the_team_survives() {
    let _alone = alone();
    for threads in [1, 2, 4] {
        for bad in [0, 7, 99] {
            let result = catch_unwind(AssertUnwindSafe(|| {
                with_threads(threads, || {
                    chunks(100, LARGE, |k| {
                        if k == bad {
                            std::panic::panic_any(k)
                        }
                    })
                })
            }));
            assert_eq!(*result.unwrap_err().downcast::<usize>().unwrap(), bad);
            with_threads(threads, || each_once(100, LARGE));
        }
        let all = catch_unwind(|| {
            with_threads(threads, || {
                chunks(50, LARGE, |_| std::panic::panic_any("all"))
            })
        });
        assert_eq!(*all.unwrap_err().downcast::<&str>().unwrap(), "all");
    }
}

#[test]
fn thread_counts_are_set_and_restored() {
    let _alone = alone();
    set_num_threads(3);
    assert_eq!(num_threads(), 3);
    assert_eq!(thread::spawn(num_threads).join().unwrap(), 3);
    let outside = set_local_threads(Some(5));
    assert_eq!((outside, num_threads()), (None, 5));
    assert_eq!(
        thread::spawn(num_threads).join().unwrap(),
        3,
        "another thread's number is its own"
    );
    assert_eq!(
        with_threads(2, || (
            num_threads(),
            set_local_threads(None),
            num_threads()
        )),
        (2, Some(2), 3)
    );
    assert_eq!(set_local_threads(outside), Some(5));
    catch_unwind(|| with_threads(9, || panic!("expected"))).unwrap_err();
    assert_eq!(num_threads(), 3, "restored after a panic");
    set_num_threads(1000);
    assert_eq!(
        (
            num_threads(),
            with_threads(usize::MAX, num_threads),
            with_threads(0, num_threads)
        ),
        (64, 64, 1)
    );
    set_num_threads(0);
    assert!(num_threads() >= 1);
}

#[test]
#[cfg(not(miri))] // Miri can't start processes
fn the_environment_sets_the_initial_count() {
    const ME: &str = "the_environment_sets_the_initial_count";
    if let Ok(expected) = std::env::var("EXPECTED_THREADS") {
        assert_eq!(num_threads().to_string(), expected);
        let given = std::env::var("FLEX_NUM_THREADS").unwrap();
        let understood = given.trim().parse::<usize>().is_ok_and(|n| n > 0);
        let ignored = format!(
            "FLEX_NUM_THREADS={given} is ignored: it takes a number of threads, at least 1"
        );
        assert_eq!(
            flex::ignored_settings(),
            if understood { vec![] } else { vec![ignored] }
        );
        return;
    }
    let cpus = thread::available_parallelism()
        .unwrap()
        .get()
        .min(64)
        .to_string();
    for (given, expected) in [
        ("3", "3"),
        (" 5 ", "5"),
        ("900", "64"),
        ("0", &cpus),
        ("many", &cpus),
        ("-1", &cpus),
    ] {
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", ME])
            .env("FLEX_NUM_THREADS", given)
            .env_remove("FLEX_ISA")
            .env("EXPECTED_THREADS", expected)
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.unwrap().success(), "FLEX_NUM_THREADS={given:?}");
    }
}

/// Jobs of all kinds, some of which panic, on data of the caller's own.
fn jobs(seed: u64, count: usize, vary: bool) {
    let random = &mut Rng(seed);
    for _ in 0..count {
        if vary && random.below(20) == 0 {
            set_num_threads(1 + random.below(6));
        }
        let n = 1 + random.below(300);
        let cost = [
            SMALL,
            LARGE,
            Cost {
                bytes: 0,
                flops: 64 * 3000,
            },
        ][random.below(3)];
        match random.below(10) {
            0 => {
                let bad = random.below(n);
                let result = catch_unwind(AssertUnwindSafe(|| {
                    chunks(n, cost, |k| {
                        if k == bad {
                            std::panic::panic_any(seed)
                        }
                    })
                }));
                assert_eq!(
                    *result.unwrap_err().downcast::<u64>().unwrap(),
                    seed,
                    "another caller's panic"
                );
            }
            1 => with_threads(1 + random.below(8), || each_once(n, cost)),
            2..6 => {
                let mut data = vec![0usize; n * 16];
                let out = Out::new(&mut data);
                ranges(n * 16, 16, cost, |r| {
                    // SAFETY: ranges don't overlap (OUT1).
                    let part = unsafe { out.part(r.clone()) };
                    part.iter_mut()
                        .zip(r)
                        .for_each(|(x, k)| *x = k ^ seed as usize)
                });
                assert!(
                    data.iter()
                        .enumerate()
                        .all(|(k, x)| *x == k ^ seed as usize)
                );
            }
            _ => {
                let mut data = vec![0usize; n];
                let out = Out::new(&mut data);
                // SAFETY: each chunk has its own element (OUT1).
                chunks(n, cost, |k| unsafe { out.part(k..k + 1)[0] += k + 1 });
                assert_eq!(data.iter().sum::<usize>(), n * (n + 1) / 2);
            }
        }
    }
}

/// Expected panics of the jobs need no report.
fn quietly(f: impl FnOnce()) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<u64>().is_none() {
            hook(info)
        }
    }));
    f();
    let _ = std::panic::take_hook();
}

#[test]
fn concurrent_callers_are_served() {
    let _alone = alone();
    quietly(|| {
        // under Miri, waiting takes as long as working
        let (callers, count) = if cfg!(miri) { (1..3, 2) } else { (1..7, 1500) };
        thread::scope(|s| callers.for_each(|t| drop(s.spawn(move || jobs(t, count, true)))));
        jobs(99, 2 * count, true);
    });
    set_num_threads(0);
}

#[test]
#[cfg(not(miri))] // Miri's clock is virtual
fn idle_workers_sleep() {
    let _alone = alone();
    with_threads(4, || each_once(1000, LARGE));
    thread::sleep(Duration::from_millis(20));
    let before = cpu_time();
    thread::sleep(Duration::from_millis(300));
    let used = cpu_time() - before;
    assert!(used < Duration::from_millis(60), "{used:?} of 300 ms");
}
#[cfg(all(unix, not(miri)))]
fn cpu_time() -> Duration {
    // SAFETY: the structure is the call's to fill in.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &mut usage), 0);
        usage
    };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}
#[cfg(all(not(unix), not(miri)))]
fn cpu_time() -> Duration {
    Duration::ZERO
}

#[cfg(all(unix, not(miri)))]
fn fork(child: impl FnOnce()) -> i32 {
    // SAFETY: the child computes and ends without unwinding out of here or running the parent's
    // destructors; a panic's status is 101.
    unsafe {
        let id = libc::fork();
        if id == 0 {
            libc::alarm(60);
            let ok = catch_unwind(AssertUnwindSafe(child)).is_ok();
            libc::_exit(if ok { 0 } else { 101 });
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(id, &mut status, 0), id);
        status
    }
}

#[cfg(all(unix, not(miri)))]
#[test]
fn a_forked_child_starts_its_own_team() {
    let _alone = alone();
    with_threads(4, || each_once(100, LARGE));
    let stop = AtomicBool::new(false);
    quietly(|| {
        thread::scope(|s| {
            for t in 1..3 {
                let stop = &stop;
                s.spawn(move || {
                    while !stop.load(SeqCst) {
                        jobs(t, 10, false)
                    }
                });
            }
            for round in 0..40 {
                assert_eq!(
                    fork(|| with_threads(3, || jobs(round, 30, false))),
                    0,
                    "round {round}"
                );
            }
            stop.store(true, SeqCst);
        })
    });
    with_threads(4, || each_once(100, LARGE));
}

#[cfg(all(unix, not(miri)))]
#[test]
fn workers_of_a_forked_child_take_part() {
    let _alone = alone();
    with_threads(4, || each_once(100, LARGE));
    let child = || {
        let (met, deadline) = (AtomicUsize::new(0), Instant::now() + Duration::from_secs(3));
        with_threads(2, || {
            chunks(2, LARGE, |_| {
                met.fetch_add(1, SeqCst);
                while met.load(SeqCst) < 2 {
                    assert!(Instant::now() < deadline);
                    thread::yield_now();
                }
            })
        })
    };
    // The standard library's locks don't survive a fork while the harness starts or ends a thread:
    // a worker may be stuck at its start, which only costs its help.
    assert!((0..10).any(|_| fork(child) == 0));
}

#[cfg(all(unix, not(miri)))]
#[test]
fn a_fork_inside_a_piece_ends_only_in_the_child() {
    let _alone = alone();
    let (parent, here, ended) = (
        std::process::id(),
        thread::current().id(),
        AtomicUsize::new(0),
    );
    while ended.load(SeqCst) == 0 {
        let job = || {
            chunks(8, LARGE, |_| {
                if thread::current().id() != here || ended.load(SeqCst) > 0 {
                    return;
                }
                // SAFETY: the child leaves below.
                let id = unsafe { libc::fork() };
                if id > 0 {
                    let mut status = -1;
                    // SAFETY: waits for our own child.
                    assert_eq!(unsafe { libc::waitpid(id, &mut status, 0) }, id);
                    assert!(libc::WIFEXITED(status));
                    ended.store(1, SeqCst);
                } else {
                    // SAFETY: a child that hangs is ended.
                    unsafe { libc::alarm(20) };
                }
            })
        };
        let result = catch_unwind(AssertUnwindSafe(|| with_threads(2, job)));
        if std::process::id() != parent {
            // SAFETY: leaves the child.
            unsafe { libc::_exit(result.is_err() as i32) };
        }
        result.unwrap();
    }
}
