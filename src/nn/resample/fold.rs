//! Windows of images as columns (im2col), and columns summed to images (col2im).

use super::super::images::rows;
use super::super::spatial::{PerAxis, option};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::kernel::images::Pixel;
use crate::kernel::math::Real;
use crate::kernel::resample::columns::{FoldColumns, PlaneWindows};
use crate::ops;
use crate::par::{Cost, Out};
use crate::simd;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The options of [`unfold`] and [`fold`].
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([1.0f32, 2.0, 3.0, 4.0]).reshape((1, 1, 1, 4))?;
/// let options = nn::Unfold { stride: 2.into(), ..Default::default() };
/// let y = nn::unfold(&x, [1, 2], options)?; // windows are columns
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Unfold {
    /// From one element of a window to the next. Default: 1.
    pub dilation: PerAxis,
    /// Zeros on both sides of the image. Default: none.
    pub padding: PerAxis,
    /// From one window to the next. Default: 1.
    pub stride: PerAxis,
}
impl Default for Unfold {
    fn default() -> Self {
        Unfold {
            dilation: 1.into(),
            padding: 0.into(),
            stride: 1.into(),
        }
    }
}
impl From<PerAxis> for Unfold {
    /// The default options with this stride.
    fn from(stride: PerAxis) -> Self {
        Unfold {
            stride,
            ..Default::default()
        }
    }
}

impl Unfold {
    /// The windows of a plane. Errors if there are none.
    fn windows(
        &self,
        op: &'static str,
        sizes: [usize; 2],
        kernel: &PerAxis,
    ) -> Result<PlaneWindows> {
        let two = |name, n, least| option(op, name, n, 2, least).map(|n| [n[1], n[2]]);
        let mut w = PlaneWindows {
            sizes,
            kernel: two("kernel_size", kernel, 1)?,
            stride: two("stride", &self.stride, 1)?,
            dilation: two("dilation", &self.dilation, 1)?,
            padding: two("padding", &self.padding, 0)?,
            output_size: [0; 2],
        };
        for (k, size) in sizes.into_iter().enumerate() {
            let seen = (w.kernel[k] - 1)
                .checked_mul(w.dilation[k])
                .and_then(|n| n.checked_add(1));
            let padded = w.padding[k]
                .checked_mul(2)
                .and_then(|n| n.checked_add(size));
            w.output_size[k] = match (seen, padded) {
                (Some(seen), Some(padded)) if seen <= padded && padded <= isize::MAX as usize => {
                    (padded - seen) / w.stride[k] + 1
                }
                _ => {
                    let message = message!(
                        "kernel_size {} with dilation {} and padding {} has no window in {size} elements, along spatial axis {k} of {sizes:?}",
                        w.kernel[k],
                        w.dilation[k],
                        w.padding[k]
                    );
                    return Err(Error::shape(op, message));
                }
            };
        }
        Ok(w)
    }
}

/// The windows of images as columns (im2col): `[batch, channels, height, width]`, or without the
/// batch, becomes `[batch, channels * elements of a window, windows]`. Any dtype and strides.
///
/// Errors if `x` has another rank, if there is no window, or if an option that must be positive is
/// zero.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1, 2, 3], [1, 1, 3])?;
/// let y = nn::unfold(&x, [1, 2], nn::Unfold::default())?;
/// assert_eq!((y.shape(), y.to_vec::<i32>()?), (&[2, 2][..], vec![1, 2, 2, 3]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn unfold(
    x: &Tensor,
    kernel_size: impl Into<PerAxis>,
    options: impl Into<Unfold>,
) -> Result<Tensor> {
    unfolded(x, &kernel_size.into(), &options.into())
}

fn unfolded(x: &Tensor, kernel_size: &PerAxis, options: &Unfold) -> Result<Tensor> {
    const OP: &str = "unfold";
    if ![3, 4].contains(&x.rank()) {
        let message = message!(
            "x has {} dimensions; it must be [channels, height, width], or a batch of those",
            x.rank()
        );
        return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    }
    let lead = x.rank() - 2;
    let w = options.windows(OP, [x.shape()[lead], x.shape()[lead + 1]], kernel_size)?;
    let mut view = x.clone();
    if w.padding != [0; 2] {
        let mut widths: SmallVec<[(usize, usize); 4]> = SmallVec::from_elem((0, 0), lead);
        widths.extend(w.padding.map(|p| (p, p)));
        view = ops::pad(x, &widths, 0)?;
    }
    for k in 0..2 {
        let seen = (w.kernel[k] - 1) * w.dilation[k] + 1;
        let windows = view.unfold((lead + k) as isize, seen, w.stride[k])?;
        view = windows.slice_axis(-1, None, None, w.dilation[k].min(i64::MAX as usize) as i64)?;
    }
    // [.., channels, down, across, kernel height, kernel width]
    let first = lead as isize;
    let view = view.moveaxis([first, first + 1], [-2, -1])?;
    let mut shape: SmallVec<[isize; 6]> =
        x.shape()[..lead - 1].iter().map(|n| *n as isize).collect();
    let column = view.shape()[lead - 1..lead + 2].iter();
    let column = column.fold(1, |n: usize, size| n.saturating_mul(*size));
    // of no elements, if that overflows
    let windows = w.output_size[0].saturating_mul(w.output_size[1]);
    shape.extend([column, windows].map(|n| isize::try_from(n).unwrap_or(isize::MAX)));
    view.reshape(&shape[..])
}

/// Columns summed to images (col2im), the transpose of [`unfold`]: `[batch, channels * elements of
/// a window, windows]`, or without the batch, becomes `[batch, channels, height, width]`, where
/// `output_size` is height and width. For floats; 16-bit ones are summed in float32 and rounded
/// once. The bits are the same on any number of threads.
///
/// Errors if `x` doesn't have the shape of such columns, if an option that must be positive is
/// zero, and for other dtypes.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let y = nn::fold(&x, [1, 3], [1, 2], nn::Unfold::default())?;
/// assert_eq!((y.shape(), y.to_vec::<f32>()?), (&[1, 1, 3][..], vec![1.0, 5.0, 4.0]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn fold(
    x: &Tensor,
    output_size: impl Into<PerAxis>,
    kernel_size: impl Into<PerAxis>,
    options: impl Into<Unfold>,
) -> Result<Tensor> {
    folded(x, &output_size.into(), &kernel_size.into(), &options.into())
}

fn folded(
    x: &Tensor,
    output_size: &PerAxis,
    kernel_size: &PerAxis,
    options: &Unfold,
) -> Result<Tensor> {
    const OP: &str = "fold";
    let size = option(OP, "output_size", output_size, 2, 1)?;
    let w = options.windows(OP, [size[1], size[2]], kernel_size)?;
    let bad = |message| Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    let [ref lead @ .., column, windows] = *x.shape() else {
        return bad(message!(
            "x must be [batch, channels * elements of a window, windows]"
        ));
    };
    let taps = w.kernel[0].checked_mul(w.kernel[1]);
    let Some(taps) = taps.filter(|n| lead.len() < 2 && column.is_multiple_of(*n)) else {
        return bad(message!(
            "x must be [channels * elements of a window, windows], or a batch of those, for kernel_size {:?}",
            w.kernel
        ));
    };
    if w.output_size[0].checked_mul(w.output_size[1]) != Some(windows) {
        return bad(message!(
            "x has {windows} windows, but output_size {:?} has {:?}",
            w.sizes,
            w.output_size
        ));
    }
    let mut shape: SmallVec<[usize; 4]> = SmallVec::from_slice(lead);
    shape.extend([column / taps, w.sizes[0], w.sizes[1]]);
    let mut y = Tensor::empty(&shape[..], x.dtype())?;
    let x = x.contiguous()?;
    dispatch!(half x.dtype(), |T| run::<T, f32>(&x, w, &mut y), else
        dispatch!(float x.dtype(), |T| run::<T, T>(&x, w, &mut y), else
            Err(Error::unsupported(OP, x.dtype()))))?;
    Ok(y)
}

/// Runs all planes of the fresh tensor `y`.
fn run<T, A>(x: &Tensor, w: PlaneWindows, y: &mut Tensor) -> Result<()>
where
    T: Element + Pixel<A>,
    A: Real,
{
    let plane = w.sizes[0] * w.sizes[1];
    let planes = y.len() / plane;
    let columns = x.as_slice::<T>()?;
    let per_plane = columns.len() / planes.max(1);
    let y = Out::new(y.as_mut_slice::<T>()?);
    let cost = Cost {
        bytes: (per_plane + plane) * size_of::<T>(),
        flops: per_plane,
    };
    rows(planes, Some(plane), cost, |range, sums: &mut [A]| {
        for k in range {
            // SAFETY: OUT1: each plane is in one range, and written once.
            let to = unsafe { y.part(k * plane..(k + 1) * plane) };
            let columns = &columns[k * per_plane..(k + 1) * per_plane];
            simd::call(FoldColumns {
                columns,
                windows: w,
                sums: &mut *sums,
                plane: to,
            });
        }
        Ok(())
    })
}
