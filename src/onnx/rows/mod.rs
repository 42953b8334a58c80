//! The table of operators. A row says which versions of an operator it holds for, its operands, its
//! attributes with their defaults, and how its call is made.
//!
//! Where the meaning of an operator changed between versions of the operator set, there is a row for
//! each: a row holds from its version to the next row's.

mod activation;
mod attention;
#[cfg(feature = "quant")]
mod bits;
mod blocks;
mod cast;
mod contrib;
mod conv;
mod detect;
mod elementwise;
mod gather;
mod linear;
mod loss;
mod norm;
mod pad;
mod pool;
mod quant;
#[cfg(feature = "random")]
mod random;
mod recurrent;
mod reduce;
mod resize;
mod scatter;
mod select;
mod shape;
#[cfg(all(feature = "signal", feature = "complex"))]
mod signal;
mod windows;

pub use conv::convolution;
#[cfg(feature = "quant")]
pub use conv::convolution_of_bytes;
pub use norm::spread;
pub use quant::axis_and_block;

use super::call::{Call, Inputs, Node};
use crate::error::Result;
use crate::op;
use crate::tensor::Tensor;
use core::ops::RangeInclusive;

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Row {
    pub domain: &'static str,
    pub name: &'static str,
    /// The first version of the operator set that it holds for.
    pub since: u16,
    /// How many operands there are.
    pub inputs: (u8, u8),
    pub attributes: &'static [Attribute],
    pub run: Run,
}

/// How a row's calls are made.
#[derive(Clone, Copy)]
pub enum Run {
    /// An operation of the crate's table.
    Elementwise(op::Op),
    /// A function that has no use for attributes.
    Function(fn(&mut Inputs) -> Result<Tensor>),
    /// From the node's attributes.
    Make(fn(&Node) -> Result<Call>),
    /// Made by the importer.
    Control,
}

/// An attribute of a row.
#[derive(Clone, Copy)]
pub struct Attribute {
    pub name: &'static str,
    pub default: Default,
}

/// The type of an attribute, and its value where a node has none.
#[derive(Clone, Copy)]
pub enum Default {
    Int(i64),
    Float(f32),
    Text(&'static str),
    /// None: what that means is the operator's.
    Absent(Kind),
    /// A node must have it.
    Required(Kind),
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Float,
    Text,
    Ints,
    Floats,
    Texts,
    Tensor,
    Graph,
}

const fn attribute(name: &'static str, default: Default) -> Attribute {
    Attribute { name, default }
}
const fn int(name: &'static str, default: i64) -> Attribute {
    attribute(name, Default::Int(default))
}
const fn float(name: &'static str, default: f32) -> Attribute {
    attribute(name, Default::Float(default))
}
const fn text(name: &'static str, default: &'static str) -> Attribute {
    attribute(name, Default::Text(default))
}
/// An attribute without a default.
const fn maybe(name: &'static str, kind: Kind) -> Attribute {
    attribute(name, Default::Absent(kind))
}
const fn required(name: &'static str, kind: Kind) -> Attribute {
    attribute(name, Default::Required(kind))
}
const fn ints(name: &'static str) -> Attribute {
    maybe(name, Kind::Ints)
}

/// As many operands as there are.
const ANY: u8 = u8::MAX;

const fn row(
    name: &'static str,
    since: u16,
    inputs: RangeInclusive<u8>,
    attributes: &'static [Attribute],
    run: Run,
) -> Row {
    Row {
        domain: "",
        name,
        since,
        inputs: (*inputs.start(), *inputs.end()),
        attributes,
        run,
    }
}
/// A row whose calls are made from attributes.
const fn make(
    name: &'static str,
    since: u16,
    inputs: RangeInclusive<u8>,
    attributes: &'static [Attribute],
    make: fn(&Node) -> Result<Call>,
) -> Row {
    row(name, since, inputs, attributes, Run::Make(make))
}
/// A row without attributes.
const fn function(
    name: &'static str,
    since: u16,
    inputs: RangeInclusive<u8>,
    f: fn(&mut Inputs) -> Result<Tensor>,
) -> Row {
    row(name, since, inputs, &[], Run::Function(f))
}

/// The families of operators.
const TABLES: &[&[Row]] = &[
    elementwise::ROWS,
    activation::ROWS,
    cast::ROWS,
    reduce::ROWS,
    shape::ROWS,
    select::ROWS,
    pad::ROWS,
    gather::ROWS,
    scatter::ROWS,
    linear::ROWS,
    conv::ROWS,
    blocks::ROWS,
    pool::ROWS,
    norm::ROWS,
    attention::ROWS,
    recurrent::ROWS,
    resize::ROWS,
    quant::ROWS,
    loss::ROWS,
    detect::ROWS,
    #[cfg(feature = "random")]
    random::ROWS,
    #[cfg(all(feature = "signal", feature = "complex"))]
    signal::ROWS,
    contrib::ROWS,
    #[cfg(feature = "quant")]
    bits::ROWS,
    CONTROL,
];

/// Operators whose attributes are graphs, or that are no call.
const CONTROL: &[Row] = &[
    row("Constant", 1, 0..=0, CONSTANT, Run::Control),
    row("Identity", 1, 1..=1, &[], Run::Control),
    row("If", 1, 1..=1, IF, Run::Control),
    row("Loop", 1, 2..=ANY, LOOP, Run::Control),
    row("Scan", 8, 1..=ANY, SCAN_8, Run::Control),
    row("Scan", 9, 1..=ANY, SCAN, Run::Control),
];
const CONSTANT: &[Attribute] = &[
    maybe("value", Kind::Tensor),
    maybe("value_float", Kind::Float),
    maybe("value_floats", Kind::Floats),
    maybe("value_int", Kind::Int),
    maybe("value_ints", Kind::Ints),
];
const IF: &[Attribute] = &[
    required("then_branch", Kind::Graph),
    required("else_branch", Kind::Graph),
];
const LOOP: &[Attribute] = &[required("body", Kind::Graph)];
const SCAN_8: &[Attribute] = &[
    required("body", Kind::Graph),
    required("num_scan_inputs", Kind::Int),
    ints("directions"),
];
const SCAN: &[Attribute] = &[
    required("body", Kind::Graph),
    required("num_scan_inputs", Kind::Int),
    ints("scan_input_axes"),
    ints("scan_input_directions"),
    ints("scan_output_axes"),
    ints("scan_output_directions"),
];

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Row> {
    TABLES.iter().flat_map(|table| table.iter())
}
/// The row of an operator of this version of its operator set.
pub fn find(domain: &str, name: &str, version: i64) -> Option<&'static Row> {
    all()
        .filter(|r| r.name == name && r.domain == domain && i64::from(r.since) <= version)
        .max_by_key(|r| r.since)
}
