//! Set functions: distinct elements and their inverse, membership. Each NaN is distinct, and zeros
//! of both signs are equal; complex numbers are ordered by real part, then imaginary part.

use super::sort::{are_floats_among_integers, limits};
use super::{
    argsort, concat, equal, greater_equal, imag, less, logical_and, masked_select, not_equal, real,
    sort, take, trunc,
};
use crate::dtype::{Bool, DType, Element};
use crate::error::Result;
use crate::ops::methods::method;
use crate::par::{self, Cost};
use crate::tensor::Tensor;

/// The result of [`unique_all`].
///
/// Example: [`unique_all`].
#[derive(Clone, Debug)]
pub struct Unique {
    /// The distinct elements in ascending order, as a 1-dimensional tensor.
    pub values: Tensor,
    /// The index of the first occurrence of each in the flattened `x`, as int64.
    pub indices: Tensor,
    /// For each element of `x`, in its shape, the index of its value in `values`, as int64.
    pub inverse: Tensor,
    /// The number of occurrences of each, as int64.
    pub counts: Tensor,
}

method!(
    /// The distinct elements of `x` in ascending order, with the indices of their first
    /// occurrences, the inverse and the counts. Errors for float8.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([3, 1, 3]);
    /// let u = x.unique_all()?;
    /// assert_eq!((u.values.to_vec::<i32>()?, u.indices.to_vec::<i64>()?), (vec![1, 3], vec![1, 0]));
    /// let u = ops::unique_all(&x)?;
    /// assert_eq!((u.inverse.to_vec::<i64>()?, u.counts.to_vec::<i64>()?), (vec![1, 0, 1], vec![1, 2]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn unique_all(x: &Tensor) -> Result<Unique> {
        let flat = x.reshape(-1)?;
        let order = order(&flat)?;
        let groups = EqualRuns::new(take(&flat, &order, 0)?)?;
        let indices = take(&order, &groups.starts, 0)?;
        let mut inverse = Tensor::empty(x.shape(), DType::I64)?;
        let to = inverse.as_mut_slice::<i64>()?;
        let order = order.as_slice::<i64>()?;
        for (group, range) in groups.ranges()?.enumerate() {
            for position in &order[range] {
                to[*position as usize] = group as i64;
            }
        }
        Ok(Unique {
            values: groups.values()?,
            indices,
            inverse,
            counts: groups.counts()?,
        })
    }
);

method!(
    /// The distinct elements of `x` in ascending order, and their counts (int64). Errors for
    /// float8.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([3.0f32, 1.0, 3.0]);
    /// assert_eq!(x.unique_counts()?.1.to_vec::<i64>()?, [1, 2]);
    /// let (values, counts) = ops::unique_counts(&x)?;
    /// assert_eq!((values.to_vec::<f32>()?, counts.to_vec::<i64>()?), (vec![1.0, 3.0], vec![1, 2]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn unique_counts(x: &Tensor) -> Result<(Tensor, Tensor)> {
        let groups = EqualRuns::new(ascending(x)?)?;
        Ok((groups.values()?, groups.counts()?))
    }
);

method!(
    /// The distinct elements of `x` in ascending order, and for each element of `x`, in its shape,
    /// the index of its value among them (int64). Errors for float8.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([3, 1, 3]);
    /// assert_eq!(x.unique_inverse()?.1.to_vec::<i64>()?, [1, 0, 1]);
    /// let (values, inverse) = ops::unique_inverse(&x)?;
    /// assert_eq!(values.take(&inverse, 0)?.to_vec::<i32>()?, [3, 1, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn unique_inverse(x: &Tensor) -> Result<(Tensor, Tensor)> {
        let u = unique_all(x)?;
        Ok((u.values, u.inverse))
    }
);

method!(
    /// The distinct elements of `x` in ascending order, as a 1-dimensional tensor. Errors for
    /// float8.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// assert_eq!(Tensor::from([3, 1, 3]).unique_values()?.to_vec::<i32>()?, [1, 3]);
    /// assert_eq!(ops::unique_values(&Tensor::from([[2, 1], [1, 2]]))?.to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("unique"))]
    pub fn unique_values(x: &Tensor) -> Result<Tensor> {
        EqualRuns::new(ascending(x)?)?.values()
    }
);

method!(
    /// Whether each element of `x` is one of `elements`: bool, of the shape of `x`. NaN equals no
    /// element; integers are compared with floats exactly.
    ///
    /// Errors if there is no common dtype, and for complex numbers, which have no order.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (x, y) = (Tensor::from([1, 2, 3]), Tensor::from([3, 1]));
    /// assert_eq!(x.isin(&y)?.to_vec::<bool>()?, [true, false, true]);
    /// assert_eq!(ops::isin(&y, &x)?.to_vec::<bool>()?, [true, true]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("in1d"))]
    pub fn isin(x: &Tensor, elements: &Tensor) -> Result<Tensor> {
        if are_floats_among_integers(elements, x) {
            let whole = is_value_of(x.dtype(), elements)?;
            return isin(x, &masked_select(elements, &whole)?.astype(x.dtype())?);
        }
        if are_floats_among_integers(x, elements) {
            let whole = is_value_of(elements.dtype(), x)?;
            return logical_and(whole, isin(&x.astype(elements.dtype())?, elements)?);
        }
        let dtype = x.dtype().promote(elements.dtype(), "isin")?;
        let (x, elements) = (x.astype(dtype)?, elements.astype(dtype)?);
        // converting narrower integers takes less time than another loop takes room
        let found = match dtype {
            #[cfg(feature = "ints")]
            DType::U64 => by_table::<u64>(&x, &elements, |x| x)?,
            dtype if dtype.is_integer() && DType::I64.is_available() => {
                let (x, elements) = (x.astype(DType::I64)?, elements.astype(DType::I64)?);
                by_table::<i64>(&x, &elements, |x| x as u64)?
            }
            _ => None,
        };
        if let Some(found) = found {
            return Ok(found);
        }
        let sorted = sort(&elements.reshape(-1)?, 0)?;
        if sorted.is_empty() {
            return Tensor::zeros(x.shape(), DType::Bool);
        }
        let positions = super::searchsorted(&sorted, &x, super::Side::Left, None)?;
        let nearest = take(
            &sorted,
            &super::minimum(&positions, sorted.len() as i64 - 1)?,
            0,
        )?;
        super::equal(&nearest, &x)
    }
);

/// [`isin`] of integers, by a table of the range of `elements`; none if it were much longer than the
/// operands. `bits` keeps differences.
fn by_table<T: Element + Ord>(
    x: &Tensor,
    elements: &Tensor,
    bits: impl Fn(T) -> u64 + Sync,
) -> Result<Option<Tensor>> {
    /// Entries per element of the operands: as long as clearing them takes no longer than searching.
    const ENTRIES: usize = 4;
    let (x, elements) = (x.contiguous()?, elements.contiguous()?);
    let (from, elements) = (x.as_slice::<T>()?, elements.as_slice::<T>()?);
    let (Some(least), Some(most)) = (elements.iter().min(), elements.iter().max()) else {
        return Ok(None);
    };
    let least = bits(*least);
    let position = |x: T| usize::try_from(bits(x).wrapping_sub(least)).unwrap_or(usize::MAX);
    let (last, few) = (position(*most), from.len().saturating_add(elements.len()));
    if last >= few.saturating_mul(ENTRIES) {
        return Ok(None);
    }
    let mut table = Tensor::zeros([last + 1], DType::Bool)?;
    let entries = table.as_mut_slice::<Bool>()?;
    for element in elements {
        // borrowed memory may have changed
        if let Some(entry) = entries.get_mut(position(*element)) {
            *entry = Bool(1);
        }
    }
    let entries = &*entries;
    let mut found = Tensor::zeros(x.shape(), DType::Bool)?;
    let cost = Cost {
        bytes: size_of::<T>() + 2,
        flops: 8,
    };
    par::split(found.as_mut_slice::<Bool>()?, 1, 1, cost, |range, found| {
        for (found, x) in found.iter_mut().zip(&from[range]) {
            *found = entries.get(position(*x)).copied().unwrap_or(Bool(0));
        }
    });
    Ok(Some(found))
}

/// Whether floats are values of an integer dtype.
fn is_value_of(dtype: DType, x: &Tensor) -> Result<Tensor> {
    let [lowest, beyond] = limits(dtype);
    let x = x.astype(x.dtype().wide())?;
    let inside = logical_and(greater_equal(&x, lowest)?, less(&x, beyond)?)?;
    logical_and(inside, equal(trunc(&x)?, &x)?)
}

/// All elements in ascending order.
fn ascending(x: &Tensor) -> Result<Tensor> {
    let flat = x.reshape(-1)?;
    if x.dtype().is_complex() {
        take(&flat, &order(&flat)?, 0)
    } else {
        sort(&flat, 0)
    }
}

/// The indices that sort a 1-dimensional tensor.
fn order(x: &Tensor) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return argsort(x, 0);
    }
    let by_imaginary = argsort(&imag(x)?, 0)?;
    let then_real = argsort(&take(&real(x)?, &by_imaginary, 0)?, 0)?;
    take(&by_imaginary, &then_real, 0)
}

/// Runs of equal elements of a sorted 1-dimensional tensor.
struct EqualRuns {
    sorted: Tensor,
    /// The start of each run.
    starts: Tensor,
}

impl EqualRuns {
    fn new(sorted: Tensor) -> Result<EqualRuns> {
        let n = sorted.len();
        let first = super::full(n.min(1), true, DType::Bool)?;
        let rest = n.saturating_sub(1);
        let differ = not_equal(
            sorted.narrow(0, n - rest, rest)?,
            sorted.narrow(0, 0, rest)?,
        )?;
        let starts = super::nonzero(&concat(&[first, differ], 0)?)?.swap_remove(0);
        Ok(EqualRuns { sorted, starts })
    }
    fn ranges(&self) -> Result<impl Iterator<Item = core::ops::Range<usize>> + '_> {
        let starts = self.starts.as_slice::<i64>()?;
        let ends = starts
            .iter()
            .skip(1)
            .copied()
            .chain([self.sorted.len() as i64]);
        Ok(starts
            .iter()
            .zip(ends)
            .map(|(a, b)| *a as usize..b as usize))
    }
    fn values(&self) -> Result<Tensor> {
        take(&self.sorted, &self.starts, 0)
    }
    fn counts(&self) -> Result<Tensor> {
        let mut counts = Tensor::empty(self.starts.shape(), DType::I64)?;
        for (to, range) in counts.as_mut_slice::<i64>()?.iter_mut().zip(self.ranges()?) {
            *to = range.len() as i64;
        }
        Ok(counts)
    }
}
