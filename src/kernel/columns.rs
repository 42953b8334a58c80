//! Reductions of columns: lines that lie side by side are reduced together, a lane each. So nothing
//! is transposed, and lines of any length fill vectors.
//!
//! Columns are those of matrices: slices with a row of [`COLUMNS`] elements for each element of the
//! lines. Loops over them are of explicit vectors: LLVM would unroll those over a row, and gather
//! its vectors from several.

pub use crate::simd::lanes::COLUMNS;
use crate::simd::lanes::Lanes;

/// The most accumulators of a column.
const LANES: usize = 64;
/// The accumulators of a reduction, with any contents.
pub type Accumulators<V> = [V; LANES];

/// The first column of each vector of a row.
#[inline(always)]
pub fn vectors<V: Lanes>() -> impl Iterator<Item = usize> {
    (0..COLUMNS).step_by(V::LEN)
}
/// Row `r` of a matrix, from column `c` on.
#[inline(always)]
pub fn at<V: Lanes>(x: &[V::Number], r: usize, c: usize) -> V {
    let x = &x[r * COLUMNS + c..][..V::LEN];
    // SAFETY: LANES1: `LEN` elements.
    unsafe { V::load(x.as_ptr()) }
}
/// Writes to that place.
#[inline(always)]
pub fn put<V: Lanes>(y: &mut [V::Number], r: usize, c: usize, v: V) {
    let y = &mut y[r * COLUMNS + c..][..V::LEN];
    // SAFETY: LANES1: `LEN` elements.
    unsafe { v.store(y.as_mut_ptr()) }
}
/// Accumulators.
#[inline(always)]
pub fn accumulators<V: Lanes<Number: Default>>() -> Accumulators<V> {
    [V::splat(Default::default()); LANES]
}

/// The order in which the elements of a column are joined, which is that of a contiguous line.
#[derive(Clone, Copy)]
pub struct Order {
    /// The number of accumulators, a power of two.
    lanes: usize,
    /// Whether the remainder goes into the first accumulators; else into as many as it fills, while
    /// they are joined by halving.
    first: bool,
}
impl Order {
    /// That of `lanes!`.
    pub const LANES: Order = Order {
        lanes: LANES,
        first: false,
    };
    /// That of [`short_rows`](super::reduce::short::short_rows), for vectors of so many lanes.
    pub const fn short(lanes: usize) -> Order {
        Order { lanes, first: true }
    }
    /// For reductions whose result does not depend on the order.
    pub const ANY: Order = Order::short(4);
    /// The number of accumulators of columns of `n` elements, without those that would stay empty,
    /// and how many elements are joined before these are.
    #[inline(always)]
    pub fn of(self, n: usize) -> (usize, usize) {
        let lanes = self.lanes.min(LANES).min(1 << n.max(1).ilog2());
        (lanes, if self.first { n } else { n & !(lanes - 1) })
    }
}

/// `columns!(acc, order, n, identity, |r| element, |a, b| join)`: the vector `element` of each of
/// `n` rows, reduced in the given [`Order`] in these [`Accumulators`]. A macro, as `lanes!` is.
macro_rules! columns {
    ($acc:expr, $order:expr, $n:expr, $identity:expr, |$r:ident| $element:expr, |$a:ident, $b:ident| $join:expr) => {{
        let (acc, n): (&mut $crate::kernel::columns::Accumulators<_>, usize) = ($acc, $n);
        let (lanes, mut done) = $crate::kernel::columns::Order::of($order, n);
        acc[..lanes].fill($identity);
        for $r in 0..done {
            let i = $r & (lanes - 1);
            let ($a, $b) = (acc[i], $element);
            acc[i] = $join;
        }
        let mut half = lanes / 2;
        while half > 0 {
            for i in 0..half {
                let ($a, $b) = (acc[i], acc[i + half]);
                acc[i] = $join;
            }
            if n - done >= half {
                for i in 0..half {
                    let $r = done + i;
                    let ($a, $b) = (acc[i], $element);
                    acc[i] = $join;
                }
                done += half;
            }
            half /= 2;
        }
        acc[0]
    }};
}
