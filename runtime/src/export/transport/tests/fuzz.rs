//! Fuzz targets of responses: statuses, headers, trailers and bodies, in protobuf and JSON.

use std::cell::Cell;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTracePartialSuccess, ExportTraceServiceResponse};
use prost::Message;

use super::super::answer::{self, Media, Partial};
use super::super::grpc::retry_info;
use super::super::hint::retry_after;
use super::super::status::http_retries;
use super::super::{Sent, address, proto};
use super::server::{Reply, scripted};
use super::{printed, target, transport};
use crate::base::fuzz::{Random, assert_linear, mutated, run, within};
use crate::config::{Endpoint, Protocol};

const HOUR: Duration = Duration::from_secs(3600);
/// The memory that a body may take: each byte may become the three bytes of U+FFFD, in strings that are copied.
const BYTES_PER_BYTE: usize = 20;
const FIXED_BYTES: usize = 4096;

const PROTOBUF: [&[u8]; 8] = [
    b"",
    b"\x0a\x00",
    b"\x0a\x03\x08\xac\x02",
    b"\x0a\x06\x08\x05\x12\x02no",
    b"\x0a\x04\x12\x02oh",
    b"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x08\x0e\x12\x03bad\x1a\x36\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x0a\x0a\x08\x08\x07\x10\x80\x94\xeb\xdc\x03",
    b"\x0a\x02\x08\x01\x0a\x04\x12\x02oh\x1d\x01\x02\x03\x04\x21\x01\x02\x03\x04\x05\x06\x07\x08",
];
const JSON: [&[u8]; 7] = [
    b"{}",
    br#"{"partialSuccess":{}}"#,
    br#"{"partialSuccess":{"rejectedSpans":"12","errorMessage":"too \"old\""}}"#,
    br#"{"partialSuccess": {"rejectedDataPoints" : 3, "errorMessage": "\u00e9\n\ud83d\ude00 \"rejectedSpans\":\"9\""}}"#,
    br#"{"rejectedLogRecords":-4,"errorMessage":""}"#,
    br#"{"code":3,"message":"bad","details":[]}"#,
    b"<html><title>503 Service Unavailable</title></html>",
];
const WORDS: [&[u8]; 28] = [
    b"\x0a",
    b"\x08",
    b"\x12",
    b"\x1a",
    b"\xff",
    b"\x80",
    b"\x00",
    b"\x0a\x00",
    b"\x12\x02no",
    b"{",
    b"}",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d",
    b":",
    b",",
    b"null",
    b"1e9",
    b"-1",
    b"18446744073709551616",
    b"\"rejectedSpans\":",
    b"\"errorMessage\":",
    b"\"message\":",
    b"sesame",
    b"\xe2\x82\xac",
    b"\n",
    b"  ",
];

#[test]
fn protobuf_answers() {
    let make = |random: &mut Random| {
        let generated = partial_success(random).encode_to_vec();
        if random.once_in(2) { generated } else { mutated(random, &[&PROTOBUF[..], &[&generated]].concat(), &WORDS) }
    };
    run("protobuf answers", &PROTOBUF, make, |input| {
        let read = outcome(Media::Protobuf, input);
        check_reason(Media::Protobuf, input);
        assert!(retry_info(input).is_none_or(|after| after <= HOUR));
        let Ok(decoded) = ExportTraceServiceResponse::decode(input) else { return false };
        // A full decoder merges repeated messages and skips groups; no backend sends either.
        let parts = proto::fields(input).filter(|(number, _)| *number == 1).count();
        let has_groups = ![input, proto::bytes(input, 1).unwrap_or_default()].into_iter().all(proto::is_message);
        if parts <= 1 && !has_groups {
            let partial = decoded.partial_success.unwrap_or_default();
            assert_eq!(read, (u64::try_from(partial.rejected_spans).unwrap_or(0), partial.error_message));
        }
        true
    });
}

fn partial_success(random: &mut Random) -> ExportTraceServiceResponse {
    let rejected_spans = (random.next() as i64) >> random.below(64);
    let error_message = random.pick(&["", "no", "quota: 5 of 4", "é€\u{0}"]).repeat(random.below(20));
    ExportTraceServiceResponse {
        partial_success: Some(ExportTracePartialSuccess { rejected_spans, error_message })
            .filter(|_| !random.once_in(5)),
    }
}

/// The number of rejected items, and the message; zero and empty if the body is not an OTLP response.
fn outcome(media: Media, body: &[u8]) -> (u64, String) {
    let Partial { rejected, message } =
        or_none(within(FIXED_BYTES + BYTES_PER_BYTE * body.len(), || answer::partial(media, body)));
    let message = message.unwrap_or_default();
    assert!(message.len() <= 3 * body.len() + 200, "{message}");
    (rejected, message)
}

fn or_none(partial: impl Into<Option<Partial>>) -> Partial {
    partial.into().unwrap_or_default()
}

fn check_reason(media: Media, body: &[u8]) {
    let reason = within(FIXED_BYTES + BYTES_PER_BYTE * body.len(), || answer::reason(media, body));
    assert!(reason.is_none_or(|reason| reason.len() <= 3 * body.len() && !reason.trim().is_empty()));
}

#[test]
fn json_answers() {
    let expected = Cell::new(None);
    let make = |random: &mut Random| {
        let (generated, read) = json_answer(random);
        if random.once_in(2) {
            expected.set(Some(read));
            return generated;
        }
        expected.set(None);
        mutated(random, &[&JSON[..], &[&generated]].concat(), &WORDS)
    };
    run("JSON answers", &JSON, make, |input| {
        let read = outcome(Media::Json, input);
        check_reason(Media::Json, input);
        if let Some(expected) = expected.take() {
            assert_eq!(read, expected);
        }
        serde_json::from_slice::<serde_json::Value>(input).is_ok()
    });
}

/// A response as a backend writes it, with fields of later versions, and its parsed content.
fn json_answer(random: &mut Random) -> (Vec<u8>, (u64, String)) {
    let rejected = random.next() >> random.below(64);
    let message = random.pick(&["", "no", "\"quoted\" \\ and\n\tmore\u{1}", "é€😀", "{\"rejectedSpans\":5}"]);
    let message = message.repeat(1 + random.below(5));
    let number = if random.once_in(2) { rejected.to_string() } else { format!("\"{rejected}\"") };
    let text = serde_json::json!(message);
    let (gap, later) = (random.pick(&["", " ", "\n\t"]), random.pick(&["", "\"later\":[{\"a\":null}],"]));
    let (partial, read) = match random.below(4) {
        0 => (format!("{later}\"rejectedSpans\"{gap}:{gap}{number}"), (rejected, String::new())),
        1 => (format!("\"errorMessage\"{gap}:{gap}{text}"), (0, message)),
        2 => (format!("\"errorMessage\":{text},{gap}{later}\"rejectedSpans\":{number}{gap}"), (rejected, message)),
        _ => (String::new(), (0, String::new())),
    };
    (format!("{{{later}\"partialSuccess\"{gap}:{gap}{{{partial}}}}}").into_bytes(), read)
}

#[test]
fn answers_of_other_kinds() {
    let kinds: [&[u8]; 6] =
        [b"application/json", b"Application/X-Protobuf; a=b", b"text/plain;charset=utf-8", b"text/html", b";", b""];
    let seeds = [&kinds[..], &JSON, &PROTOBUF].concat();
    let make = |random: &mut Random| {
        let kind = if random.once_in(2) { random.pick(&kinds).to_vec() } else { mutated(random, &kinds, &WORDS) };
        [kind, b"\n".to_vec(), mutated(random, &seeds, &WORDS)].concat()
    };
    run("answers of other kinds", &[], make, |input| {
        let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
        let (kind, body) = input.split_at(at);
        let media = Media::named(std::str::from_utf8(kind).ok(), Media::Protobuf);
        outcome(media, body);
        check_reason(media, body);
        media != Media::Other
    });
}

#[test]
fn retry_after_headers() {
    let seeds: [&[u8]; 6] = [
        b"0",
        b" 120 ",
        b"Sun, 06 Nov 1994 08:49:37 GMT",
        b"Sunday, 06-Nov-94 08:49:37 GMT",
        b"Sun Nov  6 08:49:37 1994",
        b"99999999999999999999999999",
    ];
    let words: [&[u8]; 12] =
        [b"0", b"9", b"-", b"+", b".", b" ", b":", b"GMT", b"Feb", b"29", b"9999", b"18446744073709551615"];
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    run(
        "retry-after",
        &seeds,
        |random| mutated(random, &seeds, &words),
        |input| {
            let text = String::from_utf8_lossy(input);
            let after = within(0, || retry_after(&text, now));
            assert!(after.is_none_or(|after| after <= HOUR));
            let digits = text.trim();
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                assert_eq!(after, Some(digits.parse().map_or(HOUR, Duration::from_secs).min(HOUR)));
            }
            after.is_some()
        },
    );
}

#[test]
fn endpoints() {
    let seeds: [&[u8]; 7] = [
        b"http://ann:b@[[]:4317/",
        b"http://localhost:4318/v1/traces",
        b"https://user:p%40ss@[::1]:4317/a?token=sesame&b=%zz",
        b"HTTP://h",
        b"http://token@h:65535?x",
        b"http://a:b@c@d/#f",
        b"ftp://h",
    ];
    let words: [&[u8]; 12] = [b"://", b"/", b"?", b"#", b"@", b":", b"[", b"]", b"%", b"&=", b"65536", b"\xc3\xa9"];
    run(
        "endpoints",
        &seeds,
        |random| mutated(random, &seeds, &words),
        |input| {
            let text = String::from_utf8_lossy(input);
            let parsed = within(FIXED_BYTES + 100 * input.len(), || text.parse::<Endpoint>());
            let Ok(endpoint) = parsed else { return false };
            assert!(address::port(&endpoint) > 0 && !endpoint.host().is_empty());
            // A path may contain the same text, and is not secret.
            let is_once = text.matches("sesame").count() == 1;
            for secret in address::secrets(&endpoint).iter().filter(|secret| is_once && secret.reveal() == "sesame") {
                assert!(!format!("{endpoint}{endpoint:?}").contains(secret.reveal()));
            }
            // Our parser and the one of `http` agree about the URI of a request.
            let Ok(uri) = within(FIXED_BYTES + 100 * input.len(), || address::uri(&endpoint)) else { return false };
            let again: Endpoint = uri.to_string().parse().unwrap_or_else(|error| panic!("{uri}: {error}"));
            for host in [uri.host().unwrap().trim_matches(['[', ']']), again.host()] {
                assert_eq!(host, endpoint.host());
            }
            assert_eq!((uri.port_u16(), again.port()), (endpoint.port(), endpoint.port()));
            assert_eq!(again.path().trim_start_matches('/'), endpoint.path().trim_start_matches('/'));
            true
        },
    );
}

/// Makes a header's value: one line of text.
fn line(random: &mut Random, seeds: &[&[u8]]) -> Vec<u8> {
    let bytes = if random.once_in(2) { random.pick(seeds).to_vec() } else { mutated(random, seeds, &WORDS) };
    bytes.into_iter().filter(|byte| matches!(byte, b' '..=b'~')).take(1000).collect()
}

/// Separates the lines before the body from the body.
fn parts<const N: usize>(input: &[u8]) -> ([String; N], Vec<u8>) {
    let mut parts = input.splitn(N + 1, |byte| *byte == b'\n');
    let lines = std::array::from_fn(|_| String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned());
    (lines, parts.next().unwrap_or_default().to_vec())
}

/// Fuzzes a transport with a backend that sends the response which `reply` makes of each input.
fn over_a_socket(
    name: &'static str,
    protocol: Protocol,
    make: impl FnMut(&mut Random) -> Vec<u8>,
    reply: impl Fn(&[u8]) -> Reply,
    check: impl Fn(&[u8], &Sent),
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (server, script) = runtime.block_on(scripted(protocol, Reply::http(200)));
    let mut transport = transport(&target(protocol, server.url()));
    run(name, &[], make, |input| {
        script.set(reply(input));
        let sent = runtime.block_on(transport.send(b"spans".to_vec()));
        script.request();
        let text = printed(&sent);
        assert!(text.len() <= 4 * input.len() + 1000, "{text}");
        assert!(!text.contains("sesame"), "{text}");
        assert!(!matches!(sent, Sent::Retry { after: Some(after), .. } if after > HOUR), "{text}");
        check(input, &sent);
        matches!(sent, Sent::Accepted { .. })
    });
}

/// The input has a status, a content type, a `retry-after` and the body.
#[test]
fn answers_over_http() {
    let bodies = [&JSON[..], &PROTOBUF].concat();
    let make = |random: &mut Random| {
        // Errors close the connection, and there are too few ports for a million connections.
        let errors = [400, 404, 413, 429, 500, 502, 503, 504];
        let status = if random.once_in(20) { random.pick(&errors) } else { random.pick(&[200, 202, 206]) };
        let kind = line(random, &[b"application/json", b"application/x-protobuf", b"text/plain", b"text/html"]);
        let after = line(random, &[b"0", b"120", b"Sun, 06 Nov 1994 08:49:37 GMT"]);
        let body = mutated(random, &bodies, &WORDS);
        [status.to_string().as_bytes(), &kind, &after, &body].join(&b'\n')
    };
    let reply = |input: &[u8]| {
        let ([status, kind, after], body) = parts(input);
        Reply { body, ..Reply::http(status.parse().unwrap()) }.header("content-type", kind).header("retry-after", after)
    };
    over_a_socket("answers over HTTP", Protocol::HttpProtobuf, make, reply, |input, sent| {
        let ([status], _) = parts(input);
        let status: u16 = status.parse().unwrap();
        let is_retried = matches!(sent, Sent::Retry { .. });
        assert!(is_retried == http_retries(status) || status == 413, "{status}: {sent:?}");
    });
}

/// The input has a gRPC status, its message and details, and the body.
#[test]
fn answers_over_grpc() {
    let framed: Vec<Vec<u8>> = PROTOBUF.iter().map(|message| Reply::grpc(message, 0).body).collect();
    let framed: Vec<&[u8]> = framed.iter().map(Vec::as_slice).collect();
    let make = |random: &mut Random| {
        let status =
            if random.once_in(2) { b"0".to_vec() } else { line(random, &[b"14", b"8", b"3", b"99", b" 1", b""]) };
        let message = line(random, &[b"", b"quota%20exceeded", b"sesame %73esame"]);
        let details = BASE64_STANDARD.encode(mutated(random, &PROTOBUF, &WORDS)).into_bytes();
        let details = line(random, &[&details, b"not base64"]);
        let body = if random.once_in(2) { random.pick(&framed).to_vec() } else { mutated(random, &framed, &WORDS) };
        [&status[..], &message, &details, &body].join(&b'\n')
    };
    let reply = |input: &[u8]| {
        let ([status, message, details], body) = parts(input);
        let reply = Reply { body, ..Reply::grpc(b"", 0) };
        let trailers = [("grpc-status", status), ("grpc-message", message), ("grpc-status-details-bin", details)];
        Reply { trailers: trailers.into(), ..reply }
    };
    over_a_socket("answers over gRPC", Protocol::Grpc, make, reply, |input, sent| {
        let ([status, _, _], _) = parts(input);
        assert!(status != "14" || matches!(sent, Sent::Retry { .. }), "{sent:?}");
        assert!(status.trim() == "0" || !matches!(sent, Sent::Accepted { .. }), "{sent:?}");
    });
}

#[test]
fn time_grows_with_the_length() {
    for media in [Media::Protobuf, Media::Json, Media::Text] {
        let read = |input: &[u8]| {
            answer::partial(media, input);
            answer::reason(media, input);
        };
        assert_linear("", |_| "\x0a\x00".to_owned(), read);
        assert_linear("", |_| "\"message\" ".to_owned(), read);
        assert_linear("{", |_| "\"errorMessage\":\"\\u00e9\",".to_owned(), read);
        assert_linear("\"errorMessage\":\"", |_| "\\n".to_owned(), read);
    }
    assert_linear("", |_| "\x1a\x02\x0a\x00".to_owned(), |input| _ = retry_info(input));
}
