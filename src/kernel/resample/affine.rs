//! Points of an affine map.

use crate::kernel::math::Real;

kernel! {
    /// The points of a line: `rank` coordinates (2 or 3) each, `slope * x + start`.
    pub fn affine_line<'a, F: Real>(rank: usize, maps: &'a [[F; 2]; 3], x: &'a [F], points: &'a mut [F]) -> () { |I|
        match rank {
            2 => line::<F, 2>(maps, x, points),
            _ => line::<F, 3>(maps, x, points),
        }
    }
}
#[inline(always)]
fn line<F: Real, const N: usize>(maps: &[[F; 2]; 3], x: &[F], points: &mut [F]) {
    for (point, x) in points.as_chunks_mut::<N>().0.iter_mut().zip(x) {
        for k in 0..N {
            point[k] = maps[k][0] * *x + maps[k][1];
        }
    }
}
