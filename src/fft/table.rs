//! Transforms of float32 whose tables are computed at compile time and lie in static memory, such
//! as flash. Nothing is allocated, and only the code for the length's factors is linked.

use super::factors::{Radices, radices};
use crate::error::{Error, Result};
use crate::kernel::fft::real::{Halves, halves, pairs};
use crate::kernel::fft::roots::root;
use crate::kernel::fft::stage::{Stage, Used, passes};
use crate::simd::lanes::Few;
use smallvec::SmallVec;

/// The factors of a length; a compile error if it has any without a pass.
const fn factors(n: usize) -> Radices {
    match radices(n) {
        Some(found) if n > 0 && used(found) < 1 << 14 => found,
        _ => panic!("the length is no product of 2, 3, 5, 7, 11 and 13"),
    }
}
/// A bit mask of the factors.
const fn used(found: Radices) -> u32 {
    let (mut mask, mut k) = (0, 0);
    while k < found.len() {
        mask |= 1 << found.get(k);
        k += 1;
    }
    mask
}
/// Writes the twiddle factors of all passes of `n` values to the front of a table.
const fn write<const N: usize>(table: &mut [[f32; 2]; N], n: usize) {
    let found = factors(n);
    let (mut groups, mut at, mut s) = (n, 0, 0);
    while s < found.len() {
        let radix = found.get(s);
        groups /= radix;
        let mut p = 1;
        while p < groups {
            let mut k = 1;
            while k < radix {
                let (re, im) = root((p * k) as u64, (radix * groups) as u64);
                table[at] = [re as f32, im as f32];
                at += 1;
                k += 1;
            }
            p += 1;
        }
        s += 1;
    }
}

/// The radices of `N`, and of half of it.
struct RadicesOf<const N: usize>;
impl<const N: usize> Used for RadicesOf<N> {
    const RADICES: u32 = used(factors(N));
}
struct HalfOf<const N: usize>;
impl<const N: usize> Used for HalfOf<N> {
    const RADICES: u32 = used(factors(N / 2));
}

/// The stages of `n` values.
fn stages(n: usize, found: Radices) -> SmallVec<[Stage; 8]> {
    let (mut groups, mut at) = (n, 0);
    let stage = |radix: usize| {
        groups /= radix;
        let factors = at;
        at += 2 * (groups - 1) * (radix - 1);
        Stage {
            radix,
            groups,
            factors,
        }
    };
    found.iter().map(stage).collect()
}

/// Transforms `n` complex numbers into `y`. The input is `x`, or if that is `None`, `y` for an even
/// number of passes and `work` for an odd one.
fn transform<U: Used>(
    n: usize,
    found: Radices,
    table: &[[f32; 2]],
    x: Option<&[f32]>,
    y: &mut [f32],
    work: &mut [f32],
) {
    let stages = stages(n, found);
    assert!(y.len() >= 2 * n && work.len() >= 2 * n && x.is_none_or(|x| x.len() >= 2 * n));
    let last = stages.last();
    assert!(last.is_none_or(|s| s.factors == 0 || s.factors <= 2 * table.len()));
    let odd = stages.len() % 2;
    let buffers = [y.as_mut_ptr(), work.as_mut_ptr()];
    let x = match x {
        Some(x) if stages.is_empty() => return y[..2 * n].copy_from_slice(&x[..2 * n]),
        Some(x) => x.as_ptr(),
        None => buffers[odd].cast_const(),
    };
    // SAFETY: STAGE1: slices of the asserted length, the passes of that length in order, and their
    // table. No pass writes where it reads: the first one writes to the buffer other than its
    // input.
    unsafe {
        let factors = table.as_ptr().cast();
        passes::<Few<f32, 1>, U>(&stages, factors, 1, x, buffers, 1 - odd);
    }
}

/// The error for a slice of another length.
#[cold]
fn wrong_length(op: &'static str, name: &str, len: usize, want: usize) -> Error {
    Error::shape(
        op,
        message!("{name} has {len} numbers, but the transform needs {want}"),
    )
}
fn check<const K: usize>(op: &'static str, lengths: [(&str, usize, usize); K]) -> Result<()> {
    for (name, len, want) in lengths {
        if len != want {
            return Err(wrong_length(op, name, len, want));
        }
    }
    Ok(())
}

/// Swaps real and imaginary parts and multiplies by `scale`.
fn swap(x: &mut [f32], scale: f32) {
    for pair in x.as_chunks_mut::<2>().0 {
        *pair = [pair[1] * scale, pair[0] * scale];
    }
}

/// The tables for transforms of `N` complex numbers in float32, made at compile time. `N` must be a
/// product of 2, 3, 5, 7, 11 and 13, else this does not compile. Complex numbers are interleaved:
/// real and imaginary part side by side.
///
/// ```
/// static TABLE: flex::fft::ComplexTable<4> = flex::fft::ComplexTable::new();
/// let x = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0];
/// let (mut y, mut work) = ([0.0; 8], [0.0; 8]);
/// TABLE.forward(&x, &mut y, &mut work)?;
/// assert_eq!(y, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0, -2.0, -2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub struct ComplexTable<const N: usize> {
    factors: [[f32; 2]; N],
}

impl<const N: usize> ComplexTable<N> {
    const RADICES: Radices = factors(N);

    /// Computes the tables, to be kept in a `static`.
    #[allow(clippy::new_without_default, reason = "a default would not be const")]
    pub const fn new() -> Self {
        _ = Self::RADICES;
        let mut factors = [[0.0; 2]; N];
        write(&mut factors, N);
        ComplexTable { factors }
    }
    /// The forward transform: `y[k]` is the sum of `x[j] exp(-2 pi i j k / N)`. All slices have `2
    /// N` numbers; the contents of `work` afterwards are unspecified.
    ///
    /// Errors if a slice has another length.
    pub fn forward(&self, x: &[f32], y: &mut [f32], work: &mut [f32]) -> Result<()> {
        let lengths = [
            ("x", x.len(), 2 * N),
            ("y", y.len(), 2 * N),
            ("work", work.len(), 2 * N),
        ];
        check("ComplexTable::forward", lengths)?;
        transform::<RadicesOf<N>>(N, Self::RADICES, &self.factors, Some(x), y, work);
        Ok(())
    }
    /// The inverse, divided by `N`. Arguments and errors are those of [`forward`](Self::forward).
    ///
    /// ```
    /// static TABLE: flex::fft::ComplexTable<2> = flex::fft::ComplexTable::new();
    /// let (mut x, mut work) = ([0.0; 4], [0.0; 4]);
    /// TABLE.inverse(&[3.0, 0.0, -1.0, 0.0], &mut x, &mut work)?;
    /// assert_eq!(x, [1.0, 0.0, 2.0, 0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn inverse(&self, x: &[f32], y: &mut [f32], work: &mut [f32]) -> Result<()> {
        let lengths = [
            ("x", x.len(), 2 * N),
            ("y", y.len(), 2 * N),
            ("work", work.len(), 2 * N),
        ];
        check("ComplexTable::inverse", lengths)?;
        let start = if Self::RADICES.len() % 2 == 0 {
            &mut *y
        } else {
            &mut *work
        };
        start.copy_from_slice(x);
        swap(start, 1.0);
        transform::<RadicesOf<N>>(N, Self::RADICES, &self.factors, None, y, work);
        swap(y, 1.0 / N as f32);
        Ok(())
    }
}

/// The tables for transforms of `N` real numbers in float32, made at compile time. `N` must be
/// even, and a product of 2, 3, 5, 7, 11 and 13, else this does not compile. The spectrum is
/// `N / 2 + 1` interleaved complex numbers.
///
/// ```
/// static TABLE: flex::fft::RealTable<4> = flex::fft::RealTable::new();
/// let (mut spectrum, mut work) = ([0.0; 6], [0.0; 4]);
/// TABLE.forward(&[1.0, 2.0, 3.0, 4.0], &mut spectrum, &mut work)?;
/// assert_eq!(spectrum, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
/// let mut x = [0.0; 4];
/// TABLE.inverse(&spectrum, &mut x, &mut work)?;
/// assert_eq!(x, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub struct RealTable<const N: usize> {
    /// The twiddle factors of the passes, then from the middle on those of [`Halves`].
    factors: [[f32; 2]; N],
}

impl<const N: usize> RealTable<N> {
    const RADICES: Radices = {
        assert!(N.is_multiple_of(2), "the length is odd");
        factors(N / 2)
    };
    const PAIRS: usize = pairs(N / 2) + 1;

    /// Computes the tables, to be kept in a `static`.
    #[allow(clippy::new_without_default, reason = "a default would not be const")]
    pub const fn new() -> Self {
        _ = Self::RADICES;
        let mut factors = [[0.0; 2]; N];
        write(&mut factors, N / 2);
        // all real parts before all imaginary ones, as a list of scalars
        let mut k = 0;
        while k < Self::PAIRS {
            let (re, im) = root(k as u64, N as u64);
            factors[N / 2 + k / 2][k % 2] = im as f32;
            let at = Self::PAIRS + k;
            factors[N / 2 + at / 2][at % 2] = -re as f32;
            k += 1;
        }
        RealTable { factors }
    }
    fn turns(&self) -> &[f32] {
        &self.factors.as_flattened()[N..N + 2 * Self::PAIRS]
    }
    /// The first half of the transform: the sums of `x[j] exp(-2 pi i j k / N)` for `k` from 0 to
    /// `N / 2`. `x` and `work` have `N` numbers, `spectrum` has `N + 2`; the contents of `work`
    /// afterwards are unspecified.
    ///
    /// Errors if a slice has another length.
    pub fn forward(&self, x: &[f32], spectrum: &mut [f32], work: &mut [f32]) -> Result<()> {
        let lengths = [
            ("x", x.len(), N),
            ("spectrum", spectrum.len(), N + 2),
            ("work", work.len(), N),
        ];
        check("RealTable::forward", lengths)?;
        transform::<HalfOf<N>>(N / 2, Self::RADICES, &self.factors, Some(x), spectrum, work);
        let (re, im) = (spectrum[0], spectrum[1]);
        spectrum[2..N].iter_mut().for_each(|v| *v *= 0.5);
        (spectrum[0], spectrum[1]) = (re + im, 0.0);
        (spectrum[N], spectrum[N + 1]) = (re - im, 0.0);
        if N.is_multiple_of(4) {
            let middle = &mut spectrum[N / 2..N / 2 + 2];
            (middle[0], middle[1]) = (2.0 * middle[0], -2.0 * middle[1]);
        }
        let y = spectrum.as_mut_ptr();
        // SAFETY: HALVES1: a slice of `N / 2 + 1` complex numbers.
        halves(unsafe { Halves::new(N / 2, y, y, self.turns(), false, 0..pairs(N / 2)) });
        Ok(())
    }
    /// The inverse, divided by `N`. The imaginary parts of the first and the last number are
    /// ignored. Arguments and errors are those of [`forward`](Self::forward).
    pub fn inverse(&self, spectrum: &[f32], x: &mut [f32], work: &mut [f32]) -> Result<()> {
        let lengths = [
            ("spectrum", spectrum.len(), N + 2),
            ("x", x.len(), N),
            ("work", work.len(), N),
        ];
        check("RealTable::inverse", lengths)?;
        let start = if Self::RADICES.len() % 2 == 0 {
            &mut *x
        } else {
            &mut *work
        };
        (start[0], start[1]) = (spectrum[0] + spectrum[N], spectrum[0] - spectrum[N]);
        if N.is_multiple_of(4) {
            (start[N / 2], start[N / 2 + 1]) = (2.0 * spectrum[N / 2], -2.0 * spectrum[N / 2 + 1]);
        }
        let (from, to) = (spectrum.as_ptr(), start.as_mut_ptr());
        // SAFETY: HALVES1: slices of `N / 2 + 1` and of `N / 2` complex numbers.
        halves(unsafe { Halves::new(N / 2, from, to, self.turns(), true, 0..pairs(N / 2)) });
        swap(start, 1.0);
        transform::<HalfOf<N>>(N / 2, Self::RADICES, &self.factors, None, x, work);
        swap(x, 1.0 / N as f32);
        Ok(())
    }
}
