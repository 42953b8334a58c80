//! The messages of ONNX that a model is read from, as a table (onnx/onnx.proto3 has all of them).
//! What is not listed here is skipped.

mod wire;

use alloc::boxed::Box;
use alloc::vec::Vec;
use wire::{Field, MAX_DEPTH, Numbers, Wire, nested};
pub use wire::{MAX_VARINT, Read, varint};

/// `Message { number name: type, .. }`: the fields of each message.
macro_rules! messages {
    ($($(#[doc = $doc:literal])* $Message:ident { $($number:literal $name:ident: $T:ty,)* })*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Default)]
        pub struct $Message<'a> { $(pub $name: $T),* }
        impl<'a> Field<'a> for $Message<'a> {
            fn merge(&mut self, value: Wire<'a>, depth: usize) -> Read<()> {
                for field in nested(value, depth)? {
                    let (number, value) = field?;
                    match number {
                        $($number => self.$name.merge(value, depth - 1),)*
                        _ => Ok(()),
                    }?;
                }
                Ok(())
            }
        }
    )* };
}
messages! {
    Model {
        1 ir_version: i64,
        2 producer_name: &'a str,
        3 producer_version: &'a str,
        7 graph: Option<Graph<'a>>,
        8 opset_import: Vec<OperatorSet<'a>>,
        14 metadata: Vec<Entry<'a>>,
        25 functions: Vec<Function<'a>>,
    }
    OperatorSet {
        1 domain: &'a str,
        2 version: i64,
    }
    Graph {
        1 node: Vec<Node<'a>>,
        2 name: &'a str,
        5 initializer: Vec<Tensor<'a>>,
        11 input: Vec<ValueInfo<'a>>,
        12 output: Vec<ValueInfo<'a>>,
        15 sparse_initializer: Vec<&'a [u8]>,
    }
    Node {
        1 input: Vec<&'a str>,
        2 output: Vec<&'a str>,
        3 name: &'a str,
        4 op_type: &'a str,
        5 attribute: Vec<Attribute<'a>>,
        7 domain: &'a str,
        8 overload: &'a str,
    }
    Attribute {
        1 name: &'a str,
        2 f: Option<f32>,
        3 i: Option<i64>,
        4 s: Option<&'a [u8]>,
        5 t: Option<Box<Tensor<'a>>>,
        6 g: Option<Box<Graph<'a>>>,
        7 floats: Numbers<f32>,
        8 ints: Numbers<i64>,
        9 strings: Vec<&'a [u8]>,
        20 kind: i32,
        21 reference: &'a str,
    }
    Tensor {
        1 dims: Numbers<i64>,
        2 data_type: i32,
        4 float_data: Numbers<f32>,
        5 int32_data: Numbers<i32>,
        7 int64_data: Numbers<i64>,
        8 name: &'a str,
        9 raw_data: Option<&'a [u8]>,
        10 double_data: Numbers<f64>,
        11 uint64_data: Numbers<u64>,
        13 external_data: Vec<Entry<'a>>,
        14 data_location: i32,
    }
    Entry {
        1 key: &'a str,
        2 value: &'a str,
    }
    ValueInfo {
        1 name: &'a str,
        2 kind: Option<Type<'a>>,
    }
    Type {
        1 tensor: Option<TensorType<'a>>,
        4 sequence: Option<&'a [u8]>,
        5 map: Option<&'a [u8]>,
        8 sparse: Option<&'a [u8]>,
        9 optional: Option<&'a [u8]>,
    }
    TensorType {
        1 elem_type: i32,
        2 shape: Option<Shape<'a>>,
    }
    Shape {
        1 dim: Vec<Dimension<'a>>,
    }
    Dimension {
        1 value: Option<i64>,
        2 symbol: Option<&'a str>,
    }
    Function {
        1 name: &'a str,
        4 input: Vec<&'a str>,
        5 output: Vec<&'a str>,
        6 attribute: Vec<&'a str>,
        7 node: Vec<Node<'a>>,
        9 opset_import: Vec<OperatorSet<'a>>,
        10 domain: &'a str,
        11 defaults: Vec<Attribute<'a>>,
        13 overload: &'a str,
    }
}

/// The message that these bytes are.
pub fn read<'a, M: Field<'a> + Default>(bytes: &'a [u8]) -> Read<M> {
    let mut message = M::default();
    message.merge(Wire::Bytes(bytes), MAX_DEPTH)?;
    Ok(message)
}
