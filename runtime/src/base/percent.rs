//! Percent-encoded bytes.

/// Decodes a text and replaces each `+` by `plus`. Returns the bytes, and whether two hexadecimal digits follow every `%`. A `%`
/// without two digits is kept.
pub(crate) fn decoded(text: &str, plus: u8) -> (Vec<u8>, bool) {
    let (mut bytes, mut is_right) = (Vec::with_capacity(text.len()), true);
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let encoded = match after {
            [high, low, after @ ..] if *first == b'%' => byte(*high, *low).map(|byte| (byte, after)),
            _ => None,
        };
        let (byte, after) = match (encoded, first) {
            (Some(encoded), _) => encoded,
            (None, b'+') => (plus, after),
            (None, _) => {
                is_right &= *first != b'%';
                (*first, after)
            }
        };
        bytes.push(byte);
        rest = after;
    }
    (bytes, is_right)
}

fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_bytes_and_wrong_ones_stay() {
        let check = |text, plus, expected: &[u8], right| assert_eq!(decoded(text, plus), (expected.to_vec(), right));
        check("a%20b+c", b'+', b"a b+c", true);
        check("a+b%2B", b' ', b"a b+", true);
        check("%fF%00", b'+', &[255, 0], true);
        for wrong in ["%", "%2", "%+1", "%2 ", "100%é"] {
            check(wrong, b'+', wrong.as_bytes(), false);
        }
    }
}
