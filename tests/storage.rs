//! Memory: sharing, the pool's statistics, blocks that cross threads, forks, requests that are
//! refused.
#![cfg(feature = "std")]

#[cfg(not(flex_exact))]
use flex::set_memory_cap;
use flex::{Bytes, Error, empty_cache, memory_stats};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// Runs a test alone, since the statistics are the process's: on a thread of its own, so that
/// thread-locals are destroyed before the next test.
fn alone(test: impl FnOnce() + Send) {
    static LOCK: Mutex<()> = Mutex::new(());
    let _lock = LOCK.lock().unwrap_or_else(|e| e.into_inner());
    if let Err(panic) = std::thread::scope(|scope| scope.spawn(test).join()) {
        std::panic::resume_unwind(panic);
    }
}

/// `n`, or a hundredth of it under Miri, which is that much slower.
const fn many(n: usize) -> usize {
    if cfg!(miri) { n.div_ceil(100) } else { n }
}

fn read(b: &Bytes) -> &[u8] {
    // SAFETY: initialised (STORAGE1), in bounds (STORAGE4); the tests write to no shared memory.
    unsafe { std::slice::from_raw_parts(b.as_ptr(), b.len()) }
}
fn write(b: &mut Bytes, value: u8) {
    let len = b.len();
    // SAFETY: exclusive while `b` is borrowed (STORAGE3, STORAGE4).
    unsafe { b.get_mut().expect("unique").write_bytes(value, len) }
}
fn filled(len: usize, value: u8) -> Bytes {
    let mut b = Bytes::new(len).unwrap();
    write(&mut b, value);
    b
}

#[test]
fn owned_memory_is_aligned_and_initialised() {
    alone(|| {
        for len in [
            0,
            1,
            63,
            64,
            127,
            128,
            129,
            1000,
            4096,
            65_537,
            786_432,
            786_433,
            1 << 20,
            (1 << 20) + 1,
            3 << 20,
            5_000_001,
        ]
        .map(|n| if n > 200 { many(n) } else { n })
        {
            let a = filled(len, 0xa5);
            assert_eq!(
                (a.as_ptr() as usize % 64, a.len(), a.is_owned()),
                (0, len, true)
            );
            assert!(read(&a).iter().all(|x| *x == 0xa5));
            drop(a);
            assert!(
                read(&Bytes::zeroed(len).unwrap()).iter().all(|x| *x == 0),
                "{len}"
            );
        }
    })
}

#[test]
fn only_one_handle_writes() {
    alone(|| {
        let mut a = Bytes::new(100).unwrap();
        assert!(a.get_mut().is_some());
        let b = a.clone();
        assert!(a.get_mut().is_none() && a.same(&b) && !a.same(&Bytes::new(100).unwrap()));
        drop(b);
        assert!(a.get_mut().is_some());
    })
}

#[test]
fn static_and_foreign_memory_is_never_written() {
    alone(|| {
        static WEIGHTS: [u8; 5] = [1, 2, 3, 4, 5];
        let mut a = Bytes::from_static(&WEIGHTS);
        assert_eq!(
            (a.as_ptr(), a.get_mut(), a.is_owned()),
            (WEIGHTS.as_ptr(), None, false)
        );
        assert_eq!(read(&a.clone()), WEIGHTS);

        struct Owner(Vec<u8>, Arc<AtomicUsize>);
        impl Drop for Owner {
            fn drop(&mut self) {
                assert_eq!(self.0, [7; 9]);
                self.1.fetch_add(1, SeqCst);
            }
        }
        let dropped = Arc::new(AtomicUsize::new(0));
        let owner = Box::new(Owner(vec![7; 9], dropped.clone()));
        let (ptr, len) = (owner.0.as_ptr(), owner.0.len());
        // SAFETY: the vector's heap memory stays where it is while the owner lives.
        let mut b = unsafe { Bytes::foreign(ptr, len, owner) };
        assert_eq!((b.as_ptr(), b.get_mut(), b.is_owned()), (ptr, None, false));
        let c = b.clone();
        drop(b);
        assert_eq!(dropped.load(SeqCst), 0);
        std::thread::spawn(move || assert_eq!(read(&c), [7; 9]))
            .join()
            .unwrap();
        assert_eq!(dropped.load(SeqCst), 1);
    })
}

#[test]
fn foreign_memory_may_be_empty_and_null() {
    // SAFETY: without bytes there is nothing to promise.
    let b = unsafe { Bytes::foreign(std::ptr::null(), 0, Box::new(())) };
    assert!(b.is_empty() && read(&b).is_empty());
}

#[test]
#[cfg(not(flex_exact))] // no block is cached there
fn freed_blocks_are_reused() {
    alone(|| {
        for len in [1000, many(700_000), many(10 << 20)] {
            let a = Bytes::new(len).unwrap();
            let (place, before) = (a.as_ptr() as usize, memory_stats());
            drop(a);
            let cached = memory_stats();
            assert_eq!(before.in_use - cached.in_use, len);
            assert!(cached.cached >= before.cached + len);
            let b = Bytes::new(len).unwrap();
            let after = memory_stats();
            assert_eq!(
                (b.as_ptr() as usize, after.hits, after.misses),
                (place, before.hits + 1, before.misses),
                "{len}"
            );
        }
    })
}

#[test]
fn in_use_is_exact_and_peak_is_its_maximum() {
    alone(|| {
        empty_cache();
        let start = memory_stats();
        let held: Vec<_> = (0..many(1000))
            .map(|k| Bytes::new(k * 37).unwrap())
            .collect();
        let sum: usize = (0..many(1000)).map(|k| k * 37).sum();
        assert_eq!(memory_stats().in_use, start.in_use + sum);
        let large = Bytes::new(30 << 20).unwrap();
        assert!(memory_stats().peak >= start.in_use + sum + (30 << 20));
        drop((held, large));
        assert_eq!(memory_stats().in_use, start.in_use);
        assert!(memory_stats().peak >= start.in_use + sum + (30 << 20));
    })
}

#[test]
fn blocks_may_be_freed_on_another_thread() {
    alone(|| {
        let start = memory_stats();
        let (send, receive) = mpsc::sync_channel::<Bytes>(100);
        let consumer = std::thread::spawn(move || {
            receive
                .into_iter()
                .map(|b| read(&b)[0] as usize)
                .sum::<usize>()
        });
        for round in 0..many(20_000) {
            send.send(filled(
                if round % 100 == 0 {
                    many(2 << 20)
                } else {
                    100 + round % 5000
                },
                1,
            ))
            .unwrap();
        }
        drop(send);
        assert_eq!(consumer.join().unwrap(), many(20_000));
        let end = memory_stats();
        assert_eq!(end.in_use, start.in_use);
        assert!(
            cfg!(flex_exact) || end.misses - start.misses < 5_000,
            "the consumer's lists flow back: {}",
            end.misses - start.misses
        );
    })
}

#[test]
#[cfg(not(flex_exact))] // no block is cached there
fn ending_threads_return_their_lists() {
    alone(|| {
        empty_cache();
        let start = memory_stats();
        for _ in 0..many(100) {
            std::thread::spawn(|| {
                drop(
                    (0..50)
                        .map(|_| Bytes::new(5000).unwrap())
                        .collect::<Vec<_>>(),
                )
            })
            .join()
            .unwrap();
        }
        let end = memory_stats();
        assert_eq!(end.in_use, start.in_use);
        assert!(
            end.misses - start.misses <= 100,
            "{}",
            end.misses - start.misses
        );
        // the thread of the test before may not have returned its lists yet
        let late = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while memory_stats().cached > 0 && std::time::Instant::now() < late {
            std::thread::yield_now();
            empty_cache();
        }
        assert_eq!(memory_stats().cached, 0);
    })
}

#[test]
fn many_threads_share_and_free_blocks() {
    alone(|| {
        let start = memory_stats().in_use;
        let shared: Vec<Bytes> = (0..64).map(|k| filled(64 + 999 * k, k as u8)).collect();
        let thread = |t: usize| {
            let mine = shared.clone();
            move || {
                for round in 0..many(3000) {
                    let k = (round * 7 + t * 13) % 64;
                    let held = mine[k].clone();
                    let own = filled(1 + (round * 31) % 20_000, t as u8);
                    assert!(read(&held).iter().step_by(97).all(|x| *x == k as u8));
                    assert!(read(&own).iter().all(|x| *x == t as u8));
                }
            }
        };
        // joined one by one: the end of a scope waits for closures, but not for the destructors of
        // thread-locals
        let threads: Vec<_> = (0..8).map(|t| std::thread::spawn(thread(t))).collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        drop(shared);
        assert_eq!(memory_stats().in_use, start);
    })
}

#[test]
#[cfg(not(flex_exact))] // no block is cached there
fn the_cap_bounds_the_cache() {
    alone(|| {
        let default = memory_stats().cap;
        set_memory_cap(8 << 20);
        empty_cache();
        drop(
            (0..8)
                .map(|_| Bytes::new(3 << 20).unwrap())
                .collect::<Vec<_>>(),
        );
        let cached = memory_stats().cached;
        assert!(cached > 0 && cached <= 8 << 20, "{cached}");
        set_memory_cap(0);
        empty_cache();
        drop(
            (0..8)
                .map(|k| Bytes::new(300 << (2 * k)).unwrap())
                .collect::<Vec<_>>(),
        );
        assert_eq!(memory_stats().cached, 0);
        set_memory_cap(default);
    })
}

#[test]
#[cfg(all(target_pointer_width = "64", not(miri)))] // 32 bits may address no more than there is
fn requests_beyond_memory_are_refused_at_once() {
    alone(|| {
        let limit = memory_stats().limit;
        for len in [1usize << 42, 1 << 60, isize::MAX as usize, usize::MAX] {
            let start = Instant::now();
            match Bytes::new(len) {
                Err(Error::Memory { bytes, limit: l }) => assert_eq!(
                    (bytes, l),
                    (len as u128, if limit == u64::MAX { 0 } else { limit })
                ),
                other => panic!("{other:?}"),
            }
            assert!(start.elapsed() < Duration::from_millis(5));
        }
        if cfg!(all(target_os = "linux", not(flex_exact), not(miri))) {
            // memory in use counts, too; nothing here is touched
            let half = Bytes::new((limit / 2) as usize).unwrap();
            assert!(matches!(
                Bytes::new((limit / 2) as usize + 4096),
                Err(Error::Memory { .. })
            ));
            drop(half);
            empty_cache();
        }
    })
}

#[cfg(all(unix, not(miri)))]
#[test]
fn a_forked_child_can_allocate() {
    alone(|| {
        let stop = AtomicUsize::new(0);
        std::thread::scope(|s| {
            for t in 0..3 {
                let stop = &stop;
                s.spawn(move || {
                    while stop.load(SeqCst) == 0 {
                        drop(Bytes::new(4 << 20).unwrap());
                        drop(
                            (0..200)
                                .map(|k| Bytes::new(k * 50 + t).unwrap())
                                .collect::<Vec<_>>(),
                        );
                    }
                });
            }
            for _ in 0..100 {
                // SAFETY: the child calls the pool, which holds its lock across forks, and ends
                // without unwinding or running destructors.
                unsafe {
                    let child = libc::fork();
                    if child == 0 {
                        libc::alarm(20);
                        for k in 0..50 {
                            drop((filled(k * 100 + 1, 1), filled(2 << 20, 1)));
                        }
                        libc::_exit(0);
                    }
                    let mut status = -1;
                    assert_eq!(libc::waitpid(child, &mut status, 0), child);
                    assert_eq!(status, 0);
                }
            }
            stop.store(1, SeqCst);
        });
    })
}
