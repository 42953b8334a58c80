//! Products of floats by vectors. Dot products are computed several side by side, and their lanes
//! then added up together: for short columns this takes longer than the products. Where rows of B
//! are short, registers hold the sums of all of one.

use super::{FewRows, fetch, lines_ahead};
use crate::kernel::gemm::element::MatElement;
use crate::kernel::math::Real;
use crate::simd::Isa;
use crate::simd::lanes::Lanes;

impl<T: MatElement> FewRows<'_, T>
where
    T::Acc: Real,
{
    /// Contiguous columns of B: as many sums as registers hold, of one row or of several.
    #[inline(always)]
    pub fn dot_products<I: Isa>(self) {
        if const { I::AVX512 } {
            self.squares::<I, <T::Acc as Real>::Vector<I>, 4, 4, 16>()
        } else {
            self.squares::<I, <T::Acc as Real>::Vector<I>, 2, 4, 8>()
        }
    }
    /// `N` columns at a time: by `R` rows and `G` columns, so that what they read of B stays in L1,
    /// and by single rows. The sums of an element are the same either way.
    #[inline(always)]
    fn squares<I: Isa, V, const R: usize, const G: usize, const N: usize>(mut self)
    where
        V: Lanes<Number = T::Acc>,
    {
        const { assert!(R * G == N) };
        let (k, n) = (self.b.rows(), self.b.cols());
        assert!(self.b.rs() == 1 && k > 0);
        let m = self.a.len() / k;
        assert!(self.a.len() == m * k && self.sums.len() == m * n);
        let (whole, ahead) = (m / R * R, lines_ahead::<T>(k, N));
        for j in (0..n).step_by(N) {
            if ahead > N {
                fetch(self.b, j + ahead..j + ahead + N);
            }
            if whole > 0 {
                for j in (j..n.min(j + N)).step_by(G) {
                    for i in (0..whole).step_by(R) {
                        self.square::<I, V, R, G, N>(i, j);
                    }
                }
            }
            for i in whole..m {
                match n - j > G {
                    true => self.square::<I, V, 1, N, N>(i, j),
                    false => self.square::<I, V, 1, G, N>(i, j),
                }
            }
        }
    }
    /// The products of `R` rows from `i` on and up to `G` columns from `j` on, at most `N`.
    #[inline(always)]
    fn square<I: Isa, V, const R: usize, const G: usize, const N: usize>(
        &mut self,
        i: usize,
        j: usize,
    ) where
        V: Lanes<Number = T::Acc>,
    {
        let (k, n) = (self.b.rows(), self.b.cols());
        let rows = &self.a[i * k..][..R * k];
        // past the last column, that again
        let cols: [*const T; G] = core::array::from_fn(|g| self.b.at(0, n.min(j + g + 1) - 1));
        let mut c = [V::splat(T::Acc::ZERO); N];
        let whole = k / V::LEN * V::LEN;
        // SAFETY: LANES1: parts of `R` rows and, by MAT1, of columns, each of `k` contiguous elements.
        unsafe {
            for p in (0..whole).step_by(V::LEN) {
                step::<V, R, G, N>(
                    &mut c,
                    |r| V::load(rows[r * k..].as_ptr().add(p)),
                    |g| widened::<I, T, V>(cols[g].add(p), V::LEN),
                );
            }
            if whole < k {
                let rest = k - whole;
                step::<V, R, G, N>(
                    &mut c,
                    |r| V::load_first(rows[r * k..].as_ptr().add(whole), rest),
                    |g| widened::<I, T, V>(cols[g].add(whole), rest),
                );
            }
        }
        let all = totals::<V, N>(c);
        let count = G.min(n - j);
        for r in 0..R {
            let sums = &mut self.sums[(i + r) * n + j..][..count];
            for (s, x) in sums.iter_mut().zip(&all[r * G..]) {
                *s = *s + *x;
            }
        }
    }
    /// Contiguous rows of B, in the order of `axpy`: the sums of up to two vectors of columns in
    /// registers.
    #[inline(always)]
    pub fn short_rows<I: Isa>(self) {
        self.strips::<I, <T::Acc as Real>::Vector<I>>()
    }
    #[inline(always)]
    fn strips<I: Isa, V: Lanes<Number = T::Acc>>(mut self) {
        let (k, n) = (self.b.rows(), self.b.cols());
        assert!(self.b.cs() == 1 && k > 0 && n > 0);
        let m = self.sums.len() / n;
        assert!(self.a.len() == m * k && self.sums.len() == m * n);
        for i in (0..m).step_by(4) {
            for j in (0..n).step_by(2 * V::LEN) {
                match (m - i > 1, n - j > V::LEN) {
                    (true, true) => self.strip::<I, V, 4, 2>(i, j),
                    (true, false) => self.strip::<I, V, 4, 1>(i, j),
                    (false, true) => self.strip::<I, V, 1, 2>(i, j),
                    (false, false) => self.strip::<I, V, 1, 1>(i, j),
                }
            }
        }
    }
    /// The products of up to `R` rows from `i` on and `N` vectors of columns from `j` on, the last of
    /// which may be a part.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "indices that are constants after unrolling keep the sums in registers"
    )]
    fn strip<I: Isa, V, const R: usize, const N: usize>(&mut self, i: usize, j: usize)
    where
        V: Lanes<Number = T::Acc>,
    {
        let (k, n) = (self.b.rows(), self.b.cols());
        let last = (n - j).min(N * V::LEN) - (N - 1) * V::LEN;
        let lanes: [usize; N] = core::array::from_fn(|v| if v < N - 1 { V::LEN } else { last });
        let m = (self.sums.len() / n - i).min(R);
        // past the last row, that again
        let row = |r: usize| i + r.min(m - 1);
        let rows: [&[T::Acc]; R] = core::array::from_fn(|r| &self.a[row(r) * k..][..k]);
        let sums = &mut self.sums[i * n..][..m * n];
        let mut c = [[V::splat(T::Acc::ZERO); N]; R];
        // SAFETY: LANES1: parts of `m` rows of sums and, by MAT1, of rows of B, each of `n`
        // contiguous elements, of which there are `lanes` from column `j + v * V::LEN` on.
        unsafe {
            for r in 0..m {
                for v in 0..N {
                    c[r][v] = V::load_first(sums.as_ptr().add(r * n + j + v * V::LEN), lanes[v]);
                }
            }
            for p in 0..k {
                let row = self.b.at(p, j);
                let mut b = [V::splat(T::Acc::ZERO); N];
                for v in 0..N {
                    b[v] = widened::<I, T, V>(row.add(v * V::LEN), lanes[v]);
                }
                for r in 0..R {
                    let a = V::splat(rows[r][p]);
                    for v in 0..N {
                        c[r][v] = a.multiply_add(b[v], c[r][v]);
                    }
                }
            }
            for r in 0..m {
                for v in 0..N {
                    c[r][v].store_first(sums.as_mut_ptr().add(r * n + j + v * V::LEN), lanes[v]);
                }
            }
        }
    }
}
/// The first `n` elements from `x` on, with 0 in the other lanes.
///
/// # Safety
/// LANES1, for `n` elements.
#[inline(always)]
unsafe fn widened<I: Isa, T: MatElement, V: Lanes<Number = T::Acc>>(x: *const T, n: usize) -> V {
    // SAFETY: by the caller; elements may be their accumulators (ELEMENT1).
    unsafe {
        if const { T::SAME } {
            return match n == V::LEN {
                true => V::load(x.cast()),
                false => V::load_first(x.cast(), n),
            };
        }
        let mut lanes = [T::Acc::default(); 16];
        T::widen_all::<I>(core::slice::from_raw_parts(x, n), &mut lanes[..n]);
        V::load(lanes.as_ptr())
    }
}
/// Adds a vector of products to each sum.
#[inline(always)]
fn step<V: Lanes, const R: usize, const G: usize, const N: usize>(
    c: &mut [V; N],
    row: impl Fn(usize) -> V,
    col: impl Fn(usize) -> V,
) {
    let mut b = [row(0); G];
    for (g, b) in b.iter_mut().enumerate() {
        *b = col(g);
    }
    for r in 0..R {
        let a = row(r);
        for g in 0..G {
            c[r * G + g] = a.multiply_add(b[g], c[r * G + g]);
        }
    }
}
/// The sum of each vector's lanes, by halves: rounds of [`Lanes::transpose`], each of which adds up
/// what it moves.
#[inline(always)]
fn totals<V: Lanes, const N: usize>(mut c: [V; N]) -> [V::Number; N]
where
    V::Number: Real,
{
    let mut d = [V::Number::ZERO; N];
    for (c, d) in c.chunks_exact_mut(V::LEN).zip(d.chunks_exact_mut(V::LEN)) {
        let mut left = V::LEN / 2;
        while left > 0 {
            for i in 0..left {
                let (low, high) = c[i].zip(c[i + left]);
                c[i] = low + high;
            }
            left /= 2;
        }
        // SAFETY: LANES1: as many numbers as lanes.
        unsafe { c[0].store(d.as_mut_ptr()) };
    }
    d
}
