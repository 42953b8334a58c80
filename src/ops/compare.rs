//! Whether whole tensors are equal, or nearly.

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::defaults;
use crate::ops;
use crate::ops::methods::method;
use crate::tensor::Tensor;

/// Whether dtypes, shapes and all elements are equal, as numbers: -0 equals 0, and NaN equals
/// nothing. [`ops::equal`] compares element by element, of any dtypes.
///
/// Panics if there is no memory for the comparison.
///
/// ```
/// use flex::Tensor;
/// let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(x.transpose(0, 1)?, Tensor::from([[1.0f32, 3.0], [2.0, 4.0]]));
/// assert_ne!(x, x.reshape(4)?);
/// # Ok::<(), flex::Error>(())
/// ```
impl PartialEq for Tensor {
    #[track_caller]
    fn eq(&self, other: &Tensor) -> bool {
        if self.dtype() != other.dtype() || self.shape() != other.shape() {
            return false;
        }
        match equal_elements(self, other) {
            Ok(equal) => equal,
            Err(e) => panic!("{e}"),
        }
    }
}
fn equal_elements(a: &Tensor, b: &Tensor) -> Result<bool> {
    let comparable = |x: &Tensor| match x.dtype().is_storage() {
        true => x.astype(DType::F32),
        false => Ok(x.clone()),
    };
    ops::all(&ops::equal(comparable(a)?, comparable(b)?)?, ())?.item::<bool>()
}

/// The tolerances of [`allclose`].
///
/// Example: [`allclose`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allclose {
    /// The distance relative to the second operand. Default: 1e-5.
    pub rtol: f64,
    /// The distance that is added to that. Default: 1e-8.
    pub atol: f64,
    /// Whether NaN is close to NaN. Default: false.
    pub equal_nan: bool,
}
impl Default for Allclose {
    fn default() -> Allclose {
        Allclose {
            rtol: 1e-5,
            atol: 1e-8,
            equal_nan: false,
        }
    }
}
defaults! { Allclose }

method!(
    /// Whether all elements of `x` are within `atol + rtol * |y|` of those of `y`, in float64 (or
    /// complex128) if this build has it. The two broadcast; dtypes may differ. Infinities are close
    /// to themselves alone.
    ///
    /// Errors if shapes don't broadcast or dtypes have no common one.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, Allclose}};
    /// let (x, y) = (Tensor::from([1.0f32, 2.0]), Tensor::from([1.0f32, 2.00001]));
    /// assert!(x.allclose(&y, ())? && x != y);
    /// assert!(!ops::allclose(&x, &y, Allclose { rtol: 1e-7, ..Default::default() })?);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn allclose(x: &Tensor, y: &Tensor, within: impl Into<Allclose>) -> Result<bool> {
        allclose_of(x, y, within.into()).map_err(|e| e.named("allclose"))
    }
);

fn allclose_of(x: &Tensor, y: &Tensor, within: Allclose) -> Result<bool> {
    ops::all(&isclose_of(x, y, within)?, ())?.item::<bool>()
}

method!(
    /// Whether each element of `x` is within `atol + rtol * |y|` of that of `y`; computed as in
    /// [`allclose`], with its errors.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (x, y) = (Tensor::from([1.0f32, 2.0]), Tensor::from([1.0f32, 2.1]));
    /// assert_eq!(x.isclose(&y, ())?.to_vec::<bool>()?, [true, false]);
    /// assert_eq!(ops::isclose(&x, &x, ())?.to_vec::<bool>()?, [true, true]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn isclose(x: &Tensor, y: &Tensor, within: impl Into<Allclose>) -> Result<Tensor> {
        isclose_of(x, y, within.into()).map_err(|e| e.named("isclose"))
    }
);

fn isclose_of(x: &Tensor, y: &Tensor, within: Allclose) -> Result<Tensor> {
    let Allclose {
        rtol,
        atol,
        equal_nan,
    } = within;
    let complex = x.dtype().is_complex() || y.dtype().is_complex();
    let widest = match complex {
        true => [DType::Complex128, DType::Complex64],
        false => [DType::F64, DType::F32],
    };
    let dtype = widest[usize::from(!widest[0].is_available())];
    let (x, y) = (&x.astype(dtype)?, &y.astype(dtype)?);
    let within = ops::add(ops::multiply(ops::abs(y)?, rtol)?, atol)?;
    let near = ops::less_equal(ops::abs(ops::subtract(x, y)?)?, within)?;
    // an infinity is within the tolerance that it gives
    let near = ops::logical_and(near, ops::isfinite(y)?)?;
    let mut close = ops::logical_or(near, ops::equal(x, y)?)?;
    if equal_nan {
        let both = ops::logical_and(ops::isnan(x)?, ops::isnan(y)?)?;
        close = ops::logical_or(close, both)?;
    }
    Ok(close)
}

method!(
    /// Whether the shapes and all elements are equal, as numbers: dtypes may differ, -0 equals 0,
    /// and NaN equals NaN only if `equal_nan`.
    ///
    /// Errors for float8.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (x, y) = (Tensor::from([1, 2]), Tensor::from([1.0f32, 2.0]));
    /// assert!(x.array_equal(&y, false)?);
    /// assert!(!ops::array_equal(&x, &y.reshape((1, 2))?, false)?);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn array_equal(x: &Tensor, y: &Tensor, equal_nan: bool) -> Result<bool> {
        if x.shape() != y.shape() {
            return Ok(false);
        }
        let mut equal = ops::equal(x, y)?;
        if equal_nan {
            let both = ops::logical_and(ops::isnan(x)?, ops::isnan(y)?)?;
            equal = ops::logical_or(equal, both)?;
        }
        ops::all(&equal, ())?.item::<bool>()
    }
);
