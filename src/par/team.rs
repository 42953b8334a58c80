//! Fork-join on a team of threads that live as long as the process. A job is split into pieces, and
//! these into a share for each thread; a thread that finished its share steals pieces of others.
//! Workers wait for the next job by spinning for a while, then park.
//!
//! - **JOB1, one job.** The thread whose job is on the team holds `Team::busy`. The holder writes
//!   all other state of a job (`job`, `workers`, shares), apart from the claims of JOB2. A thread
//!   that finds it held runs its work in place, so nested calls can't deadlock.
//! - **JOB2, claims.** A share is one word: epoch, end, next. The thread that raises `next` past a
//!   piece by compare-and-swap owns the piece, and runs it alone. The comparison covers the whole
//!   word, so a successful claim is one of the current job, however old the value it started from.
//! - **JOB3, alive.** A job ends when all of its pieces are done, and its closure lives until then.
//!   So a thread with a claim may read `job` and call the closure; a worker without one touches
//!   only shares, `mask` and `cpu`. The caller takes pieces that nobody began: it never waits for a
//!   worker that merely woke up.
//! - **JOB4, order.** Shares are stored with release order and claimed with acquire order: a
//!   claimer sees the job and what the caller wrote before. `done` is raised with release order and
//!   read with acquire order: at the end the caller sees what all pieces wrote (each raise
//!   continues the release sequences of those before).
//! - **JOB5, wake-ups.** A worker sets `parked`, then checks its share's epoch once more, then
//!   parks. The caller stores the share, then reads `parked`. All four accesses are sequentially
//!   consistent, so at least one thread sees the other's store: no wake-up is lost. A worker that
//!   the caller chose not to wake only misses its part in the job.
//! - **JOB6, forks.** A child process has only the forking thread. There, `busy` is released,
//!   shares are emptied and `forks` is raised, so the next job starts new workers. A job that was
//!   running belongs to a thread that the child doesn't have; if the forking thread was itself
//!   inside one, that job can't end in the child and panics. If a worker can't start there (the
//!   standard library's locks don't survive forks), nothing depends on it (JOB3).

use super::count::{MAX_THREADS, set_local_threads, with_threads};
use super::{affinity, checkpoint};
use core::any::Any;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::*};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a worker spins for the next job before it parks: longer than the serial work between
/// two jobs of a small model, such as attention over a short sequence or its tokens.
const SPIN: Duration = Duration::from_micros(200);
/// Work in nanoseconds that is worth waking or starting a thread: it begins 45 us later, and waking
/// it takes the caller 10 us. Smaller jobs count together while they take more than a quarter of
/// the time: a worker woken for them finds the next one while it spins.
const WAKE: usize = 100_000;
/// If the final wait exceeds what the pieces explain by this much, another process has a worker's
/// core.
const DELAY: Duration = Duration::from_micros(300);
/// After that, this much work (in nanoseconds) of jobs below `LONG` runs in place, since losing a
/// time slice costs more than they gain.
const BACK_OFF: usize = 5_000_000;
const LONG: usize = 1_000_000;

/// A thread's part of a job. Slot 0 is the caller's. Aligned to two cache lines, since these are
/// prefetched in pairs.
#[repr(align(128))]
struct ThreadSlot {
    /// `epoch << 32 | end << 16 | next` (JOB2).
    share: AtomicU64,
    /// Whether the worker is parked or about to be (JOB5).
    parked: AtomicBool,
}
/// The closure of a job.
type Piece<'a> = &'a (dyn Fn(usize) + Sync);
/// The closure of the current job, and its state.
#[repr(align(128))]
struct Job {
    /// A `*const Piece`.
    piece: AtomicPtr<()>,
    /// The slots in use, as bits.
    mask: AtomicU64,
    /// The caller's CPU, which workers should leave.
    cpu: AtomicUsize,
    /// The payload of the first panic.
    panic: AtomicPtr<Box<dyn Any + Send>>,
}
/// Shared by many threads, on cache lines of its own.
#[repr(align(128))]
struct CachePadded<T>(T);

struct Team {
    slots: [ThreadSlot; MAX_THREADS],
    job: Job,
    /// Pieces that workers finished.
    done: CachePadded<AtomicUsize>,
    busy: CachePadded<AtomicBool>,
    epoch: AtomicU64,
    /// Work still to be run in place after a delay.
    back_off: AtomicUsize,
    forks: AtomicUsize,
    /// Owned by the holder of `busy` (JOB1).
    workers: UnsafeCell<Workers>,
}
/// The workers, and the work that they missed.
struct Workers {
    /// The workers started, in the order of their slots, and the value of `forks` at that time.
    threads: Vec<Thread>,
    born: usize,
    /// Work of recent jobs, in nanoseconds, that parked workers had no part in.
    missed: usize,
    /// When the latest job began.
    latest: Option<Instant>,
}
// SAFETY: the cell belongs to the holder of `busy` (JOB1); the rest is atomic.
unsafe impl Sync for Team {}

static TEAM: Team = Team {
    slots: [const {
        ThreadSlot {
            share: AtomicU64::new(0),
            parked: AtomicBool::new(false),
        }
    }; MAX_THREADS],
    job: Job {
        piece: AtomicPtr::new(null_mut()),
        mask: AtomicU64::new(0),
        cpu: AtomicUsize::new(usize::MAX),
        panic: AtomicPtr::new(null_mut()),
    },
    done: CachePadded(AtomicUsize::new(0)),
    busy: CachePadded(AtomicBool::new(false)),
    epoch: AtomicU64::new(0),
    back_off: AtomicUsize::new(0),
    forks: AtomicUsize::new(0),
    workers: UnsafeCell::new(Workers {
        threads: Vec::new(),
        born: 0,
        missed: 0,
        latest: None,
    }),
};

/// The slots of a mask, starting with `first`.
fn slots(mask: u64, first: usize) -> impl Iterator<Item = usize> {
    let mut rest = mask.rotate_right(first as u32);
    std::iter::from_fn(move || {
        let k = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (k < MAX_THREADS).then_some((first + k) % MAX_THREADS)
    })
}

impl ThreadSlot {
    fn epoch(&self, order: core::sync::atomic::Ordering) -> u64 {
        self.share.load(order) >> 32
    }
    /// Claims the next piece of this share.
    fn claim(&self) -> Option<usize> {
        let mut share = self.share.load(Acquire);
        while share & 0xffff < share >> 16 & 0xffff {
            match self
                .share
                .compare_exchange_weak(share, share + 1, Acquire, Acquire)
            {
                Ok(_) => return Some((share & 0xffff) as usize),
                Err(now) => share = now,
            }
        }
        None
    }
}

impl Team {
    /// Claims a piece of the thread's own share, or else of another's.
    fn claim(&self, me: usize) -> Option<usize> {
        slots(self.job.mask.load(Relaxed), me).find_map(|k| self.slots[k].claim())
    }
    /// Runs a piece, unless another has panicked.
    fn run(&self, piece: impl FnOnce()) {
        if !self.job.panic.load(Relaxed).is_null() {
            return;
        }
        if let Err(payload) = catch_unwind(AssertUnwindSafe(piece)) {
            let payload = Box::into_raw(Box::new(payload));
            if self
                .job
                .panic
                .compare_exchange(null_mut(), payload, Release, Relaxed)
                .is_err()
            {
                // SAFETY: made two lines above, and not shared. A panic of its drop is not ours to
                // catch.
                std::mem::forget(unsafe { Box::from_raw(payload) });
            }
        }
    }
    /// The main loop of a worker.
    fn work(&self, me: usize) -> ! {
        set_local_threads(Some(1)); // nested operations run in place
        loop {
            // before the claims, so that a job that arrives during them isn't missed
            let seen = self.slots[me].epoch(Acquire);
            while let Some(k) = self.claim(me) {
                // SAFETY: the claim makes the job alive and visible (JOB3, JOB4), and `piece`
                // points to the caller's closure.
                self.run(|| unsafe { (*self.job.piece.load(Relaxed).cast::<Piece>())(k) });
                self.done.0.fetch_add(1, Release);
            }
            self.wait(me, seen);
        }
    }
    /// Waits until the slot has a share of another epoch.
    fn wait(&self, me: usize, seen: u64) {
        let slot = &self.slots[me];
        let (start, mut moved) = (Instant::now(), false);
        while start.elapsed() < SPIN {
            moved = moved || affinity::leave(self.job.cpu.load(Relaxed)); // once: there may be no other CPU
            for _ in 0..16 {
                if slot.epoch(Acquire) != seen {
                    return;
                }
                core::hint::spin_loop()
            }
        }
        slot.parked.store(true, SeqCst);
        while slot.epoch(SeqCst) == seen {
            thread::park()
        }
        slot.parked.store(false, Relaxed);
        affinity::leave(self.job.cpu.load(Relaxed));
    }
    /// Starts workers up to `count`, without those of a parent process.
    fn spawn(&'static self, workers: &mut Workers, count: usize) {
        let forks = self.forks.load(Relaxed);
        if workers.born != forks {
            // the parent's workers are threads that this process doesn't have, and one of them may
            // have been changing the list: leaked unread
            std::mem::forget(std::mem::take(&mut workers.threads));
            workers.born = forks;
        }
        while workers.threads.len() < count {
            register_atfork();
            let me = workers.threads.len() + 1;
            self.slots[me].parked.store(false, Relaxed);
            match thread::Builder::new()
                .name("flex".into())
                .spawn(move || TEAM.work(me))
            {
                Ok(handle) => workers.threads.push(handle.thread().clone()),
                Err(_) => break,
            }
        }
    }
    /// The slots that get a share: the caller's, those of awake workers, and those of parked
    /// workers until there is one for each `WAKE` of `due`, the work of this job and what was
    /// missed.
    fn choose(&self, workers: usize, threads: usize, due: usize) -> u64 {
        let mut mask = 1u64;
        for (parked, most) in [(false, threads), (true, threads.min(1 + due / WAKE))] {
            for k in 1..=workers {
                if (mask.count_ones() as usize) < most
                    && self.slots[k].parked.load(Relaxed) == parked
                {
                    mask |= 1 << k;
                }
            }
        }
        mask
    }
}

/// Calls `f(0), .., f(pieces - 1)`, each once, on this thread and on workers, on at most `threads`
/// in all; `ns` is the time it would take this thread alone. Returns `false`, without any call, if
/// the team is busy or would not help.
pub(super) fn share(pieces: usize, threads: usize, ns: usize, f: &(dyn Fn(usize) + Sync)) -> bool {
    debug_assert!(pieces < 0xffff);
    let team = &TEAM;
    if ns < LONG {
        let back_off = team.back_off.load(Relaxed);
        if back_off > 0 {
            team.back_off.store(back_off.saturating_sub(ns), Relaxed);
            return false;
        }
    }
    if team.busy.0.swap(true, Acquire) {
        return false;
    }
    // SAFETY: this thread has held `busy` since the line above, so nobody else accesses the workers
    // (JOB1).
    let workers = unsafe { &mut *team.workers.get() };
    let start = Instant::now();
    let pause = workers
        .latest
        .replace(start)
        .map_or(0, |latest| (start - latest).as_nanos() as usize);
    let due = ns.saturating_add(workers.missed.saturating_sub(pause / 4));
    team.spawn(workers, if due < WAKE { 0 } else { threads - 1 });
    let mask = team.choose(workers.threads.len(), threads, due);
    let count = mask.count_ones() as usize;
    workers.missed = if count < threads && due < WAKE {
        due
    } else {
        0
    };
    if count < 2 {
        team.busy.0.store(false, Release);
        return false;
    }

    let forks = team.forks.load(Relaxed);
    team.job
        .piece
        .store((&raw const f).cast_mut().cast(), Relaxed);
    team.job.mask.store(mask, Relaxed);
    team.job.cpu.store(affinity::cpu(), Relaxed);
    team.done.0.store(0, Relaxed);
    let epoch = team.epoch.load(Relaxed) + 1;
    team.epoch.store(epoch, Relaxed);
    for (i, k) in slots(mask, 0).enumerate() {
        let (next, end) = (
            (i * pieces / count) as u64,
            ((i + 1) * pieces / count) as u64,
        );
        team.slots[k]
            .share
            .store(epoch << 32 | end << 16 | next, SeqCst);
    }
    if due >= WAKE {
        slots(mask & !1, 0)
            .filter(|k| team.slots[*k].parked.load(SeqCst))
            .for_each(|k| workers.threads[k - 1].unpark());
    }

    // nested operations run in place
    with_threads(1, || {
        let mut mine = 0;
        while let Some(k) = team.claim(0) {
            team.run(|| {
                checkpoint();
                f(k)
            });
            mine += 1;
        }
        let patience = DELAY + 4 * start.elapsed() / (mine as u32).max(1);
        join(team, pieces - mine, patience, forks);
    });
    let panic = team.job.panic.swap(null_mut(), Acquire);
    team.busy.0.store(false, Release);
    if !panic.is_null() {
        // SAFETY: `run` made it from a box, and the swap took ownership.
        resume_unwind(*unsafe { Box::from_raw(panic) });
    }
    true
}

/// Waits until workers have finished `begun` pieces.
fn join(team: &Team, begun: usize, patience: Duration, forks: usize) {
    let finished = || {
        assert_eq!(
            team.forks.load(Relaxed),
            forks,
            "the process was forked inside of a parallel operation"
        );
        team.done.0.load(Acquire) == begun
    };
    for _ in 0..100 {
        if finished() {
            return;
        }
        core::hint::spin_loop()
    }
    let start = Instant::now();
    while !finished() {
        if start.elapsed() < DELAY {
            core::hint::spin_loop()
        } else {
            thread::yield_now()
        }
    }
    if start.elapsed() > patience {
        team.back_off.store(BACK_OFF, Relaxed);
    }
}

/// Installs the fork handler of JOB6, once.
fn register_atfork() {
    #[cfg(all(unix, not(miri)))]
    {
        extern "C" fn child() {
            TEAM.forks.fetch_add(1, Relaxed);
            for slot in &TEAM.slots {
                slot.share.fetch_or(0xffff, Relaxed);
                slot.parked.store(false, Relaxed);
            }
            TEAM.job.panic.store(null_mut(), Relaxed);
            TEAM.busy.0.store(false, Release);
        }
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        if !REGISTERED.swap(true, Relaxed) {
            // SAFETY: the function touches only a static.
            unsafe { libc::pthread_atfork(None, None, Some(child)) };
        }
    }
}
