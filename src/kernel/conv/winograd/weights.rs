//! The transform of weights.

use super::lanes::{IN, L, PRODUCTS, weights_of};
use crate::kernel::gemm::{Mat, MatElement};
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};

/// Elements of the kernel.
const TAPS: usize = 9;

/// Transforms weights of some outputs, `[outputs, channels * 9]`, to `[36][outputs][channels]`: `G g G^T`,
/// computed in double precision and rounded once. `d` has as many numbers.
pub fn transform<T: MatElement<Acc: Real>>(weight: Mat<T>, d: &mut [T::Acc]) {
    simd::call(Transform(weight, d))
}
struct Transform<'a, T: MatElement>(Mat<'a, T>, &'a mut [T::Acc]);
impl<T: MatElement<Acc: Real>> Kernel for Transform<'_, T> {
    type Out = ();
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep lanes in registers"
    )]
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Transform(weight, d) = self;
        let (outputs, channels) = (weight.rows(), weight.cols() / TAPS);
        assert!(d.len() == PRODUCTS * outputs * channels);
        for (o, c) in (0..outputs).flat_map(|o| (0..channels).step_by(L).map(move |c| (o, c))) {
            let len = L.min(channels - c);
            let mut g = [[0.0; L]; TAPS];
            for l in 0..len {
                for (q, g) in g.iter_mut().enumerate() {
                    // SAFETY: MAT1: output `o` and tap `q` of channel `c + l < channels`.
                    g[l] = unsafe { weight.get(o, (c + l) * TAPS + q) }
                        .widen()
                        .to_f64();
                }
            }
            let columns = [0, 1, 2].map(|j| weights_of([g[j], g[3 + j], g[6 + j]]));
            for i in 0..IN {
                let row = weights_of([columns[0][i], columns[1][i], columns[2][i]]);
                for (j, row) in row.iter().enumerate() {
                    let at = ((i * IN + j) * outputs + o) * channels + c;
                    for (d, x) in d[at..at + len].iter_mut().zip(row) {
                        *d = T::Acc::from_f64(*x);
                    }
                }
            }
        }
    }
}
