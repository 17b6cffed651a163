//! HTTP headers and gRPC metadata as places for a context.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use tonic::metadata::MetadataMap;
use tracecast::propagation::{Headers, HeadersMut};

/// Headers that a context is read from: `propagation::extract(&HttpHeaders::from(request.headers()))`, or from the metadata
/// of a tonic request.
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

#[cfg(test)]
mod tests {
    use super::*;
    use tracecast::propagation;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn metadata_is_read_and_written_like_headers() {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", HeaderValue::from_static(PARENT));
        headers.append("tracestate", HeaderValue::from_static("a=1"));
        headers.append("tracestate", HeaderValue::from_static("b=2"));
        let context = propagation::extract(&HttpHeaders::from(&headers));
        let mut metadata = MetadataMap::new();
        metadata.insert("tracestate", "stale=1".parse().unwrap());
        propagation::inject(&context, &mut HttpHeadersMut::from(&mut metadata));
        assert_eq!(metadata.get("traceparent").unwrap(), PARENT);
        assert_eq!(metadata.get_all("tracestate").iter().collect::<Vec<_>>(), ["a=1,b=2"]);
        assert_eq!(propagation::extract(&HttpHeaders::from(&metadata)).span_id(), context.span_id());
    }
}
