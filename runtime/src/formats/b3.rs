//! B3, the propagation format of Zipkin: a single header `b3`, or separate headers `x-b3-*`.

use super::{hex, trim};

const SINGLE: &str = "b3";
const TRACE_ID: &str = "x-b3-traceid";
const SPAN_ID: &str = "x-b3-spanid";
const SAMPLED: &str = "x-b3-sampled";
const FLAGS: &str = "x-b3-flags";
const PARENT_ID: &str = "x-b3-parentspanid";

/// The caller's sampling decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// No decision: the receiver decides.
    Deferred,
    Deny,
    Accept,
    /// Accept, and samplers must not override this decision.
    Debug,
}

impl Decision {
    /// Returns whether a parent with this decision counts as sampled.
    pub(crate) fn sampled(self) -> bool {
        matches!(self, Decision::Accept | Decision::Debug)
    }
}

/// The content of B3 headers. Parsed ids are never zero. A decision without ids applies to the trace that the receiver begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct B3 {
    /// The trace id and the span id.
    pub(crate) ids: Option<(u128, u64)>,
    pub(crate) decision: Decision,
}

impl B3 {
    /// The length of the longest single header that we write.
    pub(crate) const LENGTH: usize = 51;
    /// The name of the single header.
    pub(crate) const SINGLE: &str = SINGLE;
    /// The names of the separate headers: trace id, span id, decision, debug flag, and the caller's parent, which we never
    /// write.
    pub(crate) const SEVERAL: [&str; 5] = [TRACE_ID, SPAN_ID, SAMPLED, FLAGS, PARENT_ID];

    /// Reads the headers. The separate headers are used only if the single header is missing or invalid. Returns `None` if the
    /// separate headers are also missing or invalid.
    pub(crate) fn read<'a>(get: impl Fn(&'static str) -> Option<&'a [u8]>) -> Option<Self> {
        get(SINGLE).and_then(Self::parse).or_else(|| Self::several(get))
    }

    /// Parses the single header: `{trace id}-{span id}[-{decision}[-{parent}]]`, or a decision alone. Returns `None` if it is
    /// invalid.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let value = trim(value);
        if let [decision] = value {
            return Some(B3 { ids: None, decision: decided(*decision)? });
        }
        let mut parts = value.split(|byte| *byte == b'-');
        let ids = ids(parts.next()?, parts.next()?)?;
        let decision = match parts.next() {
            Some([decision]) => decided(*decision)?,
            Some(_) => return None,
            None => Decision::Deferred,
        };
        // The id of the caller's parent is not used, but must be valid.
        if let Some(parent) = parts.next() {
            number(parent.try_into().ok()?)?;
        }
        parts.next().is_none().then_some(B3 { ids: Some(ids), decision })
    }

    fn several<'a>(get: impl Fn(&'static str) -> Option<&'a [u8]>) -> Option<Self> {
        let debug = get(FLAGS).is_some_and(|flags| trim(flags) == b"1");
        let decision = match get(SAMPLED).map(trim) {
            _ if debug => Decision::Debug,
            Some([decision @ (b'0' | b'1')]) => decided(*decision)?,
            Some(decision) if decision.eq_ignore_ascii_case(b"true") => Decision::Accept,
            Some(decision) if decision.eq_ignore_ascii_case(b"false") => Decision::Deny,
            Some(_) => return None,
            None => Decision::Deferred,
        };
        let ids = match (get(TRACE_ID), get(SPAN_ID)) {
            (Some(trace_id), Some(span_id)) => Some(ids(trim(trace_id), trim(span_id))?),
            (None, None) => None,
            _ => return None,
        };
        (ids.is_some() || decision != Decision::Deferred).then_some(B3 { ids, decision })
    }

    /// Writes the single header to `out` and returns the written part, which is empty if there is nothing to send.
    pub(crate) fn write<'a>(&self, out: &'a mut [u8; Self::LENGTH]) -> &'a [u8] {
        let decision = match self.decision {
            Decision::Deferred => None,
            Decision::Deny => Some(b'0'),
            Decision::Accept => Some(b'1'),
            Decision::Debug => Some(b'd'),
        };
        let mut len = 0;
        if let Some((trace_id, span_id)) = self.ids {
            out[..32].copy_from_slice(&hex::of_u128(trace_id));
            out[32] = b'-';
            out[33..49].copy_from_slice(&hex::of_u64(span_id));
            out[49] = b'-';
            len = if decision.is_some() { 50 } else { 49 };
        }
        if let Some(decision) = decision {
            out[len] = decision;
            len += 1;
        }
        &out[..len]
    }

    /// Calls `set` with the name and value of each separate header that has to be sent.
    pub(crate) fn write_several(&self, mut set: impl FnMut(&'static str, &[u8])) {
        if let Some((trace_id, span_id)) = self.ids {
            set(TRACE_ID, &hex::of_u128(trace_id));
            set(SPAN_ID, &hex::of_u64(span_id));
        }
        match self.decision {
            Decision::Deferred => {}
            Decision::Deny => set(SAMPLED, b"0"),
            Decision::Accept => set(SAMPLED, b"1"),
            // The debug flag implies acceptance, so `x-b3-sampled` must not be sent.
            Decision::Debug => set(FLAGS, b"1"),
        }
    }
}

fn decided(decision: u8) -> Option<Decision> {
    match decision {
        b'0' => Some(Decision::Deny),
        b'1' => Some(Decision::Accept),
        b'd' => Some(Decision::Debug),
        _ => None,
    }
}

/// Parses a trace id of 128 or 64 bits and a span id. Returns `None` if one of them is invalid or zero.
fn ids(trace_id: &[u8], span_id: &[u8]) -> Option<(u128, u64)> {
    let trace_id = match trace_id.len() {
        16 => u128::from(number(trace_id.try_into().ok()?)?),
        _ => {
            let (high, low) = trace_id.split_first_chunk::<16>()?;
            u128::from(number(high)?) << 64 | u128::from(number(low.try_into().ok()?)?)
        }
    };
    let span_id = number(span_id.try_into().ok()?)?;
    (trace_id != 0 && span_id != 0).then_some((trace_id, span_id))
}

/// Parses a 64-bit number. Accepts upper case, which some senders write.
fn number(digits: &[u8; 16]) -> Option<u64> {
    hex::u64(&digits.map(|digit| digit.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "80f198ee56343ba864fe8b2a57d3eff7";
    const SPAN: &str = "e457b5a2e4d86bd1";
    const IDS: (u128, u64) = (0x80f1_98ee_5634_3ba8_64fe_8b2a_57d3_eff7, 0xe457_b5a2_e4d8_6bd1);

    fn read(headers: &[(&str, &str)]) -> Option<B3> {
        B3::read(|name| headers.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_bytes()))
    }

    #[track_caller]
    fn check(headers: &[(&str, &str)], expected: Option<B3>) {
        assert_eq!(read(headers), expected, "{headers:?}");
    }

    fn with_ids(decision: Decision) -> Option<B3> {
        Some(B3 { ids: Some(IDS), decision })
    }

    fn alone(decision: Decision) -> Option<B3> {
        Some(B3 { ids: None, decision })
    }

    #[test]
    fn the_single_header_is_read_in_all_its_forms() {
        let single = |rest: &str| format!("{TRACE}-{SPAN}{rest}");
        check(&[(SINGLE, &single(""))], with_ids(Decision::Deferred));
        check(&[(SINGLE, &single("-0"))], with_ids(Decision::Deny));
        check(&[(SINGLE, &single("-1"))], with_ids(Decision::Accept));
        check(&[(SINGLE, &single("-d"))], with_ids(Decision::Debug));
        check(&[(SINGLE, &single("-1-05e3ac9a4f6e3b90"))], with_ids(Decision::Accept));
        check(&[(SINGLE, &format!(" \t{}\t", single("-1").to_uppercase()))], with_ids(Decision::Accept));
        check(&[(SINGLE, "0")], alone(Decision::Deny));
        check(&[(SINGLE, "1")], alone(Decision::Accept));
        check(&[(SINGLE, " d ")], alone(Decision::Debug));
    }

    #[test]
    fn the_several_headers_are_read_in_all_their_forms() {
        let ids = [(TRACE_ID, TRACE), (SPAN_ID, SPAN)];
        let and = |more: &[(&'static str, &'static str)]| [&ids, more].concat();
        check(&ids, with_ids(Decision::Deferred));
        for (text, decision) in
            [("1", Decision::Accept), ("0", Decision::Deny), ("true", Decision::Accept), ("False", Decision::Deny)]
        {
            check(&and(&[(SAMPLED, text)]), with_ids(decision));
            check(&[(SAMPLED, text)], alone(decision));
        }
        check(&and(&[(FLAGS, "1")]), with_ids(Decision::Debug));
        check(&and(&[(FLAGS, "1"), (SAMPLED, "0")]), with_ids(Decision::Debug));
        check(&and(&[(FLAGS, "0"), (SAMPLED, "1")]), with_ids(Decision::Accept));
        check(&and(&[("x-b3-parentspanid", "nonsense")]), with_ids(Decision::Deferred));
        check(&[(FLAGS, "1")], alone(Decision::Debug));
    }

    #[test]
    fn a_trace_id_of_half_the_width_is_padded() {
        let half = B3 { ids: Some((0x64fe_8b2a_57d3_eff7, IDS.1)), decision: Decision::Accept };
        check(&[(SINGLE, &format!("64fe8b2a57d3eff7-{SPAN}-1"))], Some(half));
        check(&[(TRACE_ID, "64fe8b2a57d3eff7"), (SPAN_ID, SPAN), (SAMPLED, "1")], Some(half));
        let mut out = [0; B3::LENGTH];
        assert_eq!(half.write(&mut out), format!("000000000000000064fe8b2a57d3eff7-{SPAN}-1").as_bytes());
    }

    #[test]
    fn the_single_header_goes_first_unless_it_is_invalid() {
        let several = [(TRACE_ID, "0000000000000000000000000000000a"), (SPAN_ID, "000000000000000b"), (SAMPLED, "0")];
        let single = format!("{TRACE}-{SPAN}-1");
        check(&[&several, [(SINGLE, single.as_str())].as_slice()].concat(), with_ids(Decision::Accept));
        let fallback = Some(B3 { ids: Some((0xa, 0xb)), decision: Decision::Deny });
        check(&[&several, [(SINGLE, "rubbish")].as_slice()].concat(), fallback);
    }

    #[test]
    fn invalid_headers_are_ignored() {
        let zero = "0".repeat(16);
        for wrong in [
            "",
            "-",
            "2",
            "dd",
            "1-2-3",
            TRACE,
            &format!("{TRACE}-"),
            &format!("{TRACE}-{zero}"),
            &format!("{zero}{zero}-{SPAN}"),
            &format!("{zero}-{SPAN}-1"),
            &format!("{}-{SPAN}", &TRACE[1..]),
            &format!("0{TRACE}-{SPAN}"),
            &format!("{TRACE}-{SPAN}0"),
            &format!("{TRACE}-{SPAN}-"),
            &format!("{TRACE}-{SPAN}-2"),
            &format!("{TRACE}-{SPAN}-true"),
            &format!("{TRACE}-{SPAN}-1-"),
            &format!("{TRACE}-{SPAN}-1-{SPAN}-"),
            &format!("{TRACE}-{SPAN}-{SPAN}"),
            &format!("+{}-{SPAN}", &TRACE[1..]),
        ] {
            check(&[(SINGLE, wrong)], None);
        }
        check(&[], None);
        check(&[(TRACE_ID, TRACE)], None);
        check(&[(SPAN_ID, SPAN), (SAMPLED, "1")], None);
        check(&[(TRACE_ID, "zz"), (SPAN_ID, SPAN)], None);
        check(&[(TRACE_ID, TRACE), (SPAN_ID, SPAN), (SAMPLED, "maybe")], None);
        check(&[(TRACE_ID, TRACE), (SPAN_ID, SPAN), (SAMPLED, "d")], None);
        check(&[(FLAGS, "0")], None);
    }

    #[test]
    fn written_headers_are_read_back() {
        for decision in [Decision::Deferred, Decision::Deny, Decision::Accept, Decision::Debug] {
            for sent in [B3 { ids: Some(IDS), decision }, B3 { ids: None, decision }] {
                let expected = Some(sent).filter(|sent| sent.ids.is_some() || decision != Decision::Deferred);
                let mut out = [0; B3::LENGTH];
                assert_eq!(B3::parse(sent.write(&mut out)), expected);
                let mut headers = Vec::new();
                sent.write_several(|name, value| headers.push((name, value.to_vec())));
                let get = |name| headers.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_slice());
                assert_eq!(B3::read(get), expected);
                assert_eq!(sent.decision.sampled(), matches!(decision, Decision::Accept | Decision::Debug));
            }
        }
    }
}
