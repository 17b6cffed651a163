//! Text in a line: nothing in it ends the line, leaves its quotes, or speaks to a terminal.

use std::fmt::Write;

/// Whether a character is shown as its number: it would end a line, move a cursor, change colours, or turn the direction of
/// writing so that a line reads as what it is not.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2028}' | '\u{2029}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Appends `text` as a JSON string.
pub(super) fn json(line: &mut String, text: &str) {
    line.push('"');
    escape(line, text, true, |line, character| {
        // What is hidden lies below U+10000, where JSON needs one number only.
        let _ = write!(line, "\\u{:04x}", u32::from(character));
    });
    line.push('"');
}

/// Appends `text` for people: as it is, but for what is hidden.
pub(super) fn plain(line: &mut String, text: &str) {
    escape(line, text, false, hidden);
}

/// The same, and in quotes if it would not read as one word.
pub(super) fn word(line: &mut String, text: &str) {
    let is_word = |character: char| !character.is_whitespace() && !matches!(character, '"' | '=' | '\\');
    if !text.is_empty() && text.chars().all(is_word) {
        return plain(line, text);
    }
    line.push('"');
    escape(line, text, true, hidden);
    line.push('"');
}

fn hidden(line: &mut String, character: char) {
    let _ = write!(line, "\\u{{{:x}}}", u32::from(character));
}

fn escape(line: &mut String, text: &str, is_quoted: bool, hidden: impl Fn(&mut String, char)) {
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
        line.push_str(&text[rest..at]);
        match short {
            Some(short) => line.push_str(short),
            None => hidden(line, character),
        }
        rest = at + character.len_utf8();
    }
    line.push_str(&text[rest..]);
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
    fn a_terminal_is_not_spoken_to() {
        check(plain, "a\x1b[31mred\x07 \u{9b}2J\r\nb\\c \"d\"", "a\\u{1b}[31mred\\u{7} \\u{9b}2J\\r\\nb\\c \"d\"");
        check(json, "\x1b[0m\u{85}\u{2028}\u{202e}ü\"\\\n", r#""\u001b[0m\u0085\u2028\u202eü\"\\\n""#);
    }

    #[test]
    fn what_is_no_word_is_quoted() {
        check(word, "disk", "disk");
        check(word, "", "\"\"");
        check(word, "two words", "\"two words\"");
        check(word, "a=\"b\\\n", r#""a=\"b\\\n""#);
    }
}
