//! The attributes of a node, by its row: defaults for those that it leaves out, errors for those that
//! the row lacks.

use super::super::call::Value;
use super::super::proto;
use super::super::rows::{Default, Kind, Row};
use super::Importer;
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use alloc::boxed::Box;
use smallvec::SmallVec;

pub(super) type Attributes = SmallVec<[(&'static str, Value); 4]>;

impl<'a> Importer<'a, '_, '_> {
    /// An attribute, which inside a function may be one of the call's.
    pub(super) fn attribute(
        &mut self,
        node: &'a proto::Node<'a>,
        name: &str,
    ) -> Option<&'a proto::Attribute<'a>> {
        let given = node.attribute.iter().find(|a| a.name == name)?;
        match given.reference {
            "" => Some(given),
            name => self.top().frame().attributes.get(name).copied(),
        }
    }
    pub(super) fn attributes(
        &mut self,
        node: &'a proto::Node<'a>,
        row: &'static Row,
    ) -> Result<Attributes> {
        let known = |name: &str| row.attributes.iter().any(|a| a.name == name);
        if let Some(other) = node.attribute.iter().find(|a| !known(a.name)) {
            let message = message!("no attribute {}", Excerpt(&other.name));
            return Err(Error::value(row.name, message));
        }
        let mut all = Attributes::new();
        for attribute in row.attributes {
            let given = self.attribute(node, attribute.name);
            let kind = match attribute.default {
                Default::Int(_) => Kind::Int,
                Default::Float(_) => Kind::Float,
                Default::Text(_) => Kind::Text,
                Default::Absent(kind) | Default::Required(kind) => kind,
            };
            let value = match (given, attribute.default) {
                (Some(given), _) => self.value(given, kind)?.ok_or_else(|| {
                    let message = message!(
                        "the attribute {} is not of the kind {kind:?}",
                        attribute.name
                    );
                    Error::value(row.name, message)
                })?,
                (None, Default::Int(n)) => Value::Int(n),
                (None, Default::Float(x)) => Value::Float(x),
                (None, Default::Text(text)) => Value::Text(text.into()),
                (None, Default::Absent(_)) => Value::None,
                (None, Default::Required(_)) => {
                    let message = message!("the attribute {} is missing", attribute.name);
                    return Err(Error::value(row.name, message));
                }
            };
            all.push((attribute.name, value));
        }
        Ok(all)
    }
    fn value(&mut self, given: &'a proto::Attribute<'a>, kind: Kind) -> Result<Option<Value>> {
        // files of old exporters leave out the type
        const TYPES: &[(Kind, i32)] = &[
            (Kind::Float, 1),
            (Kind::Int, 2),
            (Kind::Text, 3),
            (Kind::Tensor, 4),
            (Kind::Graph, 5),
            (Kind::Floats, 6),
            (Kind::Ints, 7),
            (Kind::Texts, 8),
        ];
        let fits = TYPES.contains(&(kind, given.kind)) || given.kind == 0;
        if !fits {
            return Ok(None);
        }
        let text =
            |bytes: &[u8]| -> Option<Box<str>> { core::str::from_utf8(bytes).ok().map(Box::from) };
        Ok(match kind {
            Kind::Int => Some(Value::Int(given.i.unwrap_or(0))),
            Kind::Float => Some(Value::Float(given.f.unwrap_or(0.0))),
            Kind::Text => text(given.s.unwrap_or_default()).map(Value::Text),
            Kind::Ints => Some(Value::Ints(fallible::copy(&given.ints.0)?)),
            Kind::Floats => Some(Value::Floats(fallible::copy(&given.floats.0)?)),
            Kind::Texts => {
                let texts: Option<alloc::vec::Vec<Box<str>>> =
                    given.strings.iter().map(|s| text(s)).collect();
                texts.map(Value::Texts)
            }
            Kind::Tensor => match &given.t {
                Some(t) => Some(Value::Tensor(self.weights.tensor(t)?)),
                None => None,
            },
            // read by what runs it
            Kind::Graph => given.g.as_ref().map(|_| Value::None),
        })
    }
}
