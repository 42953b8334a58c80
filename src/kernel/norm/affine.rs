//! The last pass of layer_norm and rms_norm: `value(x) * weight + bias`, in explicit vectors, since
//! rows may be shorter than what a loop that is unrolled for long ones takes at a time.

use super::{RowNorm, each_row};
use crate::kernel::columns::COLUMNS;
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;
use crate::simd::{self, Isa, prefetch_run};

/// A normalisation that ends so.
pub trait Affine<F: Real>: RowNorm<F> {
    /// Weight and bias, either of which may be absent, each as long as a row.
    fn parameters(&self) -> [Option<&[F]>; 2];
    /// The value of an element, from the joined statistics of its row.
    fn value<V: Lanes<Number = F>>(part: [V; 2], x: V) -> V;
}

/// The joined statistics of the rows that elements belong to.
trait Parts<V: Lanes>: Copy {
    /// For how many elements there are some.
    fn len(self) -> usize;
    /// Those of `count` elements from `i` on, at most a vector.
    ///
    /// # Safety
    /// There are some for these elements.
    unsafe fn of(self, i: usize, count: usize) -> [V; 2];
}
/// Those of a single row.
impl<V: Lanes> Parts<V> for [V; 2] {
    #[inline(always)]
    fn len(self) -> usize {
        usize::MAX
    }
    #[inline(always)]
    unsafe fn of(self, _: usize, _: usize) -> [V; 2] {
        self
    }
}
/// A number for each element.
impl<V: Lanes> Parts<V> for [&[V::Number]; 2] {
    #[inline(always)]
    fn len(self) -> usize {
        self[0].len().min(self[1].len())
    }
    #[inline(always)]
    unsafe fn of(self, i: usize, count: usize) -> [V; 2] {
        // SAFETY: by the caller.
        unsafe { [next(self[0], i, count), next(self[1], i, count)] }
    }
}

/// The chunk of a row that begins at its element `at`.
#[inline(always)]
pub fn row<V: Lanes, N: Affine<V::Number>>(
    norm: &N,
    part: [V::Number; 2],
    at: usize,
    x: &[V::Number],
    y: &mut [V::Number],
) where
    V::Number: Real,
{
    let parameters = norm.parameters().map(|t| t.map(|t| &t[at..]));
    each_vector::<V, N>(part.map(V::splat), parameters, x, y);
}

/// Rows of `n` elements.
#[inline(always)]
pub fn rows<I: Isa, F: Real, N: Affine<F>>(
    norm: &N,
    parts: &[[F; 2]],
    n: usize,
    x: &[F],
    y: &mut [F],
) {
    if F::Vector::<I>::LEN == 1 || n > COLUMNS {
        return each_row::<I, F, N>(norm, parts, n, x, y);
    }
    short_rows::<F::Vector<I>, N>(norm, parts, n, x, y);
}

/// Rows of at most [`COLUMNS`] elements, as many at a time. What belongs to a row or a column is
/// repeated for each element, so that vectors may hold elements of several rows.
#[inline(always)]
fn short_rows<V: Lanes, N: Affine<V::Number>>(
    norm: &N,
    parts: &[[V::Number; 2]],
    n: usize,
    x: &[V::Number],
    y: &mut [V::Number],
) where
    V::Number: Real,
{
    /// Of so many rows, the last one with room for a whole store.
    const LEN: usize = COLUMNS * (COLUMNS + 1);
    prefetch_run::<{ simd::L1 }, _>(x.as_ptr().wrapping_add(x.len()), x.len());
    // adding -0 changes nothing
    let (mut weights, mut biases) = ([V::Number::ONE; LEN], [-V::Number::ZERO; LEN]);
    let repeated = [&mut weights, &mut biases];
    for (to, t) in repeated.into_iter().zip(norm.parameters()) {
        if let Some(t) = t {
            let mut row = [V::Number::ZERO; COLUMNS];
            row[..n].copy_from_slice(&t[..n]);
            for k in 0..parts.len().min(COLUMNS) {
                to[k * n..][..COLUMNS].copy_from_slice(&row);
            }
        }
    }
    let mut own = [[V::Number::ZERO; LEN]; 2];
    let rows = x.chunks(COLUMNS * n).zip(y.chunks_mut(COLUMNS * n));
    for (parts, (x, y)) in parts.chunks(COLUMNS).zip(rows) {
        for (k, part) in parts.iter().enumerate() {
            own[0][k * n..][..COLUMNS].fill(part[0]);
            own[1][k * n..][..COLUMNS].fill(part[1]);
        }
        let own: [&[_]; 2] = [&own[0], &own[1]];
        each_vector::<V, N>(own, [Some(&weights), Some(&biases)], x, y);
    }
}

/// Writes the values of `x` to `y`, of the same length.
#[inline(always)]
fn each_vector<V: Lanes, N: Affine<V::Number>>(
    parts: impl Parts<V>,
    parameters: [Option<&[V::Number]>; 2],
    x: &[V::Number],
    y: &mut [V::Number],
) where
    V::Number: Real,
{
    let n = y.len();
    let has = |t: Option<&[V::Number]>| t.is_none_or(|t| t.len() >= n);
    assert!(x.len() == n && parts.len() >= n && has(parameters[0]) && has(parameters[1]));
    let mut i = 0;
    while i + V::LEN <= n {
        // SAFETY: LANES1: a vector of `y` from `i` on, and of the others, which are as long.
        unsafe { value::<V, N>(parts, parameters, x, i, V::LEN).store(y.as_mut_ptr().add(i)) };
        i += V::LEN;
    }
    if i < n {
        // SAFETY: LANES1: likewise the last elements, fewer than a vector.
        unsafe {
            let rest = value::<V, N>(parts, parameters, x, i, n - i);
            rest.store_first(y.as_mut_ptr().add(i), n - i);
        }
    }
}
/// The values of `count` elements of `x` from `i` on, at most a vector.
///
/// # Safety
/// `x`, `parts` and the parameters have these elements.
#[inline(always)]
unsafe fn value<V: Lanes, N: Affine<V::Number>>(
    parts: impl Parts<V>,
    [weight, bias]: [Option<&[V::Number]>; 2],
    x: &[V::Number],
    i: usize,
    count: usize,
) -> V
where
    V::Number: Real,
{
    // SAFETY: by the caller.
    unsafe {
        let mut value = N::value::<V>(parts.of(i, count), next(x, i, count));
        if let Some(weight) = weight {
            value = value * next(weight, i, count);
        }
        if let Some(bias) = bias {
            value = value + next(bias, i, count);
        }
        value
    }
}
/// `count` elements of `x` from `i` on, at most a vector.
///
/// # Safety
/// There are as many.
#[inline(always)]
unsafe fn next<V: Lanes>(x: &[V::Number], i: usize, count: usize) -> V {
    let x = x.as_ptr().wrapping_add(i);
    // SAFETY: LANES1, by the caller.
    unsafe {
        if count == V::LEN {
            V::load(x)
        } else {
            V::load_first(x, count)
        }
    }
}
