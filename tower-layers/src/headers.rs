//! HTTP headers and gRPC metadata as carriers of contexts.

use http::header::{HeaderMap, HeaderName, HeaderValue, ValueIter};
use tracecast::Context;
use tracecast::propagation::{self, Headers, HeadersMut};

/// Headers from which a context is read: `propagation::extract(&HttpHeaders::from(request.headers()))`. The metadata of
/// a tonic request works too.
///
/// ```
/// use tracecast::propagation;
/// use tracecast_tower::HttpHeaders;
///
/// let mut headers = http::HeaderMap::new();
/// let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// headers.insert("traceparent", http::HeaderValue::from_static(caller));
/// assert!(propagation::extract(&HttpHeaders::from(&headers)).is_valid());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HttpHeaders<'h>(&'h HeaderMap);

impl<'h> From<&'h HeaderMap> for HttpHeaders<'h> {
    fn from(headers: &'h HeaderMap) -> Self {
        HttpHeaders(headers)
    }
}

impl Headers for HttpHeaders<'_> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.get_all(name).into_iter().map(HeaderValue::as_bytes)
    }
}

/// Headers to which a context is written: `propagation::inject(&context, &mut
/// HttpHeadersMut::from(request.headers_mut()))`. The metadata of a tonic request works too.
///
/// ```
/// use tracecast::propagation;
/// use tracecast_tower::{HttpHeaders, HttpHeadersMut};
///
/// let mut from = http::HeaderMap::new();
/// let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// from.insert("traceparent", http::HeaderValue::from_static(caller));
/// let mut to = http::HeaderMap::new();
/// propagation::inject(&propagation::extract(&HttpHeaders::from(&from)), &mut HttpHeadersMut::from(&mut to));
/// assert_eq!(to["traceparent"], caller);
/// ```
#[derive(Debug)]
pub struct HttpHeadersMut<'h>(&'h mut HeaderMap);

impl<'h> From<&'h mut HeaderMap> for HttpHeadersMut<'h> {
    fn from(headers: &'h mut HeaderMap) -> Self {
        HttpHeadersMut(headers)
    }
}

impl HeadersMut for HttpHeadersMut<'_> {
    fn set(&mut self, name: &'static str, value: &str) {
        // A full map is left unchanged.
        if let Ok(value) = HeaderValue::from_str(value) {
            let _ = self.0.try_insert(header(name), value);
        }
    }

    fn remove(&mut self, name: &'static str) {
        // The header is rarely there, and comparing names is faster than hashing.
        let name = header(name);
        if self.0.keys().any(|known| *known == name) {
            self.0.remove(name);
        }
    }
}

/// Returns the header name. The names that every call uses are validated only once.
fn header(name: &'static str) -> HeaderName {
    static PARENT: HeaderName = HeaderName::from_static(TRACEPARENT);
    static STATE: HeaderName = HeaderName::from_static(TRACESTATE);
    static CARRIED: HeaderName = HeaderName::from_static(BAGGAGE);
    match name {
        TRACEPARENT => PARENT.clone(),
        TRACESTATE => STATE.clone(),
        BAGGAGE => CARRIED.clone(),
        name => HeaderName::from_static(name),
    }
}

/// The headers that the layers use, found in one pass, which is faster than a lookup for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried<'h> {
    headers: &'h HeaderMap,
    parent: Option<&'h HeaderValue>,
    state: Option<&'h HeaderValue>,
    baggage: Option<&'h HeaderValue>,
    timeout: Option<&'h HeaderValue>,
    b3: bool,
    /// Whether one of the names occurs more than once.
    several: bool,
}

impl<'h> Carried<'h> {
    pub(crate) fn of(headers: &'h HeaderMap) -> Self {
        let mut carried =
            Carried { headers, parent: None, state: None, baggage: None, timeout: None, b3: false, several: false };
        for (name, value) in headers {
            let name = name.as_str();
            let place = match name.len() {
                11 if name == TRACEPARENT => &mut carried.parent,
                10 if name == TRACESTATE => &mut carried.state,
                7 if name == BAGGAGE => &mut carried.baggage,
                12 if name == TIMEOUT => &mut carried.timeout,
                2 | 12 if is_b3(name) => {
                    carried.b3 = true;
                    continue;
                }
                _ => continue,
            };
            carried.several |= place.is_some();
            *place = place.or(Some(value));
        }
        carried
    }

    /// Extracts the context from the headers.
    #[inline]
    pub(crate) fn context(&self) -> Context {
        match self {
            Carried { parent: Some(parent), state: None, baggage: None, b3: false, several: false, .. } => {
                propagation::extract_parent(parent.as_bytes())
            }
            carried => carried.whole_context(),
        }
    }

    // Separate, because most callers send one header and should not pay for setting up the general case.
    #[cold]
    #[inline(never)]
    fn whole_context(&self) -> Context {
        propagation::extract(self)
    }

    /// Returns whether any header may hold a context.
    #[inline]
    pub(crate) fn is_anything(&self) -> bool {
        self.parent.is_some() || self.baggage.is_some() || self.b3
    }

    /// Returns the header `grpc-timeout`.
    #[cfg_attr(
        not(feature = "grpc"),
        expect(dead_code, reason = "calls of other protocols have no deadline in a header")
    )]
    pub(crate) fn timeout(&self) -> Option<&'h HeaderValue> {
        self.timeout
    }
}

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";
const TIMEOUT: &str = "grpc-timeout";

/// Returns whether these headers may hold a context. Compares only names, which is cheaper than `Carried`.
#[inline]
pub(crate) fn may_carry(headers: &HeaderMap) -> bool {
    headers.keys().map(HeaderName::as_str).any(|name| match name.len() {
        11 => name == TRACEPARENT,
        7 => name == BAGGAGE,
        2 | 12 => is_b3(name),
        _ => false,
    })
}

fn is_b3(name: &str) -> bool {
    name == "b3" || name == "x-b3-traceid"
}

impl Headers for Carried<'_> {
    // Inlined, so that the name is a constant and no comparison is left.
    #[inline(always)]
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let values = match name {
            TRACEPARENT | TRACESTATE | BAGGAGE if self.several => Values::All(self.headers.get_all(name).iter()),
            TRACEPARENT => Values::One(self.parent),
            TRACESTATE => Values::One(self.state),
            BAGGAGE => Values::One(self.baggage),
            name if self.b3 => Values::All(self.headers.get_all(name).iter()),
            _ => Values::One(None),
        };
        values.map(HeaderValue::as_bytes)
    }
}

/// The values of a header, usually one.
enum Values<'h> {
    One(Option<&'h HeaderValue>),
    All(ValueIter<'h, HeaderValue>),
}

impl<'h> Iterator for Values<'h> {
    type Item = &'h HeaderValue;

    #[inline]
    fn next(&mut self) -> Option<&'h HeaderValue> {
        match self {
            Values::One(value) => value.take(),
            Values::All(values) => values.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracecast::propagation;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn headers_that_carry_a_context_are_noticed() {
        for (name, carries) in [
            ("traceparent", true),
            ("baggage", true),
            ("b3", true),
            ("x-b3-traceid", true),
            ("tracestate", false),
            ("te", false),
            ("x-b3-flags", false),
        ] {
            let headers = HeaderMap::from_iter([
                (HeaderName::from_static("user-agent"), HeaderValue::from_static("x")),
                (HeaderName::from_static(name), HeaderValue::from_static("x")),
            ]);
            assert_eq!((may_carry(&headers), Carried::of(&headers).is_anything()), (carries, carries), "{name}");
        }
    }

    #[test]
    fn all_values_of_a_header_are_seen_and_the_first_timeout() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("b3", "0"), ("traceparent", PARENT), ("grpc-timeout", "1S"), ("grpc-timeout", "2S")] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let values = |headers: &HeaderMap| Carried::of(headers).values("traceparent").count();
        assert_eq!(values(&headers), 1);
        assert_eq!(Carried::of(&headers).timeout().unwrap(), "1S");
        assert_eq!(Carried::of(&headers).values("b3").collect::<Vec<_>>(), [b"0"]);
        assert!(propagation::extract(&Carried::of(&headers)).is_valid());
        headers.append("traceparent", HeaderValue::from_static(PARENT));
        assert_eq!(values(&headers), 2);
        // Two parents contradict each other.
        assert!(!propagation::extract(&Carried::of(&headers)).is_valid());
    }
}

#[cfg(test)]
mod fuzz {
    use super::*;
    use crate::fuzz::{mutated, run};

    /// Asserts that one pass over all headers finds the same values as a lookup of each. Each line of a seed is a
    /// header.
    #[test]
    fn headers_of_a_call() {
        let seeds: [&[u8]; 5] = [
            b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\nte: trailers\n",
            b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\nbaggage: k=v\nbaggage: l=w\n",
            b"TraceParent: x\ntraceparent: y\ntracestate: a=1\ntracestate: b=2\ngrpc-timeout: 1S\ngrpc-timeout: 2S\n",
            b"b3: 0\nx-b3-traceid: 1\nx-b3-spanid: 2\nx-b3-sampled: 1\nx-b3-flags: 1\n",
            b"x-b3-spanid: 2\nuser-agent: x\ncontent-type: application/grpc\n",
        ];
        let words: [&[u8]; 8] = [b"\n", b": ", b"b3: 1\n", b"baggage: \n", b"tracestate: c=3\n", b"-", b"x", b"\xff"];
        run(
            "headers of a call",
            &seeds,
            |random| mutated(random, &seeds, &words),
            |input| {
                let mut headers = HeaderMap::new();
                for line in input.split(|byte| *byte == b'\n').take(100) {
                    let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
                    let name = HeaderName::from_bytes(&line[..at]);
                    let value = HeaderValue::from_bytes(line.get(at + 2..).unwrap_or_default());
                    name.ok().zip(value.ok()).into_iter().for_each(|(name, value)| _ = headers.append(name, value));
                }
                let (carried, plain) = (Carried::of(&headers), HttpHeaders::from(&headers));
                let has_b3 = headers.contains_key("b3") || headers.contains_key("x-b3-traceid");
                for name in [TRACEPARENT, TRACESTATE, BAGGAGE, "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-flags"] {
                    let expected: Vec<&[u8]> = plain.values(name).filter(|_| has_b3 || !name.contains("b3")).collect();
                    assert_eq!(carried.values(name).collect::<Vec<_>>(), expected, "{name}");
                }
                assert_eq!(carried.timeout(), headers.get(TIMEOUT));
                let has_context = ["traceparent", "baggage"].iter().any(|name| headers.contains_key(*name));
                assert_eq!(carried.is_anything(), has_b3 || has_context);
                assert_eq!(may_carry(&headers), carried.is_anything());
                let parts = |context: &Context| {
                    let baggage: Vec<_> =
                        context.baggage_entries().map(|(key, value)| format!("{key}={value}")).collect();
                    (format!("{context:?}"), context.trace_state().to_owned(), baggage)
                };
                assert_eq!(parts(&carried.context()), parts(&propagation::extract(&plain)));
                carried.is_anything()
            },
        );
    }
}
