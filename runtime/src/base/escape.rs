//! Text in which nothing ends a line or leaves its quotes: JSON strings, and lines for people.

use std::fmt::{self, Write};

/// Writes `text` as a JSON string. Characters for which `is_hidden` is true are written as numbers: those below U+0020 have to be.
pub(crate) fn json(out: &mut impl Write, text: &str, is_hidden: impl Fn(char) -> bool) -> fmt::Result {
    out.write_char('"')?;
    escape(out, text, true, is_hidden, |out, character| {
        // JSON has no number above U+FFFF: it writes two.
        character.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
    })?;
    out.write_char('"')
}

/// Writes `text` with the ends of its lines and its tabs escaped, its quotes too if it `is_quoted`, and what is hidden as
/// `hidden` writes it.
pub(crate) fn escape<W: Write>(
    out: &mut W,
    text: &str,
    is_quoted: bool,
    is_hidden: impl Fn(char) -> bool,
    hidden: impl Fn(&mut W, char) -> fmt::Result,
) -> fmt::Result {
    let mut rest = 0;
    for (at, character) in text.char_indices() {
        let short = match character {
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            '"' if is_quoted => Some("\\\""),
            '\\' if is_quoted => Some("\\\\"),
            other if is_hidden(other) => None,
            _ => continue,
        };
        out.write_str(&text[rest..at])?;
        match short {
            Some(short) => out.write_str(short)?,
            None => hidden(out, character)?,
        }
        rest = at + character.len_utf8();
    }
    out.write_str(&text[rest..])
}
