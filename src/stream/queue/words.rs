//! Options of layers and forms of views, as words of a line.

use super::super::layer::{Layer, LayerKind};
use super::super::view::ViewForm;
use super::relative::{Layered, RelativeShape, RelativeStep};
use crate::dtype::DType;
use crate::nn::{Activation, Conv, Padding, PerAxis};
use crate::scalar::Scalar;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Display, Result, Write};
use smallvec::SmallVec;

/// The kinds of numbers: the letter for each, and an example.
pub(super) const KINDS: [(char, Scalar); 4] = [
    ('b', Scalar::Bool(true)),
    ('i', Scalar::Int(1)),
    ('f', Scalar::Float(1.0)),
    ('c', Scalar::Complex(1.0, 1.0)),
];

/// The value that a word names.
pub(super) fn value(word: &str) -> Option<u16> {
    word.strip_prefix('v')?.parse().ok()
}
/// The dtype that a word names.
pub(super) fn dtype(word: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|d| d.name() == word)
}
/// The remaining words as sizes.
pub(super) fn dims<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<RelativeShape> {
    words.map(|w| w.parse().ok()).collect()
}
/// Reads a word; "-" is none.
fn maybe<T>(word: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    match word {
        "-" => Some(None),
        word => read(word).map(Some),
    }
}
fn listed<T: Display>(text: &mut String, all: impl IntoIterator<Item = T>) -> Result {
    for (k, x) in all.into_iter().enumerate() {
        write!(text, "{}{x}", if k > 0 { "," } else { "" })?;
    }
    Ok(())
}
fn flag(word: &str) -> Option<bool> {
    match word {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Writes the form of a view.
pub(super) fn write_form(text: &mut String, form: &ViewForm) -> Result {
    let ViewForm::Axes { axes, whole } = form else {
        return text.write_str("reshape");
    };
    text.push_str(if *whole { "whole" } else { "part" });
    for axis in axes {
        match axis {
            Some(k) => write!(text, ",{k}")?,
            None => text.push_str(",-"),
        }
    }
    Ok(())
}
/// Reads the form of a view.
pub(super) fn form(word: &str) -> Option<ViewForm> {
    if word == "reshape" {
        return Some(ViewForm::Reshape);
    }
    let mut words = word.split(',');
    let whole = match words.next()? {
        "whole" => true,
        "part" => false,
        _ => return None,
    };
    let axes = words.map(|w| maybe(w, |k| k.parse().ok()));
    let axes = axes.collect::<Option<_>>()?;
    Some(ViewForm::Axes { axes, whole })
}

/// Writes a layer and its operands.
pub(super) fn write_layer(text: &mut String, layer: &Layer, operands: &[u16]) -> Result {
    write!(text, "{}", layer.name())?;
    let name = |f: &Option<Activation>| f.map_or("-", |f| f.name());
    for has in [layer.bias, layer.residual] {
        write!(text, " {}", has as u8)?;
    }
    match &layer.kind {
        LayerKind::Linear { activation, dtype } => {
            let dtype = dtype.map_or("-", |d| d.name());
            write!(text, " {} {dtype}", name(activation))?;
        }
        LayerKind::Conv(_, conv) => {
            let (groups, precise) = (conv.groups, conv.precise as u8);
            write!(text, " {} {groups} {precise} ", name(&conv.activation))?;
            listed(text, conv.stride.numbers())?;
            text.push(' ');
            listed(text, conv.dilation.numbers())?;
            text.push(' ');
            match &conv.padding {
                Padding::Same => text.push_str("same"),
                Padding::Valid => text.push_str("valid"),
                Padding::Both(n) => listed(text, n.numbers())?,
                Padding::Pairs(n) => {
                    text.push_str("pairs,");
                    listed(text, n.iter().flat_map(|(a, b)| [a, b]))?;
                }
            }
        }
    }
    for x in operands {
        write!(text, " v{x}")?;
    }
    Ok(())
}
/// Reads the rest of a layer, after its name.
pub(super) fn layer<'a>(
    name: &str,
    words: &mut impl Iterator<Item = &'a str>,
) -> Option<RelativeStep> {
    let (bias, residual) = (flag(words.next()?)?, flag(words.next()?)?);
    let activation = maybe(words.next()?, Activation::from_name)?;
    let rank = match name {
        "linear" => 0,
        name => name.strip_prefix("conv")?.strip_suffix('d')?.parse().ok()?,
    };
    let kind = match rank {
        0 => LayerKind::Linear {
            activation,
            dtype: maybe(words.next()?, dtype)?,
        },
        1..=3 => {
            let groups = words.next()?.parse().ok()?;
            let precise = flag(words.next()?)?;
            let conv = Conv {
                groups,
                precise,
                stride: per_axis(words.next()?)?,
                dilation: per_axis(words.next()?)?,
                padding: padding(words.next()?)?,
                activation,
                ..Conv::default()
            };
            LayerKind::Conv(rank, conv)
        }
        _ => return None,
    };
    let layer = Layer {
        kind,
        bias,
        residual,
    };
    let operands = (0..layer.arity()).map(|_| value(words.next()?));
    Some(RelativeStep::Layer(Box::new(Layered {
        operands: operands.collect::<Option<SmallVec<_>>>()?,
        layer,
        dims: dims(words)?,
    })))
}
fn numbers(word: &str) -> Option<Vec<usize>> {
    word.split(',').map(|n| n.parse().ok()).collect()
}
fn per_axis(word: &str) -> Option<PerAxis> {
    Some(PerAxis::from(&numbers(word)?[..]))
}
fn padding(word: &str) -> Option<Padding> {
    Some(match (word, word.strip_prefix("pairs,")) {
        ("same", _) => Padding::Same,
        ("valid", _) => Padding::Valid,
        (_, Some(rest)) => {
            let all = numbers(rest)?;
            Padding::Pairs(all.chunks_exact(2).map(|n| (n[0], n[1])).collect())
        }
        (word, None) => Padding::Both(per_axis(word)?),
    })
}
