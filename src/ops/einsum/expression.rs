//! Subscripts, read together with the shapes of their operands.

use super::OP;
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Labels by their index in [`Expression::sizes`], in the order of dimensions.
pub(super) type Labels = SmallVec<[u8; 8]>;

/// A set of labels, by their indices.
pub(super) type Set = u128;

/// The most labels, those of dimensions under an ellipsis included.
const MOST: usize = Set::BITS as usize;

pub(super) fn set(labels: &[u8]) -> Set {
    labels.iter().fold(0, |set, label| set | 1 << label)
}

/// The product of the sizes of labels.
pub(super) fn size(sizes: &[usize], mut labels: Set) -> f64 {
    let mut product = 1.0;
    while labels != 0 {
        product *= sizes[labels.trailing_zeros() as usize] as f64;
        labels &= labels - 1;
    }
    product
}

/// An expression whose labels are numbered: first those of the output in its order, then the others
/// as they first occur.
pub(super) struct Expression {
    /// The labels of each operand's dimensions.
    pub operands: Vec<Labels>,
    /// The number of the output's dimensions, whose labels come first.
    pub rank: usize,
    /// The size of each label, 1 only if all its dimensions are of size 1.
    pub sizes: SmallVec<[usize; 16]>,
    names: SmallVec<[Name; 16]>,
}

/// A label as it is written: a letter, or dimension `k` from the last one under an ellipsis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Broadcast(usize),
    Letter(u8),
}

impl Expression {
    pub fn new(subscripts: &str, shapes: &[&[usize]]) -> Result<Expression> {
        Reader { subscripts, shapes }.read()
    }
    /// The labels of the output.
    pub fn output(&self) -> Set {
        (0..self.rank).fold(0, |set, label| set | 1 << label)
    }
    /// The product of the sizes of these labels.
    pub fn size(&self, labels: Set) -> f64 {
        size(&self.sizes, labels)
    }
    /// Removes the labels that occur in one set alone, and not in the output.
    pub fn drop_summed(&self, sets: &mut [Set]) {
        let (mut any, mut several) = (0, self.output());
        for set in sets.iter() {
            several |= any & set;
            any |= set;
        }
        for set in sets {
            *set &= several;
        }
    }
    /// These labels as subscripts.
    pub fn write(&self, labels: &[u8], f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut ellipsis = false;
        for label in labels {
            match self.names[*label as usize] {
                Name::Letter(letter) => write!(f, "{}", letter as char)?,
                Name::Broadcast(_) if !ellipsis => {
                    ellipsis = true;
                    f.write_str("...")?;
                }
                Name::Broadcast(_) => {}
            }
        }
        Ok(())
    }
}

/// What stands between commas or after the arrow.
struct Subscripts {
    letters: SmallVec<[u8; 8]>,
    /// The number of letters before the ellipsis, if there is one.
    ellipsis: Option<usize>,
}

impl Subscripts {
    /// The names of dimensions, of which `broadcast` are under the ellipsis.
    fn names(&self, broadcast: usize) -> impl Iterator<Item = Name> + '_ {
        let before = self.ellipsis.unwrap_or(self.letters.len());
        let (before, after) = self.letters.split_at(before);
        let broadcast = (0..broadcast).rev().map(Name::Broadcast);
        let letters = |part: &'_ [u8]| SmallVec::<[u8; 8]>::from_slice(part).into_iter();
        let (before, after) = (letters(before), letters(after));
        before
            .map(Name::Letter)
            .chain(broadcast)
            .chain(after.map(Name::Letter))
    }
}

struct Reader<'a> {
    subscripts: &'a str,
    shapes: &'a [&'a [usize]],
}

impl Reader<'_> {
    fn read(&self) -> Result<Expression> {
        if self.shapes.is_empty() {
            return Err(self.value(message!("there is no operand")));
        }
        let (inputs, output) = match self.subscripts.split_once("->") {
            Some((inputs, output)) => (inputs, Some(output)),
            None => (self.subscripts, None),
        };
        let count = inputs.bytes().filter(|c| *c == b',').count() + 1;
        if count != self.shapes.len() {
            let given = self.shapes.len();
            return Err(self.value(message!(
                "subscripts of {count} operands, but {given} given"
            )));
        }
        let (mut operands, mut broadcast) = (fallible::with_capacity(count)?, 0);
        let mut expression = Expression {
            operands: Vec::new(),
            rank: 0,
            sizes: SmallVec::new(),
            names: SmallVec::new(),
        };
        for (k, text) in inputs.split(',').enumerate() {
            let subscripts = self.part(text, self.shapes[k].len())?;
            let under = self.under_ellipsis(k, &subscripts, text)?;
            broadcast = broadcast.max(under);
            operands.push((subscripts, under));
        }
        let output: SmallVec<[Name; 8]> = match output {
            Some(text) => self.output(text, &operands, broadcast)?,
            None => {
                let all = Subscripts {
                    letters: SmallVec::new(),
                    ellipsis: Some(0),
                };
                let letters = (b'A'..=b'z').filter(|c| c.is_ascii_alphabetic());
                let once = letters.filter(|letter| {
                    let letters = operands.iter().flat_map(|(s, _)| &s.letters);
                    letters.filter(|c| *c == letter).take(2).count() == 1
                });
                all.names(broadcast).chain(once.map(Name::Letter)).collect()
            }
        };
        for name in &output {
            self.number(&mut expression, *name)?;
        }
        expression.rank = output.len();
        // the operand that gave each label its size
        let mut sized_by = SmallVec::<[usize; 16]>::new();
        expression.operands = fallible::with_capacity(count)?;
        for (k, (subscripts, under)) in operands.iter().enumerate() {
            let (shape, mut labels) = (self.shapes[k], Labels::new());
            for (size, name) in shape.iter().zip(subscripts.names(*under)) {
                let label = self.number(&mut expression, name)?;
                sized_by.resize(expression.names.len(), k);
                let (of, by) = (&mut expression.sizes[label], &mut sized_by[label]);
                let first = labels.iter().position(|l| *l as usize == label);
                // dimensions of one operand are a diagonal, and don't broadcast
                if let Some(at) = first.filter(|at| shape[*at] != *size) {
                    return Err(self.sizes_differ(name, (k, shape[at]), (k, *size)));
                }
                if *of == 1 {
                    (*of, *by) = (*size, k);
                } else if *size != *of && *size != 1 {
                    return Err(self.sizes_differ(name, (*by, *of), (k, *size)));
                }
                labels.push(label as u8);
            }
            expression.operands.push(labels);
        }
        Ok(expression)
    }
    /// The index of a label, a new one if it has none yet.
    fn number(&self, expression: &mut Expression, name: Name) -> Result<usize> {
        if let Some(k) = expression.names.iter().position(|n| *n == name) {
            return Ok(k);
        }
        if expression.names.len() == MOST {
            return Err(self.value(message!("more than {MOST} labels and broadcast dimensions")));
        }
        expression.names.push(name);
        expression.sizes.push(1);
        Ok(expression.names.len() - 1)
    }
    /// Reads the letters, `most` and one more, and the ellipsis.
    fn part(&self, text: &str, most: usize) -> Result<Subscripts> {
        let mut part = Subscripts {
            letters: SmallVec::new(),
            ellipsis: None,
        };
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            match c {
                ' ' => {}
                'a'..='z' | 'A'..='Z' if part.letters.len() > most => break,
                'a'..='z' | 'A'..='Z' => part.letters.push(c as u8),
                '.' if rest.starts_with("...") && part.ellipsis.is_none() => {
                    part.ellipsis = Some(part.letters.len());
                    rest = &rest[2..];
                }
                '.' => {
                    let message = message!("in {}, '.' is not part of one '...'", Excerpt(&text));
                    return Err(self.value(message));
                }
                c => return Err(self.value(message!("{c:?} is neither a letter nor '...'"))),
            }
            rest = &rest[c.len_utf8()..];
        }
        Ok(part)
    }
    /// The number of dimensions of operand `k` under its ellipsis.
    fn under_ellipsis(&self, k: usize, subscripts: &Subscripts, text: &str) -> Result<usize> {
        let (named, shape) = (subscripts.letters.len(), self.shapes[k]);
        match shape.len().checked_sub(named) {
            Some(0) => Ok(0),
            Some(more) if subscripts.ellipsis.is_some() => Ok(more),
            fewer => {
                let text = Excerpt(&text);
                let way_out = fewer.map_or("", |_| " (add '...' for the others)");
                Err(self.shape(message!(
                    "subscripts {text} don't name the dimensions of operand {k}, whose shape is \
                        {shape:?}{way_out}"
                )))
            }
        }
    }
    /// The labels of the output, as written.
    fn output(
        &self,
        text: &str,
        operands: &[(Subscripts, usize)],
        broadcast: usize,
    ) -> Result<SmallVec<[Name; 8]>> {
        let output = self.part(text, 2 * 26)?;
        for (k, letter) in output.letters.iter().enumerate() {
            let label = *letter as char;
            if output.letters[..k].contains(letter) {
                return Err(self.value(message!("label '{label}' occurs twice in the output")));
            }
            if !operands.iter().any(|(s, _)| s.letters.contains(letter)) {
                return Err(self.value(message!(
                    "label '{label}' of the output occurs in no operand"
                )));
            }
        }
        if broadcast > 0 && output.ellipsis.is_none() {
            return Err(self.value(message!(
                "the output lacks '...' for the {broadcast} dimensions under that of operands"
            )));
        }
        Ok(output.names(broadcast).collect())
    }
    fn sizes_differ(&self, name: Name, first: (usize, usize), second: (usize, usize)) -> Error {
        let ((one, size), (other, differs)) = (first, second);
        let (shape, another) = (self.shapes[one], self.shapes[other]);
        let sizes = message!(
            "is {size} in operand {one}, of shape {shape:?}, but {differs} in operand {other}, of \
                shape {another:?}"
        );
        self.shape(match name {
            Name::Letter(label) => message!("label '{}' {sizes}", label as char),
            Name::Broadcast(k) => {
                message!("dimension {} of '...' {sizes}", -(k as isize) - 1)
            }
        })
    }
    fn shape(&self, message: impl core::fmt::Display) -> Error {
        let subscripts = Excerpt(&self.subscripts);
        Error::shape(OP, message!("{subscripts}: {message}"))
    }
    fn value(&self, message: impl core::fmt::Display) -> Error {
        let subscripts = Excerpt(&self.subscripts);
        Error::value(OP, message!("{subscripts}: {message}"))
    }
}
