//! ONNX models.
//!
//! ```
//! # let file = flex::onnx::example();
//! use flex::{Tensor, onnx::Model};
//! let model = Model::from_bytes(&file)?;
//! let y = model.run(&[Tensor::from([-1.0f32, 2.0])])?;
//! assert_eq!(y[0].to_vec::<f32>()?, [0.0, 2.0]);
//! # Ok::<(), flex::Error>(())
//! ```
//!
//! A model is read once into a plan: the calls of the crate's functions, in order. What is known when
//! it is read is computed then. When it runs, a value's memory is free after its last use, and may
//! become a result's. Sizes are found as it runs, so one plan serves all batches and lengths.
//!
//! ```text
//! proto     the messages of a file
//! weights   its tensors
//! external  and those in files beside it
//! holes     a file without its weights
//! rows      the table of operators
//! call      operands, attributes and functions of a call
//! import    from messages to a plan
//! plan      runs it
//! control   nodes with graphs of their own
//! model     a model
//! ```
//!
//! Operator sets 6 to 28, and operators of `com.microsoft`; `docs/onnx.md` lists them. Values are
//! tensors: there are no sequences, maps, optional values and strings.

mod call;
mod complex;
mod control;
#[cfg(feature = "std")]
mod external;
#[cfg(feature = "std")]
mod holes;
mod import;
mod model;
mod plan;
mod proto;
mod rows;
mod types;
mod weights;

pub use call::Ran;
pub use model::{About, LoadOptions, Model};
pub use types::{Size, Value};

/// An operator that models may use.
///
/// Example: [`operators`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The domain; ONNX's own has an empty name.
    pub domain: &'static str,
    /// The name.
    pub name: &'static str,
    /// A version of the operator set from which it holds in this form.
    pub since: u16,
}

/// All operators, one for each form.
///
/// ```
/// let softmax = flex::onnx::operators().filter(|o| o.name == "Softmax" && o.domain.is_empty());
/// assert_eq!(softmax.map(|o| o.since).collect::<Vec<_>>(), [1, 13]);
/// ```
pub fn operators() -> impl Iterator<Item = Operator> {
    rows::all().map(|row| Operator {
        domain: row.domain,
        name: row.name,
        since: row.since,
    })
}

/// A model of `y = relu(x)`, for examples.
#[doc(hidden)]
pub fn example() -> alloc::vec::Vec<u8> {
    example_of(b"\x0a\x10\x0a\x01x\x12\x01y\x1a\x00\x22\x04Relu\x3a\x00")
}

/// A model of `y = x * w`, for examples, whose initializer `w` is 3.
#[doc(hidden)]
pub fn example_with_weight() -> alloc::vec::Vec<u8> {
    const NODE: &[u8] = b"\x0a\x0e\x0a\x01x\x0a\x01w\x12\x01y\x22\x03Mul";
    const WEIGHT: &[u8] = b"\x2a\x0d\x08\x01\x10\x01\x22\x04\x00\x00\x40\x40\x42\x01w";
    const LISTED: &[u8] = b"\x5a\x03\x0a\x01w";
    example_of(&[NODE, WEIGHT, LISTED].concat())
}

/// A model that makes `y` of `x`, vectors of float32, by these fields of a graph.
fn example_of(fields: &[u8]) -> alloc::vec::Vec<u8> {
    const INPUT: &[u8] = b"\x5a\x10\x0a\x01x\x12\x0b\x0a\x09\x08\x01\x12\x05\x0a\x03\x12\x01n";
    const OUTPUT: &[u8] = b"\x62\x10\x0a\x01y\x12\x0b\x0a\x09\x08\x01\x12\x05\x0a\x03\x12\x01n";
    let graph = [fields, INPUT, OUTPUT].concat();
    [
        b"\x08\x08\x3a",
        &[graph.len() as u8][..],
        &graph,
        b"\x42\x02\x10\x0d",
    ]
    .concat()
}

/// The tensor of a file that holds one (`TensorProto`), such as the data of ONNX's own tests.
///
/// Errors if the bytes are damaged, and for element types that flex lacks.
///
/// ```
/// let file = [b"\x08\x02\x10\x01\x22\x08".to_vec(), 1f32.to_le_bytes().into(), 2f32.to_le_bytes().into()];
/// assert_eq!(flex::onnx::read_tensor(&file.concat())?.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn read_tensor(bytes: &[u8]) -> crate::Result<crate::Tensor> {
    model::tensor_of(bytes)
}
