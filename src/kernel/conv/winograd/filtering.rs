//! One-dimensional transforms of tiles, lane by lane: a lane is a channel.

use crate::kernel::gemm::Packed;
use crate::kernel::math::Real;
use crate::simd::Isa;

/// Results of a tile along an axis, and elements that they need.
pub const OUT: usize = 4;
pub const IN: usize = 6;
/// Products of a tile.
pub const PRODUCTS: usize = IN * IN;

/// `B^T d`, lane by lane.
#[inline(always)]
pub fn elements_of<I: Isa, F: Real + Packed, const L: usize>(d: &[[F; L]; IN]) -> [[F; L]; IN] {
    let c = F::from_f64;
    let (a, b) = (
        c(core::f64::consts::FRAC_1_SQRT_2),
        c(core::f64::consts::SQRT_2),
    );
    let mut t = [[F::ZERO; L]; IN];
    for l in 0..L {
        let d = [d[0][l], d[1][l], d[2][l], d[3][l], d[4][l], d[5][l]];
        let even = F::mul_add::<I>(c(-2.0), d[2], d[4]);
        let odd = F::mul_add::<I>(a, d[3], -(b * d[1]));
        let even_far = F::mul_add::<I>(c(-0.5), d[2], d[4]);
        let odd_far = F::mul_add::<I>(b, d[3], -(a * d[1]));
        t[0][l] = F::mul_add::<I>(c(-2.5), d[2], d[0] + d[4]);
        t[1][l] = even + odd;
        t[2][l] = even - odd;
        t[3][l] = even_far + odd_far;
        t[4][l] = even_far - odd_far;
        t[5][l] = F::mul_add::<I>(c(-2.5), d[3], d[1] + d[5]);
    }
    t
}

/// `A^T m`, lane by lane.
#[inline(always)]
pub fn results_of<I: Isa, F: Real + Packed, const L: usize>(m: &[[F; L]; IN]) -> [[F; L]; OUT] {
    let c = F::from_f64;
    let (a, b) = (
        c(core::f64::consts::FRAC_1_SQRT_2),
        c(core::f64::consts::SQRT_2),
    );
    let (third, far) = (
        c(core::f64::consts::FRAC_1_SQRT_2 / 2.0),
        c(core::f64::consts::SQRT_2 * 2.0),
    );
    let mut y = [[F::ZERO; L]; OUT];
    for l in 0..L {
        let m = [m[0][l], m[1][l], m[2][l], m[3][l], m[4][l], m[5][l]];
        let (even, odd) = (m[1] + m[2], m[1] - m[2]);
        let (even_far, odd_far) = (m[3] + m[4], m[3] - m[4]);
        y[0][l] = m[0] + (even + even_far);
        y[1][l] = F::mul_add::<I>(b, odd_far, a * odd);
        y[2][l] = F::mul_add::<I>(c(2.0), even_far, c(0.5) * even);
        y[3][l] = F::mul_add::<I>(far, odd_far, F::mul_add::<I>(third, odd, m[5]));
    }
    y
}

/// `G g`, lane by lane, for numbers of type `F`. Dividing by constants takes most of the time, but
/// float64 has no bits to spare for the rounding of their inverses.
#[inline(always)]
pub fn weights_of<F, const L: usize>(g: &[[f64; L]; 3]) -> [[f64; L]; IN] {
    let (a, b) = (core::f64::consts::FRAC_1_SQRT_2, core::f64::consts::SQRT_2);
    let mut t = [[0.0; L]; IN];
    for l in 0..L {
        let g = [g[0][l], g[1][l], g[2][l]];
        let (even, odd) = (
            over::<F>(-(g[0] + 0.5 * g[2]), 1.5),
            over::<F>(-a * g[1], 1.5),
        );
        let even_far = over::<F>(g[0] + 2.0 * g[2], 6.0);
        let odd_far = over::<F>(b * g[1], 6.0);
        t[0][l] = g[0];
        t[1][l] = even + odd;
        t[2][l] = even - odd;
        t[3][l] = even_far + odd_far;
        t[4][l] = even_far - odd_far;
        t[5][l] = g[2];
    }
    t
}
#[inline(always)]
fn over<F>(x: f64, by: f64) -> f64 {
    if const { size_of::<F>() == size_of::<f64>() } {
        x / by
    } else {
        x * (1.0 / by)
    }
}
