//! A JSON reader without a tree of values, and a writer: as much as the headers of safetensors
//! files need. All allocations are fallible.

use crate::error::{Error, Result};
use crate::fallible::append_text as append;
use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt::{self, Write};

/// The deepest nesting accepted: deeper input is an attack.
const DEEPEST: usize = 64;

/// Why content was not read.
pub(super) enum ParseError {
    /// The content is malformed.
    Malformed(Cow<'static, str>),
    /// Another error, such as a lack of memory.
    Other(Error),
}
impl From<&'static str> for ParseError {
    fn from(what: &'static str) -> ParseError {
        ParseError::Malformed(what.into())
    }
}
impl From<String> for ParseError {
    fn from(what: String) -> ParseError {
        ParseError::Malformed(what.into())
    }
}
impl From<Error> for ParseError {
    fn from(e: Error) -> ParseError {
        ParseError::Other(e)
    }
}
pub(super) type Read<T> = core::result::Result<T, ParseError>;

/// A text, and the position reached.
pub(super) struct Json<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Json<'a> {
    pub fn new(text: &'a str) -> Json<'a> {
        Json {
            text,
            at: 0,
            depth: 0,
        }
    }
    /// The position reached, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }
    /// The next byte that is not white space; 0 at the end.
    pub fn peek(&mut self) -> u8 {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }
    fn accept(&mut self, byte: u8) -> bool {
        let there = self.peek() == byte;
        self.at += there as usize;
        there
    }
    fn expect(&mut self, byte: u8, missing: &'static str) -> Read<()> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(missing.into())
        }
    }
    /// Errors if anything but white space follows.
    pub fn end(&mut self) -> Read<()> {
        self.peek();
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err("trailing data".into())
        }
    }
    /// Reads an object; `member` reads the value of each key.
    pub fn object(
        &mut self,
        member: &mut dyn FnMut(&mut Json<'a>, Cow<'a, str>) -> Read<()>,
    ) -> Read<()> {
        self.expect(b'{', "expected an object")?;
        self.inside(b'}', &mut |json| {
            let key = json.string()?;
            json.expect(b':', "expected ':'")?;
            member(json, key)
        })
    }
    /// Reads an array; `item` reads each of its values.
    pub fn array(&mut self, item: &mut dyn FnMut(&mut Json<'a>) -> Read<()>) -> Read<()> {
        self.expect(b'[', "expected an array")?;
        self.inside(b']', item)
    }
    fn inside(&mut self, end: u8, item: &mut dyn FnMut(&mut Json<'a>) -> Read<()>) -> Read<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("nested too deeply".into());
        }
        if !self.accept(end) {
            item(self)?;
            while !self.accept(end) {
                self.expect(b',', "expected ',' or the end")?;
                item(self)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }
    /// Reads a string; borrowed if it has no escapes.
    pub fn string(&mut self) -> Read<Cow<'a, str>> {
        self.expect(b'"', "a string is expected")?;
        let rest = &self.text[self.at..];
        let plain = |text: &str| {
            text.bytes()
                .position(|b| b == b'"' || b == b'\\' || b < b' ')
                .ok_or("unterminated string")
        };
        let end = plain(rest)?;
        if rest.as_bytes()[end] == b'"' {
            self.at += end + 1;
            return Ok(Cow::Borrowed(&rest[..end]));
        }
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = plain(rest)?;
            append(&mut out, &rest[..end])?;
            self.at += end + 1;
            match rest.as_bytes()[end] {
                b'"' => return Ok(Cow::Owned(out)),
                b'\\' => append(&mut out, self.escape()?.encode_utf8(&mut [0; 4]))?,
                _ => return Err("control character in a string".into()),
            }
        }
    }
    /// The character of the escape after a backslash.
    fn escape(&mut self) -> Read<char> {
        let code = self.text.as_bytes().get(self.at).copied().unwrap_or(0);
        self.at += 1;
        Ok(match code {
            b'"' | b'\\' | b'/' => code as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut unit = self.unit()?;
                // a surrogate pair is one character
                if let 0xd800..0xdc00 = unit
                    && self.text.as_bytes()[self.at..].starts_with(b"\\u")
                {
                    self.at += 2;
                    let low = self.unit()?;
                    if let 0xdc00..0xe000 = low {
                        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    }
                }
                char::from_u32(unit).ok_or("half a character is escaped")?
            }
            _ => return Err("an escape is unknown".into()),
        })
    }
    fn unit(&mut self) -> Read<u32> {
        let digits = self
            .text
            .get(self.at..self.at + 4)
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        self.at += 4;
        Ok(digits
            .and_then(|d| u32::from_str_radix(d, 16).ok())
            .ok_or("an escape has no four digits")?)
    }
    /// Reads an unsigned 64-bit integer.
    pub fn unsigned(&mut self) -> Read<u64> {
        let text = self.value()?;
        let number = if text.bytes().all(|b| b.is_ascii_digit()) {
            text.parse().ok()
        } else {
            None
        };
        Ok(number.ok_or("a number without sign and fraction is expected")?)
    }
    /// Skips the next value and returns its text.
    pub fn value(&mut self) -> Read<&'a str> {
        let next = self.peek();
        let start = self.at;
        match next {
            b'{' => self.object(&mut |json, _| json.value().map(drop))?,
            b'[' => self.array(&mut |json| json.value().map(drop))?,
            b'"' => drop(self.string()?),
            _ => {
                let word = self.text[start..]
                    .bytes()
                    .take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
                    .count();
                self.at += word;
                let text = &self.text[start..self.at];
                if !matches!(text, "true" | "false" | "null") && !is_number(text) {
                    return Err("expected a value".into());
                }
            }
        }
        Ok(&self.text[start..self.at])
    }
}

fn is_number(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (rest, exponent) = text
        .split_once(['e', 'E'])
        .map_or((text, None), |(a, b)| (a, Some(b)));
    let (whole, fraction) = rest
        .split_once('.')
        .map_or((rest, None), |(a, b)| (a, Some(b)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

/// A text being written, also by `write!`, whose only error is a lack of memory.
#[derive(Default)]
pub(super) struct Text(pub String);

impl Text {
    /// Turns the result of `write!` into one with the length that could not be allocated.
    pub fn written(&self, result: fmt::Result) -> Result<()> {
        result.map_err(|_| Error::memory::<u8>(self.0.len()))
    }
    /// Writes a quoted string.
    pub fn quoted(&mut self, text: &str) -> Result<()> {
        append(&mut self.0, "\"")?;
        for piece in text.split_inclusive(|c: char| c == '"' || c == '\\' || c < ' ') {
            let last = piece.chars().next_back().unwrap_or(' ');
            match last {
                '"' | '\\' => {
                    append(&mut self.0, &piece[..piece.len() - 1])?;
                    append(&mut self.0, if last == '"' { "\\\"" } else { "\\\\" })?;
                }
                '\0'..' ' => {
                    append(&mut self.0, &piece[..piece.len() - 1])?;
                    let result = write!(self, "\\u{:04x}", last as u32);
                    self.written(result)?;
                }
                _ => append(&mut self.0, piece)?,
            }
        }
        append(&mut self.0, "\"")
    }
}
impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        append(&mut self.0, text).map_err(|_| fmt::Error)
    }
}
