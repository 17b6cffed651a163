//! Escapes text for JSON strings and for lines that people read.

use std::fmt::{self, Write};

/// Writes `text` as a JSON string. Writes characters for which `is_hidden` is true as `\uXXXX`; it must be true below U+0020.
pub(crate) fn json(out: &mut impl Write, text: &str, is_hidden: impl Fn(char) -> bool) -> fmt::Result {
    out.write_char('"')?;
    escape(out, text, true, is_hidden, |out, character| {
        // JSON escapes a character above U+FFFF as two UTF-16 units.
        character.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
    })?;
    out.write_char('"')
}

/// Writes `text` and escapes line ends and tabs, also quotes and backslashes if the text `is_quoted`. Calls `hidden` to write a
/// character for which `is_hidden` is true. Printable ASCII other than quotes and backslashes is always written unchanged.
pub(crate) fn escape<W: Write>(
    out: &mut W,
    text: &str,
    is_quoted: bool,
    is_hidden: impl Fn(char) -> bool,
    hidden: impl Fn(&mut W, char) -> fmt::Result,
) -> fmt::Result {
    let mut rest = text;
    // The text after the examined characters. Plain characters, which are the majority, are skipped as bytes.
    let mut after = text;
    while let Some(skipped) = after.bytes().position(|byte| !is_plain(byte)) {
        let mut characters = after[skipped..].chars();
        let Some(character) = characters.next() else { break };
        after = characters.as_str();
        let short = match character {
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            '"' if is_quoted => Some("\\\""),
            '\\' if is_quoted => Some("\\\\"),
            other if is_hidden(other) => None,
            _ => continue,
        };
        out.write_str(&rest[..rest.len() - after.len() - character.len_utf8()])?;
        match short {
            Some(short) => out.write_str(short)?,
            None => hidden(out, character)?,
        }
        rest = after;
    }
    out.write_str(rest)
}

/// Returns whether a byte is printable ASCII that is never escaped.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}
