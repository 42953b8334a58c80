//! Tensors as text: nested brackets, columns aligned, large ones summarised.
//!
//! Floats are written with the fewest digits that round-trip in their dtype, at most eight after
//! the point; all with an exponent if one is very large, very small, or differs much in magnitude
//! from the others.

mod cell;

use crate::error::Error;
use crate::tensor::Tensor;
use alloc::string::String;
use alloc::vec::Vec;
use cell::{Show, TextCell, align};
use core::fmt;

/// The most nested brackets that are written.
const DEEPEST: usize = 64;

/// Options for the elements of a tensor.
#[derive(Clone, Copy)]
pub struct Style {
    /// The columns before the first bracket.
    pub indent: usize,
    /// The names of false and true.
    pub bools: [&'static str; 2],
    /// The digits after the point of a float, instead of the fewest that round-trip.
    pub precision: Option<usize>,
    /// The most of these fewest digits.
    pub digits: usize,
    /// Whether floats have no exponent, however they differ in magnitude.
    pub suppress: bool,
    /// Tensors of more elements are summarised.
    pub threshold: usize,
    /// The elements at each end of an axis in a summary.
    pub edge: usize,
    /// The width of a line in columns.
    pub width: usize,
}

impl Style {
    /// That of Rust's formatting.
    pub const PLAIN: Style = Style {
        indent: 0,
        bools: ["false", "true"],
        precision: None,
        digits: 8,
        suppress: false,
        threshold: 1000,
        edge: 3,
        width: 75,
    };
}

impl fmt::Display for Tensor {
    /// The elements in nested brackets; with a precision floats have as many digits after the point,
    /// as numbers alone have.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[1.0f32, 2.5, -3.0, 4.0], [2, 2])?;
    /// assert_eq!(x.to_string(), "[[ 1. ,  2.5],\n [-3. ,  4. ]]");
    /// assert_eq!(format!("{x:.2}"), "[[ 1.00,  2.50],\n [-3.00,  4.00]]");
    /// # Ok::<(), flex::Error>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = elements(
            self,
            Style {
                precision: f.precision(),
                ..Style::PLAIN
            },
        )
        .map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl fmt::Debug for Tensor {
    /// Dtype, shape and the first elements in row-major order.
    ///
    /// ```
    /// let x = flex::Tensor::from([[1.0f32, 2.5], [-3.0, 4.0]]);
    /// assert_eq!(format!("{x:?}"), "Tensor(float32 [2, 2]: 1.0, 2.5, -3.0, 4.0)");
    /// let x: flex::Tensor = (0..100i64).collect();
    /// assert_eq!(format!("{x:?}"), "Tensor(int64 [100]: 0, 1, 2, 3, 4, 5, 6, 7, ..)");
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The number of elements written.
        const FIRST: usize = 8;
        write!(f, "Tensor({} {:?}", self.dtype(), self.shape())?;
        for n in 0..self.len().min(FIRST) {
            let (mut rest, mut at) = (n, 0);
            for (size, stride) in self.shape().iter().zip(self.strides()).rev() {
                at += (rest % size) as isize * stride; // LAYOUT3
                rest /= size;
            }
            f.write_str(if n == 0 { ": " } else { ", " })?;
            let p = self
                .as_ptr()
                .wrapping_offset(at * self.dtype().size() as isize);
            // SAFETY: an element inside the shape, aligned for its dtype (TENSOR1, TENSOR2).
            dispatch!(all self.dtype(), |T| write!(f, "{:?}", unsafe { (p as *const T).read() })?,
                else break);
        }
        f.write_str(if self.len() > FIRST { ", ..)" } else { ")" })
    }
}

/// The elements in nested brackets.
pub fn elements(t: &Tensor, style: Style) -> Result<String, Error> {
    if t.rank() > DEEPEST {
        return Ok("[...]".into());
    }
    // the number along each axis that keeps the total small; 0 if even one or two are too many
    let edge = match t.rank() {
        _ if t.len() <= style.threshold => usize::MAX,
        0..=4 => style.edge,
        _ if t
            .shape()
            .iter()
            .map(|n| *n.min(&2))
            .try_fold(1, usize::checked_mul)
            .is_none_or(|n| n > style.threshold) =>
        {
            0
        }
        _ => style.edge.min(1),
    };
    let mut cells = Vec::new();
    dispatch!(all t.dtype(), |T| collect::<T>(t, 0, t.as_ptr(), edge, style, &mut cells),
        else return Err(Error::unsupported("format", t.dtype())));
    let texts = align(&cells, &style);
    let mut out = String::new();
    write(t, 0, edge, &style, &mut texts.iter(), &mut out);
    Ok(out)
}

/// The indices of an axis that are written; `None` stands for those left out.
fn written(n: usize, edge: usize) -> impl Iterator<Item = Option<usize>> {
    let all = n <= edge.saturating_mul(2);
    let head = if all { n } else { edge };
    (0..head)
        .map(Some)
        .chain((!all).then_some(None))
        .chain((if all { n } else { n - edge }..n).map(Some))
}

/// Reads the elements that are written, in their order.
fn collect<T: Show>(
    t: &Tensor,
    axis: usize,
    p: *const u8,
    edge: usize,
    style: Style,
    cells: &mut Vec<TextCell>,
) {
    if t.is_empty() {
        return;
    }
    if axis == t.rank() {
        // SAFETY: an element inside the shape, aligned for its dtype (TENSOR1, TENSOR2).
        cells.push(unsafe { (p as *const T).read() }.cell(style));
        return;
    }
    // LAYOUT3 where the axis has more than one element
    let step = t.strides()[axis] * size_of::<T>() as isize;
    for k in written(t.shape()[axis], edge).flatten() {
        collect::<T>(
            t,
            axis + 1,
            p.wrapping_offset(if k == 0 { 0 } else { step * k as isize }),
            edge,
            style,
            cells,
        );
    }
}

fn write<'a>(
    t: &Tensor,
    axis: usize,
    edge: usize,
    style: &Style,
    cells: &mut impl Iterator<Item = &'a String>,
    out: &mut String,
) {
    if axis == t.rank() {
        out.push_str(cells.next().map_or("", String::as_str));
        return;
    }
    if t.is_empty() {
        out.push_str("[]");
        return;
    }
    out.push('[');
    let last = axis + 1 == t.rank();
    let start = out
        .rfind('\n')
        .map_or(style.indent + out.len(), |i| out.len() - i - 1);
    let mut column = start;
    for (i, k) in written(t.shape()[axis], edge).enumerate() {
        let mut item = String::new();
        match k {
            None => item.push_str("..."),
            Some(_) if last => item.push_str(cells.next().map_or("", String::as_str)),
            Some(_) => {}
        }
        let wrap = if last {
            column + item.len() + 2 > style.indent + style.width && column > start
        } else {
            true
        };
        if i > 0 {
            out.push(',');
            // matrices are separated by a blank line, as in NumPy
            let lines = if last {
                wrap as usize
            } else {
                t.rank() - axis - 1
            };
            (0..lines).for_each(|_| out.push('\n'));
            (0..if lines > 0 { start } else { 1 }).for_each(|_| out.push(' '));
            column = if lines > 0 { start } else { column + 2 };
        }
        column += item.len();
        out.push_str(&item);
        if k.is_some() && !last {
            write(t, axis + 1, edge, style, cells, out);
        }
    }
    out.push(']');
}
