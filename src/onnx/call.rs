//! Calls of operators: their operands, attributes and functions.

use crate::error::{Error, Result};
use crate::op;
use crate::ops::{Arg, elementwise};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Gives way to a signal of the interpreter that called, between the steps of a loop.
pub fn checkpoint() {
    #[cfg(feature = "std")]
    crate::par::checkpoint();
}

/// The results of a call, the first ones of the operator's.
pub type Outputs = SmallVec<[Tensor; 1]>;

/// The operands of a call. Those that nothing needs later are passed by value, so that their buffer
/// may become the result's.
pub struct Inputs<'a>(pub SmallVec<[Option<Arg<'a>>; 4]>);

impl<'a> Inputs<'a> {
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// An operand that may be left out.
    pub fn maybe(&self, i: usize) -> Option<&Tensor> {
        match self.0.get(i)? {
            Some(Arg::Ref(t)) => Some(t),
            Some(Arg::Own(t)) => Some(t),
            _ => None,
        }
    }
    pub fn get(&self, i: usize) -> Result<&Tensor> {
        self.maybe(i).ok_or_else(|| missing(i))
    }
    /// An operand of an elementwise operation.
    pub fn take(&mut self, i: usize) -> Result<Arg<'a>> {
        self.0
            .get_mut(i)
            .and_then(Option::take)
            .ok_or_else(|| missing(i))
    }
    /// An operand to keep.
    pub fn take_tensor(&mut self, i: usize) -> Result<Tensor> {
        match self.take(i)? {
            Arg::Own(t) => Ok(t),
            Arg::Ref(t) => Ok(t.clone()),
            Arg::Scalar(_) => Err(missing(i)),
        }
    }
    /// The integers of an operand.
    pub fn ints(&self, i: usize) -> Result<Vec<i64>> {
        ints(self.get(i)?)
    }
    /// The integers of an operand that may be left out.
    pub fn maybe_ints(&self, i: usize) -> Result<Option<Vec<i64>>> {
        self.maybe(i).map(ints).transpose()
    }
}
#[cold]
fn missing(i: usize) -> Error {
    Error::value("inputs", message!("input {i} is missing"))
}

/// The integers of a tensor, such as a shape.
pub fn ints(x: &Tensor) -> Result<Vec<i64>> {
    x.astype(crate::DType::I64)?.to_vec()
}
/// The floats of a tensor, such as scales.
pub fn floats(x: &Tensor) -> Result<Vec<f64>> {
    x.astype(crate::DType::F64)?.to_vec()
}
/// The only element of a tensor, as a number.
pub fn number(x: &Tensor) -> Result<Scalar> {
    let x = x.reshape(())?;
    Ok(match x.dtype() {
        d if d.is_bool() => Scalar::Bool(x.item::<bool>()?),
        crate::DType::U64 => Scalar::Int(x.item::<u64>()?.into()),
        d if d.is_integer() => Scalar::Int(x.astype(crate::DType::I64)?.item::<i64>()?.into()),
        _ => Scalar::Float(x.astype(crate::DType::F64)?.item::<f64>()?),
    })
}
/// The only element of a tensor, as an integer.
pub fn int(x: &Tensor) -> Result<i64> {
    x.reshape(())?.astype(crate::DType::I64)?.item()
}
/// A size or count. Errors if it is negative.
pub fn size(op: &'static str, what: &str, n: i64) -> Result<usize> {
    usize::try_from(n)
        .map_err(|_| Error::value(op, message!("{what} is {n}; it must not be negative")))
}
/// Sizes. Errors if one is negative.
pub fn sizes(op: &'static str, what: &str, n: &[i64]) -> Result<SmallVec<[usize; 6]>> {
    n.iter().map(|n| size(op, what, *n)).collect()
}

/// A function of one result.
pub type One = dyn for<'a> Fn(&mut Inputs<'a>) -> Result<Tensor> + Send + Sync;
/// A function of several results.
pub type Many = dyn for<'a> Fn(&mut Inputs<'a>) -> Result<Outputs> + Send + Sync;

/// A step that ran.
///
/// Example: [`Model::run_watched`](super::Model::run_watched).
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// The operator's name.
    pub operator: &'static str,
    /// The node's name, or that of its first result.
    pub node: &'a str,
}
/// What is called after each step.
pub type Watch<'a, 'b> = Option<&'a mut (dyn FnMut(Ran) + 'b)>;

/// What runs graphs of its own.
pub trait Control: Send + Sync {
    fn run(&self, x: &mut Inputs, watch: &mut Watch) -> Result<Outputs>;
}

/// What a step of a plan calls.
pub enum Call {
    Elementwise(op::Op),
    Function(fn(&mut Inputs) -> Result<Tensor>),
    One(Box<One>),
    Many(Box<Many>),
    Control(Box<dyn Control>),
}

impl Call {
    /// The results for these operands.
    pub fn run(&self, x: &mut Inputs, watch: &mut Watch) -> Result<Outputs> {
        let result = match self {
            Call::Elementwise(op) => match op.arity() {
                1 => elementwise_of(*op, [x.take(0)?]),
                2 => elementwise_of(*op, [x.take(0)?, x.take(1)?]),
                _ => elementwise_of(*op, [x.take(0)?, x.take(1)?, x.take(2)?]),
            },
            Call::Function(f) => f(x),
            Call::One(f) => f(x),
            Call::Many(f) => return f(x),
            Call::Control(control) => return control.run(x, watch),
        };
        Ok(SmallVec::from_buf([result?]))
    }
}

/// An elementwise operation. A small operand is not worth reusing: its call has a shorter path
/// without that.
fn elementwise_of<const N: usize>(op: op::Op, args: [Arg<'_>; N]) -> Result<Tensor> {
    /// Bytes that fit L1 twice.
    const SMALL: usize = 1 << 13;
    let small = |a: &Arg<'_>| match a {
        Arg::Own(t) => t.len().saturating_mul(t.dtype().size()) <= SMALL,
        _ => true,
    };
    if !args.iter().all(small) {
        return elementwise::apply(op.row(), args);
    }
    let borrowed = core::array::from_fn(|i| match &args[i] {
        Arg::Own(t) => Arg::Ref(t),
        Arg::Ref(t) => Arg::Ref(t),
        Arg::Scalar(n) => Arg::Scalar(*n),
    });
    elementwise::apply::<N>(op.row(), borrowed)
}

/// A call with one result, whose attributes the closure holds.
pub fn one(
    f: impl for<'a> Fn(&mut Inputs<'a>) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Call> {
    Ok(Call::One(Box::new(f)))
}
/// A call with several results.
pub fn many(
    f: impl for<'a> Fn(&mut Inputs<'a>) -> Result<Outputs> + Send + Sync + 'static,
) -> Result<Call> {
    Ok(Call::Many(Box::new(f)))
}

/// The value of an attribute.
#[derive(Clone)]
pub enum Value {
    /// Left out, and without a default.
    None,
    Int(i64),
    Float(f32),
    Text(Box<str>),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<Box<str>>),
    Tensor(Tensor),
}

/// A node whose call is made: what does not change from run to run.
pub struct Node<'a> {
    pub op: &'static str,
    pub attributes: SmallVec<[(&'static str, Value); 4]>,
    /// The operands that are known, for what is prepared once.
    pub constants: SmallVec<[Option<&'a Tensor>; 4]>,
    /// Which results something needs.
    pub wanted: SmallVec<[bool; 4]>,
}

impl Node<'_> {
    fn value(&self, name: &str) -> &Value {
        let found = self.attributes.iter().find(|(n, _)| *n == name);
        debug_assert!(found.is_some(), "the row of {} lacks {name}", self.op);
        found.map_or(&Value::None, |(_, v)| v)
    }
    pub fn maybe_int(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            Value::Int(n) => Some(*n),
            _ => None,
        }
    }
    pub fn int(&self, name: &str) -> i64 {
        self.maybe_int(name).unwrap_or_default()
    }
    pub fn flag(&self, name: &str) -> bool {
        self.int(name) != 0
    }
    pub fn size(&self, name: &str) -> Result<usize> {
        size(self.op, name, self.int(name))
    }
    pub fn maybe_float(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Value::Float(x) => Some(f64::from(*x)),
            _ => None,
        }
    }
    pub fn float(&self, name: &str) -> f64 {
        self.maybe_float(name).unwrap_or_default()
    }
    pub fn text(&self, name: &str) -> &str {
        match self.value(name) {
            Value::Text(text) => text,
            _ => "",
        }
    }
    pub fn maybe_ints(&self, name: &str) -> Option<&[i64]> {
        match self.value(name) {
            Value::Ints(n) => Some(n),
            _ => None,
        }
    }
    pub fn maybe_sizes(&self, name: &str) -> Result<Option<SmallVec<[usize; 6]>>> {
        self.maybe_ints(name)
            .map(|n| sizes(self.op, name, n))
            .transpose()
    }
    pub fn floats(&self, name: &str) -> &[f32] {
        match self.value(name) {
            Value::Floats(x) => x,
            _ => &[],
        }
    }
    pub fn texts(&self, name: &str) -> &[Box<str>] {
        match self.value(name) {
            Value::Texts(x) => x,
            _ => &[],
        }
    }
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        match self.value(name) {
            Value::Tensor(x) => Some(x),
            _ => None,
        }
    }
    /// The dtype that an attribute names; `None` if it is left out or 0.
    pub fn dtype(&self, name: &str) -> Result<Option<crate::DType>> {
        match self.int(name) {
            0 => Ok(None),
            n => super::types::dtype(self.op, i32::try_from(n).unwrap_or(-1)).map(Some),
        }
    }
    /// An operand that doesn't change from run to run.
    pub fn constant(&self, i: usize) -> Option<&Tensor> {
        self.constants.get(i).copied().flatten()
    }
    pub fn wants(&self, output: usize) -> bool {
        self.wanted.get(output).copied().unwrap_or(false)
    }
    /// One of the words that an attribute may be. Errors for others.
    pub fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<T> {
        let text = self.text(name);
        let found = choices.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            Error::value(
                self.op,
                message!("{name} is {text:?}; it must be one of {words:?}"),
            )
        })
    }
    /// An error about the node.
    pub fn wrong(&self, message: impl Into<alloc::borrow::Cow<'static, str>>) -> Error {
        Error::value(self.op, message)
    }
}
