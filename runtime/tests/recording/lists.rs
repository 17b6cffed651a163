//! Lists as attributes of spans and events: what is kept of them, and attributes that are named where they are recorded.

use std::borrow::Cow;
use std::sync::Arc;

use tracecast::prelude::*;
use tracecast::testing::{FinishedSpan, RecordingConfig, capture};
use tracecast::{Kind, OwnedValue, Span};

use crate::turn::{start_recording, turn};

mod keys {
    tracecast::tc_keys! {
        /// Texts.
        pub id texts: [str] = "test.texts";
        /// Numbers without a sign.
        pub measure sizes: [u64] = "test.sizes";
        /// Numbers.
        pub id codes: [i64] = "test.codes";
        /// Shares.
        pub measure shares: [f64] = "test.shares";
        /// Flags.
        pub id flags: [bool] = "test.flags";
        /// Shared texts.
        pub id tags: [str] = "test.tags" { baggage };
        /// One number.
        pub measure number: u64 = "test.number";
    }
}

/// Records what `inside` puts on a span.
fn record(value_bytes: u32, inside: impl FnOnce()) -> FinishedSpan {
    let _turn = turn();
    let config = RecordingConfig::default().with_limits(|limits| limits.value_bytes = value_bytes);
    let recording = start_recording(config);
    {
        let _scope = tc_scope!("List/Span");
        inside();
    }
    recording.drain().pop().unwrap()
}

fn texts(span: &FinishedSpan, name: &str) -> Vec<String> {
    match span.attribute(name) {
        Some(OwnedValue::StrArray(texts)) => texts.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

struct Request {
    stop: Vec<String>,
    shape: Vec<usize>,
}

#[tc_span("Model/Run", attrs(keys::texts = &request.stop, keys::sizes = &request.shape[..]), result(keys::shares = |scores| scores))]
fn run(request: &Request) -> Vec<f32> {
    tracecast::current().set(keys::flags, [true, false]);
    tracecast::current().event_with("stopped", |event| event.set(keys::codes, [1, -1]));
    vec![0.5; request.shape.len()]
}

#[test]
fn they_are_recorded_wherever_attributes_are() {
    let request = Request { stop: vec!["</s>".to_owned(), "a b".to_owned(), String::new()], shape: vec![2, 3] };
    capture(|| drop(run(&request))).assert_tree(
        r#"
        Model/Run test.texts=[</s>, "a b", ""] test.sizes=[2, 3] test.flags=[true, false] test.shares=[0.5, 0.5]
          - stopped test.codes=[1, -1]
        "#,
    );
    let captured = capture(|| {
        let mut span = Span::builder("Model/Made", Kind::Client).start();
        span.set(keys::texts, ["a"]);
        span.set(keys::texts, ["b", "c"]);
        span.set(keys::number, 7_u64);
        span.in_scope(|| drop(tc_scope!("Model/Scope", attrs(keys::codes = [1_i64; 3]))));
    });
    captured.assert_tree("Model/Made [client] test.texts=[b, c] test.number=7\n  Model/Scope test.codes=[1, 1, 1]");
}

#[test]
fn every_kind_of_list_is_a_value() {
    let span = record(4096, || {
        let (owned, borrowed) = (vec!["a".to_owned(), "b".to_owned()], ["a", "b"]);
        let current = tracecast::current();
        for _ in 0..2 {
            current.set(keys::texts, &owned);
            current.set(keys::texts, owned.as_slice());
            current.set(keys::texts, borrowed.to_vec());
            let mut other = owned.clone();
            let changed = &mut other;
            current.set(keys::texts, changed);
            current.set(keys::texts, owned.clone().into_boxed_slice());
            current.set(keys::texts, Arc::from(owned.clone()) as Arc<[String]>);
            current.set(keys::texts, &[Cow::Borrowed("a"), Cow::Owned("b".to_owned())]);
            current.set(keys::texts, [Arc::<str>::from("a"), Arc::from("b")]);
            current.set(keys::texts, Some(Some(&borrowed)));
            current.set(keys::texts, None::<&[&str]>);
        }
        current.set(keys::sizes, [1, 2]);
        current.set(keys::codes, [1_u8, 2]);
        current.set(keys::shares, [1.5_f32]);
        current.set(keys::flags, [false; 0]);
    });
    assert_eq!(texts(&span, "test.texts"), ["a", "b"]);
    assert_eq!(span.attribute("test.sizes"), Some(&OwnedValue::I64Array(vec![1, 2])));
    assert_eq!(span.attribute("test.codes"), Some(&OwnedValue::I64Array(vec![1, 2])));
    assert_eq!(span.attribute("test.shares"), Some(&OwnedValue::F64Array(vec![1.5])));
    assert_eq!(span.attribute("test.flags"), Some(&OwnedValue::BoolArray(vec![])), "an empty list is one");
    assert_eq!((span.attributes.len(), span.dropped_attributes), (5, 0));
}

#[test]
fn a_number_too_large_for_an_integer_makes_texts_of_all() {
    let span = record(4096, || tracecast::current().set(keys::sizes, [1, u64::MAX, 3]));
    assert_eq!(texts(&span, "test.sizes"), ["1", "18446744073709551615", "3"]);
}

#[test]
fn a_list_keeps_so_many_elements_and_bytes_and_says_that_it_was_cut() {
    let kept = |inside: &dyn Fn()| {
        let span = record(4096, inside);
        let kept = match &span.attributes[0].value {
            OwnedValue::I64Array(numbers) => numbers.len(),
            OwnedValue::BoolArray(flags) => flags.len(),
            OwnedValue::StrArray(texts) => texts.len(),
            other => panic!("{other:?}"),
        };
        (kept, span.dropped_attributes)
    };
    let current = tracecast::current;
    assert_eq!(kept(&|| current().set(keys::codes, vec![7_i64; 1024])), (1024, 0));
    assert_eq!(kept(&|| current().set(keys::codes, vec![7_i64; 10_000])), (1024, 1));
    assert_eq!(kept(&|| current().set(keys::flags, vec![true; 1025])), (1024, 1));
    assert_eq!(kept(&|| current().set(keys::texts, vec!["x".repeat(1020); 8])), (8, 0));
    assert_eq!(kept(&|| current().set(keys::texts, vec!["x".repeat(1020); 9])), (8, 1));
    assert_eq!(kept(&|| current().set(keys::texts, [""; 3000])), (1024, 1));
    let captured = capture(|| {
        let _scope = tc_scope!("List/Inner", attrs(keys::flags = [true; 3000]));
        tracecast::current().event_with("e", |event| event.set(keys::flags, [true; 3000]));
    });
    assert_eq!(captured.span("List/Inner").dropped_attributes, 2, "by the annotation and on an event, too");
}

#[test]
fn the_limit_of_texts_is_that_of_each_text_of_a_list() {
    let span = record(3, || {
        tracecast::current().set(keys::texts, ["abcd", "añb", "ab"]);
        tracecast::current().event_with("e", |event| event.set(keys::texts, ["abcd"]));
    });
    assert_eq!(texts(&span, "test.texts"), ["abc", "añ", "ab"]);
    assert_eq!(span.events[0].attributes[0].value, OwnedValue::StrArray(vec!["abc".to_owned()]));
    assert_eq!(span.dropped_attributes, 0);
    let span = record(u32::MAX, || tracecast::current().set(keys::texts, ["x".repeat(100_000)]));
    assert_eq!(texts(&span, "test.texts")[0].len(), 4096, "a list has to fit into a span");
}

/// Lists of all lengths, so that they end before, at and behind the end of each block, and in the place of longer ones.
#[test]
fn lists_of_any_length_come_back_as_they_were() {
    let lengths: Vec<i64> =
        if cfg!(miri) { vec![0, 45, 47, 90, 200] } else { (0..130).chain([200, 500, 1000]).collect() };
    for len in lengths {
        let numbers: Vec<i64> = (0..len).map(|at| at - 50).collect();
        let given: Vec<String> = numbers.iter().take(300).map(|number| format!("{number:x}")).collect();
        let span = record(4096, || {
            let scope = tracecast::current();
            scope.set(keys::texts, &given);
            scope.set(keys::codes, [7; 30]);
            scope.set(keys::codes, &numbers);
            scope.set(keys::number, 1_u64);
            scope.event_with("e", |event| {
                event.set(keys::flags, numbers.iter().map(|n| n % 2 == 0).collect::<Vec<_>>())
            });
        });
        assert_eq!(texts(&span, "test.texts"), given);
        assert_eq!(span.attribute("test.codes"), Some(&OwnedValue::I64Array(numbers.clone())), "{len}");
        assert_eq!(span.attribute("test.number"), Some(&OwnedValue::U64(1)));
        let OwnedValue::BoolArray(flags) = &span.events[0].attributes[0].value else { panic!("{:?}", span.events) };
        assert_eq!(flags.len(), numbers.len());
        assert_eq!(span.dropped_attributes, 0);
    }
}

#[test]
fn a_list_that_does_not_fit_into_the_span_is_left_out() {
    let span = record(4096, || {
        for key in [keys::codes, keys::codes] {
            tracecast::current().set(key, vec![1_i64; 900]);
        }
        tracecast::current().set(keys::shares, vec![1.0; 1000]);
        tracecast::current().set(keys::sizes, vec![1_u64; 1000]);
    });
    assert_eq!((span.attributes.len(), span.dropped_attributes), (2, 1));
}

#[tc_span("List/Below")]
fn below() {}

#[tc_span("List/Shares", share(keys::tags = tags))]
fn shares(tags: &[&str]) -> Option<String> {
    below();
    tracecast::current().baggage("test.tags")
}

#[test]
fn they_are_shared() {
    let many = vec!["t"; 2000];
    let mut baggage = None;
    let captured = capture(|| {
        baggage = shares(&["a", "b"]);
        shares(&many);
    });
    assert_eq!(texts(&captured.spans[0], "test.tags"), ["a", "b"]);
    assert_eq!(baggage.as_deref(), Some(r#"["a","b"]"#));
    assert_eq!(texts(captured.spans.last().unwrap(), "test.tags").len(), 1024);
}

struct Header(Option<Vec<String>>);

impl Header {
    fn values(&self) -> Option<&[String]> {
        self.0.as_deref()
    }
}

#[tc_span(
    "Edge/Handle",
    attrs(
        "http.request.header.x-tag" = header.values(),
        "test.path" = path,
        "test.retries" = retries,
        "test.fresh" = retries == 0,
        "test.length": u64 = path.len(),
        "test.text" = format_args!("{path}!"),
        keys::number = 7_u64
    ),
    result("test.ratio" = |ratio| *ratio, "test.fine" = |ratio| ratio.is_normal())
)]
fn handle(header: &Header, path: &str, retries: u8) -> f64 {
    0.5
}

#[test]
fn attributes_named_in_place_have_the_type_of_their_value() {
    let header = Header(Some(vec!["a".to_owned(), "b".to_owned()]));
    let captured = capture(|| handle(&header, "/x", 2));
    captured.assert_tree(
        "Edge/Handle http.request.header.x-tag=[a, b] test.path=/x test.retries=2 test.fresh=false test.length=2 \
         test.text=/x! test.number=7 test.ratio=0.5 test.fine=true",
    );
    let span = captured.span("Edge/Handle");
    assert_eq!(span.attribute("test.retries"), Some(&OwnedValue::U64(2)));
    assert_eq!(span.attribute("test.fresh"), Some(&OwnedValue::Bool(false)));
    assert_eq!(span.attribute("test.fine"), Some(&OwnedValue::Bool(true)));
    capture(|| drop(tc_scope!("Edge/Scope", attrs("test.codes" = [1, -2], "test.name" = "x"))))
        .assert_tree("Edge/Scope test.codes=[1, -2] test.name=x");
    let without = capture(|| handle(&Header(None), "", 0));
    assert_eq!(without.span("Edge/Handle").attribute("http.request.header.x-tag"), None);
}

/// Counts how often it is asked.
fn asked(times: &std::cell::Cell<u32>) -> &'static str {
    times.set(times.get() + 1);
    "x"
}

#[tc_span("Edge/Off", attrs("test.asked" = asked(times)))]
fn off(times: &std::cell::Cell<u32>) {}

#[test]
fn attributes_named_in_place_are_not_evaluated_when_off() {
    let _turn = turn();
    let times = std::cell::Cell::new(0);
    off(&times);
    assert_eq!(times.get(), 0);
}
