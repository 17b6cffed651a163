//! The cases of the official test suite of W3C Trace Context, under its names, and other rules of the specification about both
//! headers. Keys of `tracestate` follow level 2, as in the suite.

use super::{TRACEPARENT, TRACESTATE, TraceContext, TraceParent};

const ID: &str = "12345678901234567890123456789012";
const VALID: &str = "00-12345678901234567890123456789012-1234567890123456-01";
const UNSAMPLED: &str = "00-12345678901234567890123456789012-1234567890123456-00";

fn read(headers: &[(&str, &str)]) -> Option<TraceContext> {
    let values = |name| {
        let named = headers.iter().filter(move |(found, _)| found.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_bytes())
    };
    TraceContext::parse(values(TRACEPARENT), values(TRACESTATE))
}

/// Asserts that the trace is continued.
#[track_caller]
fn goes_on(headers: &[(&str, &str)]) {
    let parent = read(headers).map(|context| (format!("{:032x}", context.parent.trace_id), context.parent.span_id));
    assert_eq!(parent, Some((ID.to_owned(), 0x1234_5678_9012_3456)), "{headers:?}");
}

/// Asserts that a new trace begins.
#[track_caller]
fn restarts(headers: &[(&str, &str)]) {
    assert_eq!(read(headers), None, "{headers:?}");
}

/// Asserts that these `tracestate` headers result in this state if they follow a valid parent, and that the parent is accepted.
#[track_caller]
fn state(lines: &[&str], expected: &str) {
    let parent = ("traceparent", UNSAMPLED);
    let headers: Vec<_> = std::iter::once(parent).chain(lines.iter().map(|line| ("tracestate", *line))).collect();
    goes_on(&headers);
    assert_eq!(read(&headers).unwrap().state.as_str(), expected, "{lines:?}");
}

#[test]
fn both_traceparent_and_tracestate_missing() {
    restarts(&[]);
}

#[test]
fn traceparent_included_tracestate_missing() {
    goes_on(&[("traceparent", VALID)]);
    assert!(read(&[("traceparent", VALID)]).unwrap().state.is_empty());
}

#[test]
fn traceparent_duplicated() {
    restarts(&[("traceparent", &VALID.replace("9012-", "9011-")), ("traceparent", VALID)]);
    restarts(&[("traceparent", VALID), ("traceparent", VALID)]);
    restarts(&[("traceparent", VALID), ("TraceParent", "")]);
    restarts(&[("traceparent", &format!("{VALID},{VALID}"))]);
}

#[test]
fn traceparent_header_name() {
    restarts(&[("trace-parent", VALID)]);
    restarts(&[("trace.parent", VALID)]);
}

#[test]
fn traceparent_header_name_valid_casing() {
    for name in ["TraceParent", "TrAcEpArEnT", "TRACEPARENT"] {
        goes_on(&[(name, VALID)]);
    }
}

/// In each case one field of a valid value is replaced.
#[test]
fn traceparent_fields() {
    let value = |version: &str, trace_id: &str, parent_id: &str, flags: &str| {
        format!("{version}-{trace_id}-{parent_id}-{flags}")
    };
    let parent = "1234567890123456";
    let cases = [
        ("version_0x00", value("00", ID, parent, "01."), false),
        ("version_0x00", value("00", ID, parent, "01-what-the-future-will-be-like"), false),
        ("version_0xcc", value("cc", ID, parent, "01"), true),
        ("version_0xcc", value("cc", ID, parent, "01-what-the-future-will-be-like"), true),
        ("version_0xcc", value("cc", ID, parent, "01.what-the-future-will-be-like"), false),
        ("version_0xff", value("ff", ID, parent, "01"), false),
        ("version_illegal_characters", value(".0", ID, parent, "01"), false),
        ("version_illegal_characters", value("0.", ID, parent, "01"), false),
        ("version_too_long", value("000", ID, parent, "01"), false),
        ("version_too_long", value("0000", ID, parent, "01"), false),
        ("version_too_short", value("0", ID, parent, "01"), false),
        ("trace_id_all_zero", value("00", &"0".repeat(32), parent, "01"), false),
        ("trace_id_illegal_characters", value("00", ".2345678901234567890123456789012", parent, "01"), false),
        ("trace_id_illegal_characters", value("00", "1234567890123456789012345678901.", parent, "01"), false),
        ("trace_id_too_long", value("00", "123456789012345678901234567890123", parent, "01"), false),
        ("trace_id_too_short", value("00", "1234567890123456789012345678901", parent, "01"), false),
        ("parent_id_all_zero", value("00", ID, &"0".repeat(16), "01"), false),
        ("parent_id_illegal_characters", value("00", ID, ".234567890123456", "01"), false),
        ("parent_id_illegal_characters", value("00", ID, "123456789012345.", "01"), false),
        ("parent_id_too_long", value("00", ID, "12345678901234567", "01"), false),
        ("parent_id_too_short", value("00", ID, "123456789012345", "01"), false),
        ("trace_flags_illegal_characters", value("00", ID, parent, ".0"), false),
        ("trace_flags_illegal_characters", value("00", ID, parent, "0."), false),
        ("trace_flags_too_long", value("00", ID, parent, "001"), false),
        ("trace_flags_too_short", value("00", ID, parent, "1"), false),
        ("ows_handling", format!(" {VALID}"), true),
        ("ows_handling", format!("\t{VALID}"), true),
        ("ows_handling", format!("{VALID} "), true),
        ("ows_handling", format!("{VALID}\t"), true),
        ("ows_handling", format!("\t {VALID} \t"), true),
    ];
    for (name, value, valid) in cases {
        let parsed = read(&[("traceparent", &value)]).map(|context| format!("{:032x}", context.parent.trace_id));
        assert_eq!(parsed.as_deref(), valid.then_some(ID), "test_traceparent_{name}: {value:?}");
    }
}

#[test]
fn tracestate_included_traceparent_missing() {
    restarts(&[("tracestate", "foo=1")]);
    restarts(&[("tracestate", "foo=1,bar=2"), ("traceparent", "00-1-2-3")]);
}

#[test]
fn tracestate_included_traceparent_included() {
    state(&["foo=1,bar=2"], "foo=1,bar=2");
    let context = read(&[("tracestate", "foo=1,bar=2"), ("traceparent", UNSAMPLED)]).unwrap();
    assert_eq!((context.state.get("foo"), context.state.get("bar")), (Some("1"), Some("2")));
}

#[test]
fn tracestate_header_name() {
    for (name, expected) in [("trace-state", None), ("trace.state", None), ("tracestate", Some("1"))] {
        assert_eq!(read(&[("traceparent", UNSAMPLED), (name, "foo=1")]).unwrap().state.get("foo"), expected, "{name}");
    }
}

#[test]
fn tracestate_header_name_valid_casing() {
    for name in ["TraceState", "TrAcEsTaTe", "TRACESTATE"] {
        assert_eq!(read(&[("traceparent", UNSAMPLED), (name, "foo=1")]).unwrap().state.get("foo"), Some("1"), "{name}");
    }
}

#[test]
fn tracestate_empty_header() {
    state(&[""], "");
    state(&["foo=1", ""], "foo=1");
    state(&["", "foo=1"], "foo=1");
}

#[test]
fn tracestate_multiple_headers_different_keys() {
    state(&["foo=1,bar=2", "rojo=1,congo=2", "baz=3"], "foo=1,bar=2,rojo=1,congo=2,baz=3");
}

#[test]
fn tracestate_duplicated_keys() {
    state(&["foo=1,foo=1"], "foo=1");
    state(&["foo=1,foo=2"], "foo=1");
    state(&["foo=1", "foo=1"], "foo=1");
    state(&["foo=1", "foo=2"], "foo=1");
    state(&["foo=1,bar=2", "foo=3,baz=4"], "foo=1,bar=2,baz=4");
    state(&["foo=1,foo="], "");
    state(&["foo=1,foo@tenant=2,tenant@foo=3"], "foo=1,foo@tenant=2,tenant@foo=3");
}

#[test]
fn tracestate_all_allowed_characters() {
    let key = "abcdefghijklmnopqrstuvwxyz0123456789_-*/";
    let value: String = (' '..='~').filter(|c| !matches!(c, ',' | '=')).collect();
    for key in [key.to_owned(), format!("{key}@a-z0-9_-*/")] {
        let member = format!("{key}={value}");
        state(&[&member], &member);
        let context = read(&[("traceparent", VALID), ("tracestate", &member)]).unwrap();
        assert_eq!(context.state.get(&key), Some(value.as_str()));
    }
}

#[test]
fn tracestate_ows_handling() {
    state(&["foo=1 \t , \t bar=2, \t baz=3"], "foo=1,bar=2,baz=3");
    state(&["foo=1\t \t,\t \tbar=2,\t \tbaz=3"], "foo=1,bar=2,baz=3");
    for line in [" foo=1", "\tfoo=1", "foo=1 ", "foo=1\t", "\t foo=1 \t"] {
        state(&[line], "foo=1");
    }
}

#[test]
fn tracestate_key_illegal_characters() {
    for line in ["foo =1", "FOO=1", "foo.bar=1", "=1", "foo", "_foo=1", "-foo=1"] {
        state(&[line], "");
        state(&["bar=2", line], "");
    }
}

#[test]
fn tracestate_key_illegal_vendor_format() {
    state(&["@foo=1,bar=2"], "");
    for line in ["foo@=1,bar=2", "foo@@bar=1,bar=2", "foo@bar@baz=1,bar=2", "0foo@0bar=1"] {
        state(&[line], line);
    }
}

#[test]
fn tracestate_member_count_limit() {
    let list = |from: usize, to: usize| (from..=to).map(|n| format!("bar{n:02}={n:02}")).collect::<Vec<_>>().join(",");
    let (first, second, third) = (list(1, 10), list(11, 20), list(21, 30));
    state(&[&first, &second, &third, &list(31, 32)], &list(1, 32));
    state(&[&first, &second, &third, &list(31, 33)], "");
    state(&[&first, &second, &third, &list(31, 32), "bar01=99"], &list(1, 32));
}

#[test]
fn tracestate_key_length_limit() {
    let member = |key: String| format!("{key}=1");
    let kept = |key: String| state(&["foo=1", &member(key.clone())], &format!("foo=1,{}", member(key)));
    kept("z".repeat(256));
    state(&["foo=1", &member("z".repeat(257))], "");
    kept(format!("{}@{}", "t".repeat(241), "v".repeat(14)));
    kept(format!("{}@v", "t".repeat(242)));
    kept(format!("t@{}", "v".repeat(15)));
    state(&["foo=1", &member(format!("{}@v", "t".repeat(255)))], "");
}

#[test]
fn tracestate_value_illegal_characters() {
    state(&["foo=bar=baz"], "");
    state(&["foo=,bar=3"], "");
}

#[test]
fn the_random_flag_goes_on_with_the_trace() {
    for (flags, sampled, random) in [("00", false, false), ("01", true, false), ("02", false, true), ("03", true, true)]
    {
        let value = format!("00-{ID}-1234567890123456-{flags}");
        let parent = read(&[("traceparent", &value)]).unwrap().parent;
        assert_eq!((parent.sampled, parent.random), (sampled, random));
        let mut written = [0; TraceParent::LENGTH];
        parent.write(&mut written);
        assert_eq!(written, value.as_bytes());
    }
}
