//! Instruction sets: one is chosen, once, at run time. A single source serves all of them: a kernel
//! is an `#[inline(always)]` generic body, and the macro below instantiates it for each set in a
//! `#[target_feature]` trampoline. Bodies are trait methods, never closures: LLVM may outline a
//! closure, which then loses the target features and runs eight times slower.
//!
//! - [`Kernel`] with [`call`] (usually through `kernel!`): a body of any signature, dispatched at
//!   the call.
//! - [`Loop`] with [`pick`]: an elementwise loop as a plain function pointer, picked once per
//!   operation, never per row.
//!
//! Where LLVM's code falls short there are intrinsics, in a folder per architecture ([`x86`]) and,
//! for its tiles, in `kernel/gemm`. `cfg(x86_dispatch)` (build.rs) means that x86-64 sets are
//! chosen at run time: AVX2, and with `cfg(x86_avx512)` AVX-512.

mod copy;
#[cfg(x86_dispatch)]
mod detect;
pub mod lanes;
pub mod stream;
#[cfg(x86_dispatch)]
pub mod x86;

pub use copy::{copy_once, copy_run};

#[cfg(feature = "std")]
use crate::environment::{Setting, setting};
use lanes::{Few, Lanes};

/// An instruction set as kernels see it: capabilities, by which they choose `std::arch` bodies.
///
/// # Safety
/// Bodies use the instructions of a capability without checking for them: a set is instantiated
/// only if the CPU has them, which callers of the functions made for it ensure (ISA1). Code that is
/// generic over this trait may rely on that.
pub unsafe trait Isa: Copy + Send + Sync + 'static {
    /// Whether a fused multiply-add is one instruction. Without it `mul_add` is a library call and
    /// 20 times slower.
    const FMA: bool;
    /// Whether code is to be small rather than fast, with loops left rolled: of the base set where
    /// others are chosen at run time, which few CPUs still need, and of modules that are downloaded.
    const SMALL: bool = false;
    /// 16-byte vectors of x86-64.
    const SSE2: bool = cfg!(target_arch = "x86_64");
    /// 32-byte vectors, with F16C and BMI.
    const AVX2: bool = false;
    /// 64-byte vectors and masks: AVX-512 F, BW, DQ, VL, CD.
    const AVX512: bool = false;
    /// Explicit vectors of float32, for loops that LLVM doesn't vectorise.
    type F32: Lanes<Number = f32>;
    /// Explicit vectors of float64.
    type F64: Lanes<Number = f64>;
}

/// The sets that kernels are dispatched to, in ascending order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What the target always has: SSE2 on x86-64, NEON on aarch64, simd128 where compiled in, else
    /// scalar code.
    Base = 0,
    /// x86-64-v3: AVX2, FMA, F16C, BMI.
    Avx2 = 1,
    /// x86-64-v4: AVX-512 F, BW, DQ, VL, CD.
    Avx512 = 2,
}

/// Whether the target is a microcontroller without vectors: kernels with several variants for speed
/// use the smallest one there.
pub const MICROCONTROLLER: bool = cfg!(all(
    not(feature = "std"),
    target_os = "none",
    not(any(target_feature = "neon", target_feature = "sse2"))
));

/// Whether the target is WebAssembly without vectors. Modules are downloaded, so unrolled loops are
/// not worth their size there.
pub const SCALAR_WEB: bool = cfg!(all(target_family = "wasm", not(target_feature = "simd128")));

/// The lanes of the sets that all targets of an architecture have: `lanes`; 1 without vectors, and
/// where other sets are chosen at run time, since vectors written out are large and few CPUs are left
/// with the base set ([`Isa::SMALL`]).
const fn baseline_lanes(lanes: usize) -> usize {
    if MICROCONTROLLER || SCALAR_WEB || cfg!(x86_dispatch) {
        1
    } else {
        lanes
    }
}

/// Whether there is memory for cache-sized blocks of matrices.
pub const CACHE_BLOCKING: bool = cfg!(any(feature = "std", target_family = "wasm"));

/// A computation over slices with any signature. Written by the `kernel!` macro.
pub trait Kernel {
    /// Its result.
    type Out;
    /// The body; `#[inline(always)]`.
    fn run<I: Isa>(self) -> Self::Out;
}

/// The signature of all elementwise loops: result, up to three operands, length, and a mask whose
/// bit `k` says that operand `k` is a single value rather than `n` elements.
///
/// # Safety
/// Contract (LOOP1): the result has `n` elements; each operand has `n` elements if its bit in the
/// mask is clear, else one; all have the types the loop was made for, are aligned, and operands are
/// initialised; the result overlaps no operand.
pub type LoopFn = unsafe fn(*mut u8, *const u8, *const u8, *const u8, usize, u32);

/// An elementwise loop.
pub trait Loop {
    /// The body; `#[inline(always)]`.
    ///
    /// # Safety
    /// LOOP1, see [`LoopFn`].
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        b: *const u8,
        c: *const u8,
        n: usize,
        scalars: u32,
    );
}

macro_rules! isas {
    ($($(#[$cfg:meta])* $module:ident [$($features:literal)?] { $($CAPABILITY:ident = $has:expr),* } ($F32:ty, $F64:ty);)*) => { $(
        $(#[$cfg])*
        mod $module {
            use super::*;
            #[derive(Clone, Copy)]
            pub struct Set;
            // SAFETY: private to this module, and used only by the two methods below, whose
            // callers ensure ISA1.
            unsafe impl Isa for Set {
                $(const $CAPABILITY: bool = $has;)*
                type F32 = $F32;
                type F64 = $F64;
            }
            /// Trampolines are methods of the kernels, whose module rustc compiles them with: free
            /// functions would make a set's kernels one unit, which two cores don't share and the
            /// smallest edit compiles anew.
            pub trait Call: Kernel + Sized {
                /// # Safety
                /// The CPU has this set (ISA1).
                unsafe fn call(self) -> Self::Out;
            }
            impl<K: Kernel> Call for K {
                // the base set rarely runs, so it is not inlined into every caller beside the others
                #[cfg_attr(x86_dispatch, inline(never))]
                $(#[target_feature(enable = $features)])?
                unsafe fn call(self) -> K::Out { self.run::<Set>() }
            }
            /// As [`Call`].
            #[allow(dead_code, reason = "VNNI and BF16 serve products alone")]
            pub trait Elementwise: Loop {
                /// # Safety
                /// The CPU has this set (ISA1); LOOP1.
                unsafe fn elementwise(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize, scalars: u32);
            }
            impl<L: Loop> Elementwise for L {
                $(#[target_feature(enable = $features)])?
                unsafe fn elementwise(d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize, scalars: u32) {
                    // SAFETY: LOOP1, by the caller's promise, is all that a loop asks for.
                    unsafe { L::run::<Set>(d, a, b, c, n, scalars) }
                }
            }
        }
    )* };
}
isas! {
    base [] { FMA = cfg!(all(feature = "std", any(target_feature = "fma", target_arch = "aarch64"))), SMALL = cfg!(any(x86_dispatch, target_family = "wasm")) } (Few<f32, { baseline_lanes(4) }>, Few<f64, { baseline_lanes(2) }>);
    #[cfg(x86_dispatch)]
    avx2 ["avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,movbe"] { FMA = true, AVX2 = true } (x86::lanes::F32x8, x86::lanes::F64x4);
    #[cfg(x86_avx512)]
    avx512 ["avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,movbe"] { FMA = true, AVX2 = true, AVX512 = true } (x86::lanes::F32x16, x86::lanes::F64x8);
    #[cfg(x86_avx512)]
    vnni ["avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,movbe"] { FMA = true, AVX2 = true, AVX512 = true } (x86::lanes::F32x16, x86::lanes::F64x8);
    #[cfg(x86_dispatch)]
    avx_vnni ["avxvnni,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,movbe"] { FMA = true, AVX2 = true } (x86::lanes::F32x8, x86::lanes::F64x4);
    #[cfg(x86_bf16)]
    bf16 ["avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,movbe"] { FMA = true, AVX2 = true, AVX512 = true } (x86::lanes::F32x16, x86::lanes::F64x8);
}

/// The set of code that gives the same bits on every machine: it multiplies and adds with two
/// roundings, whichever set the kernel around it is compiled for.
#[derive(Clone, Copy)]
pub struct Portable;
// SAFETY: ISA1: it has no capability.
unsafe impl Isa for Portable {
    const FMA: bool = false;
    const SSE2: bool = false;
    type F32 = Few<f32, 1>;
    type F64 = Few<f64, 1>;
}

/// Whether products of bfloat16 are best computed by an instruction for them, beside the dispatched
/// set: that of AMX, or that of AVX-512 where it is twice as fast as widening and multiply-adds,
/// which it is not on Intel's cores.
#[cfg(x86_bf16)]
#[inline]
pub fn has_bf16() -> bool {
    let has_avx512_bf16 = || std::arch::is_x86_feature_detected!("avx512bf16") && !is_intel();
    has_amx() || level() == Level::Avx512 && has_avx512_bf16()
}
/// Runs a kernel on AVX-512 with BF16.
///
/// # Safety
/// [`has_bf16`] without [`has_amx`].
#[cfg(x86_bf16)]
#[inline(always)]
pub unsafe fn call_bf16<K: Kernel>(k: K) -> K::Out {
    // SAFETY: ISA1, by the caller's promise.
    unsafe { bf16::Call::call(k) }
}

/// Whether the CPU also has VNNI for the vectors of the dispatched set: dot products of bytes.
#[cfg(x86_dispatch)]
#[inline]
pub fn has_vnni() -> bool {
    match level() {
        Level::Avx512 => std::arch::is_x86_feature_detected!("avx512vnni"),
        Level::Avx2 => std::arch::is_x86_feature_detected!("avxvnni"),
        Level::Base => false,
    }
}
/// Runs a kernel with AVX-512 or AVX2, plus VNNI.
///
/// # Safety
/// [`has_vnni`] holds for the set.
#[cfg(x86_dispatch)]
#[inline(always)]
pub unsafe fn call_vnni<I: Isa, K: Kernel>(k: K) -> K::Out {
    // SAFETY: ISA1, by the caller's promise.
    unsafe {
        #[cfg(x86_avx512)]
        if const { I::AVX512 } {
            return vnni::Call::call(k);
        }
        avx_vnni::Call::call(k)
    }
}

/// The most that kernels may use: a level, and whether AMX beside the last one.
#[cfg(feature = "std")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit(Level, bool);

/// The limit set by `FLEX_ISA`.
#[cfg(feature = "std")]
pub fn requested() -> Setting<Limit> {
    setting("FLEX_ISA", "scalar, avx2, avx512 or amx", |v| match v {
        "scalar" | "base" | "sse" | "sse2" => Some(Limit(Level::Base, false)),
        "avx2" => Some(Limit(Level::Avx2, false)),
        "avx512" => Some(Limit(Level::Avx512, false)),
        "amx" => Some(Limit(Level::Avx512, true)),
        _ => None,
    })
}

/// The set that kernels run on: the CPU's best of those that the features `avx2` and `avx512`
/// compile, or a lesser one given by `FLEX_ISA` (`scalar`, `avx2`, `avx512`, `amx`); other values
/// are ignored ([`crate::ignored_settings`]).
///
/// ```
/// println!("{:?}", flex::simd::level());
/// ```
#[inline(always)]
pub fn level() -> Level {
    #[cfg(x86_dispatch)]
    return detect::level();
    #[cfg(not(x86_dispatch))]
    Level::Base
}

/// Whether the chosen set's code is small rather than fast ([`Isa::SMALL`]).
#[inline(always)]
pub fn is_small() -> bool {
    base::Set::SMALL && level() == Level::Base
}

/// Whether AMX's tile registers multiply bfloat16 and bytes, beside AVX-512: the CPU has them, and
/// the operating system granted them to the process.
#[inline(always)]
pub fn has_amx() -> bool {
    #[cfg(x86_dispatch)]
    return detect::has_amx();
    #[cfg(not(x86_dispatch))]
    false
}

/// Whether the CPU is Intel's, for choices that depend on the vendor.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub fn is_intel() -> bool {
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
    static INTEL: AtomicU8 = AtomicU8::new(u8::MAX);
    #[cold]
    fn ask() -> u8 {
        let name = core::arch::x86_64::__cpuid(0);
        let intel = [name.ebx, name.edx, name.ecx]
            .map(u32::to_le_bytes)
            .concat()
            == b"GenuineIntel";
        INTEL.store(intel as u8, Relaxed);
        intel as u8
    }
    let known = INTEL.load(Relaxed);
    (if known > 1 { ask() } else { known }) == 1
}

/// The name of the chosen set, as in `FLEX_ISA`.
pub fn name() -> &'static str {
    match level() {
        Level::Avx512 if has_amx() => "amx",
        Level::Avx512 => "avx512",
        Level::Avx2 => "avx2",
        Level::Base if cfg!(target_arch = "x86_64") => "sse2",
        Level::Base if cfg!(target_arch = "aarch64") => "neon",
        Level::Base if cfg!(target_feature = "simd128") => "simd128",
        Level::Base => "scalar",
    }
}

/// Runs a kernel on the chosen set.
#[inline(always)]
pub fn call<K: Kernel>(k: K) -> K::Out {
    // SAFETY: ISA1; the base set is the target's own.
    unsafe {
        #[cfg(x86_dispatch)]
        match level() {
            #[cfg(x86_avx512)]
            Level::Avx512 => return avx512::Call::call(k),
            Level::Avx2 => return avx2::Call::call(k),
            _ => {}
        }
        base::Call::call(k)
    }
}

/// A loop, instantiated for the chosen set.
#[inline(always)]
pub fn pick<L: Loop>() -> LoopFn {
    #[cfg(x86_dispatch)]
    match level() {
        #[cfg(x86_avx512)]
        Level::Avx512 => return <L as avx512::Elementwise>::elementwise,
        Level::Avx2 => return <L as avx2::Elementwise>::elementwise,
        _ => {}
    }
    <L as base::Elementwise>::elementwise
}

/// Within a loop over elements, keeps LLVM from unrolling it where code is to be small
/// ([`Isa::SMALL`]), and from vectorising it too, but for elements of 4 bytes, those of float32,
/// whose vectors gain most.
#[inline(always)]
pub fn rolled<I: Isa, T>() {
    #[cfg(x86_dispatch)]
    if I::SMALL && size_of::<T>() != 4 {
        // SAFETY: no instruction; as far as LLVM knows, one that must run once in each iteration.
        unsafe { core::arch::asm!("", options(nomem, nostack, preserves_flags)) }
    }
}

/// [`rolled`] for elements of the type of this one.
#[inline(always)]
pub fn rolled_of<I: Isa, T>(_: T) {
    rolled::<I, T>();
}

/// The numbers of so many chunks, without the compiler knowing them: it would vectorise across chunks,
/// of which there are one or a few, and not within.
#[inline(always)]
pub fn one_by_one(chunks: usize) -> impl Iterator<Item = usize> {
    (0..chunks).map(core::hint::black_box)
}

/// The cache levels that [`prefetch`] targets.
pub const L1: i32 = 3; // _MM_HINT_T0
/// The second level.
pub const L2: i32 = 2; // _MM_HINT_T1

/// Prefetches an address, which need not be readable, into a cache.
#[inline(always)]
pub fn prefetch<const CACHE: i32, T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which cannot fault; SSE is part of the target.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<CACHE>(p.cast())
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// Prefetches the cache lines of `n` elements into a cache.
#[inline(always)]
pub fn prefetch_run<const CACHE: i32, T>(p: *const T, n: usize) {
    const LINE: usize = 64;
    for at in (0..n * size_of::<T>()).step_by(LINE) {
        prefetch::<CACHE, _>(p.wrapping_byte_add(at));
    }
}

/// `a * b + c`, fused if that is one instruction.
#[inline(always)]
pub fn fma32<I: Isa>(a: f32, b: f32, c: f32) -> f32 {
    #[cfg(feature = "std")]
    if I::FMA {
        return a.mul_add(b, c);
    }
    a * b + c
}
/// `a * b + c`, fused if that is one instruction.
#[inline(always)]
pub fn fma64<I: Isa>(a: f64, b: f64, c: f64) -> f64 {
    #[cfg(feature = "std")]
    if I::FMA {
        return a.mul_add(b, c);
    }
    a * b + c
}

/// `kernel! { pub fn name<'a, T: Bound>(x: &'a [T], y: &'a mut [T]) -> Out { |I| body } }`: one
/// body for all instruction sets, with `I` as the set. The lifetime parameter is required; bounds
/// are single paths.
macro_rules! kernel {
    ($(#[$m:meta])* $v:vis fn $name:ident<$l:lifetime $(, $g:ident: $bound:path)*>($($a:ident: $t:ty),* $(,)?) -> $out:ty { |$I:ident| $($body:tt)* }) => {
        $(#[$m])*
        $v fn $name<$l $(, $g: $bound + 'static)*>($($a: $t),*) -> $out {
            struct K<$l $(, $g: $bound + 'static)*>($($t,)* core::marker::PhantomData<(&$l (), $($g,)*)>);
            impl<$l $(, $g: $bound + 'static)*> $crate::simd::Kernel for K<$l $(, $g)*> {
                type Out = $out;
                #[inline(always)]
                fn run<$I: $crate::simd::Isa>(self) -> $out { let K($($a,)* _) = self; $($body)* }
            }
            $crate::simd::call(K::<$($g),*>($($a,)* core::marker::PhantomData))
        }
    };
}
