//! Escapes text in log lines, so that it cannot end the line, leave its quotes, or send control characters to a
//! terminal.

use std::fmt::{self, Write};

use crate::base::escape;

/// Returns whether a character is shown as its code point, because it would end a line, move the cursor, change
/// colours, or reverse the direction of writing to disguise a line.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2028}' | '\u{2029}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Appends `text` as a JSON string.
pub(super) fn json(line: &mut String, text: &str) {
    // Writing to a string does not fail.
    let _ = escape::json(line, text, is_hidden);
}

/// Appends `text` for people: only hidden characters are escaped.
pub(super) fn plain(line: &mut String, text: &str) {
    let _ = escape::escape(line, text, false, is_hidden, hidden);
}

/// Appends `text` for people, in quotes if it is empty or contains white space, a quote, `=` or `\`.
pub(super) fn word(line: &mut String, text: &str) {
    let is_word = |character: char| !character.is_whitespace() && !matches!(character, '"' | '=' | '\\');
    if !text.is_empty() && text.chars().all(is_word) {
        return plain(line, text);
    }
    line.push('"');
    let _ = escape::escape(line, text, true, is_hidden, hidden);
    line.push('"');
}

fn hidden(line: &mut String, character: char) -> fmt::Result {
    write!(line, "\\u{{{:x}}}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: fn(&mut String, &str), text: &str, expected: &str) {
        let mut line = String::new();
        write(&mut line, text);
        assert_eq!(line, expected);
    }

    #[test]
    fn control_characters_never_reach_a_terminal() {
        check(plain, "a\x1b[31mred\x07 \u{9b}2J\r\nb\\c \"d\"", "a\\u{1b}[31mred\\u{7} \\u{9b}2J\\r\\nb\\c \"d\"");
        check(json, "\x1b[0m\u{85}\u{2028}\u{202e}ü\"\\\n", r#""\u001b[0m\u0085\u2028\u202eü\"\\\n""#);
    }

    #[test]
    fn text_that_is_not_one_word_is_quoted() {
        check(word, "disk", "disk");
        check(word, "", "\"\"");
        check(word, "two words", "\"two words\"");
        check(word, "a=\"b\\\n", r#""a=\"b\\\n""#);
    }
}
