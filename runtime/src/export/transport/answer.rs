//! What a receiver says: how much it rejected, and why.

use serde::Deserialize;

use super::proto::{self, Value};

/// The form of an answer's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Protobuf,
    Json,
    Text,
    Other,
}

impl Form {
    /// The form that a `Content-Type` names; without one the answer is in the form of the request.
    pub(super) fn named(content_type: Option<&str>, request: Form) -> Form {
        let Some(content_type) = content_type else { return request };
        let media = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match media.as_str() {
            "application/x-protobuf" | "application/protobuf" => Form::Protobuf,
            "application/json" => Form::Json,
            "text/plain" => Form::Text,
            _ => Form::Other,
        }
    }
}

/// A partial success, or a full one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Partial {
    pub(super) rejected: u64,
    pub(super) message: Option<String>,
}

/// Reads the answer to a request that was accepted; `None` if it is not one of OTLP, and so may be that of a proxy.
pub(super) fn partial(form: Form, body: &[u8]) -> Option<Partial> {
    match form {
        _ if body.is_empty() => Some(Partial::default()),
        Form::Protobuf if proto::is_message(body) => Some(partial_protobuf(body)),
        Form::Json => partial_json(body),
        Form::Protobuf | Form::Text | Form::Other => None,
    }
}

/// Reads why a request was refused; `None` if nothing says so.
pub(super) fn reason(form: Form, body: &[u8]) -> Option<String> {
    let reason = match form {
        // Both hold a `google.rpc.Status`.
        Form::Protobuf if proto::is_message(body) => {
            String::from_utf8_lossy(proto::bytes(body, 2).unwrap_or_default()).into_owned()
        }
        Form::Json => serde_json::from_slice::<Refusal>(body).ok()?.reason()?,
        Form::Text => String::from_utf8_lossy(body).into_owned(),
        Form::Protobuf | Form::Other => return None,
    };
    Some(reason).filter(|reason| !reason.trim().is_empty())
}

/// `Export…ServiceResponse { partial_success = 1 { rejected_… = 1, error_message = 2 } }`, alike for all signals.
fn partial_protobuf(body: &[u8]) -> Partial {
    let mut partial = Partial::default();
    for (number, value) in proto::fields(proto::bytes(body, 1).unwrap_or_default()) {
        match (number, value) {
            // It is signed; fewer than none were rejected is none.
            (1, Value::Varint(rejected)) => partial.rejected = u64::try_from(rejected as i64).unwrap_or(0),
            (2, Value::Bytes(text)) if !text.is_empty() => {
                partial.message = Some(String::from_utf8_lossy(text).into_owned());
            }
            _ => {}
        }
    }
    partial
}

/// The same as JSON. Fields that are not known are passed over.
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

/// A number, bare or in quotes, as JSON has integers of 64 bits.
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
    /// Fewer than none is none.
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

/// A `google.rpc.Status`, or one inside of an `error`, as gateways write it.
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

    fn check(form: Form, body: &[u8], rejected: u64, message: Option<&str>) {
        let expected = Partial { rejected, message: message.map(str::to_owned) };
        assert_eq!(partial(form, body), Some(expected), "{}", String::from_utf8_lossy(body));
    }

    #[test]
    fn partial_success_in_protobuf() {
        check(Form::Protobuf, &[], 0, None);
        check(Form::Protobuf, &[0x0a, 0], 0, None);
        check(Form::Protobuf, &[0x0a, 3, 0x08, 0xac, 0x02], 300, None);
        check(Form::Protobuf, &[0x0a, 6, 0x08, 5, 0x12, 2, b'n', b'o'], 5, Some("no"));
        check(Form::Protobuf, &[0x0a, 4, 0x12, 2, b'o', b'h'], 0, Some("oh"));
        let minus_one = [0x0a, 11, 0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        check(Form::Protobuf, &minus_one, 0, None);
    }

    #[test]
    fn partial_success_in_json() {
        check(Form::Json, b"{}", 0, None);
        check(Form::Json, br#"{"partialSuccess":{}}"#, 0, None);
        check(Form::Json, br#"{"partialSuccess":{"rejectedSpans":"12"}}"#, 12, None);
        check(
            Form::Json,
            br#"{"partialSuccess": {"rejectedDataPoints" : 3, "errorMessage": "too \"old\""}}"#,
            3,
            Some("too \"old\""),
        );
        check(
            Form::Json,
            br#"{"partialSuccess":{"errorMessage":"\u00e9\n\ud83d\ude00 \"rejectedSpans\":\"9\""}}"#,
            0,
            Some("é\n😀 \"rejectedSpans\":\"9\""),
        );
        check(Form::Json, br#"{"partialSuccess":null}"#, 0, None);
        check(Form::Json, br#"{"partialSuccess":{"rejectedLogRecords":-4,"errorMessage":""}}"#, 0, None);
        check(Form::Json, br#"{"partialSuccess":{"later":[{}],"rejectedSpans":18446744073709551615}}"#, u64::MAX, None);
    }

    #[test]
    fn an_answer_of_another_kind_confirms_nothing() {
        for (form, body) in [
            (Form::Other, &b"<html>"[..]),
            (Form::Protobuf, b"<html>"),
            (Form::Protobuf, &[0x0a, 6, 0x08, 5]),
            (Form::Text, b"ok"),
            (Form::Json, b"<html>"),
            (Form::Json, br#"{"partialSuccess":{"rejectedSpans":1"#),
            (Form::Json, b"{\"errorMessage\":\"\\u00"),
            // No JSON: half of a surrogate pair, and digits that are none.
            (Form::Json, br#"{"partialSuccess":{"errorMessage":"\ud83d "}}"#),
            (Form::Json, "{\"errorMessage\":\"\\uéééé\"}".as_bytes()),
            (Form::Json, br#"{"partialSuccess":{"rejectedSpans":"many"}}"#),
            (Form::Json, br#"{"partialSuccess":7}"#),
        ] {
            assert_eq!(partial(form, body), None, "{}", String::from_utf8_lossy(body));
        }
        check(Form::Other, b"", 0, None);
    }

    #[test]
    fn the_reason_of_a_refusal() {
        let check = |form, body: &[u8], expected: Option<&str>| assert_eq!(reason(form, body).as_deref(), expected);
        check(Form::Protobuf, &[0x08, 3, 0x12, 3, b'b', b'a', b'd'], Some("bad"));
        check(Form::Protobuf, b"<html>", None);
        check(Form::Protobuf, b"", None);
        check(Form::Json, br#"{"code":3,"message":"bad"}"#, Some("bad"));
        check(Form::Json, br#"{"error":{"code":429,"message":"slower"}}"#, Some("slower"));
        check(Form::Json, b"{}", None);
        check(Form::Json, b"{", None);
        check(Form::Text, b"bad\n", Some("bad\n"));
        check(Form::Other, b"<html>", None);
    }

    #[test]
    fn the_form_is_the_one_named_else_that_of_the_request() {
        let check = |name, expected| assert_eq!(Form::named(name, Form::Protobuf), expected);
        check(None, Form::Protobuf);
        check(Some("Application/JSON; charset=utf-8"), Form::Json);
        check(Some("text/plain"), Form::Text);
        check(Some("text/html"), Form::Other);
    }
}
