//! Data as words of 64 bits: how plan files store steps, and how graphs hash them.

use crate::dtype::DType;
use crate::layout::ViewAxis;
use crate::nn::{Activation, Conv, Padding, PerAxis};
use crate::op::Op;
use crate::scalar::Scalar;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use smallvec::{Array, SmallVec};

/// Words that are being read.
pub type Words<'a> = core::slice::Iter<'a, u64>;

/// What is stored as words.
pub trait Coded: Sized {
    /// Passes its words to `to`.
    fn write(&self, to: &mut dyn FnMut(u64));
    /// Reads it; `None` if the words are of nothing that can be stored.
    fn read(from: &mut Words) -> Option<Self>;
}

/// Declares an enum or a struct that is stored as words: a variant by its index, and then its
/// fields in order.
macro_rules! coded {
    ($(#[$about:meta])* $vis:vis enum $Name:ident { $($(#[$doc:meta])* $Variant:ident $({ $($(#[$field_doc:meta])* $field:ident: $T:ty),* $(,)? })?),* $(,)? }) => {
        $(#[$about])*
        $vis enum $Name { $($(#[$doc])* $Variant $({ $($(#[$field_doc])* $field: $T),* })?),* }

        impl $crate::stream::codec::Coded for $Name {
            fn write(&self, to: &mut dyn FnMut(u64)) {
                enum Tag { $($Variant),* }
                match self {
                    $($Name::$Variant $({ $($field),* })? => {
                        to(Tag::$Variant as u64);
                        $($($field.write(to);)*)?
                    })*
                }
            }
            fn read(from: &mut $crate::stream::codec::Words) -> Option<Self> {
                enum Tag { $($Variant),* }
                let tag = *from.next()?;
                $(if tag == Tag::$Variant as u64 {
                    return Some($Name::$Variant $({ $($field: $crate::stream::codec::Coded::read(from)?),* })?);
                })*
                None
            }
        }
    };
    ($(#[$about:meta])* $vis:vis struct $Name:ident { $($(#[$doc:meta])* $field_vis:vis $field:ident: $T:ty),* $(,)? }) => {
        $(#[$about])*
        $vis struct $Name { $($(#[$doc])* $field_vis $field: $T),* }
        $crate::stream::codec::coded_struct! { $Name { $($field),* } }
    };
}
/// The same for a struct that is declared elsewhere; fields after `default` keep their defaults.
macro_rules! coded_struct {
    ($Name:ty { $($field:ident),* } $($default:expr)?) => {
        impl $crate::stream::codec::Coded for $Name {
            fn write(&self, to: &mut dyn FnMut(u64)) {
                $(self.$field.write(to);)*
            }
            fn read(from: &mut $crate::stream::codec::Words) -> Option<Self> {
                Some(Self { $($field: $crate::stream::codec::Coded::read(from)?,)* $(..$default)? })
            }
        }
    };
}
pub(super) use {coded, coded_struct};

macro_rules! integers {
    ($($T:ident)*) => { $(impl Coded for $T {
        fn write(&self, to: &mut dyn FnMut(u64)) {
            to(*self as u64);
        }
        fn read(from: &mut Words) -> Option<Self> {
            let word = *from.next()?;
            // negative numbers have their sign in the words' upper bits
            Some(word as $T).filter(|x| *x as u64 == word)
        }
    })* };
}
integers! { u8 u16 u32 u64 usize isize }

/// Enums without fields, by their index in a list of all.
macro_rules! indices {
    ($($T:ty, $all:expr;)*) => { $(impl Coded for $T {
        fn write(&self, to: &mut dyn FnMut(u64)) {
            to(*self as u64);
        }
        fn read(from: &mut Words) -> Option<Self> {
            $all.get(usize::read(from)?).copied()
        }
    })* };
}
indices! {
    bool, [false, true];
    DType, DType::ALL;
    Op, Op::ALL;
    super::fold::Kind, super::fold::Kind::ALL;
}

impl Coded for Activation {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        let mut names = Activation::NAMES.iter();
        names
            .position(|x| *x == self.name())
            .unwrap_or_default()
            .write(to);
    }
    fn read(from: &mut Words) -> Option<Self> {
        Activation::from_name(Activation::NAMES.get(usize::read(from)?)?)
    }
}
impl Coded for Scalar {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        let words = match *self {
            Scalar::Bool(x) => [0, x as u64, 0],
            Scalar::Int(x) => [1, x as u64, (x >> 64) as u64],
            Scalar::Float(x) => [2, x.to_bits(), 0],
            Scalar::Complex(x, y) => [3, x.to_bits(), y.to_bits()],
        };
        words.into_iter().for_each(to);
    }
    fn read(from: &mut Words) -> Option<Self> {
        let [kind, a, b] = [*from.next()?, *from.next()?, *from.next()?];
        Some(match kind {
            0 => Scalar::Bool(a != 0),
            1 => Scalar::Int(((b as i64 as i128) << 64) | a as i128),
            2 => Scalar::Float(f64::from_bits(a)),
            3 => Scalar::Complex(f64::from_bits(a), f64::from_bits(b)),
            _ => return None,
        })
    }
}
impl<T: Coded> Coded for Option<T> {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        self.is_some().write(to);
        self.iter().for_each(|x| x.write(to));
    }
    fn read(from: &mut Words) -> Option<Self> {
        Some(match bool::read(from)? {
            true => Some(T::read(from)?),
            false => None,
        })
    }
}
impl<A: Array<Item: Coded>> Coded for SmallVec<A> {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        self.len().write(to);
        self.iter().for_each(|x| x.write(to));
    }
    fn read(from: &mut Words) -> Option<Self> {
        let len = usize::read(from)?;
        // each entry has a word
        (len <= from.len()).then(|| (0..len).map(|_| A::Item::read(from)).collect())?
    }
}
impl<T: Coded> Coded for Vec<T> {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        self.len().write(to);
        self.iter().for_each(|x| x.write(to));
    }
    fn read(from: &mut Words) -> Option<Self> {
        let len = usize::read(from)?;
        (len <= from.len()).then(|| (0..len).map(|_| T::read(from)).collect())?
    }
}
impl<A: Coded, B: Coded> Coded for (A, B) {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        self.0.write(to);
        self.1.write(to);
    }
    fn read(from: &mut Words) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?))
    }
}
macro_rules! pointers {
    ($($P:ident)*) => { $(impl<T: Coded> Coded for $P<T> {
        fn write(&self, to: &mut dyn FnMut(u64)) {
            (**self).write(to);
        }
        fn read(from: &mut Words) -> Option<Self> {
            T::read(from).map($P::new)
        }
    })* };
}
pointers! { Box Arc }

coded_struct! { ViewAxis { axis, step, count } }
coded_struct! { Conv<'static> { groups, precise, activation, stride, dilation, padding } Conv::default() }

impl Coded for PerAxis {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        SmallVec::<[usize; 3]>::from_slice(self.numbers()).write(to);
    }
    fn read(from: &mut Words) -> Option<Self> {
        let values: SmallVec<[usize; 3]> = Coded::read(from)?;
        Some(PerAxis::from(&values[..]))
    }
}
impl Coded for Padding {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        match self {
            Padding::Same => to(0),
            Padding::Valid => to(1),
            Padding::Both(n) => {
                to(2);
                n.write(to);
            }
            Padding::Pairs(n) => {
                to(3);
                n.write(to);
            }
        }
    }
    fn read(from: &mut Words) -> Option<Self> {
        Some(match *from.next()? {
            0 => Padding::Same,
            1 => Padding::Valid,
            2 => Padding::Both(Coded::read(from)?),
            3 => Padding::Pairs(Coded::read(from)?),
            _ => return None,
        })
    }
}
