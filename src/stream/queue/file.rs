//! Plans as files: the steps that lead to each, with the sizes, numbers and views of the first queue
//! that had them. They are read by queueing them without tensors, so that they are checked like any
//! others. A file that holds no plans, or those of another version, is an error and adds nothing.
//!
//! A transformer of 235 operations runs for the first time in 2.2 ms, and once it is planned in
//! 1.1 ms, after Python and flex have started in 80 ms: there is little for a file to save, so it
//! stores no programs.

use super::super::codec::Coded;
use super::super::graph::{Operand, Value};
use super::super::step::{About, Operation, Step};
use super::super::view::ViewKind;
use super::LONGEST;
use super::pending::Queue;
use super::plans::{Needed, PlanTree, Plans};
use super::relative::OperandRef;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{Layout, Shape};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use smallvec::SmallVec;
use std::path::Path;

/// The first line. Plans of another version may mean something else.
const HEADER: &str = concat!("flex-plans 4 ", env!("CARGO_PKG_VERSION"));
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
        let changed = self.is_changed();
        for to in [&Plans::default(), self] {
            for (k, plan) in plans.iter().enumerate() {
                plan.add_to(to)
                    .map_err(|e| wrong(format!("plan {k}: {e}")))?;
            }
        }
        self.lock().changed = changed;
        Ok(plans.len())
    }
}

/// FNV-1a of the text.
fn checksum(text: &str) -> u64 {
    let step = |h: u64, b: u8| (h ^ b as u64).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A plan of a file.
struct StoredPlan {
    needed: Needed,
    /// The steps, with their shapes unless these follow from those of the operands.
    steps: Vec<(Step<Operand>, Shape)>,
}

fn to_text(tree: &PlanTree) -> String {
    let mut text = format!("{HEADER}\n");
    for (path, plan) in tree.paths() {
        let of = &plan.first;
        let operand = |x: &OperandRef| match x {
            OperandRef::Value(k) => Operand::Value(Value(*k as u32)),
            OperandRef::Number(k, _) => Operand::Number(of.numbers[*k as usize]),
            OperandRef::Fixed(s) => Operand::Number(s.0),
        };
        let steps: Vec<_> = path.iter().map(|x| of.resolve(x, operand)).collect();
        text.push_str("plan");
        // writing to a String doesn't fail
        let mut word = |word: u64| {
            let _ = write!(text, " {word:x}");
        };
        plan.needed.iter().copied().for_each(&mut word);
        steps.write(&mut word);
        text.push('\n');
    }
    let sum = checksum(&text);
    let _ = writeln!(text, "end {sum:016x}");
    text
}
fn of_text(text: &str) -> core::result::Result<Vec<StoredPlan>, String> {
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
    let plan = |line: &str| {
        let words = line.strip_prefix("plan ")?.split(' ');
        let words = words.map(|w| u64::from_str_radix(w, 16).ok());
        let words = words.collect::<Option<Vec<u64>>>()?;
        let (needed, steps) = words.split_first_chunk()?;
        let mut steps = steps.iter();
        Some(StoredPlan {
            needed: *needed,
            steps: Coded::read(&mut steps).filter(|_| steps.as_slice().is_empty())?,
        })
    };
    let lines = body.lines().enumerate().skip(1);
    let wrong = |k: usize| format!("line {}: no plan", k + 1);
    lines
        .map(|(k, line)| plan(line).ok_or_else(|| wrong(k)))
        .collect()
}

impl StoredPlan {
    /// Adds it to others, as a queue without tensors does.
    fn add_to(&self, plans: &Plans) -> Result<()> {
        let wrong = |what: &'static str| Err(Error::value("stream", what));
        let bits = self
            .needed
            .iter()
            .map(|word| word.count_ones())
            .sum::<u32>();
        let within = (0..self.steps.len().min(LONGEST))
            .filter(|k| self.needed[k / 64] >> (k % 64) & 1 == 1)
            .count();
        if self.steps.len() > LONGEST || bits == 0 || within != bits as usize {
            return wrong("values are needed that are not there");
        }
        let mut queue = Queue::default();
        let mut known: Vec<(Shape, DType)> = Vec::new();
        for (
            Step {
                operation,
                operands,
            },
            shape,
        ) in &self.steps
        {
            if let Operation::Input { dtype } = operation {
                Layout::contiguous(shape)?;
                queue.new_input(plans, shape, *dtype)?;
                known.push((shape.clone(), *dtype));
                continue;
            }
            let mut about: SmallVec<[About; 4]> = SmallVec::new();
            let mut given: SmallVec<[OperandRef; 3]> = SmallVec::new();
            for x in operands {
                let (x, of) = match x {
                    Operand::Value(x) => match known.get(x.at()) {
                        Some((shape, dtype)) => (
                            OperandRef::Value(x.at() as u16),
                            About::Value(shape, *dtype),
                        ),
                        None => return wrong("an operand is not there yet"),
                    },
                    x => match x.number() {
                        Some(s) => (queue.number(operation, s), About::Number(s)),
                        None => return wrong("an operand is missing"),
                    },
                };
                given.push(x);
                about.push(of);
            }
            if let Operation::View {
                view: ViewKind::New(view),
            } = operation
                && !about.first().is_some_and(|x| view.fits(x.shape()))
            {
                return wrong("not a view of its operand");
            }
            // no more elements than a tensor can have
            let shape = operation.outcome(&about)?.shape;
            Layout::contiguous(&shape)?;
            let shape = (!operation.sizes_follow()).then_some(&shape[..]);
            let (_, dtype, shape) = queue.operation(plans, operation.clone(), given, shape)?;
            drop(about);
            known.push((shape, dtype));
        }
        queue.add_plan(plans, self.needed);
        Ok(())
    }
}
