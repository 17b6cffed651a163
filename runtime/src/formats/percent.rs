//! Percent-encoded UTF-8, in the values of baggage.

use std::borrow::Cow;

use crate::base::percent::decoded;

/// Appends `value` to `out` and percent-encodes all bytes except unreserved ones. This includes `+`, which Python would decode
/// as a space.
pub(super) fn encode(value: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in value.bytes() {
        if is_unreserved(byte) {
            out.push(char::from(byte));
        } else {
            let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 0xf)]);
            out.extend(['%', digit(byte >> 4), digit(byte)]);
        }
    }
}

/// Decodes a text. Invalid UTF-8 becomes U+FFFD; a `%` without two digits is kept. A `+` becomes a space if Python may have
/// written the text (see `is_form`).
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let space = if is_form(text) { b' ' } else { b'+' };
    let (bytes, _) = decoded(text, space);
    match String::from_utf8(bytes) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Returns whether Python may have written the text. Python encodes a space as `+` and escapes all reserved characters. So if a
/// text contains a reserved character or `%20`, each `+` in the text is a plus sign.
fn is_form(text: &str) -> bool {
    text.bytes().all(|byte| is_unreserved(byte) || matches!(byte, b'+' | b'%')) && !text.contains("%20")
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(decode(text), expected, "{text}");
    }

    #[test]
    fn bytes_are_decoded_as_utf8() {
        check("alice", "alice");
        check("DF%2028", "DF 28");
        check("%c3%A9%E2%82%AC", "é€");
        check("%00%0a", "\0\n");
    }

    #[test]
    fn what_is_no_utf8_is_replaced() {
        check("a%FFb", "a\u{fffd}b");
        check("%E2%82", "\u{fffd}");
        check("%C0%80", "\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_percent_sign_without_digits_stays() {
        check("100%", "100%");
        check("%2", "%2");
        check("%zz%+1%2x", "%zz% 1%2x");
        check("%%41", "%A");
    }

    #[test]
    fn a_plus_is_a_space_where_python_may_have_written_it() {
        check("a+b", "a b");
        check("+a%2Bb+%C3%A9+", " a+b é ");
        check("a+b%20c", "a+b c");
        check("joe+tag@example.com", "joe+tag@example.com");
        check("1+1=2", "1+1=2");
        check("q/+A", "q/+A");
    }

    #[test]
    fn every_text_comes_back_and_every_octet_is_legal() {
        let text: String = (0..0x300).filter_map(char::from_u32).chain("€𝄞+ %20".chars()).collect();
        let mut encoded = String::new();
        encode(&text, &mut encoded);
        assert!(encoded.bytes().all(|byte| is_unreserved(byte) || byte == b'%'));
        check(&encoded, &text);
    }
}
