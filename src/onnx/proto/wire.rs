//! The wire format of protocol buffers: a message is a list of numbered fields, and each is a
//! varint, four or eight bytes, or a length and as many bytes
//! (<https://protobuf.dev/programming-guides/encoding/>).
//!
//! A field of a message knows how to take a value ([`Field`]), which is all that a schema needs. No
//! value is copied but numbers; a length is checked against what is left, so nothing is allocated on
//! a file's word alone.

use crate::fallible;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What is wrong with the bytes.
pub type Malformed = Cow<'static, str>;
pub type Read<T> = Result<T, Malformed>;

/// The deepest nesting of messages: protobuf's own readers stop there too.
pub const MAX_DEPTH: usize = 100;

/// The most bytes of a varint.
pub const MAX_VARINT: usize = 10;

/// A value as it is encoded.
#[derive(Clone, Copy, Debug)]
pub enum Wire<'a> {
    Varint(u64),
    Eight([u8; 8]),
    Four([u8; 4]),
    Bytes(&'a [u8]),
}

/// The varint that bytes begin with, and how many of them it takes. None if it has no end.
pub fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (i, byte) in bytes.iter().enumerate().take(MAX_VARINT) {
        // of the tenth byte, only the lowest bit has a place
        if i == 9 && *byte > 1 {
            break;
        }
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}

/// The fields of a message, in the order of the file.
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Read<u64> {
        let (value, len) = varint(self.0).ok_or("a varint without an end")?;
        self.0 = &self.0[len..];
        Ok(value)
    }
    fn bytes(&mut self, len: u64) -> Read<&'a [u8]> {
        match usize::try_from(len)
            .ok()
            .and_then(|len| self.0.split_at_checked(len))
        {
            Some((bytes, rest)) => {
                self.0 = rest;
                Ok(bytes)
            }
            None => Err(message!("a field of {len} bytes where {} are left", self.0.len()).into()),
        }
    }
    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let bytes = self.bytes(N as u64)?;
        bytes.try_into().map_err(|_| "truncated".into())
    }
    fn field(&mut self) -> Read<(u32, Wire<'a>)> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).unwrap_or_default();
        if number == 0 {
            return Err(message!("a field of number {}", key >> 3).into());
        }
        let value = match key & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Eight(self.array()?),
            2 => {
                let len = self.varint()?;
                Wire::Bytes(self.bytes(len)?)
            }
            5 => Wire::Four(self.array()?),
            kind => return Err(message!("a field of wire type {kind}").into()),
        };
        Ok((number, value))
    }
}
impl<'a> Iterator for Fields<'a> {
    type Item = Read<(u32, Wire<'a>)>;
    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.field())
    }
}

/// What takes the values of a field.
pub trait Field<'a> {
    /// Takes another value: the last one counts, lists grow, messages merge. `depth` is how many
    /// messages may still be nested.
    fn merge(&mut self, value: Wire<'a>, depth: usize) -> Read<()>;
}

/// The fields of a nested message.
pub fn nested<'a>(value: Wire<'a>, depth: usize) -> Read<Fields<'a>> {
    match value {
        Wire::Bytes(_) if depth == 0 => {
            Err(message!("more than {MAX_DEPTH} nested messages").into())
        }
        Wire::Bytes(bytes) => Ok(Fields(bytes)),
        _ => Err("a number in place of a message".into()),
    }
}

impl<'a> Field<'a> for &'a [u8] {
    fn merge(&mut self, value: Wire<'a>, _: usize) -> Read<()> {
        match value {
            Wire::Bytes(bytes) => *self = bytes,
            _ => return Err("a number in place of bytes".into()),
        }
        Ok(())
    }
}
impl<'a> Field<'a> for &'a str {
    fn merge(&mut self, value: Wire<'a>, depth: usize) -> Read<()> {
        let mut bytes: &[u8] = &[];
        bytes.merge(value, depth)?;
        *self = core::str::from_utf8(bytes).map_err(|_| "a name that is not UTF-8")?;
        Ok(())
    }
}
impl<'a, T: Field<'a> + Default> Field<'a> for Option<T> {
    fn merge(&mut self, value: Wire<'a>, depth: usize) -> Read<()> {
        self.get_or_insert_default().merge(value, depth)
    }
}
impl<'a, T: Field<'a> + Default> Field<'a> for Box<T> {
    fn merge(&mut self, value: Wire<'a>, depth: usize) -> Read<()> {
        (**self).merge(value, depth)
    }
}
impl<'a, T: Field<'a> + Default> Field<'a> for Vec<T> {
    fn merge(&mut self, value: Wire<'a>, depth: usize) -> Read<()> {
        let mut item = T::default();
        item.merge(value, depth)?;
        push(self, item)
    }
}

/// A number of the wire.
pub trait Number: Copy + Default {
    fn from_wire(value: Wire) -> Option<Self>;
    /// The first number of a packed list, and the rest of it.
    fn packed(fields: &mut Fields) -> Read<Self>;
}
macro_rules! varints {
    ($($T:ident)*) => { $(
        impl Number for $T {
            fn from_wire(value: Wire) -> Option<$T> {
                match value {
                    Wire::Varint(v) => Some(v as $T), // two's complement in 64 bits
                    _ => None,
                }
            }
            fn packed(fields: &mut Fields) -> Read<$T> {
                Ok(fields.varint()? as $T)
            }
        }
    )* };
}
varints!(i64 i32 u64);
macro_rules! fixed {
    ($($T:ident $Wire:ident)*) => { $(
        impl Number for $T {
            fn from_wire(value: Wire) -> Option<$T> {
                match value {
                    Wire::$Wire(bytes) => Some($T::from_le_bytes(bytes)),
                    _ => None,
                }
            }
            fn packed(fields: &mut Fields) -> Read<$T> {
                fields.array().map($T::from_le_bytes)
            }
        }
    )* };
}
fixed!(f32 Four f64 Eight);

macro_rules! number_fields {
    ($($T:ident)*) => { $(
        impl<'a> Field<'a> for $T {
            fn merge(&mut self, value: Wire<'a>, _: usize) -> Read<()> {
                *self = Number::from_wire(value).ok_or("a number of another wire type")?;
                Ok(())
            }
        }
    )* };
}
number_fields!(i64 i32 f32);

/// A list of numbers, packed or one by one.
#[derive(Debug, Default)]
pub struct Numbers<T>(pub Vec<T>);

impl<'a, T: Number> Field<'a> for Numbers<T> {
    fn merge(&mut self, value: Wire<'a>, _: usize) -> Read<()> {
        let Wire::Bytes(bytes) = value else {
            let number = T::from_wire(value).ok_or("a number of another wire type")?;
            return push(&mut self.0, number);
        };
        let mut fields = Fields(bytes);
        while !fields.0.is_empty() {
            push(&mut self.0, T::packed(&mut fields)?)?;
        }
        Ok(())
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> Read<()> {
    fallible::push(list, item).map_err(|_| "more items than there is memory for".into())
}
