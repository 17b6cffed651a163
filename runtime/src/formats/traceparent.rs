//! `traceparent` of W3C Trace Context, levels 1 and 2.

use super::hex;

const SAMPLED: u8 = 1;
const RANDOM: u8 = 2;
/// The length of the longest accepted header. Later versions of the format may be longer than version 00.
const READ: usize = 4096;

/// The caller's span. Parsed ids are never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceParent {
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
    pub(crate) sampled: bool,
    /// Whether the last seven bytes of the trace id are random. Children inherit this flag with the trace id.
    pub(crate) random: bool,
}

impl TraceParent {
    pub(crate) const LENGTH: usize = 55;

    #[inline]
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        if value.len() > READ {
            return None;
        }
        // All versions share the first 55 bytes. A value of exactly 55 bytes is valid only without whitespace, so it needs no
        // trimming.
        let value = if value.len() == Self::LENGTH { value } else { super::trim(value) };
        let (text, rest) = value.split_first_chunk::<{ Self::LENGTH }>()?;
        if [text[2], text[35], text[52]] != *b"---" {
            return None;
        }
        // All digits in one array, padded to the width of vector registers, so that they are parsed together.
        let mut digits = [b'0'; 64];
        digits[..32].copy_from_slice(&text[3..35]);
        digits[32..48].copy_from_slice(&text[36..52]);
        digits[52..54].copy_from_slice(&text[..2]);
        digits[54..56].copy_from_slice(&text[53..]);
        let values = hex::values(&digits)?;
        let ([high, low, span, last], []) = values.as_chunks::<16>() else { return None };
        let trace_id = u128::from(hex::number(high)) << 64 | u128::from(hex::number(low));
        let span_id = hex::number(span);
        let [_, _, version, flags, ..] = hex::number(last).to_be_bytes();
        // Later versions may append fields.
        let known = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => matches!(rest, [] | [b'-', ..]),
        };
        let parent = TraceParent { trace_id, span_id, sampled: flags & SAMPLED != 0, random: flags & RANDOM != 0 };
        (known && trace_id != 0 && span_id != 0).then_some(parent)
    }

    /// Writes version 00 with the flags `sampled` and `random`.
    pub(crate) fn write(&self, out: &mut [u8; Self::LENGTH]) {
        let flags = (u8::from(self.sampled) * SAMPLED) | (u8::from(self.random) * RANDOM);
        out[..3].copy_from_slice(b"00-");
        out[3..35].copy_from_slice(&hex::of_u128(self.trace_id));
        out[35] = b'-';
        out[36..52].copy_from_slice(&hex::of_u64(self.span_id));
        out[52..].copy_from_slice(&[b'-', b'0', b'0' + flags]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: TraceParent = TraceParent {
        trace_id: 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c,
        span_id: 0xb7ad_6b71_6920_3331,
        sampled: true,
        random: false,
    };

    #[track_caller]
    fn check(value: &str, expected: Option<TraceParent>) {
        assert_eq!(TraceParent::parse(value.as_bytes()), expected, "{value:?}");
    }

    fn with_flags(flags: &str) -> String {
        format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}")
    }

    #[test]
    fn flags_are_bits_and_unknown_ones_are_not_passed_on() {
        for bits in 0..=u8::MAX {
            let parent = TraceParent { sampled: bits & 1 != 0, random: bits & 2 != 0, ..PARENT };
            check(&with_flags(&format!("{bits:02x}")), Some(parent));
            let mut written = [0; TraceParent::LENGTH];
            parent.write(&mut written);
            assert_eq!(written, with_flags(&format!("{:02x}", bits & 3)).as_bytes());
        }
    }

    #[test]
    fn every_upper_case_digit_is_refused() {
        let text = with_flags("0a");
        check(&text, Some(TraceParent { sampled: false, random: true, ..PARENT }));
        check(&text.replace("00-", "0a-"), Some(TraceParent { sampled: false, random: true, ..PARENT }));
        for (at, _) in text.match_indices(|digit: char| digit.is_ascii_lowercase()) {
            let mut upper = text.clone().into_bytes();
            upper[at].make_ascii_uppercase();
            check(std::str::from_utf8(&upper).unwrap(), None);
        }
        check(&text.replace("00-", "0A-"), None);
    }

    #[test]
    fn every_byte_that_is_missing_or_in_excess_is_noticed() {
        let text = with_flags("01");
        check(&text, Some(PARENT));
        for at in 0..text.len() {
            check(&text[..at], None);
            check(&[&text[..at], &text[at + 1..]].concat(), None);
            check(&[&text[..at], "0", &text[at..]].concat(), None);
            check(&[&text[..at], "-", &text[at..]].concat(), None);
        }
    }

    #[test]
    fn later_versions_may_go_on_after_a_dash() {
        let later = |version: &str, rest: &str| format!("{version}{}{rest}", &with_flags("01")[2..]);
        check(&later("01", ""), Some(PARENT));
        check(&later("fe", "-"), Some(PARENT));
        check(&later("cc", "-what-the-future-will-be-like"), Some(PARENT));
        check(&later("01", "00"), None);
        check(&later("01", "."), None);
        check(&later("ff", ""), None);
        check(&later("ff", "-more"), None);
        check(&later("00", "-"), None);
    }

    #[test]
    fn only_spaces_and_tabs_around_it_are_ignored() {
        check(&format!(" \t {}\t ", with_flags("01")), Some(PARENT));
        check(&format!("\n{}", with_flags("01")), None);
        check(&format!("{}\r", with_flags("01")), None);
        check(&format!("{}\u{b}", with_flags("01")), None);
        check(" \t ", None);
        check(&format!("{}{}", " ".repeat(READ - TraceParent::LENGTH), with_flags("01")), Some(PARENT));
        check(&format!("{}{}", " ".repeat(READ), with_flags("01")), None);
    }
}
