//! Fuzz targets of the headers: written headers parse to the same content, within bounds of memory and time.

use super::{B3, Baggage, Decision, TraceParent, TraceState};
use crate::base::fuzz::{Random, assert_linear, mutated, run, within};

const PARENTS: [&[u8]; 7] = [
    b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    b"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-later",
    b"\t00-00000000000000000000000000000001-0000000000000001-00 ",
    b"fe-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff-",
    b" \t00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02 ",
    b"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    b"00-00000000000000000000000000000000-0000000000000000-00",
];
const STATES: [&[u8]; 6] = [
    b"rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
    b"foo@tenant=1 \t, bar= a b c ,, baz=!#$%&'()*+-./:;<>?",
    b"a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9,j=0,k=1,l=2,m=3,n=4,o=5,p=6,q=7,r=8,s=9,t=0,u=1,v=2,w=3,x=4,y=5,z=6",
    b"ot=th:8;rv:d29d6a7215ced0,dd=s:2;o:rum;t.dm:-4,sw=4025843a0c1f5d2b-01",
    b"a=1,b=2,a=3",
    b"",
];
const BAGGAGES: [&[u8]; 6] = [
    b"key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey=propertyValue",
    b"userId=J%C3%BCrgen+M,serverNode=DF%2028,isProduction=false,broken=%E2%82%zz",
    b"a=1,a=2;b=3,a=%00%FF",
    b"x=\xc3\xa9,y=\x00,z=",
    b",;=,k=v;;p= 1 ;",
    b"",
];
const B3S: [&[u8]; 5] = [
    b"80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90",
    b"64fe8b2a57d3eff7-E457B5A2E4D86BD1-d",
    b"80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1",
    b"0",
    b" d ",
];
const WORDS: [&[u8]; 24] = [
    b"-",
    b",",
    b";",
    b"=",
    b" ",
    b"\t",
    b"%",
    b"+",
    b"@",
    b"\"",
    b"\\",
    b"0",
    b"f",
    b"F",
    b"00",
    b"ff",
    b"%20",
    b"%C3",
    b"k=v",
    b"a=",
    b"00000000",
    b"\xff",
    b"\x00",
    b"\xe2\x82\xac",
];

#[test]
fn traceparent() {
    let seeds = [PARENTS.as_slice(), &[B3S[0], b""]].concat();
    let make = |random: &mut Random| mutated(random, &seeds, &WORDS);
    run("traceparent", &seeds, make, |input| {
        let parsed = within(0, || TraceParent::parse(input));
        assert_eq!(parsed, parent_by_the_book(input));
        let Some(parent) = parsed else { return false };
        let mut written = [0; TraceParent::LENGTH];
        within(0, || parent.write(&mut written));
        assert_eq!(TraceParent::parse(&written), Some(parent));
        true
    });
}

/// Parses like `TraceParent::parse`, but field by field.
fn parent_by_the_book(input: &[u8]) -> Option<TraceParent> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begin = input.iter().position(|byte| !is_space(byte))?;
    let end = input.iter().rposition(|byte| !is_space(byte))?;
    let (head, rest) = input[begin..=end].split_at_checked(55)?;
    let fields: Vec<&str> = std::str::from_utf8(head).ok()?.split('-').collect();
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let [version, trace, span, flags] = fields[..] else { return None };
    let sizes = [version.len(), trace.len(), span.len(), flags.len()] == [2, 32, 16, 2];
    if !sizes || !fields.iter().all(|field| is_hex(field)) || input.len() > 4096 {
        return None;
    }
    let flags = u8::from_str_radix(flags, 16).ok()?;
    let (trace_id, span_id) = (u128::from_str_radix(trace, 16).ok()?, u64::from_str_radix(span, 16).ok()?);
    let is_known = match version {
        "00" => rest.is_empty(),
        "ff" => false,
        _ => rest.is_empty() || rest[0] == b'-',
    };
    let parent = TraceParent { trace_id, span_id, sampled: flags & 1 == 1, random: flags & 2 == 2 };
    (is_known && trace_id > 0 && span_id > 0).then_some(parent)
}

/// The largest number of bytes that a parser of `tracestate` allocates: its buffer, the kept text and the reference counts of
/// that text.
const STATE_BYTES: usize = 512 + 512 + 16;

#[test]
fn tracestate() {
    let make = |random: &mut Random| mutated(random, &STATES, &WORDS);
    run("tracestate", &STATES, make, |input| {
        // Parses the input as one header and as two.
        let (one, two) = input.split_at(input.len() / 2);
        let whole = within(STATE_BYTES, || TraceState::parse([input]));
        let parts = within(STATE_BYTES, || TraceState::parse([one, two]));
        check_state(&whole);
        check_state(&parts);
        let is_member = |member: &[u8]| input.windows(member.len()).any(|window| window == member);
        assert!(whole.is_empty() || whole.as_str().split(',').all(|member| is_member(member.as_bytes())), "{whole:?}");
        !whole.is_empty()
    });
}

fn check_state(state: &TraceState) {
    let text = state.as_str();
    assert!(text.len() <= 512 && text.split(',').count() <= 32, "{text}");
    assert_eq!(&TraceState::parse([text.as_bytes()]), state);
    let Some((key, value)) = text.rsplit(',').next().and_then(|member| member.split_once('=')) else { return };
    if text.split(',').filter(|member| member.split_once('=').is_some_and(|(found, _)| found == key)).count() == 1 {
        assert_eq!(state.get(key), Some(value));
        let moved = state.with(key, value).unwrap();
        assert!(moved.as_str().starts_with(key) && moved.as_str().len() == text.len());
        assert_eq!(TraceState::parse([moved.as_str().as_bytes()]), moved);
    }
}

/// The largest number of bytes that a parser of `baggage` allocates: its buffer, which grows once if the last member is too
/// long for it, the kept text and the reference counts of that text.
const BAGGAGE_BYTES: usize = 3 * 8192 + 8192 + 16;

#[test]
fn baggage() {
    let make = |random: &mut Random| mutated(random, &BAGGAGES, &WORDS);
    run("baggage", &BAGGAGES, make, |input| {
        let (one, two) = input.split_at(input.len() / 2);
        let whole = within(BAGGAGE_BYTES, || Baggage::parse([input]));
        check_baggage(&whole);
        check_baggage(&within(BAGGAGE_BYTES, || Baggage::parse([one, two])));
        !whole.is_empty()
    });
}

fn check_baggage(baggage: &Baggage) {
    let text = baggage.as_str();
    assert!(text.len() <= 8192 && text.split(',').count() <= 64, "{text}");
    assert_eq!(&Baggage::parse([text.as_bytes()]), baggage);
    let mut keys: Vec<&str> = baggage.iter().map(|member| member.key).collect();
    let members = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), members, "a key occurs twice in {text}");
    let Some(member) = baggage.iter().last() else { return };
    // Replacing invalid UTF-8 takes a second text.
    let value = within(4 * 8192, || member.value());
    assert_eq!(baggage.get(member.key).as_ref(), Some(&value));
    assert!(baggage.without(member.key).get(member.key).is_none());
    // The value may be longer now, because more characters are encoded.
    if let Some(again) = baggage.with(member.key, &value) {
        assert_eq!(again.get(member.key), Some(value));
        assert_eq!(Baggage::parse([again.as_str().as_bytes()]), again);
    }
}

#[test]
fn b3() {
    let make = |random: &mut Random| mutated(random, &B3S, &WORDS);
    run("b3", &B3S, make, |input| {
        let Some(b3) = within(0, || B3::parse(input)) else { return false };
        check_b3(&b3);
        true
    });
}

fn check_b3(b3: &B3) {
    assert!(b3.ids.is_none_or(|(trace_id, span_id)| trace_id > 0 && span_id > 0));
    assert!(b3.ids.is_some() || b3.decision != Decision::Deferred);
    assert_eq!(B3::parse(b3.write(&mut [0; B3::LENGTH])), Some(*b3));
    let mut headers = Vec::new();
    b3.write_several(|name, value| headers.push((name, value.to_vec())));
    let get = |name| headers.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_slice());
    assert_eq!(B3::read(get), Some(*b3));
}

/// Fuzzes the reader of all B3 headers. An input contains the five headers, one per line; an empty line is a missing header.
#[test]
fn b3_in_several_headers() {
    const NAMES: [&str; 5] = ["b3", "x-b3-traceid", "x-b3-spanid", "x-b3-sampled", "x-b3-flags"];
    let seeds: [&[u8]; 5] = [
        b"\n80f198ee56343ba864fe8b2a57d3eff7\ne457b5a2e4d86bd1\n1\n",
        b"\n64fe8b2a57d3eff7\nE457B5A2E4D86BD1\nTrue\n1",
        b"garbage\n64fe8b2a57d3eff7\ne457b5a2e4d86bd1\n\n",
        b"\n\n\nfalse\n",
        b"80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-d\n64fe8b2a57d3eff7\n\n0\n0",
    ];
    let make = |random: &mut Random| mutated(random, &seeds, &WORDS);
    run("b3 in several headers", &seeds, make, |input| {
        let mut values = [None; 5];
        let lines = input.split(|byte| *byte == b'\n').map(|line| Some(line).filter(|line| !line.is_empty()));
        values.iter_mut().zip(lines).for_each(|(value, line)| *value = line);
        let get = |name: &'static str| NAMES.iter().position(|known| *known == name).and_then(|at| values[at]);
        let Some(b3) = within(0, || B3::read(get)) else { return false };
        check_b3(&b3);
        true
    });
}

#[test]
fn time_grows_with_the_length() {
    let member = |at| format!("k{at}=v%20;p,");
    for head in ["", " "] {
        assert_linear(head, member, |input| drop(Baggage::parse([input])));
        assert_linear(head, |_| ",".to_owned(), |input| drop(Baggage::parse([input])));
        assert_linear(head, |at| format!("k{at}=v,"), |input| drop(TraceState::parse([input])));
        assert_linear(head, |_| ",".to_owned(), |input| drop(TraceState::parse([input])));
        assert_linear(head, |_| ",".to_owned(), |input| drop(TraceState::parse(input.chunks(1))));
        assert_linear(head, |_| " ".to_owned(), |input| _ = TraceParent::parse(input));
        assert_linear(head, |_| "-".to_owned(), |input| _ = B3::parse(input));
        assert_linear(head, |_| " ".to_owned(), |input| _ = B3::parse(input));
    }
}
