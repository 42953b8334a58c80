//! Winograd's minimal filtering along an axis, lane by lane: a lane is a channel.
//!
//! `F(m, r)`: `m` results of a kernel of `r` taps from `m + r - 1` elements, by as many products,
//! `Y = A^T [(G g) * (B^T d)]`. The matrices follow from the interpolation points (Toom and Cook;
//! Winograd, "Arithmetic Complexity of Computations", 1980), which are 0, infinity and pairs `+-p`.
//! With `N(x)` the product of `x - q` over all finite points q but x, and n the number of products:
//! rows of `A^T` are powers of the points, rows of `G` powers divided by `N`, rows of `B^T` the
//! coefficients of `N`; the last row of `G` and the last column of `A^T` are unit vectors.
//!
//! `IN` is the number of elements of a tile, which says all: 4 is F(2, 3), 6 is F(4, 3), 8 is F(4,
//! 5), and 1 is no kernel along the axis, one result of one element.

use super::ALL_TILES;
use crate::kernel::gemm::Packed;
use crate::kernel::math::Real;
use crate::simd::Isa;
use core::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// The most taps along an axis.
pub const TAPS: usize = if ALL_TILES { 5 } else { 3 };
/// The most results of a tile along an axis.
pub const OUT: usize = 4;

/// Taps along an axis, for tiles of so many elements.
pub const fn taps_of(elements: usize) -> usize {
    elements - results_in(elements) + 1
}
/// Results of a tile along an axis, for tiles of so many elements.
pub const fn results_in(elements: usize) -> usize {
    match elements {
        1 => 1,
        4 => 2,
        _ => OUT,
    }
}

/// The most pairs of points.
const PAIRS: usize = 3;

/// The points of tiles of `IN` elements, and what follows from them.
struct Points<const IN: usize>;
impl<const IN: usize> Points<IN> {
    /// The positive point of each pair, and its square, which is exact. Those of F(4, 3) have a
    /// quarter of the rounding errors of the usual 1 and 2.
    const PAIRS: &'static [[f64; 2]] = match IN {
        1 => &[],
        4 => &[[1.0, 1.0]],
        6 => &[[FRAC_1_SQRT_2, 0.5], [SQRT_2, 2.0]],
        8 => &[[0.5, 0.25], [1.0, 1.0], [2.0, 4.0]],
        _ => panic!("no points for tiles of this size"),
    };
    const _FITS: () = assert!(Self::PAIRS.len() <= PAIRS);
    /// The coefficients of the product of `x^2 - p^2` over all pairs, those of even powers.
    const ALL: [f64; PAIRS + 1] = Self::polynomial(PAIRS);
    /// The same without one pair.
    const WITHOUT: [[f64; PAIRS + 1]; PAIRS] = [
        Self::polynomial(0),
        Self::polynomial(1),
        Self::polynomial(2),
    ];
    /// `N` of 0, and of each pair.
    const AT_ZERO: f64 = Self::value(PAIRS, 0.0);
    const AT: [f64; PAIRS] = [Self::at(0), Self::at(1), Self::at(2)];

    const fn polynomial(without: usize) -> [f64; PAIRS + 1] {
        let mut c = [1.0, 0.0, 0.0, 0.0];
        let (mut k, mut degree) = (0, 0);
        while k < Self::PAIRS.len() {
            if k != without {
                degree += 1;
                let mut i = degree;
                while i > 0 {
                    c[i] = c[i - 1]
                        - if i < degree {
                            Self::PAIRS[k][1] * c[i]
                        } else {
                            0.0
                        };
                    i -= 1;
                }
                c[0] *= -Self::PAIRS[k][1];
            }
            k += 1;
        }
        c
    }
    /// The product of `square - p^2` over all pairs but one.
    const fn value(without: usize, square: f64) -> f64 {
        let (mut k, mut product) = (0, 1.0);
        while k < Self::PAIRS.len() {
            if k != without {
                product *= square - Self::PAIRS[k][1];
            }
            k += 1;
        }
        product
    }
    const fn at(k: usize) -> f64 {
        if k < Self::PAIRS.len() {
            2.0 * Self::PAIRS[k][1] * Self::value(k, Self::PAIRS[k][1])
        } else {
            1.0
        }
    }
}

/// `c[0] x[first] + c[1] x[first + 2] + ..`, of so many terms, of which the last coefficient is 1.
#[inline(always)]
fn every_second<I: Isa, F: Real + Packed, const N: usize>(
    x: &[F; N],
    first: usize,
    terms: usize,
    c: &[f64; PAIRS + 1],
) -> F {
    let mut sum = x[first + 2 * (terms - 1)];
    for i in (0..terms - 1).rev() {
        let (c, x) = (c[i], x[first + 2 * i]);
        sum = if c == 1.0 {
            x + sum
        } else {
            F::mul_add::<I>(F::from_f64(c), x, sum)
        };
    }
    sum
}

/// `B^T d`, lane by lane.
#[inline(always)]
pub fn elements_of<I: Isa, F: Real + Packed, const L: usize, const IN: usize>(
    d: &[[F; L]; IN],
) -> [[F; L]; IN] {
    if IN == 1 {
        return *d;
    }
    let pairs = Points::<IN>::PAIRS;
    let mut t = [[F::ZERO; L]; IN];
    for l in 0..L {
        let mut x = [F::ZERO; IN];
        for j in 0..IN {
            x[j] = d[j][l];
        }
        t[0][l] = every_second::<I, F, IN>(&x, 0, pairs.len() + 1, &Points::<IN>::ALL);
        t[IN - 1][l] = every_second::<I, F, IN>(&x, 1, pairs.len() + 1, &Points::<IN>::ALL);
        for k in 0..pairs.len() {
            let c = &Points::<IN>::WITHOUT[k];
            let even = every_second::<I, F, IN>(&x, 2, pairs.len(), c);
            let odd = every_second::<I, F, IN>(&x, 1, pairs.len(), c);
            let p = F::from_f64(pairs[k][0]);
            t[1 + 2 * k][l] = F::mul_add::<I>(p, odd, even);
            t[2 + 2 * k][l] = F::mul_add::<I>(-p, odd, even);
        }
    }
    t
}

/// `A^T m`, lane by lane; zeros after the results that there are.
#[inline(always)]
pub fn results_of<I: Isa, F: Real + Packed, const L: usize, const IN: usize>(
    m: &[[F; L]; IN],
) -> [[F; L]; OUT] {
    let mut y = [[F::ZERO; L]; OUT];
    y[0] = m[0];
    if IN == 1 {
        return y;
    }
    let (pairs, count) = (Points::<IN>::PAIRS, const { results_in(IN) });
    y[count - 1] = m[IN - 1];
    for l in 0..L {
        for k in 0..pairs.len() {
            let [p, square] = pairs[k];
            let (a, b) = (m[1 + 2 * k][l], m[2 + 2 * k][l]);
            let (sum, difference) = (a + b, a - b);
            y[0][l] = y[0][l] + sum;
            y[1][l] = F::mul_add::<I>(F::from_f64(p), difference, y[1][l]);
            if count > 2 {
                y[2][l] = F::mul_add::<I>(F::from_f64(square), sum, y[2][l]);
                y[3][l] = F::mul_add::<I>(F::from_f64(p * square), difference, y[3][l]);
            }
        }
    }
    y
}

/// `G g`, lane by lane, of the taps of the axis, for elements of type `F`. Dividing by constants
/// takes most of the time, but float64 has no bits to spare for the rounding of their inverses.
#[inline(always)]
pub fn weights_of<F, const L: usize, const IN: usize>(g: &[[f64; L]; TAPS]) -> [[f64; L]; IN] {
    let mut t = [[0.0; L]; IN];
    t[0] = g[0];
    if IN == 1 {
        return t;
    }
    let (pairs, taps) = (Points::<IN>::PAIRS, taps_of(IN));
    t[IN - 1] = g[taps - 1];
    for l in 0..L {
        t[0][l] = over::<F>(g[0][l], Points::<IN>::AT_ZERO);
        for k in 0..pairs.len() {
            let [p, square] = pairs[k];
            // Horner's rule; there is an odd number of taps
            let mut even = g[taps - 1][l];
            let mut odd = g[taps - 2][l];
            for i in (0..taps / 2).rev() {
                even = square * even + g[2 * i][l];
            }
            for i in (0..taps / 2 - 1).rev() {
                odd = square * odd + g[2 * i + 1][l];
            }
            let even = over::<F>(even, Points::<IN>::AT[k]);
            let odd = over::<F>(p * odd, Points::<IN>::AT[k]);
            t[1 + 2 * k][l] = even + odd;
            t[2 + 2 * k][l] = even - odd;
        }
    }
    t
}
#[inline(always)]
fn over<F>(x: f64, by: f64) -> f64 {
    if by == 1.0 {
        x
    } else if const { size_of::<F>() == size_of::<f64>() } {
        x / by
    } else {
        x * (1.0 / by)
    }
}
