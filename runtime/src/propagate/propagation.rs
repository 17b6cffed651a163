//! Propagates contexts between processes: reads them from headers and writes them to headers.
//!
//! The layers of `tracecast-tower` do this for gRPC and HTTP. For another protocol, implement [`Headers`] and [`HeadersMut`] for the
//! type of its headers; maps and lists of strings already implement them.
//!
//! ```
//! use std::collections::HashMap;
//! use tracecast::prelude::*;
//! use tracecast::propagation;
//!
//! let mut headers = HashMap::new();
//! headers.insert("traceparent".to_owned(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
//!
//! let caller = propagation::extract(&headers);
//! assert_eq!(caller.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
//!
//! let mut onward = Vec::new();
//! propagation::inject(&caller, &mut onward);
//! assert_eq!(onward, [("traceparent".to_owned(), headers["traceparent"].clone())]);
//! ```
//!
//! The configuration selects the formats (`OTEL_PROPAGATORS`); the default is W3C Trace Context and Baggage. If headers
//! of several formats name a parent, Trace Context takes precedence. Reading takes bounded time and memory and never
//! fails, whatever a peer sends: invalid headers are ignored.
//!
//! For a database row or a queued message see [`Carrier`](crate::Carrier).

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::formats::{B3, BAGGAGE, Baggage, Decision, TRACEPARENT, TRACESTATE, TraceContext, TraceParent};
use crate::propagate::format::Propagator;
use crate::record::ids::{SpanId, TraceId};
use crate::trace::context::Context;

/// A source of headers. Implement it for the type that holds your headers.
///
/// ```
/// use tracecast::propagation::{self, Headers};
///
/// /// The headers of a message.
/// struct Message {
///     traceparent: String,
/// }
///
/// impl Headers for Message {
///     fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
///         (name == "traceparent").then_some(self.traceparent.as_bytes()).into_iter()
///     }
/// }
///
/// let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned();
/// assert!(propagation::extract(&Message { traceparent }).is_sampled());
/// ```
pub trait Headers {
    /// Returns the values of all headers with this name, in the order of their arrival. `name` is in lower case; names
    /// of headers must be compared without regard to case.
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]>;
}

/// A destination for headers. Implement it for the type that holds your headers.
///
/// ```
/// use tracecast::propagation::{self, HeadersMut};
/// use tracecast::{Context, SpanId, TraceId};
///
/// #[derive(Default)]
/// struct Lines(Vec<String>);
///
/// impl HeadersMut for Lines {
///     fn set(&mut self, name: &'static str, value: &str) {
///         self.remove(name);
///         self.0.push(format!("{name}: {value}"));
///     }
///
///     fn remove(&mut self, name: &'static str) {
///         self.0.retain(|line| !line.starts_with(&format!("{name}:")));
///     }
/// }
///
/// let mut lines = Lines::default();
/// propagation::inject(&Context::remote(TraceId(0xa), SpanId(0xb), true), &mut lines);
/// assert_eq!(lines.0, ["traceparent: 00-0000000000000000000000000000000a-000000000000000b-01"]);
/// ```
pub trait HeadersMut {
    /// Writes a header and replaces all others of this name, which is in lower case. Name and value are ASCII.
    fn set(&mut self, name: &'static str, value: &str);

    /// Removes all headers of this name, which is in lower case.
    fn remove(&mut self, name: &'static str);
}

/// Reads the caller's context. Without valid headers the context is not valid, and a span below it is a root.
///
/// ```
/// use std::collections::HashMap;
/// use tracecast::propagation;
///
/// let no_headers = HashMap::<String, String>::new();
/// assert!(!propagation::extract(&no_headers).is_valid());
/// ```
pub fn extract(headers: &(impl Headers + ?Sized)) -> Context {
    extract_as(headers, FORMATS.load(Relaxed))
}

/// Reads the caller's context from the value of `traceparent`, for requests without other propagation headers. Returns
/// an empty context if the value is invalid or Trace Context is not a configured format.
#[doc(hidden)]
pub fn extract_parent(traceparent: &[u8]) -> Context {
    let is_read = Propagator::TraceContext.is_in(FORMATS.load(Relaxed));
    let parent = if is_read { TraceParent::parse(traceparent) } else { None };
    parent.map_or_else(Context::default, |parent| of_parent(&parent))
}

/// Writes a context to headers. Every header of the configured formats is replaced or removed, so that a gateway that
/// copies headers does not forward its caller's context or baggage. For a context without a span, only its baggage is
/// written, if it has any, and other headers do not change.
///
/// ```
/// use std::collections::HashMap;
/// use tracecast::{Context, SpanId, TraceId, propagation};
///
/// let mut headers = HashMap::new();
/// propagation::inject(&Context::remote(TraceId(0xa), SpanId(0xb), true), &mut headers);
/// assert_eq!(headers["traceparent"], "00-0000000000000000000000000000000a-000000000000000b-01");
/// ```
pub fn inject(context: &Context, headers: &mut (impl HeadersMut + ?Sized)) {
    inject_as(context, headers, FORMATS.load(Relaxed));
}

/// The W3C formats, which are the default.
pub(crate) const STANDARD: u8 = Propagator::TraceContext as u8 | Propagator::Baggage as u8;

static FORMATS: AtomicU8 = AtomicU8::new(STANDARD);

/// Sets the formats in which contexts are propagated from now on.
#[cfg_attr(not(has_otlp), expect(dead_code, reason = "only the configuration calls it"))]
pub(crate) fn set(formats: impl IntoIterator<Item = Propagator>) {
    FORMATS.store(formats.into_iter().fold(0, |all, format| all | format as u8), Relaxed);
}

pub(crate) fn extract_as(headers: &(impl Headers + ?Sized), formats: u8) -> Context {
    let baggage = if Propagator::Baggage.is_in(formats) {
        let mut lines = headers.values(BAGGAGE).peekable();
        // Most requests have no baggage; for those, the check avoids zeroing the array of members.
        if lines.peek().is_some() { Baggage::parse(lines) } else { Baggage::default() }
    } else {
        Baggage::default()
    };
    if Propagator::TraceContext.is_in(formats)
        && let Some(found) = TraceContext::parse(headers.values(TRACEPARENT), headers.values(TRACESTATE))
    {
        return of_parent(&found.parent).carrying(found.state, baggage);
    }
    let parent =
        if Propagator::B3.is_in(formats) || Propagator::B3Multi.is_in(formats) { of_b3(headers) } else { None };
    parent.unwrap_or_default().carrying(Default::default(), baggage)
}

#[inline]
fn of_parent(parent: &TraceParent) -> Context {
    let context = Context::remote(TraceId(parent.trace_id), SpanId(parent.span_id), parent.sampled);
    if parent.random { context.random() } else { context }
}

/// Reads B3 headers. Returns `None` if they are missing or invalid, or contain a sampling decision without ids.
fn of_b3(headers: &(impl Headers + ?Sized)) -> Option<Context> {
    let b3 = B3::read(|name| headers.values(name).next())?;
    let (trace_id, span_id) = b3.ids?;
    Some(Context::remote(TraceId(trace_id), SpanId(span_id), b3.decision.sampled()))
}

pub(crate) fn inject_as(context: &Context, headers: &mut (impl HeadersMut + ?Sized), formats: u8) {
    if context.is_valid() {
        context.note_sent();
        inject_parent(context, headers, formats);
    }
    if Propagator::Baggage.is_in(formats) {
        match context.baggage_text() {
            "" if context.is_valid() => headers.remove(BAGGAGE),
            "" => {}
            baggage => headers.set(BAGGAGE, baggage),
        }
    }
}

fn inject_parent(context: &Context, headers: &mut (impl HeadersMut + ?Sized), formats: u8) {
    let (trace_id, span_id) = context.ids();
    let sampled = context.is_sampled();
    if Propagator::TraceContext.is_in(formats) {
        let mut text = [0; TraceParent::LENGTH];
        TraceParent { trace_id, span_id, sampled, random: context.is_random() }.write(&mut text);
        headers.set(TRACEPARENT, ascii(&text));
        match context.trace_state() {
            "" => headers.remove(TRACESTATE),
            state => headers.set(TRACESTATE, state),
        }
    }
    if Propagator::B3.is_in(formats) || Propagator::B3Multi.is_in(formats) {
        let decision = if sampled { Decision::Accept } else { Decision::Deny };
        inject_b3(&B3 { ids: Some((trace_id, span_id)), decision }, headers, formats);
    }
}

fn inject_b3(b3: &B3, headers: &mut (impl HeadersMut + ?Sized), formats: u8) {
    // Receivers read both forms if one is configured, so old headers of both are removed.
    [B3::SINGLE].into_iter().chain(B3::SEVERAL).for_each(|name| headers.remove(name));
    if Propagator::B3.is_in(formats) {
        headers.set(B3::SINGLE, ascii(b3.write(&mut [0; B3::LENGTH])));
    }
    if Propagator::B3Multi.is_in(formats) {
        b3.write_several(|name, value| headers.set(name, ascii(value)));
    }
}

/// Converts the text of a header that we have written, which is ASCII.
fn ascii(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}

impl<S: BuildHasher> Headers for HashMap<String, String, S> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        named(self, name)
    }
}

impl Headers for BTreeMap<String, String> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        named(self, name)
    }
}

impl Headers for [(String, String)] {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        named(self.iter().map(|(name, value)| (name, value)), name)
    }
}

impl Headers for Vec<(String, String)> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.as_slice().values(name)
    }
}

/// Returns the values of the headers with this name. Names in maps may be in any case, so each name is compared.
fn named<'a>(
    headers: impl IntoIterator<Item = (&'a String, &'a String)>,
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> {
    let wanted = headers.into_iter().filter(move |(found, _)| found.eq_ignore_ascii_case(name));
    wanted.map(|(_, value)| value.as_bytes())
}

impl<S: BuildHasher> HeadersMut for HashMap<String, String, S> {
    fn set(&mut self, name: &'static str, value: &str) {
        HeadersMut::remove(self, name);
        self.insert(name.to_owned(), value.to_owned());
    }

    fn remove(&mut self, name: &'static str) {
        self.retain(|found, _| !found.eq_ignore_ascii_case(name));
    }
}

impl HeadersMut for BTreeMap<String, String> {
    fn set(&mut self, name: &'static str, value: &str) {
        HeadersMut::remove(self, name);
        self.insert(name.to_owned(), value.to_owned());
    }

    fn remove(&mut self, name: &'static str) {
        self.retain(|found, _| !found.eq_ignore_ascii_case(name));
    }
}

impl HeadersMut for Vec<(String, String)> {
    fn set(&mut self, name: &'static str, value: &str) {
        HeadersMut::remove(self, name);
        self.push((name.to_owned(), value.to_owned()));
    }

    fn remove(&mut self, name: &'static str) {
        self.retain(|(found, _)| !found.eq_ignore_ascii_case(name));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const ALL: u8 = STANDARD | Propagator::B3 as u8 | Propagator::B3Multi as u8;

    fn headers(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// Asserts that `outgoing` is written for the context that is read from `incoming`.
    #[track_caller]
    fn check(formats: u8, incoming: &[(&str, &str)], outgoing: &[(&str, &str)]) {
        let mut written = Vec::new();
        inject_as(&extract_as(&headers(incoming), formats), &mut written, formats);
        assert_eq!(written, headers(outgoing));
    }

    #[test]
    fn received_headers_are_forwarded() {
        check(STANDARD, &[("TraceParent", PARENT)], &[("traceparent", PARENT)]);
        check(
            STANDARD,
            &[("traceparent", PARENT), ("tracestate", "a=1"), ("tracestate", "b=2"), ("baggage", "k=v%20w")],
            &[("traceparent", PARENT), ("tracestate", "a=1,b=2"), ("baggage", "k=v%20w")],
        );
        let random = PARENT.replace("-01", "-03");
        check(STANDARD, &[("traceparent", &random)], &[("traceparent", &random)]);
    }

    #[test]
    fn baggage_needs_no_parent_and_a_state_does() {
        check(STANDARD, &[("baggage", "k=v")], &[("baggage", "k=v")]);
        check(STANDARD, &[("tracestate", "a=1")], &[]);
        check(STANDARD, &[("traceparent", "00-nonsense"), ("tracestate", "a=1"), ("baggage", ",;")], &[]);
    }

    #[test]
    fn only_what_is_configured_is_read_and_written() {
        let all = [("traceparent", PARENT), ("baggage", "k=v"), ("b3", "1-2-1")];
        check(0, &all, &[]);
        check(Propagator::TraceContext as u8, &all, &[("traceparent", PARENT)]);
        check(Propagator::Baggage as u8, &all, &[("baggage", "k=v")]);
        check(Propagator::B3 as u8, &all, &[]);
    }

    #[test]
    fn b3_is_read_in_either_form_and_written_as_configured() {
        let single = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0";
        let several = [
            ("x-b3-traceid", "0af7651916cd43dd8448eb211c80319c"),
            ("x-b3-spanid", "b7ad6b7169203331"),
            ("x-b3-sampled", "0"),
        ];
        check(Propagator::B3 as u8, &several, &[("b3", single)]);
        check(Propagator::B3Multi as u8, &[("b3", single)], &several);
        check(Propagator::B3 as u8, &[("b3", "1")], &[]);
    }

    #[test]
    fn trace_context_goes_before_b3() {
        let b3 = "1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1";
        let context = extract_as(&headers(&[("b3", b3), ("traceparent", PARENT)]), ALL);
        assert_eq!(context.trace_id().to_string(), PARENT[3..35]);
        let context = extract_as(&headers(&[("b3", b3), ("traceparent", "00-broken")]), ALL);
        assert_eq!(context.trace_id().to_string(), b3[..32]);
    }

    /// Every header that any format reads, as a caller may have sent it.
    const STALE: [(&str, &str); 10] = [
        ("Traceparent", "x"),
        ("traceparent", "y"),
        ("TRACESTATE", "z=1"),
        ("Baggage", "tenant=stale"),
        ("B3", "0"),
        ("X-B3-TraceId", "1"),
        ("x-b3-spanid", "2"),
        ("x-b3-sampled", "1"),
        ("x-b3-flags", "1"),
        ("x-b3-parentspanid", "3"),
    ];

    /// Asserts that injecting a context without state and baggage into its caller's headers keeps those of disabled formats (`kept`)
    /// and appends `written`.
    #[track_caller]
    fn check_stale(formats: u8, kept: &[(&str, &str)], written: &[(&str, &str)]) {
        let context = extract_as(&headers(&[("traceparent", PARENT)]), STANDARD);
        let mut passed_on = headers(&STALE);
        inject_as(&context, &mut passed_on, formats);
        assert_eq!(passed_on, headers(&[kept, written].concat()));
    }

    #[test]
    fn headers_of_a_request_that_is_passed_on_are_replaced_or_removed() {
        let single = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1";
        let several = [("x-b3-traceid", &single[..32]), ("x-b3-spanid", &single[33..49]), ("x-b3-sampled", "1")];
        check_stale(STANDARD, &STALE[4..], &[("traceparent", PARENT)]);
        check_stale(Propagator::TraceContext as u8, &STALE[3..], &[("traceparent", PARENT)]);
        check_stale(Propagator::Baggage as u8, &[&STALE[..3], &STALE[4..]].concat(), &[]);
        check_stale(Propagator::B3 as u8, &STALE[..4], &[("b3", single)]);
        check_stale(Propagator::B3Multi as u8, &STALE[..4], &several);
        check_stale(ALL, &[], &[&[("traceparent", PARENT), ("b3", single)], several.as_slice()].concat());
        check_stale(0, &STALE, &[]);
    }

    #[test]
    fn a_context_without_a_span_leaves_headers_as_they_are() {
        let mut passed_on = headers(&STALE);
        inject_as(&Context::default(), &mut passed_on, ALL);
        assert_eq!(passed_on, headers(&STALE));
        let baggage = Context::default().with_baggage("tenant", "gold").unwrap();
        inject_as(&baggage, &mut passed_on, ALL);
        assert_eq!(passed_on, headers(&[&STALE[..3], &STALE[4..], &[("baggage", "tenant=gold")]].concat()));
    }

    #[test]
    fn maps_are_read_and_written_alike() {
        let list = headers(&[("traceparent", PARENT), ("tracestate", "a=1"), ("baggage", "k=v")]);
        let context = extract_as(&list, STANDARD);
        let (mut hashed, mut sorted) = (HashMap::new(), BTreeMap::new());
        hashed.insert("TRACEPARENT".to_owned(), "x".to_owned());
        inject_as(&context, &mut hashed, STANDARD);
        inject_as(&context, &mut sorted, STANDARD);
        assert_eq!(hashed, list.iter().cloned().collect());
        assert_eq!(sorted, list.into_iter().collect());
        let (of_hashed, of_sorted) = (extract_as(&hashed, STANDARD), extract_as(&sorted, STANDARD));
        assert_eq!((of_hashed.trace_state(), of_sorted.baggage_text()), ("a=1", "k=v"));
    }
}
