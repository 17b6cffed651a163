//! HTTP headers and gRPC metadata as places for a context.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use tonic::metadata::MetadataMap;
use tracecast::propagation::{Headers, HeadersMut};

/// Headers that a context is read from: `propagation::extract(&HttpHeaders::from(request.headers()))`, or from the metadata
/// of a tonic request.
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

impl<'h> From<&'h MetadataMap> for HttpHeaders<'h> {
    fn from(metadata: &'h MetadataMap) -> Self {
        HttpHeaders(metadata.as_ref())
    }
}

impl Headers for HttpHeaders<'_> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.get_all(name).into_iter().map(HeaderValue::as_bytes)
    }
}

/// Headers that a context is written to: `propagation::inject(&context, &mut HttpHeadersMut::from(request.headers_mut()))`,
/// or to the metadata of a tonic request.
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

impl<'h> From<&'h mut MetadataMap> for HttpHeadersMut<'h> {
    fn from(metadata: &'h mut MetadataMap) -> Self {
        HttpHeadersMut(metadata.as_mut())
    }
}

impl HeadersMut for HttpHeadersMut<'_> {
    fn set(&mut self, name: &'static str, value: &str) {
        // A map that is full keeps what it has.
        if let Ok(value) = HeaderValue::from_str(value) {
            let _ = self.0.try_insert(HeaderName::from_static(name), value);
        }
    }

    fn remove(&mut self, name: &'static str) {
        self.0.remove(name);
    }
}

static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
static TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
static BAGGAGE: HeaderName = HeaderName::from_static("baggage");

/// Which of the headers that a context travels in there are. One look at all names is quicker than to look for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried<'h> {
    headers: &'h HeaderMap,
    parent: bool,
    state: bool,
    baggage: bool,
    b3: bool,
}

impl<'h> Carried<'h> {
    #[inline]
    pub(crate) fn of(headers: &'h HeaderMap) -> Self {
        let mut carried = Carried { headers, parent: false, state: false, baggage: false, b3: false };
        for name in headers.keys() {
            let name = name.as_str();
            match name.len() {
                11 => carried.parent |= name == "traceparent",
                10 => carried.state |= name == "tracestate",
                7 => carried.baggage |= name == "baggage",
                2 => carried.b3 |= name == "b3",
                12 => carried.b3 |= name == "x-b3-traceid",
                _ => {}
            }
        }
        carried
    }

    /// Whether there is anything from which a context can be made.
    #[inline]
    pub(crate) fn is_anything(&self) -> bool {
        self.parent | self.baggage | self.b3
    }
}

impl Headers for Carried<'_> {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let values = match name {
            "traceparent" => self.parent.then(|| self.headers.get_all(&TRACEPARENT)),
            "tracestate" => self.state.then(|| self.headers.get_all(&TRACESTATE)),
            "baggage" => self.baggage.then(|| self.headers.get_all(&BAGGAGE)),
            name => self.b3.then(|| self.headers.get_all(name)),
        };
        values.into_iter().flatten().map(HeaderValue::as_bytes)
    }
}

/// Whether a context may be read from these headers.
#[inline]
pub(crate) fn may_carry(headers: &HeaderMap) -> bool {
    Carried::of(headers).is_anything()
}

/// The value of a header. Where there are few, to look at all of them is quicker than to hash.
#[inline]
pub(crate) fn find<'h>(headers: &'h HeaderMap, name: &'static str) -> Option<&'h HeaderValue> {
    const FEW: usize = 16;
    if headers.len() > FEW {
        return headers.get(name);
    }
    headers.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value)
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
            assert_eq!(Carried::of(&headers).is_anything(), carries, "{name}");
        }
    }

    #[test]
    fn a_header_is_found_among_few_and_among_many() {
        let mut headers = HeaderMap::new();
        for n in 0..12 {
            assert!(find(&headers, "baggage").is_none());
            headers.insert(HeaderName::try_from(format!("x-{n}")).unwrap(), HeaderValue::from_static("x"));
            let mut with = headers.clone();
            with.append(&BAGGAGE, HeaderValue::from_static("a=1"));
            with.append(&BAGGAGE, HeaderValue::from_static("b=2"));
            assert_eq!(find(&with, "baggage").unwrap(), "a=1");
        }
    }

    #[test]
    fn metadata_is_read_and_written_like_headers() {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", HeaderValue::from_static(PARENT));
        headers.append("tracestate", HeaderValue::from_static("a=1"));
        headers.append("tracestate", HeaderValue::from_static("b=2"));
        let context = propagation::extract(&HttpHeaders::from(&headers));
        assert_eq!(propagation::extract(&Carried::of(&headers)).trace_state(), context.trace_state());
        let mut metadata = MetadataMap::new();
        metadata.insert("tracestate", "stale=1".parse().unwrap());
        propagation::inject(&context, &mut HttpHeadersMut::from(&mut metadata));
        assert_eq!(metadata.get("traceparent").unwrap(), PARENT);
        assert_eq!(metadata.get_all("tracestate").iter().collect::<Vec<_>>(), ["a=1,b=2"]);
        assert_eq!(propagation::extract(&HttpHeaders::from(&metadata)).span_id(), context.span_id());
    }
}
