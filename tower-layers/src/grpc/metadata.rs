//! Headers of calls, and tonic's metadata as a carrier of contexts.

use http::{HeaderMap, HeaderValue};
use tonic::metadata::MetadataMap;

use crate::headers::{HttpHeaders, HttpHeadersMut};

impl<'h> From<&'h MetadataMap> for HttpHeaders<'h> {
    fn from(metadata: &'h MetadataMap) -> Self {
        HttpHeaders::from(metadata.as_ref())
    }
}

impl<'h> From<&'h mut MetadataMap> for HttpHeadersMut<'h> {
    fn from(metadata: &'h mut MetadataMap) -> Self {
        HttpHeadersMut::from(metadata.as_mut())
    }
}

/// Returns the value of a header. With few headers, comparing them all is faster than hashing. Inlined, so that the
/// name is a constant.
#[inline(always)]
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
    use crate::headers::Carried;
    use http::HeaderName;
    use tracecast::propagation;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_header_is_found_among_few_and_among_many() {
        const NAME: &str = "grpc-status";
        let mut headers = HeaderMap::new();
        for n in 0..24 {
            assert!(find(&headers, NAME).is_none());
            headers.insert(HeaderName::try_from(format!("x-{n}")).unwrap(), HeaderValue::from_static("x"));
            let mut with = headers.clone();
            with.append(NAME, HeaderValue::from_static("a=1"));
            with.append(NAME, HeaderValue::from_static("b=2"));
            assert_eq!(find(&with, NAME).unwrap(), "a=1");
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
