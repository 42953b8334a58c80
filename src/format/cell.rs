//! An element as text, and the alignment of elements.

use super::Style;
use crate::dtype::{Bool, Element};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// One element before it is aligned with the others.
pub(super) enum TextCell {
    Word(String),
    Real(Decimal),
    #[cfg_attr(
        not(feature = "complex"),
        expect(dead_code, reason = "this build has no complex dtype")
    )]
    Complex(Decimal, Decimal),
}

/// A float: `0.d1d2d3.. * 10^(exponent + 1)`.
pub(super) struct Decimal {
    value: f64,
    digits: String,
    exponent: i32,
}

impl Decimal {
    /// From the text of `{:e}`, which has the fewest digits that round-trip.
    fn new(value: f64, text: &str) -> Decimal {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
        Decimal {
            value,
            digits,
            exponent: exponent.parse().unwrap_or(0),
        }
    }
    /// The digits before the point, and the point with the digits after it; infinities and NaN have
    /// no second part.
    fn parts(&self, exponent: bool, style: &Style) -> (String, String) {
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
        if let Some(digits) = style.precision {
            let text = format!("{:.digits$}", self.value);
            return match text.split_once('.') {
                Some((left, right)) => (left.into(), format!(".{right}")),
                None => (text, String::new()),
            };
        }
        let point = |text: &str| match text.split_once('.') {
            Some((a, b)) => (a.to_string(), b.trim_end_matches('0').to_string()),
            None => (text.to_string(), String::new()),
        };
        let (left, right) = if exponent {
            if self.digits.len() > style.digits + 1 {
                let text = format!("{:.*e}", style.digits, self.value);
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
                places.clamp(0, style.digits as i32) as usize,
                self.value
            ))
        };
        (left, format!(".{right}"))
    }
    /// `e+05`, rounded as [`Decimal::parts`] is.
    fn power(&self, style: &Style) -> String {
        let text = if self.digits.len() > style.digits + 1 {
            format!("{:.*e}", style.digits, self.value)
        } else {
            format!("e{}", self.exponent)
        };
        let power: i32 = text
            .split_once('e')
            .and_then(|(_, e)| e.parse().ok())
            .unwrap_or(0);
        format!("e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
    }
    fn text(&self, exponent: bool, style: &Style) -> String {
        let (left, right) = self.parts(exponent, style);
        let power = if exponent && !right.is_empty() {
            self.power(style)
        } else {
            String::new()
        };
        format!("{left}{right}{power}")
    }
}

/// The cells as texts of equal width.
pub(super) fn align(cells: &[TextCell], style: &Style) -> Vec<String> {
    let decimals = cells.iter().flat_map(|c| match c {
        TextCell::Word(_) => [None, None],
        TextCell::Real(x) => [Some(x), None],
        TextCell::Complex(re, im) => [Some(re), Some(im)],
    });
    let sizes = decimals
        .flatten()
        .filter(|d| d.value.is_finite() && d.value != 0.0)
        .map(|d| d.exponent);
    let (low, high) = sizes.fold((i32::MAX, i32::MIN), |(low, high), e| {
        (low.min(e), high.max(e))
    });
    let exponent = style.precision.is_none()
        && !style.suppress
        && low <= high
        && (high >= 8 || low < -4 || high - low > 4);
    // aligned at the point
    let parts: Vec<(String, String)> = cells
        .iter()
        .map(|c| match c {
            TextCell::Word(w) => (w.clone(), String::new()),
            TextCell::Real(x) => x.parts(exponent, style),
            TextCell::Complex(re, im) => {
                let im = im.text(exponent, style);
                (
                    format!(
                        "{}{}{im}j",
                        re.text(exponent, style),
                        if im.starts_with('-') { "" } else { "+" }
                    ),
                    String::new(),
                )
            }
        })
        .collect();
    let right = parts.iter().map(|p| p.1.len()).max().unwrap_or(0);
    let pointed = |p: &(String, String), c: &TextCell| -> String {
        match c {
            TextCell::Real(x) if !p.1.is_empty() => {
                let fill = if exponent { "0" } else { " " }.repeat(right - p.1.len());
                let power = if exponent {
                    x.power(style)
                } else {
                    String::new()
                };
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

/// An element type that can be written as a cell.
pub(super) trait Show: Element {
    fn cell(self, style: Style) -> TextCell;
}

macro_rules! show {
    ($($($T:ty)+ => |$x:ident, $style:ident| $e:expr;)*) => { $($(impl Show for $T {
        #[allow(unused_variables)]
        fn cell(self, $style: Style) -> TextCell { let $x = self; $e }
    })+)* };
}

show! {
    Bool => |x, style| TextCell::Word(style.bools[x.get() as usize].into());
    i8 i32 i64 u8 => |x, style| TextCell::Word(x.to_string());
    f32 => |x, style| TextCell::Real(single(x));
}

#[cfg(feature = "ints")]
show! { i16 u16 u32 u64 => |x, style| TextCell::Word(x.to_string()); }

#[cfg(feature = "f64")]
show! { f64 => |x, style| TextCell::Real(double(x)); }

#[cfg(feature = "half")]
show! {
    crate::dtype::f16 => |x, style| TextCell::Real(half(x.to_f64(), |y| crate::dtype::f16::from_f64(y) == x));
    crate::dtype::bf16 => |x, style| TextCell::Real(half(x.to_f64(), |y| crate::dtype::bf16::from_f64(y) == x));
}

#[cfg(feature = "float8")]
show! {
    crate::dtype::F8E4M3 => |x, style| TextCell::Real(half(x.into(), |y| crate::dtype::F8E4M3::from_f32(y as f32) == x));
    crate::dtype::F8E5M2 => |x, style| TextCell::Real(half(x.into(), |y| crate::dtype::F8E5M2::from_f32(y as f32) == x));
}

#[cfg(feature = "complex")]
show! { crate::dtype::Complex64 => |x, style| TextCell::Complex(single(x.re), single(x.im)); }

#[cfg(all(feature = "complex", feature = "f64"))]
show! { crate::dtype::Complex128 => |x, style| TextCell::Complex(double(x.re), double(x.im)); }

fn single(x: f32) -> Decimal {
    Decimal::new(x.into(), &format!("{x:e}"))
}

#[cfg(feature = "f64")]
fn double(x: f64) -> Decimal {
    Decimal::new(x, &format!("{x:e}"))
}

/// The fewest digits that round-trip for a float of 16 or 8 bits; five always suffice.
#[cfg(any(feature = "half", feature = "float8"))]
fn half(x: f64, same: impl Fn(f64) -> bool) -> Decimal {
    let short = (0..4)
        .map(|digits| format!("{x:.digits$e}"))
        .find(|t| t.parse().is_ok_and(&same));
    let text = short.unwrap_or_else(|| format!("{x:.4e}"));
    Decimal::new(x, &text)
}
