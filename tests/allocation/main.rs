//! Failing allocations, at each allocation whose size depends on the input: the result is an error
//! or right, nothing leaks, targets are unchanged.
//!
//! Allocations on the test's thread are counted; from the n-th allocation of more than `BORDER`
//! bytes on, all of them fail, both the allocator's and mappings of the pool. Smaller ones are
//! objects of a fixed size (layouts, nodes of maps), for which the standard library has no way to
//! fail.
#![cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    feature = "std",
    feature = "ints",
    feature = "f64",
    feature = "half"
))]

use flex::io::{npy, safetensors};
use flex::nn::{self, Attention};
use flex::op::Op;
use flex::ops::{self, Arg, Cumulative, Index, Indexing, ScatterMode, Side, Sort};
use flex::{Axes, DType, Error, Tensor};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(all(feature = "linalg", feature = "complex"))]
mod linalg;
#[cfg(feature = "random")]
mod random;

const BORDER: usize = 1024;

thread_local! {
    /// Allocations that succeed before the first that fails.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// Allocations that have not been freed yet.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    /// Errors that a test has seen.
    static FAILED: Cell<usize> = const { Cell::new(0) };
}

/// Whether an allocation fails.
fn fails(size: usize) -> bool {
    size > BORDER
        && LEFT.with(|left| match left.get() {
            usize::MAX => false,
            0 => true,
            n => {
                left.set(n - 1);
                false
            }
        })
}
fn count(by: isize) {
    LIVE.with(|live| live.set(live.get() + by))
}

struct Failing;
// SAFETY: the system's allocator, or null, which is allowed.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails(layout.size()) {
            return std::ptr::null_mut();
        }
        count(1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if fails(layout.size()) {
            return std::ptr::null_mut();
        }
        count(1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if fails(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.realloc(p, layout, size) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        count(-1);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(p, layout) }
    }
}
#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// `mmap` that fails as the allocator does. It replaces the C library's in this program.
///
/// # Safety
/// As the system's.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    at: *mut c_void,
    len: usize,
    access: i32,
    kind: i32,
    file: i32,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller's arguments; `errno` is the thread's.
    unsafe {
        if fails(len) {
            *libc::__errno_location() = libc::ENOMEM;
            return libc::MAP_FAILED;
        }
        libc::syscall(libc::SYS_mmap, at, len, access, kind, file, offset) as *mut c_void
    }
}

/// Runs `f` with every allocation failing in turn, until none does: then it succeeds.
fn each_failure<T>(name: &str, f: impl Fn() -> flex::Result<T>) {
    drop(f()); // everything initialised once exists now
    let (mut errors, live, used) = (0, LIVE.get(), flex::memory_stats().in_use);
    for n in 0.. {
        LEFT.set(n);
        let result = f();
        let reached = LEFT.replace(usize::MAX) == 0;
        match &result {
            Ok(_) => {}
            Err(Error::Memory { .. }) => errors += 1,
            Err(e) => assert!(!reached, "{name}, allocation {n}: {e}"),
        }
        let ended = result.is_ok();
        drop(result);
        assert_eq!(
            (LIVE.get() - live, flex::memory_stats().in_use - used),
            (0, 0),
            "{name}, allocation {n}: something is kept"
        );
        if !reached {
            assert!(ended, "{name} fails with all memory there is");
            break;
        }
        assert!(n < 1000, "{name} allocates without end");
    }
    FAILED.set(FAILED.get() + errors);
}

/// Runs one test at a time, since `in_use` counts for the process: with one thread, and without
/// cached blocks, which would need no allocation.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    flex::set_local_threads(Some(1));
    flex::set_weight_packing(false);
    flex::set_memory_cap(0);
    flex::empty_cache();
    lock
}

/// Numbers from 1 to 13.
fn numbers(shape: &[usize], dtype: DType) -> Tensor {
    let n: usize = shape.iter().product();
    let values: Vec<i32> = (0..n).map(|k| (k * 7 % 13) as i32 + 1).collect();
    Tensor::from_slice(&values, shape)
        .unwrap()
        .astype(dtype)
        .unwrap()
}

/// Rows and columns: blocks of the allocator, and mappings.
const SIZES: [[usize; 2]; 2] = [[60, 70], [500, 900]];

#[test]
fn elementwise_survives_failed_allocations() {
    let _alone = alone();
    for [m, n] in SIZES {
        let strided = numbers(&[n, m], DType::F32).transpose(0, 1).unwrap();
        for (a, b) in [
            (numbers(&[m, n], DType::F32), numbers(&[m, n], DType::F32)),
            (numbers(&[m, n], DType::I64), numbers(&[n], DType::I32)),
            (numbers(&[m, n], DType::BF16), strided),
        ] {
            for op in Op::ALL {
                let args = || match op.arity() {
                    1 => ops::apply(op.row(), [Arg::Ref(&a)]),
                    2 => ops::apply(op.row(), [Arg::Ref(&a), Arg::Ref(&b)]),
                    _ => ops::apply(op.row(), [Arg::Ref(&a), Arg::Ref(&b), Arg::Ref(&a)]),
                };
                if args().is_ok() {
                    FAILED.set(0);
                    each_failure(op.name(), args);
                    assert!(FAILED.get() > 0, "{}: no allocation has failed", op.name());
                }
            }
        }
    }
}

#[test]
fn failed_allocations_leave_targets_unchanged() {
    let _alone = alone();
    for [m, n] in SIZES {
        let (before, other) = (
            numbers(&[m, n], DType::F32),
            numbers(&[m, n], DType::F64).astype(DType::F32).unwrap(),
        );
        let (rows, mask) = (
            numbers(&[m / 2], DType::I64),
            ops::greater(&before, 5).unwrap(),
        );
        let values = numbers(&[m / 2, n], DType::F32);
        let writes: [(&str, &dyn Fn(&mut Tensor) -> flex::Result<()>); 8] = [
            ("add", &|t| {
                ops::apply_in_place(Op::Add.row(), t, Some(Arg::Ref(&other)))
            }),
            ("sin", &|t| ops::apply_in_place(Op::Sin.row(), t, None)),
            ("copy_from", &|t| t.copy_from(&other)),
            ("rows", &|t| ops::set(t, &[Index::from(&rows)], &values)),
            ("mask", &|t| {
                ops::set(t, &[Index::from(&mask)], &Tensor::scalar(1, DType::F32)?)
            }),
            ("part", &|t| {
                ops::set(t, &[Index::from(1..3)], &Tensor::scalar(1, DType::F32)?)
            }),
            ("softmax_into", &|t| nn::softmax_into(&other, -1, t)),
            ("as_mut_slice", &|t| {
                t.as_mut_slice::<f32>().map(|x| x[0] = 9.0)
            }),
        ];
        for (name, write) in writes {
            for shared in [true, false] {
                for k in 0.. {
                    let mut t = before.copy().unwrap();
                    let view = shared.then(|| t.clone());
                    LEFT.set(k);
                    let result = write(&mut t);
                    let reached = LEFT.replace(usize::MAX) == 0;
                    if let Some(view) = view {
                        assert!(
                            view.as_slice::<f32>().unwrap() == before.as_slice::<f32>().unwrap(),
                            "{name}: a view has changed"
                        );
                    }
                    match result {
                        Ok(()) if !reached => break,
                        Ok(()) => {}
                        Err(Error::Memory { .. }) => {
                            assert!(
                                t.to_vec::<f32>().unwrap() == before.as_slice::<f32>().unwrap(),
                                "{name}: the target has changed"
                            )
                        }
                        Err(e) => panic!("{name}: {e}"),
                    }
                }
            }
        }
    }
}

#[test]
fn all_other_operations_survive_failed_allocations() {
    let _alone = alone();
    for [m, n] in SIZES {
        let x = &numbers(&[m, n], DType::F32);
        let (flat, i, mask) = (
            &x.reshape([-1]).unwrap(),
            &numbers(&[m, n], DType::I64),
            &ops::greater(x, 5).unwrap(),
        );
        let (rows, turned, line) = (
            &numbers(&[n], DType::I64),
            &x.transpose(0, 1).unwrap(),
            &numbers(&[n], DType::F32),
        );
        let (counts, bias) = (&numbers(&[m], DType::I64), &numbers(&[m], DType::F32));
        let (lines, ones) = (vec![line; n], vec![1; m * n]);
        macro_rules! fail {
            ($($e:expr),* $(,)?) => { $(
                FAILED.set(0);
                each_failure(stringify!($e), || $e);
                assert!(m == SIZES[0][0] || FAILED.get() > 0, "{}: no allocation has failed", stringify!($e));
            )* };
        }
        fail!(
            x.copy(),
            turned.contiguous(),
            x.astype(DType::F64),
            turned.astype(DType::F16),
            x.to_vec::<f32>(),
            turned.reshape([-1]),
            x.map(|v: f32| v as i64),
            turned.zip_with(turned, |a: f32, b: f32| a + b),
            x.zip_with(line, |a: f32, b: f32| a + b),
            turned.iter::<f32>(),
            Tensor::zeros([m, n], DType::F32),
            Tensor::from_slice(&[1.0f32; 600], [600]),
            ops::full([m, n], 2, None),
            ops::ones([m, n], DType::I8),
            ops::eye(m, n, 0, DType::F32),
            ops::arange(0, (m * n) as i64, 1, None),
            ops::linspace(0, 1, m * n),
            ops::cumulative_sum(x, 1),
            ops::cumulative_sum(
                flat,
                Cumulative {
                    include_initial: true,
                    ..().into()
                }
            ),
            ops::cumulative_prod(x, 0),
            ops::cumulative_max(flat, ()),
            ops::cumulative_min(turned, 0),
            ops::diff(x, 2, 0, None, None),
            ops::unique_all(x),
            ops::unique_counts(i),
            ops::unique_inverse(i),
            ops::unique_values(flat),
            ops::isin(x, line),
            ops::concat(&[x, x], 0),
            ops::concat(&[x, turned], ()),
            ops::stack(&[x, x], 1),
            ops::repeat(x, 3, 1),
            ops::repeat_counts(x, counts, 0),
            ops::tile(x, [2, 2]),
            ops::roll(x, [3], 1),
            ops::tril(x, 0),
            ops::triu(turned, 0),
            ops::pad(x, &[(1, 2), (0, 3)], 7),
            ops::broadcast_arrays(&lines),
            ops::meshgrid(&[line, line], Indexing::Ij)?[0].copy(),
            turned.unstack(0),
            flat.split(&ones, 0),
            flat.chunk(n, 0),
            ops::sort(x, 1),
            ops::sort(
                flat,
                Sort {
                    axis: 0,
                    descending: true
                }
            ),
            ops::argsort(x, 0),
            ops::argsort(flat, 0),
            ops::sort_with_indices(x, 1),
            ops::topk(x, 60, 1),
            ops::searchsorted(line, flat, Side::Left, None),
            ops::get(x, &[Index::from(rows)]),
            ops::get(x, &[Index::from(mask)]),
            ops::take(x, rows, 0),
            ops::take_along_axis(x, i, 1),
            ops::nonzero(x),
            ops::argwhere(x),
            ops::masked_select(x, mask),
            ops::masked_fill(x, mask, 0),
            ops::scatter(x, i, x, 1, ScatterMode::Set),
            ops::scatter_add(x, i, x, 1),
            ops::index_add(turned, rows, turned, 0),
            ops::matmul(x, turned),
            ops::matmul_as(x, turned, DType::F32),
            ops::outer(line, line),
            ops::tensordot(x, turned, 1),
            ops::einsum("ij,jk,ji->k", &[x, turned, turned]),
            ops::vecdot(x, x, -1).and_then(|_| x.copy()),
            ops::max(x, 0),
            ops::argmax(x, 0),
            ops::max_with_indices(turned, Axes::from(1).keepdims()),
            ops::logsumexp(x, 0),
            ops::sum(x, 0),
            ops::prod(i, 0),
            ops::mean(x, 0),
            ops::var(turned, 1, 1.0).and_then(|_| x.copy()),
            ops::any(x, 0).and_then(|_| x.copy()),
            ops::count_nonzero(x, 0),
            nn::softmax(x, 1),
            nn::softmax(x, 0),
            nn::log_softmax(flat, 0),
            nn::layer_norm(
                x,
                [n],
                nn::LayerNorm {
                    weight: Some(line),
                    ..Default::default()
                }
            ),
            nn::rms_norm(flat, [m * n], ()),
            nn::embedding(rows, x),
            nn::linear(x, &turned.copy()?.transpose(0, 1)?.copy()?, None),
            nn::linear(x, x, Some(bias)),
        );
        let (q, heads) = (
            &numbers(&[2, m, 64], DType::F32),
            &numbers(&[m, 2, 64], DType::F32),
        );
        fail!(
            nn::scaled_dot_product_attention(q, q, q, Attention::default()),
            nn::varlen_attention(heads, heads, heads, &[0, 10, m], ()),
        );
        flex::set_weight_packing(true);
        fail!({
            let weight = x.copy()?;
            nn::linear(x, &weight, None)?;
            nn::linear(x, &weight, None)?;
            nn::linear(x, &weight, None)
        });
        flex::set_weight_packing(false);
    }
}

/// The first call caches the tables of tensor transforms; plans compute theirs each time.
#[cfg(feature = "complex")]
#[test]
fn transforms_survive_failed_allocations() {
    use flex::fft::{self, ComplexPlan, Dct, Fft, RealPlan};
    use flex::signal::{self, Extent, Mel, Method, Stft, Window};
    let _alone = alone();
    for [m, n] in SIZES {
        let x = &numbers(&[m, n], DType::F32);
        let flat = &x.reshape([-1]).unwrap();
        let spectrum = &fft::rfft(x, 1).unwrap();
        let spectra = &signal::stft(flat, &Stft::of(64)).unwrap();
        macro_rules! fail {
            ($($e:expr),* $(,)?) => { $(
                FAILED.set(0);
                each_failure(stringify!($e), || $e);
                assert!(FAILED.get() > 0, "{}: no allocation has failed", stringify!($e));
            )* };
        }
        fail!(
            fft::rfft(x, 1),
            fft::rfft(x, 0),
            fft::irfft(spectrum, ()),
            fft::fft(
                x,
                Fft {
                    n: Some(2 * n),
                    ..().into()
                }
            ),
            fft::fft(spectrum, 0),
            fft::fft(
                x,
                Fft {
                    n: Some(509),
                    ..().into()
                }
            ),
            fft::fftn(x, ()),
            fft::irfftn(spectrum, ()),
            fft::dct(x, Dct::II, 0),
            fft::fftshift(x, ()),
            RealPlan::<f32>::new(1800),
            ComplexPlan::<f64>::new(509),
            signal::window(1000, Window::Hann, signal::Ends::Symmetric, DType::F32),
            signal::mel_filters(&Mel::of(16000.0, 512), DType::F32),
            signal::stft(flat, &Stft::of(64)),
            signal::istft(spectra, &Stft::of(64), None),
            signal::convolve(flat, flat, Extent::Full, Method::Fft),
            signal::convolve(
                x,
                &x.narrow(1, 0, 3)?.narrow(0, 0, 3)?,
                Extent::Same,
                Method::Direct
            ),
        );
    }
}

/// A temporary file, in a folder of its own.
struct Scratch(PathBuf);
impl Scratch {
    fn new() -> Scratch {
        let folder = std::env::temp_dir().join(format!("flex_allocation_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder.join("file"))
    }
    fn folder(&self) -> &Path {
        self.0.parent().unwrap()
    }
}
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.folder());
    }
}

#[test]
fn files_survive_failed_allocations() {
    let _alone = alone();
    let scratch = Scratch::new();
    let path = &scratch.0;
    for [m, n] in SIZES {
        let (x, bools) = (
            numbers(&[m, n], DType::F32),
            ops::greater(numbers(&[m, n], DType::F32), 5).unwrap(),
        );
        let turned = x.transpose(0, 1).unwrap();
        let long = "\"name\"".repeat(1000);
        let named = || [("x", &x), ("turned", &turned), (&long, &bools)];
        let metadata = safetensors::Metadata::from([(long.clone(), long.clone())]);
        for t in [&x, &turned, &bools] {
            each_failure("npy::write", || npy::write(t));
            each_failure("npy::save", || npy::save(path, t));
            let bytes = npy::write(t).unwrap();
            each_failure("npy::parse", || npy::parse(&bytes));
            each_failure("npy::read_from", || npy::read_from(bytes.as_slice()));
            each_failure("npy::load", || npy::load(path));
        }
        std::fs::write(path, b"old").unwrap();
        LEFT.set(1); // the first is the writer's buffer
        let refused = npy::save(path, &turned);
        LEFT.set(usize::MAX);
        assert!(matches!(refused, Err(Error::Memory { .. })), "{refused:?}");
        assert_eq!(std::fs::read(path).unwrap(), b"old");

        each_failure("safetensors::write", || {
            safetensors::write(named(), &metadata)
        });
        each_failure("safetensors::save", || {
            safetensors::save(path, named(), &metadata)
        });
        let bytes = safetensors::write(named(), &metadata).unwrap();
        each_failure("safetensors::parse", || safetensors::parse(&bytes));
        each_failure("safetensors::read_from", || {
            safetensors::read_from(bytes.as_slice())
        });
        each_failure("safetensors::parse_metadata", || {
            safetensors::parse_metadata(&bytes)
        });
        each_failure("safetensors::load", || safetensors::load(path));
        each_failure("safetensors::map", || {
            // SAFETY: nobody writes to the file (MAP1).
            unsafe { safetensors::map(path) }
        });
        assert_eq!(
            scratch.folder().read_dir().unwrap().count(),
            1,
            "a part of a file is left"
        );
    }
}
