//! Parses the bodies of responses: the number of rejected items, and the reason.

use serde::Deserialize;

use super::proto::{self, Value};

/// The media type of a response's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Protobuf,
    Json,
    Text,
    Other,
}

impl Media {
    /// Reads the media type from `Content-Type`; without that header it is the request's.
    pub(super) fn named(content_type: Option<&str>, request: Media) -> Media {
        let Some(content_type) = content_type else { return request };
        let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match name.as_str() {
            "application/x-protobuf" | "application/protobuf" => Media::Protobuf,
            "application/json" => Media::Json,
            "text/plain" => Media::Text,
            _ => Media::Other,
        }
    }
}

/// A success, which may be partial.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Partial {
    pub(super) rejected: u64,
    pub(super) message: Option<String>,
}

/// Parses the response to an accepted request; `None` if it is not OTLP, as from a proxy.
pub(super) fn partial(media: Media, body: &[u8]) -> Option<Partial> {
    match media {
        _ if body.is_empty() => Some(Partial::default()),
        Media::Protobuf if proto::is_message(body) => Some(partial_protobuf(body)),
        Media::Json => partial_json(body),
        Media::Protobuf | Media::Text | Media::Other => None,
    }
}

/// Parses the reason of a rejection; `None` if the body has none.
pub(super) fn reason(media: Media, body: &[u8]) -> Option<String> {
    let reason = match media {
        // Protobuf and JSON have a `google.rpc.Status`.
        Media::Protobuf if proto::is_message(body) => {
            String::from_utf8_lossy(proto::bytes(body, 2).unwrap_or_default()).into_owned()
        }
        Media::Json => serde_json::from_slice::<Refusal>(body).ok()?.reason()?,
        Media::Text => String::from_utf8_lossy(body).into_owned(),
        Media::Protobuf | Media::Other => return None,
    };
    Some(reason).filter(|reason| !reason.trim().is_empty())
}

/// Parses `Export…ServiceResponse { partial_success = 1 { rejected_… = 1, error_message = 2 } }`, the same for all
/// signals.
fn partial_protobuf(body: &[u8]) -> Partial {
    let mut partial = Partial::default();
    for (number, value) in proto::fields(proto::bytes(body, 1).unwrap_or_default()) {
        match (number, value) {
            // The field is signed; a negative number counts as 0.
            (1, Value::Varint(rejected)) => partial.rejected = u64::try_from(rejected as i64).unwrap_or(0),
            (2, Value::Bytes(text)) if !text.is_empty() => {
                partial.message = Some(String::from_utf8_lossy(text).into_owned());
            }
            _ => {}
        }
    }
    partial
}

/// The response to an accepted request, in JSON. Unknown fields are ignored.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Response {
    partial_success: Option<PartialSuccess>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PartialSuccess {
    #[serde(alias = "rejectedSpans", alias = "rejectedDataPoints", alias = "rejectedLogRecords")]
    rejected: Integer,
    error_message: String,
}

/// A 64-bit integer, which protobuf's JSON writes as a number or a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Integer {
    Unsigned(u64),
    Signed(i64),
    Text(String),
}

impl Default for Integer {
    fn default() -> Self {
        Integer::Unsigned(0)
    }
}

impl Integer {
    /// Returns the value, 0 for a negative number; `None` if a text is not an unsigned integer.
    fn get(&self) -> Option<u64> {
        match self {
            Integer::Unsigned(number) => Some(*number),
            Integer::Signed(number) => Some(u64::try_from(*number).unwrap_or(0)),
            Integer::Text(text) => text.parse().ok(),
        }
    }
}

fn partial_json(body: &[u8]) -> Option<Partial> {
    let PartialSuccess { rejected, error_message } =
        serde_json::from_slice::<Response>(body).ok()?.partial_success.unwrap_or_default();
    Some(Partial { rejected: rejected.get()?, message: Some(error_message).filter(|message| !message.is_empty()) })
}

/// A `google.rpc.Status`, or one in a field `error`, as gateways write it.
#[derive(Deserialize)]
struct Refusal {
    message: Option<String>,
    error: Option<Box<Refusal>>,
}

impl Refusal {
    fn reason(self) -> Option<String> {
        self.message.or_else(|| self.error.and_then(|error| error.reason()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(media: Media, body: &[u8], rejected: u64, message: Option<&str>) {
        let expected = Partial { rejected, message: message.map(str::to_owned) };
        assert_eq!(partial(media, body), Some(expected), "{}", String::from_utf8_lossy(body));
    }

    #[test]
    fn partial_success_in_protobuf() {
        check(Media::Protobuf, &[], 0, None);
        check(Media::Protobuf, &[0x0a, 0], 0, None);
        check(Media::Protobuf, &[0x0a, 3, 0x08, 0xac, 0x02], 300, None);
        check(Media::Protobuf, &[0x0a, 6, 0x08, 5, 0x12, 2, b'n', b'o'], 5, Some("no"));
        check(Media::Protobuf, &[0x0a, 4, 0x12, 2, b'o', b'h'], 0, Some("oh"));
        let minus_one = [0x0a, 11, 0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        check(Media::Protobuf, &minus_one, 0, None);
    }

    #[test]
    fn partial_success_in_json() {
        check(Media::Json, b"{}", 0, None);
        check(Media::Json, br#"{"partialSuccess":{}}"#, 0, None);
        check(Media::Json, br#"{"partialSuccess":{"rejectedSpans":"12"}}"#, 12, None);
        check(
            Media::Json,
            br#"{"partialSuccess": {"rejectedDataPoints" : 3, "errorMessage": "too \"old\""}}"#,
            3,
            Some("too \"old\""),
        );
        check(
            Media::Json,
            br#"{"partialSuccess":{"errorMessage":"\u00e9\n\ud83d\ude00 \"rejectedSpans\":\"9\""}}"#,
            0,
            Some("é\n😀 \"rejectedSpans\":\"9\""),
        );
        check(Media::Json, br#"{"partialSuccess":null}"#, 0, None);
        check(Media::Json, br#"{"partialSuccess":{"rejectedLogRecords":-4,"errorMessage":""}}"#, 0, None);
        check(
            Media::Json,
            br#"{"partialSuccess":{"later":[{}],"rejectedSpans":18446744073709551615}}"#,
            u64::MAX,
            None,
        );
    }

    #[test]
    fn an_answer_of_another_kind_confirms_nothing() {
        for (media, body) in [
            (Media::Other, &b"<html>"[..]),
            (Media::Protobuf, b"<html>"),
            (Media::Protobuf, &[0x0a, 6, 0x08, 5]),
            (Media::Text, b"ok"),
            (Media::Json, b"<html>"),
            (Media::Json, br#"{"partialSuccess":{"rejectedSpans":1"#),
            (Media::Json, b"{\"errorMessage\":\"\\u00"),
            // Invalid JSON: half of a surrogate pair, and escapes that are not hexadecimal.
            (Media::Json, br#"{"partialSuccess":{"errorMessage":"\ud83d "}}"#),
            (Media::Json, "{\"errorMessage\":\"\\uéééé\"}".as_bytes()),
            (Media::Json, br#"{"partialSuccess":{"rejectedSpans":"many"}}"#),
            (Media::Json, br#"{"partialSuccess":7}"#),
        ] {
            assert_eq!(partial(media, body), None, "{}", String::from_utf8_lossy(body));
        }
        check(Media::Other, b"", 0, None);
    }

    #[test]
    fn the_reason_of_a_refusal() {
        let check = |media, body: &[u8], expected: Option<&str>| assert_eq!(reason(media, body).as_deref(), expected);
        check(Media::Protobuf, &[0x08, 3, 0x12, 3, b'b', b'a', b'd'], Some("bad"));
        check(Media::Protobuf, b"<html>", None);
        check(Media::Protobuf, b"", None);
        check(Media::Json, br#"{"code":3,"message":"bad"}"#, Some("bad"));
        check(Media::Json, br#"{"error":{"code":429,"message":"slower"}}"#, Some("slower"));
        check(Media::Json, b"{}", None);
        check(Media::Json, b"{", None);
        check(Media::Text, b"bad\n", Some("bad\n"));
        check(Media::Other, b"<html>", None);
    }

    #[test]
    fn the_form_is_the_one_named_else_that_of_the_request() {
        let check = |name, expected| assert_eq!(Media::named(name, Media::Protobuf), expected);
        check(None, Media::Protobuf);
        check(Some("Application/JSON; charset=utf-8"), Media::Json);
        check(Some("text/plain"), Media::Text);
        check(Some("text/html"), Media::Other);
    }
}
