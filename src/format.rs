//! Tensors as text: nested brackets, columns aligned, large ones summarised.
//!
//! Floats are written with the fewest digits that give back the same number (of their own dtype),
//! at most eight after the point; all with an exponent where one is very large, very small, or far
//! from the others.

use crate::dtype::{Bool, Element};
use crate::error::Error;
use crate::tensor::Tensor;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Tensors of more elements are summarised: the first and last few along each axis.
const MANY: usize = 1000;
/// Columns of a line.
const WIDTH: usize = 75;
/// Digits after the point.
const DIGITS: usize = 8;
/// Brackets beyond this depth are not written.
const DEEPEST: usize = 64;

/// How to write the elements of a tensor.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Columns that stand before the first bracket.
    pub indent: usize,
    /// What false and true are called.
    pub bools: [&'static str; 2],
}

impl fmt::Display for Tensor {
    /// The elements in nested brackets.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[1.0f32, 2.5, -3.0, 4.0], [2, 2])?;
    /// assert_eq!(x.to_string(), "[[ 1. ,  2.5],\n [-3. ,  4. ]]");
    /// # Ok::<(), flex::Error>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = elements(
            self,
            Style {
                indent: 0,
                bools: ["false", "true"],
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
        /// Elements that are written.
        const FIRST: usize = 8;
        write!(f, "Tensor({} {:?}", self.dtype(), self.shape())?;
        for n in 0..self.len().min(FIRST) {
            let (mut rest, mut at) = (n, 0);
            for (size, stride) in self.shape().iter().zip(self.strides()).rev() {
                at += (rest % size) as isize * stride; // L3
                rest /= size;
            }
            f.write_str(if n == 0 { ": " } else { ", " })?;
            let p = self
                .as_ptr()
                .wrapping_offset(at * self.dtype().size() as isize);
            // SAFETY: an element inside the shape, aligned for its dtype (T1, T2).
            dispatch!(all self.dtype(), |T| write!(f, "{:?}", unsafe { (p as *const T).read() })?, else break);
        }
        f.write_str(if self.len() > FIRST { ", ..)" } else { ")" })
    }
}

/// The elements in nested brackets.
pub(crate) fn elements(t: &Tensor, style: Style) -> Result<String, Error> {
    if t.rank() > DEEPEST {
        return Ok("[...]".into());
    }
    // so few along each axis that all together stay few, or none
    let edge = match t.rank() {
        _ if t.len() <= MANY => usize::MAX,
        0..=4 => 3,
        _ if t
            .shape()
            .iter()
            .map(|n| *n.min(&2))
            .try_fold(1, usize::checked_mul)
            .is_none_or(|n| n > MANY) =>
        {
            0
        }
        _ => 1,
    };
    let mut cells = Vec::new();
    dispatch!(all t.dtype(), |T| collect::<T>(t, 0, t.as_ptr(), edge, style, &mut cells), else return Err(Error::unsupported("format", t.dtype())));
    let texts = align(&cells);
    let mut out = String::new();
    write(t, 0, edge, style.indent, &mut texts.iter(), &mut out);
    Ok(out)
}

/// The indices of an axis that are written; `None` where some are left out.
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
    cells: &mut Vec<Cell>,
) {
    if t.is_empty() {
        return;
    }
    if axis == t.rank() {
        // SAFETY: an element inside the shape, aligned for its dtype (TENSOR1, TENSOR2).
        cells.push(unsafe { (p as *const T).read() }.cell(style));
        return;
    }
    let step = t.strides()[axis] * size_of::<T>() as isize; // LAYOUT3 where the axis has more than one element
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
    indent: usize,
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
        .map_or(indent + out.len(), |i| out.len() - i - 1);
    let mut column = start;
    for (i, k) in written(t.shape()[axis], edge).enumerate() {
        let mut item = String::new();
        match k {
            None => item.push_str("..."),
            Some(_) if last => item.push_str(cells.next().map_or("", String::as_str)),
            Some(_) => {}
        }
        let wrap = if last {
            column + item.len() + 2 > indent + WIDTH && column > start
        } else {
            true
        };
        if i > 0 {
            out.push(',');
            // matrices are set apart by a blank line, as those of NumPy
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
            write(t, axis + 1, edge, indent, cells, out);
        }
    }
    out.push(']');
}

/// One element before it is aligned with the others.
enum Cell {
    Word(String),
    Real(Decimal),
    #[cfg_attr(
        not(feature = "complex"),
        expect(dead_code, reason = "no dtype of this build has two parts")
    )]
    Complex(Decimal, Decimal),
}

/// A float: `0.d1d2d3.. * 10^(exponent + 1)`.
struct Decimal {
    value: f64,
    digits: String,
    exponent: i32,
}

impl Decimal {
    /// From the text of `{:e}`, which has the fewest digits that give back the number.
    fn new(value: f64, text: &str) -> Decimal {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
        Decimal {
            value,
            digits,
            exponent: exponent.parse().unwrap_or(0),
        }
    }
    /// The parts before and after the point; without the point for infinities and NaN.
    fn parts(&self, exponent: bool) -> (String, String) {
        let sign = if self.value.is_sign_negative() {
            "-"
        } else {
            ""
        };
        if self.value.is_nan() {
            return ("nan".into(), String::new());
        }
        if self.value.is_infinite() {
            return (format!("{sign}inf"), String::new());
        }
        let point = |text: &str| match text.split_once('.') {
            Some((a, b)) => (a.to_string(), b.trim_end_matches('0').to_string()),
            None => (text.to_string(), String::new()),
        };
        let (left, right) = if exponent {
            if self.digits.len() > DIGITS + 1 {
                let text = format!("{:.*e}", DIGITS, self.value);
                point(text.split_once('e').map_or("", |(m, _)| m))
            } else {
                (
                    format!("{sign}{}", &self.digits[..1]),
                    self.digits[1..].into(),
                )
            }
        } else {
            let places = self.digits.len() as i32 - 1 - self.exponent;
            point(&format!(
                "{:.*}",
                places.clamp(0, DIGITS as i32) as usize,
                self.value
            ))
        };
        (left, format!(".{right}"))
    }
    /// `e+05`, rounded as [`Decimal::parts`] is.
    fn power(&self) -> String {
        let text = if self.digits.len() > DIGITS + 1 {
            format!("{:.*e}", DIGITS, self.value)
        } else {
            format!("e{}", self.exponent)
        };
        let power: i32 = text
            .split_once('e')
            .and_then(|(_, e)| e.parse().ok())
            .unwrap_or(0);
        format!("e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
    }
    fn text(&self, exponent: bool) -> String {
        let (left, right) = self.parts(exponent);
        let power = if exponent && !right.is_empty() {
            self.power()
        } else {
            String::new()
        };
        format!("{left}{right}{power}")
    }
}

/// The cells as texts of one width.
fn align(cells: &[Cell]) -> Vec<String> {
    let decimals = cells.iter().flat_map(|c| match c {
        Cell::Word(_) => [None, None],
        Cell::Real(x) => [Some(x), None],
        Cell::Complex(re, im) => [Some(re), Some(im)],
    });
    let sizes = decimals
        .flatten()
        .filter(|d| d.value.is_finite() && d.value != 0.0)
        .map(|d| d.exponent);
    let (low, high) = sizes.fold((i32::MAX, i32::MIN), |(low, high), e| {
        (low.min(e), high.max(e))
    });
    let exponent = low <= high && (high >= 8 || low < -4 || high - low > 4);
    // points below each other
    let parts: Vec<(String, String)> = cells
        .iter()
        .map(|c| match c {
            Cell::Word(w) => (w.clone(), String::new()),
            Cell::Real(x) => x.parts(exponent),
            Cell::Complex(re, im) => {
                let im = im.text(exponent);
                (
                    format!(
                        "{}{}{im}j",
                        re.text(exponent),
                        if im.starts_with('-') { "" } else { "+" }
                    ),
                    String::new(),
                )
            }
        })
        .collect();
    let right = parts.iter().map(|p| p.1.len()).max().unwrap_or(0);
    let pointed = |p: &(String, String), c: &Cell| -> String {
        match c {
            Cell::Real(x) if !p.1.is_empty() => {
                let fill = if exponent { "0" } else { " " }.repeat(right - p.1.len());
                let power = if exponent { x.power() } else { String::new() };
                format!("{}{}{fill}{power}", p.0, p.1)
            }
            _ => p.0.clone(),
        }
    };
    let texts: Vec<String> = parts
        .iter()
        .zip(cells)
        .map(|(p, c)| pointed(p, c))
        .collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|t| format!("{t:>width$}")).collect()
}

/// Element types as cells.
trait Show: Element {
    fn cell(self, style: Style) -> Cell;
}
macro_rules! show {
    ($($($T:ty)+ => |$x:ident, $style:ident| $e:expr;)*) => { $($(impl Show for $T {
        #[allow(unused_variables)]
        fn cell(self, $style: Style) -> Cell { let $x = self; $e }
    })+)* };
}
show! {
    Bool => |x, style| Cell::Word(style.bools[x.get() as usize].into());
    i8 i32 i64 u8 => |x, style| Cell::Word(x.to_string());
    f32 => |x, style| Cell::Real(single(x));
}
#[cfg(feature = "ints")]
show! { i16 u16 u32 u64 => |x, style| Cell::Word(x.to_string()); }
#[cfg(feature = "f64")]
show! { f64 => |x, style| Cell::Real(double(x)); }
#[cfg(feature = "half")]
show! {
    crate::dtype::f16 => |x, style| Cell::Real(half(x.to_f64(), |y| crate::dtype::f16::from_f64(y) == x));
    crate::dtype::bf16 => |x, style| Cell::Real(half(x.to_f64(), |y| crate::dtype::bf16::from_f64(y) == x));
}
#[cfg(feature = "float8")]
show! {
    crate::dtype::F8E4M3 => |x, style| Cell::Real(half(x.into(), |y| crate::dtype::F8E4M3::from_f32(y as f32) == x));
    crate::dtype::F8E5M2 => |x, style| Cell::Real(half(x.into(), |y| crate::dtype::F8E5M2::from_f32(y as f32) == x));
}
#[cfg(feature = "complex")]
show! { crate::dtype::Complex64 => |x, style| Cell::Complex(single(x.re), single(x.im)); }
#[cfg(all(feature = "complex", feature = "f64"))]
show! { crate::dtype::Complex128 => |x, style| Cell::Complex(double(x.re), double(x.im)); }

fn single(x: f32) -> Decimal {
    Decimal::new(x.into(), &format!("{x:e}"))
}
#[cfg(feature = "f64")]
fn double(x: f64) -> Decimal {
    Decimal::new(x, &format!("{x:e}"))
}
/// The fewest digits of a float of 16 or 8 bits; five always do.
#[cfg(any(feature = "half", feature = "float8"))]
fn half(x: f64, same: impl Fn(f64) -> bool) -> Decimal {
    let short = (0..4)
        .map(|digits| format!("{x:.digits$e}"))
        .find(|t| t.parse().is_ok_and(&same));
    let text = short.unwrap_or_else(|| format!("{x:.4e}"));
    Decimal::new(x, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn text<T: Element>(values: &[T], shape: &[usize]) -> String {
        Tensor::from_slice(values, shape).unwrap().to_string()
    }

    #[test]
    fn numbers_are_aligned_and_have_the_fewest_digits() {
        assert_eq!(text(&[1, -20, 300], &[3]), "[  1, -20, 300]");
        assert_eq!(text(&[true, false], &[2]), "[ true, false]");
        assert_eq!(text(&[0.1f32, -2.25, 3.0], &[3]), "[ 0.1 , -2.25,  3.  ]");
        assert_eq!(text(&[1e10f32, 1.0], &[2]), "[1.e+10, 1.e+00]");
        assert_eq!(text(&[1.5e-7f32, 2.0e-7], &[2]), "[1.5e-07, 2.0e-07]");
        assert_eq!(
            text(&[f32::NAN, f32::INFINITY, -1.0], &[3]),
            "[nan, inf, -1.]"
        );
        assert_eq!(text(&[0.0f32, -0.0], &[2]), "[ 0., -0.]");
        assert_eq!(text(&[7i8], &[]), "7");
    }

    #[cfg(feature = "f64")]
    #[test]
    fn long_floats_are_cut() {
        assert_eq!(text(&[1.0 / 3.0, 0.5], &[2]), "[0.33333333, 0.5       ]");
        assert_eq!(text(&[1e300 / 3.0], &[1]), "[3.33333333e+299]");
        assert_eq!(text(&[0.999999999999], &[1]), "[1.]");
    }

    #[cfg(feature = "half")]
    #[test]
    fn halves_have_few_digits() {
        use crate::dtype::{bf16, f16};
        assert_eq!(
            text(&[bf16::from_f32(0.1), bf16::from_f32(3.25)], &[2]),
            "[0.1 , 3.25]"
        );
        // 65500 is nearest to 65504 alone
        assert_eq!(
            text(&[f16::from_f32(0.1), f16::from_f32(65504.0)], &[2]),
            "[1.00e-01, 6.55e+04]"
        );
    }

    #[cfg(feature = "float8")]
    #[test]
    fn eight_bits_have_fewer() {
        use crate::dtype::{F8E4M3, F8E5M2};
        assert_eq!(
            text(&[0.1, 3.25, 448.0, f32::NAN].map(F8E4M3::from_f32), &[4]),
            "[  0.1,   3.2, 448. ,   nan]"
        );
        assert_eq!(
            text(&[57344.0, -f32::INFINITY].map(F8E5M2::from_f32), &[2]),
            "[57344.,   -inf]"
        );
    }

    #[cfg(feature = "complex")]
    #[test]
    fn complex_numbers() {
        use crate::dtype::Complex64;
        assert_eq!(
            text(&[Complex64::new(1.0, -2.5), Complex64::new(0.5, 3.0)], &[2]),
            "[1.-2.5j, 0.5+3.j]"
        );
    }

    #[test]
    fn nested_empty_and_summarised() {
        assert_eq!(text(&[1, 2, 3, 4], &[2, 2]), "[[1, 2],\n [3, 4]]");
        assert_eq!(text(&[1, 2, 3, 4], &[2, 1, 2]), "[[[1, 2]],\n\n [[3, 4]]]");
        assert_eq!(text::<i32>(&[], &[0, 3]), "[]");
        let long = Tensor::from_slice(&(0..2000).collect::<Vec<i32>>(), [2000]).unwrap();
        assert_eq!(
            long.to_string(),
            "[   0,    1,    2, ..., 1997, 1998, 1999]"
        );
        let rows = long.reshape([500, 4]).unwrap().to_string();
        assert_eq!(rows.lines().count(), 7);
        assert!(rows.lines().nth(3) == Some(" ...,"), "{rows}");
        let wide = Tensor::zeros([100], DType::I8).unwrap().to_string();
        assert!(
            wide.lines().count() > 1 && wide.lines().all(|l| l.len() <= WIDTH),
            "{wide}"
        );
    }

    #[test]
    fn many_dimensions_are_no_many_elements() {
        let deep = |rank: usize| {
            Tensor::zeros([1], DType::I8)
                .unwrap()
                .broadcast_to(alloc::vec![2; rank])
                .unwrap()
                .to_string()
        };
        assert_eq!(deep(9).matches('0').count(), 512);
        let deepest = if cfg!(target_pointer_width = "64") {
            40
        } else {
            25
        }; // whose elements can be counted
        assert_eq!(
            (deep(10).as_str(), deep(deepest).as_str()),
            ("[...]", "[...]")
        );
        let thin = Tensor::zeros([1], DType::I8)
            .unwrap()
            .broadcast_to([&[1; 30][..], &[5000]].concat())
            .unwrap()
            .to_string();
        assert!(thin.contains("[0, ..., 0]"), "{thin}");
    }

    #[test]
    fn views_show_their_own_elements() {
        let x = Tensor::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3]).unwrap();
        assert_eq!(
            x.transpose(0, 1).unwrap().flip([0]).unwrap().to_string(),
            "[[3, 6],\n [2, 5],\n [1, 4]]"
        );
        assert_eq!(
            x.narrow(0, 0, 1)
                .unwrap()
                .broadcast_to([2, 3])
                .unwrap()
                .to_string(),
            "[[1, 2, 3],\n [1, 2, 3]]"
        );
    }
}
