//! Tiles of AMX (Intel, "Architecture Instruction Set Extensions", chapter 3): eight registers of
//! 16 rows of 64 bytes, and an instruction that multiplies two of them: 16 by 16 sums of 16 steps
//! each. Per cycle that is 16 times the multiply-adds of float32 vectors for bfloat16, and 8 times
//! those of VNNI for bytes.
//!
//! Panels are those of the vector tiles, since a row of 16 lanes is a row of a register. A block of
//! sums is two by two registers:
//!
//! ```text
//! for the sum in parts                        of B, which stay in L2
//!   for 32 rows of A at a time                in place if its steps are adjacent, else transposed
//!     for two vectors of the panel at a time
//!       for 16 steps: load 2 + 2 registers, multiply 4 times
//! ```
//!
//! The instructions are written in assembly, as Rust has none for them yet.

use super::job::PanelJob;
use super::packed::Packed;
use crate::simd::x86::transpose::transpose_16x16;
use core::arch::asm;
use core::mem::MaybeUninit;

/// The fewest rows of bytes for which tile registers are faster than VNNI: with fewer, most of what
/// they compute is not used.
pub const FEWEST_ROWS: usize = 4;
/// Rows of a register, its lanes, and the steps that an instruction multiplies.
const TILE: usize = 16;
/// Rows of a block.
const ROWS: usize = 2 * TILE;
/// Steps of a part of the sum: sums are loaded and stored once for each.
const PART: usize = 512;
/// Steps of such a part where A is transposed first, to 16 KiB.
const TRANSPOSED: usize = 128;

/// Bytes of a lane.
const LANE: isize = 4;

/// Room for rows of a part of A or B, which don't cross cache lines.
#[repr(align(64))]
struct Rows<const W: usize>(MaybeUninit<[[u32; W]; ROWS]>);
impl<const W: usize> Rows<W> {
    fn new() -> Self {
        Rows(MaybeUninit::uninit())
    }
    fn at(&mut self, row: usize, step: usize) -> *mut u32 {
        (self.0.as_mut_ptr() as *mut u32).wrapping_add(row * W + step)
    }
}

/// What registers hold, as LDTILECFG reads it.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}
/// Registers of sums, of A and of B: `SUMS + 2 * i + j` is row `i` and column `j`.
const SUMS: usize = 0;
const A: usize = 4;
const B: usize = 6;
impl Config {
    /// Registers for blocks of this many rows.
    fn of(rows: usize) -> Config {
        let (first, second) = (rows.min(TILE), rows.saturating_sub(TILE));
        let mut config = Config {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            row_bytes: [0; 16],
            rows: [0; 16],
        };
        let mut set = |register: usize, rows: usize| {
            config.rows[register] = rows as u8;
            config.row_bytes[register] = if rows > 0 { 4 * TILE as u16 } else { 0 };
        };
        for (i, rows) in [first, second].into_iter().enumerate() {
            set(SUMS + 2 * i, rows);
            set(SUMS + 2 * i + 1, rows);
            set(A + i, rows);
            set(B + i, TILE);
        }
        config
    }
    /// # Safety
    /// The process may use AMX ([`has_amx`](crate::simd::has_amx)).
    unsafe fn load(&self) {
        // SAFETY: the caller's promise; a valid configuration of palette 1.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) self, options(nostack, readonly, preserves_flags))
        };
    }
}

/// A packed type that registers multiply.
pub trait Tiled: Packed {
    /// Its instruction.
    const MULTIPLY: Multiply;
}
/// The instructions that multiply registers: A's elements, B's elements.
#[derive(Clone, Copy)]
pub enum Multiply {
    /// bfloat16, TDPBF16PS.
    #[cfg(feature = "half")]
    Bf16 = 0,
    /// Signed bytes, unsigned bytes: TDPBSUD.
    SignedUnsigned = 1,
    /// Unsigned bytes, signed bytes: TDPBUSD.
    UnsignedSigned = 2,
}

/// The instruction `MULTIPLY` with these registers.
macro_rules! multiply {
    ($registers:literal) => {
        concat!(
            ".if {MULTIPLY} == 0; tdpbf16ps ",
            $registers,
            "; .elseif {MULTIPLY} == 1; tdpbsud ",
            $registers,
            "; .else; tdpbusd ",
            $registers,
            "; .endif"
        )
    };
}

/// `o (+)= a b` for a block of `R` by `V` registers of sums.
#[derive(Clone, Copy)]
struct Block {
    /// Addresses, and strides in bytes.
    a: *const u8,
    row: isize,
    b: *const u8,
    step: isize,
    o: *mut u8,
    ldo: isize,
    /// Sixteenths of the steps.
    passes: usize,
    accumulate: bool,
}
impl Block {
    /// # Safety
    /// Registers are configured for the block's rows, and A, B and the sums are readable and
    /// writable for those, for `passes * 16` steps and for `V` vectors.
    #[inline(always)]
    unsafe fn compute<T: Tiled, const R: usize, const V: usize>(self) {
        // SAFETY: the caller's promise. The compiler itself uses no registers of AMX.
        unsafe {
            asm!(
                "test {accumulate:e}, {accumulate:e}",
                "jnz 2f",
                "tilezero tmm0",
                ".if {V} > 1; tilezero tmm1; .endif",
                ".if {R} > 1; tilezero tmm2; .endif",
                ".if {R} * {V} > 3; tilezero tmm3; .endif",
                "jmp 3f",
                "2:",
                "tileloadd tmm0, [{o} + {ldo}]",
                ".if {V} > 1; tileloadd tmm1, [{o} + {ldo} + 64]; .endif",
                ".if {R} > 1; tileloadd tmm2, [{lower_o} + {ldo}]; .endif",
                ".if {R} * {V} > 3; tileloadd tmm3, [{lower_o} + {ldo} + 64]; .endif",
                "3:",
                "test {passes}, {passes}",
                "jz 5f",
                "4:",
                "tileloadd tmm4, [{a} + {row}]",
                "tileloadd tmm6, [{b} + {step}]",
                multiply!("tmm0, tmm4, tmm6"),
                ".if {V} > 1",
                "tileloadd tmm7, [{b} + {step} + 64]",
                multiply!("tmm1, tmm4, tmm7"),
                ".endif",
                ".if {R} > 1",
                "tileloadd tmm5, [{lower_a} + {row}]",
                multiply!("tmm2, tmm5, tmm6"),
                ".endif",
                ".if {R} * {V} > 3",
                multiply!("tmm3, tmm5, tmm7"),
                ".endif",
                "add {a}, 64",
                "add {lower_a}, 64",
                "add {b}, {pass}",
                "dec {passes}",
                "jnz 4b",
                "5:",
                "tilestored [{o} + {ldo}], tmm0",
                ".if {V} > 1; tilestored [{o} + {ldo} + 64], tmm1; .endif",
                ".if {R} > 1; tilestored [{lower_o} + {ldo}], tmm2; .endif",
                ".if {R} * {V} > 3; tilestored [{lower_o} + {ldo} + 64], tmm3; .endif",
                MULTIPLY = const T::MULTIPLY as usize,
                R = const R,
                V = const V,
                accumulate = in(reg) self.accumulate as u32,
                passes = inout(reg) self.passes => _,
                a = inout(reg) self.a => _,
                lower_a = inout(reg) self.a.wrapping_offset(TILE as isize * self.row) => _,
                row = in(reg) self.row,
                b = inout(reg) self.b => _,
                step = in(reg) self.step,
                pass = in(reg) TILE as isize * self.step,
                o = in(reg) self.o,
                lower_o = in(reg) self.o.wrapping_offset(TILE as isize * self.ldo),
                ldo = in(reg) self.ldo,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            )
        }
    }
}

/// Multiplies all rows by the panel.
///
/// # Safety
/// TILE1, and the process may use AMX.
#[inline(never)]
pub unsafe fn panel<T: Tiled>(s: PanelJob<T>) {
    const { assert!(size_of::<T>() == LANE as usize) };
    let (row, step) = s.a.strides.expect("A in rows");
    let part = if step == 1 { PART } else { TRANSPOSED };
    let mut rows_of_a = Rows::<TRANSPOSED>::new();
    let mut rest_of_b = Rows::<{ 4 * TILE }>::new();
    let mut configured = 0;
    // an empty sum has one part
    for p in (0..s.k.max(1)).step_by(part) {
        let steps = part.min(s.k - p);
        let (whole, rest) = (steps / TILE * TILE, steps % TILE);
        let b = s.b.wrapping_offset(p as isize * s.ldb) as *const u32;
        if rest > 0 {
            let from = b.wrapping_offset(whole as isize * s.ldb);
            // SAFETY: TILE1: these steps of B.
            unsafe { copy(from, [s.ldb, 1], [rest, s.vectors * TILE], &mut rest_of_b) };
        }
        for i in (0..s.rows).step_by(ROWS) {
            let rows = ROWS.min(s.rows - i);
            let mut a = s.a.at.wrapping_offset(i as isize * row + p as isize * step) as *const u32;
            let mut ld = row;
            // SAFETY: TILE1: these rows and steps of A.
            unsafe {
                if step != 1 {
                    copy(a, [row, step], [rows, steps], &mut rows_of_a);
                    (a, ld) = (rows_of_a.at(0, 0), TRANSPOSED as isize);
                } else if rest > 0 {
                    copy(
                        a.wrapping_add(whole),
                        [row, 1],
                        [rows, rest],
                        &mut rows_of_a,
                    );
                }
            };
            let rest_of_a = rows_of_a.at(0, if step == 1 { 0 } else { whole });
            let o = s.o.wrapping_offset(i as isize * s.ldo);
            let mut accumulate = s.accumulate || p > 0;
            if !accumulate && !s.starts.is_null() {
                accumulate = true;
                for r in 0..rows {
                    let o = o.wrapping_offset(r as isize * s.ldo);
                    // SAFETY: TILE1: a start for each row, and the row's sums.
                    unsafe { (0..s.vectors * TILE).for_each(|v| *o.add(v) = *s.starts.add(i + r)) };
                }
            }
            if configured != rows {
                configured = rows;
                // SAFETY: the caller's promise.
                unsafe { Config::of(rows).load() };
            }
            for j in (0..s.vectors).step_by(2) {
                let block = Block {
                    a: a.cast(),
                    row: LANE * ld,
                    b: b.wrapping_add(j * TILE).cast(),
                    step: LANE * s.ldb,
                    passes: whole / TILE,
                    o: o.wrapping_add(j * TILE).cast(),
                    ldo: LANE * s.ldo,
                    accumulate,
                };
                let rest = (rest > 0).then(|| Block {
                    a: rest_of_a.cast(),
                    row: LANE * TRANSPOSED as isize,
                    b: rest_of_b.at(0, j * TILE).cast(),
                    step: LANE * 4 * TILE as isize,
                    passes: 1,
                    accumulate: true,
                    ..block
                });
                for block in [Some(block), rest].into_iter().flatten() {
                    // SAFETY: registers for these rows; then TILE1 for them, these vectors, and
                    // whole passes: those of the rest read zeros beyond the steps.
                    unsafe {
                        match (rows > TILE, s.vectors > 1) {
                            (true, true) => block.compute::<T, 2, 2>(),
                            (true, false) => block.compute::<T, 2, 1>(),
                            (false, true) => block.compute::<T, 1, 2>(),
                            (false, false) => block.compute::<T, 1, 1>(),
                        }
                    };
                }
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
}

/// Copies rows at any strides to rows that registers load: adjacent steps, and zeros up to whole
/// registers.
///
/// # Safety
/// `from` holds these rows and steps; elements need not be aligned.
unsafe fn copy<const W: usize>(
    from: *const u32,
    [row, step]: [isize; 2],
    [rows, steps]: [usize; 2],
    to: &mut Rows<W>,
) {
    let at = |r: usize, q: usize| from.wrapping_offset(r as isize * row + q as isize * step);
    for i in (0..rows).step_by(TILE) {
        for p in (0..steps).step_by(TILE) {
            let (height, width) = (TILE.min(rows - i), TILE.min(steps - p));
            let to = to.at(i, p);
            // SAFETY: the caller's promise; BLOCK1: a register's rows and steps of both, and there
            // is AVX-512 beside AMX.
            unsafe {
                if row == 1 && height == TILE && width == TILE {
                    transpose_16x16(at(i, p), LANE * step, to, LANE * W as isize);
                    continue;
                }
                for r in 0..TILE {
                    for q in 0..TILE {
                        let inside = r < height && q < width;
                        let x = if inside {
                            at(i + r, p + q).read_unaligned()
                        } else {
                            0
                        };
                        *to.add(r * W + q) = x;
                    }
                }
            }
        }
    }
}
