//! Plans as text: a line for each operation, checked like any other when it is read. Text that is
//! no plan, or of another version, is an error and adds nothing.

use super::super::fold::Kind;
use super::check::{ReadPlan, Wrong, check};
use super::plans::{Needed, PlanTree, Plans};
use super::relative::{Fixed, Rel, RelativeStep};
use super::words::{KINDS, dims, dtype, form, layer, value, write_form, write_layer};
use crate::error::{Error, Result};
use crate::op::Op;
use crate::scalar::Scalar;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use smallvec::SmallVec;
use std::path::Path;

/// The first line. Plans of another version may mean something else.
const HEADER: &str = concat!("flex-plans 2 ", env!("CARGO_PKG_VERSION"));
/// Bytes of a file, at most.
const MAX_BYTES: u64 = 64 << 20;

impl Plans {
    /// Writes the plans to a file, for [`Plans::load`] in another process. An existing file is
    /// replaced atomically, or stays as it is.
    ///
    /// Errors with [`Error::Io`] if it can't be written.
    ///
    /// ```
    /// use flex::{Tensor, stream::{Op, Plans, Stream}};
    /// use std::sync::Arc;
    /// let path = std::env::temp_dir().join("flex_doc_example.plans");
    /// let (stream, x) = (Stream::new(), Tensor::from([1.0f32, 2.0]));
    /// stream.apply(Op::Exp, &[(&x).into()])?.get()?;
    /// assert!(stream.plans().is_changed() && !stream.plans().is_empty());
    /// stream.plans().save(&path)?;
    /// let plans = Plans::default();
    /// assert_eq!(plans.load(&path)?, 1);
    /// assert_eq!((plans.len(), plans.is_changed()), (1, false));
    /// let other = Stream::with_plans(Arc::new(plans)); // needs to plan nothing anew
    /// # drop(other);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let text = {
            let mut tree = self.lock();
            tree.changed = false;
            to_text(&tree)
        };
        let mut name = path.as_os_str().to_os_string();
        name.push(format!(".{}", std::process::id()));
        let beside = Path::new(&name);
        let written = std::fs::write(beside, text).and_then(|()| std::fs::rename(beside, path));
        written.map_err(|e| {
            let _ = std::fs::remove_file(beside);
            self.lock().changed = true;
            Error::io(path, &e)
        })
    }
    /// Adds the plans of a file, and returns their number. Their programs are compiled when they
    /// are first used.
    ///
    /// Errors with [`Error::Io`] if the file can't be read, and with [`Error::File`] if it holds no
    /// plans of this version; none is added then.
    ///
    /// Example: [`Plans::save`].
    pub fn load(&self, path: impl AsRef<Path>) -> Result<usize> {
        let path = path.as_ref();
        let wrong = |message: String| Error::file(path.display().to_string(), message);
        let read = || {
            let size = std::fs::metadata(path)?.len();
            match size > MAX_BYTES {
                true => Ok(None),
                false => std::fs::read(path).map(Some),
            }
        };
        let bytes = read().map_err(|e: std::io::Error| Error::io(path, &e))?;
        let bytes = bytes.ok_or_else(|| wrong(format!("plans take at most {MAX_BYTES} bytes")))?;
        let text = core::str::from_utf8(&bytes).map_err(|_| wrong("not a file of plans".into()))?;
        let plans = of_text(text).map_err(wrong)?;
        let mut tree = self.lock();
        let changed = tree.changed;
        for plan in &plans {
            plan.add_to(&mut tree);
        }
        tree.changed = changed;
        Ok(plans.len())
    }
}

/// FNV-1a of the text.
fn checksum(text: &str) -> u64 {
    let step = |h: u64, b: u8| (h ^ b as u64).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn to_text(tree: &PlanTree) -> String {
    let mut text = format!("{HEADER}\n");
    for (steps, needed) in tree.paths() {
        // writing to a String doesn't fail
        for step in steps {
            let _ = line(&mut text, step);
        }
        text.push_str("plan");
        for word in needed {
            let _ = write!(text, " {word:x}");
        }
        text.push('\n');
    }
    let sum = checksum(&text);
    let _ = writeln!(text, "end {sum:016x}");
    text
}
fn line(text: &mut String, step: &RelativeStep) -> core::fmt::Result {
    match step {
        RelativeStep::Input { dtype, dims } => {
            write!(text, "input {}", dtype.name())?;
            for n in dims {
                write!(text, " {n}")?;
            }
        }
        RelativeStep::Apply {
            op,
            operands,
            fixed,
        } => {
            write!(text, "apply {}", op.name())?;
            for x in operands {
                match x {
                    Rel::Value(k) => write!(text, " v{k}")?,
                    Rel::Number(k, class) => {
                        let kind = KINDS.iter().find(|kind| kind.1.class() == *class);
                        write!(text, " {}{k}", kind.map_or('?', |kind| kind.0))?;
                    }
                    Rel::Fixed => match fixed.as_ref().map_or(Scalar::Int(0), |s| s.0) {
                        Scalar::Bool(x) => write!(text, " =b{}", x as u8)?,
                        Scalar::Int(x) => write!(text, " =i{x}")?,
                        Scalar::Float(x) => write!(text, " =f{:x}", x.to_bits())?,
                        Scalar::Complex(x, y) => {
                            write!(text, " =c{:x},{:x}", x.to_bits(), y.to_bits())?
                        }
                    },
                }
            }
        }
        RelativeStep::Layer(of) => {
            write_layer(text, &of.layer, &of.operands)?;
            for n in &of.dims {
                write!(text, " {n}")?;
            }
        }
        RelativeStep::View { x, at, about } => {
            let (form, dims) = &**about;
            write!(text, "view v{x} {at} ")?;
            write_form(text, form)?;
            for n in dims {
                write!(text, " {n}")?;
            }
        }
        RelativeStep::Convert { x, dtype } => write!(text, "astype v{x} {}", dtype.name())?,
        RelativeStep::Product { a, b, dtype } => {
            write!(text, "matmul v{a} v{b}")?;
            if let Some(dtype) = dtype {
                write!(text, " {}", dtype.name())?;
            }
        }
        RelativeStep::Reduce {
            kind,
            x,
            reduced,
            keepdims,
        } => write!(
            text,
            "reduce {} v{x} {reduced:x} {}",
            kind.name(),
            *keepdims as u8
        )?,
    }
    text.push('\n');
    Ok(())
}

fn of_text(text: &str) -> Wrong<Vec<ReadPlan>> {
    let first = text.lines().next().unwrap_or_default();
    if first != HEADER {
        return Err(match first.starts_with("flex-plans ") {
            true => format!("plans of another version: {first:?}, not {HEADER:?}"),
            false => "not a file of plans".into(),
        });
    }
    let end = text.rfind("end ").ok_or("plans that end early")?;
    let (body, last) = text.split_at(end);
    if last != format!("end {:016x}\n", checksum(body)) {
        return Err("damaged plans: the checksum is another one".into());
    }
    let mut plans = Vec::new();
    let mut steps = Vec::new();
    for (k, line) in body.lines().enumerate().skip(1) {
        let wrong = |what: String| format!("line {}: {what}", k + 1);
        let mut words = line.split(' ');
        if let Some("plan") = words.next() {
            let mut needed = Needed::default();
            for word in &mut needed {
                let bits = words.next().and_then(|w| u64::from_str_radix(w, 16).ok());
                *word = bits.ok_or_else(|| wrong("a word of bits is missing".into()))?;
            }
            plans.push(check(core::mem::take(&mut steps), needed).map_err(wrong)?);
        } else {
            steps.push(step(line).ok_or_else(|| wrong(format!("no operation: {line:?}")))?);
        }
    }
    Ok(plans)
}
fn step(line: &str) -> Option<RelativeStep> {
    let mut words = line.split(' ');
    let step = match words.next()? {
        "input" => {
            let dtype = dtype(words.next()?)?;
            let dims = dims(&mut words)?;
            RelativeStep::Input { dtype, dims }
        }
        "apply" => {
            let op = Op::from_name(words.next()?)?;
            let mut fixed = None;
            let operands = words.by_ref().map(|w| operand(w, &mut fixed));
            RelativeStep::Apply {
                op,
                operands: operands.collect::<Option<SmallVec<_>>>()?,
                fixed,
            }
        }
        name @ ("linear" | "conv1d" | "conv2d" | "conv3d") => layer(name, &mut words)?,
        "view" => {
            let (x, at) = (value(words.next()?)?, words.next()?.parse().ok()?);
            let form = form(words.next()?)?;
            let about = Box::new((form, dims(&mut words)?));
            RelativeStep::View { x, at, about }
        }
        "astype" => RelativeStep::Convert {
            x: value(words.next()?)?,
            dtype: dtype(words.next()?)?,
        },
        "matmul" => RelativeStep::Product {
            a: value(words.next()?)?,
            b: value(words.next()?)?,
            dtype: match words.next() {
                Some(word) => Some(dtype(word)?),
                None => None,
            },
        },
        "reduce" => {
            let name = words.next()?;
            RelativeStep::Reduce {
                kind: *Kind::ALL.iter().find(|k| k.name() == name)?,
                x: value(words.next()?)?,
                reduced: u64::from_str_radix(words.next()?, 16).ok()?,
                keepdims: words.next()? == "1",
            }
        }
        _ => return None,
    };
    words.next().is_none().then_some(step)
}
fn operand(word: &str, fixed: &mut Option<Box<Fixed>>) -> Option<Rel> {
    let number = |word: &str| {
        let float = |w: &str| Some(f64::from_bits(u64::from_str_radix(w, 16).ok()?));
        Some(match word.split_at_checked(1)? {
            ("b", x) => Scalar::Bool(x == "1"),
            ("i", x) => Scalar::Int(x.parse().ok()?),
            ("f", x) => Scalar::Float(float(x)?),
            ("c", x) => {
                let (x, y) = x.split_once(',')?;
                Scalar::Complex(float(x)?, float(y)?)
            }
            _ => return None,
        })
    };
    match word.split_at_checked(1)? {
        ("v", k) => Some(Rel::Value(k.parse().ok()?)),
        ("=", rest) if fixed.is_none() => {
            *fixed = Some(Box::new(Fixed(number(rest)?)));
            Some(Rel::Fixed)
        }
        (kind, k) => {
            let kind = KINDS.iter().find(|x| kind.starts_with(x.0))?;
            Some(Rel::Number(k.parse().ok()?, kind.1.class()))
        }
    }
}
