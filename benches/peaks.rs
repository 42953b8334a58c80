//! This machine's ceilings: arithmetic of each kind, bandwidth at each working-set size, and the
//! cost of a fork-join. Prints one line of JSON, with which `compare.py --roofline` compares its
//! workloads.
//!
//! Each figure is the best of several tries: a ceiling need be reached only once. Figures for all
//! threads use one piece per thread, far longer than it takes to wake a thread.

use flex::par::{Cost, Out, chunks};
use flex::simd::{self, Isa, Kernel};
use std::hint::black_box;
use std::time::Instant;

/// The cost of a piece that is always worth its own thread.
const LARGE: Cost = Cost {
    bytes: 1 << 40,
    flops: 0,
};
const TRIES: usize = 7;
/// Working-set size from which non-temporal stores are tried too.
const STREAMED: usize = 1 << 22;
/// The length of one try, in seconds.
const TRY: f64 = 0.01;

/// The shortest time of a call of `f`, in seconds.
fn seconds(mut f: impl FnMut()) -> f64 {
    let mut timed = |calls: usize| {
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        start.elapsed().as_secs_f64()
    };
    let mut calls = 1;
    while timed(calls) < TRY / 4.0 {
        calls *= 2;
    }
    (0..TRIES)
        .map(|_| timed(2 * calls))
        .fold(f64::INFINITY, f64::min)
        / (2 * calls) as f64
}

/// The shortest time in which `threads` threads each call `f`, in seconds.
fn seconds_of_all(threads: usize, f: impl Fn(usize) + Sync) -> f64 {
    if threads == 1 {
        seconds(|| f(0))
    } else {
        seconds(|| chunks(threads, LARGE, &f))
    }
}

#[cfg(target_arch = "x86_64")]
mod arithmetic {
    use core::arch::x86_64::*;
    use core::hint::black_box;
    use flex::simd::{self, Level};

    /// Iterations of the chains in a call: about 0.2 ms, more than waking a thread takes.
    const TURNS: usize = 1 << 15;

    /// A function that keeps `$chains` registers busy with `$instruction`, and the number of
    /// operations of a call.
    macro_rules! peak {
        ($name:ident, $features:literal, $chains:literal x $lanes:literal, $zero:ident, |$sum:ident, $a:ident, $b:ident| $instruction:expr) => {
            fn $name() -> f64 {
                #[target_feature(enable = $features)]
                fn run() {
                    let mut sums = [$zero(); $chains];
                    let ($a, $b) = black_box(($zero(), $zero()));
                    for _ in 0..TURNS {
                        for $sum in &mut sums {
                            *$sum = $instruction;
                        }
                    }
                    black_box(sums);
                }
                // SAFETY: `kinds` names the function beside the test for its features.
                unsafe { run() };
                (2 * TURNS * $chains * $lanes) as f64
            }
        };
    }
    peak!(f32_512, "avx512f", 24 x 16, _mm512_setzero_ps, |s, a, b| _mm512_fmadd_ps(a, b, *s));
    peak!(f64_512, "avx512f", 24 x 8, _mm512_setzero_pd, |s, a, b| _mm512_fmadd_pd(a, b, *s));
    peak!(f32_256, "avx2,fma", 12 x 8, _mm256_setzero_ps, |s, a, b| _mm256_fmadd_ps(a, b, *s));
    peak!(f64_256, "avx2,fma", 12 x 4, _mm256_setzero_pd, |s, a, b| _mm256_fmadd_pd(a, b, *s));
    peak!(i32_256, "avx2", 12 x 8, _mm256_setzero_si256, |s, a, b| _mm256_add_epi32(_mm256_mullo_epi32(*s, b), a));
    // the product depends on the sum: of a and b alone, it would be computed once, before the loop
    peak!(int8_256, "avx2", 14 x 16, _mm256_setzero_si256, |s, a, b| _mm256_add_epi32(_mm256_madd_epi16(*s, b), a));
    peak!(i32_512, "avx512f", 24 x 16, _mm512_setzero_si512, |s, a, b| _mm512_add_epi32(_mm512_mullo_epi32(*s, b), a));
    peak!(int8_512, "avx512f,avx512vnni", 24 x 64, _mm512_setzero_si512, |s, a, b| _mm512_dpbusd_epi32(*s, a, b));
    peak!(bf16_512, "avx512f,avx512bf16", 24 x 32, _mm512_setzero_ps, |s, a, b| {
        // SAFETY: both have 512 bits, and every bit pattern is valid.
        let (a, b) = unsafe { core::mem::transmute::<(__m512, __m512), (__m512bh, __m512bh)>((a, b)) };
        _mm512_dpbf16_ps(*s, a, b)
    });

    /// A function that multiplies four pairs of AMX's registers at a time, of 16 rows of 64 bytes.
    macro_rules! peak_of_tiles {
        ($name:ident, $multiply:literal, $each:literal) => {
            fn $name() -> f64 {
                const PASSES: usize = TURNS / 4;
                /// Palette 1, then the bytes and the number of each register's rows.
                #[repr(align(64))]
                struct Config([u8; 64]);
                let mut config = Config([0; 64]);
                config.0[0] = 1;
                for register in 0..8 {
                    config.0[16 + 2 * register] = 64;
                    config.0[48 + register] = 16;
                }
                // SAFETY: `kinds` names the function beside the test for AMX, whose registers only
                // this code uses.
                unsafe {
                    std::arch::asm!(
                        "ldtilecfg [{config}]",
                        "2:",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        concat!($multiply, " tmm1, tmm4, tmm7"),
                        concat!($multiply, " tmm2, tmm5, tmm6"),
                        concat!($multiply, " tmm3, tmm5, tmm7"),
                        "dec {passes}",
                        "jnz 2b",
                        "tilerelease",
                        config = in(reg) &config,
                        passes = inout(reg) PASSES => _,
                        options(nostack),
                    )
                };
                (2 * PASSES * 4 * 16 * 16 * 16 * $each) as f64
            }
        };
    }
    peak_of_tiles!(bf16_amx, "tdpbf16ps", 2);
    peak_of_tiles!(int8_amx, "tdpbsud", 4);

    /// The kinds of arithmetic at the level that kernels run on, each with a function that performs
    /// some operations and returns how many. Without dot-product instructions, 8-bit integers are
    /// multiplied as pairs of 16-bit integers.
    pub fn kinds() -> Vec<(&'static str, fn() -> f64)> {
        let wide = simd::level() == Level::Avx512;
        let fma = simd::level() == Level::Avx2;
        let amx = simd::has_amx();
        let all: [(&str, bool, fn() -> f64); 11] = [
            ("bfloat16", amx, bf16_amx),
            ("int8", amx, int8_amx),
            ("float32", wide, f32_512),
            ("float64", wide, f64_512),
            ("float32", fma, f32_256),
            ("float64", fma, f64_256),
            ("int32", wide, i32_512),
            ("int32", fma, i32_256),
            (
                "int8",
                wide && !amx && is_x86_feature_detected!("avx512vnni"),
                int8_512,
            ),
            ("int8", fma, int8_256),
            (
                "bfloat16",
                wide && !amx && is_x86_feature_detected!("avx512bf16"),
                bf16_512,
            ),
        ];
        all.into_iter()
            .filter(|kind| kind.1)
            .map(|kind| (kind.0, kind.2))
            .collect()
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod arithmetic {
    use core::hint::black_box;

    /// Multiply-adds in a loop that the compiler vectorises.
    fn portable() -> f64 {
        const TURNS: usize = 1 << 15;
        let mut sums = [0f32; 64];
        let (a, b) = black_box((0f32, 0f32));
        for _ in 0..TURNS {
            // a product of a and b alone would be computed once, before the loop
            for sum in &mut sums {
                *sum = match cfg!(target_arch = "aarch64") {
                    true => sum.mul_add(a, b),
                    false => *sum * a + b,
                };
            }
            black_box(&mut sums);
        }
        (2 * TURNS * 64) as f64
    }
    pub fn kinds() -> Vec<(&'static str, fn() -> f64)> {
        vec![("float32", portable)]
    }
}

/// A pattern of memory traffic.
#[derive(Clone, Copy)]
enum Move {
    Read,
    Write,
    /// Two arrays in, one out.
    Triad,
}

/// Passes `again` times over `data`, with non-temporal stores if it writes and `stream` is set.
struct Pass<'a> {
    kind: Move,
    data: &'a mut [u64],
    again: usize,
    stream: bool,
}

impl Kernel for Pass<'_> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let third = self.data.len() / 3;
        for k in 0..self.again {
            match self.kind {
                Move::Read => {
                    let mut sums = [0u64; 64];
                    for run in black_box(&*self.data).chunks_exact(64) {
                        sums.iter_mut().zip(run).for_each(|(sum, x)| *sum ^= x);
                    }
                    black_box(sums);
                }
                Move::Write => {
                    black_box(&mut *self.data)
                        .chunks_exact_mut(8)
                        .for_each(|out| store::<I>(out, [k as u64; 8], self.stream));
                }
                Move::Triad => {
                    let (ab, c) = black_box(&mut *self.data).split_at_mut(2 * third);
                    let (a, b) = ab.split_at(third);
                    for ((a, b), c) in a
                        .chunks_exact(8)
                        .zip(b.chunks_exact(8))
                        .zip(c.chunks_exact_mut(8))
                    {
                        store::<I>(c, core::array::from_fn(|i| a[i] ^ b[i]), self.stream);
                    }
                }
            }
        }
    }
}

/// Writes the cache line `out`.
#[inline(always)]
fn store<I: Isa>(out: &mut [u64], line: [u64; 8], stream: bool) {
    #[cfg(target_arch = "x86_64")]
    if stream {
        use core::arch::x86_64::{__m128i, __m512i, _mm_stream_si128, _mm512_stream_si512};
        assert!(out.len() == 8 && out.as_ptr().addr().is_multiple_of(64));
        // SAFETY: a valid, aligned line by the line above; the CPU supports `I`.
        unsafe {
            if I::AVX512 {
                return _mm512_stream_si512(
                    out.as_mut_ptr().cast(),
                    core::mem::transmute::<[u64; 8], __m512i>(line),
                );
            }
            let parts = core::mem::transmute::<[u64; 8], [__m128i; 4]>(line);
            return (0..4).for_each(|k| {
                _mm_stream_si128(out.as_mut_ptr().cast::<__m128i>().add(k), parts[k])
            });
        }
    }
    let _ = stream;
    out.copy_from_slice(&line);
}

/// Bytes per second that `threads` threads move over a working set of `bytes`.
fn bandwidth(threads: usize, bytes: usize, kind: Move) -> f64 {
    let part = (bytes / 8 / threads).next_multiple_of(3 * 64); // elements of a thread
    let mut memory = flex::Bytes::new(8 * part * threads).unwrap(); // as for tensors: in huge pages
    let start = memory.get_mut().unwrap();
    // SAFETY: STORAGE1: as many bytes, initialised and aligned, whose only owner is `memory`.
    let data = unsafe { core::slice::from_raw_parts_mut(start.cast::<u64>(), part * threads) };
    data.fill(1);
    let again = (1usize << 22).div_ceil(8 * part); // makes the fork-join negligible
    let out = Out::new(data);
    let rate = |stream| {
        let seconds = seconds_of_all(threads, |t| {
            // SAFETY: each thread has its own part, and no longer uses it once `seconds_of_all`
            // returns.
            let data = unsafe { out.part(part * t..part * (t + 1)) };
            simd::call(Pass {
                kind,
                data,
                again,
                stream,
            })
        });
        (8 * part * threads * again) as f64 / seconds
    };
    if matches!(kind, Move::Read) || bytes < STREAMED {
        rate(false)
    } else {
        f64::max(rate(false), rate(true))
    }
}

fn main() {
    let threads = flex::num_threads();
    let counts = if threads > 1 {
        vec![1, threads]
    } else {
        vec![1]
    };
    let mut rows = Vec::new();
    for &count in &counts {
        for (name, run) in arithmetic::kinds() {
            let operations = run();
            let rate = operations * count as f64 / seconds_of_all(count, |_| _ = black_box(run()));
            rows.push(format!(
                r#"{{"kind": "{name}", "threads": {count}, "rate": {rate:.4e}}}"#
            ));
        }
        for bytes in (14..=28).step_by(2).map(|k| 1usize << k) {
            for (name, kind) in [
                ("read", Move::Read),
                ("write", Move::Write),
                ("triad", Move::Triad),
            ] {
                let rate = bandwidth(count, bytes, kind);
                rows.push(format!(r#"{{"kind": "{name}", "bytes": {bytes}, "threads": {count}, "rate": {rate:.4e}}}"#));
            }
        }
    }
    let empty = seconds(|| chunks(threads, LARGE, |k| _ = black_box(k)));
    rows.push(format!(
        r#"{{"kind": "fork-join", "threads": {threads}, "seconds": {empty:.3e}}}"#
    ));
    println!("[{}]", rows.join(", "));
}
