//! Exporters in a file: `otlp_http`, `otlp_grpc`, `console`.

use std::path::PathBuf;

use super::reading::{At, Map, Reading, Unknown};
use crate::base::secret::Masked;
use crate::config::header::HeaderSource;
use crate::config::otlp::{Address, OtlpSettings, Protocol, TlsFiles};
use crate::config::parts::Exporter;
use crate::config::problem::Wrong;
use crate::config::values;

/// Reads an exporter of spans or log records.
pub(super) fn read(reading: &mut Reading, at: &At<'_>) -> Option<Exporter> {
    read_with(reading, at, |_, _| {})
}

/// Reads an exporter; `more` reads keys that only some exporters have.
pub(super) fn read_with(
    reading: &mut Reading,
    at: &At<'_>,
    more: impl FnOnce(&mut Reading, &mut Map<'_>),
) -> Option<Exporter> {
    let (kind, at) = reading.choice(at, &["otlp_http", "otlp_grpc", "console"], Unknown::Ignored)?;
    let mut map = reading.map(&at);
    let exporter = match kind {
        "otlp_http" => Exporter::Otlp(Box::new(http(reading, &mut map))),
        "otlp_grpc" => Exporter::Otlp(Box::new(grpc(reading, &mut map))),
        _ => Exporter::Console,
    };
    more(reading, &mut map);
    map.finish(reading, Unknown::Refused);
    Some(exporter)
}

fn http(reading: &mut Reading, map: &mut Map<'_>) -> OtlpSettings {
    let encoding = |text: &str| {
        let names = [("protobuf", Protocol::HttpProtobuf), ("json", Protocol::HttpJson)];
        values::one_of(text, &names, "is not an encoding", "protobuf or json")
    };
    let protocol = reading.value(map.get("encoding"), encoding).unwrap_or(Protocol::HttpProtobuf);
    OtlpSettings { protocol: Some(protocol), ..common(reading, map, protocol) }
}

fn grpc(reading: &mut Reading, map: &mut Map<'_>) -> OtlpSettings {
    OtlpSettings { protocol: Some(Protocol::Grpc), ..common(reading, map, Protocol::Grpc) }
}

fn common(reading: &mut Reading, map: &mut Map<'_>, protocol: Protocol) -> OtlpSettings {
    let at = map.get("endpoint");
    let text = reading.text(at.clone());
    let endpoint = reading.value(at, |text| values::endpoint(text, Some(protocol)));
    // The address is hidden if a variable is part of its text.
    let endpoint = text.zip(endpoint).map(|(text, endpoint)| text.map(|_| endpoint));
    let (tls, insecure) = match map.get("tls") {
        Some(at) => tls(reading, &at, protocol),
        None => (TlsFiles::default(), None),
    };
    OtlpSettings {
        address: endpoint.map(Address::Exact),
        headers: headers(reading, map),
        tls,
        compression: reading.value(map.get("compression"), values::compression),
        timeout: reading.value(map.get("timeout"), values::timeout),
        insecure,
        protocol: None,
    }
}

fn tls(reading: &mut Reading, at: &At<'_>, protocol: Protocol) -> (TlsFiles, Option<bool>) {
    let mut map = reading.map(at);
    let mut file = |reading: &mut Reading, key| -> Option<Masked<PathBuf>> {
        reading.text(map.get(key)).map(|text| text.map(PathBuf::from))
    };
    let ca = file(reading, "ca_file");
    let client_key = file(reading, "key_file");
    let client_certificate = file(reading, "cert_file");
    let insecure = if protocol == Protocol::Grpc { reading.value(map.get("insecure"), values::truth) } else { None };
    if client_key.is_some() != client_certificate.is_some() {
        reading.wrong(at, Wrong::with_help("requires both `cert_file` and `key_file`", "add the missing one"));
    }
    map.finish(reading, Unknown::Refused);
    (TlsFiles { ca, client_certificate, client_key }, insecure)
}

/// Reads headers; `None` if there are none. Entries of `headers` override those of `headers_list`; an entry without a
/// value is ignored.
fn headers(reading: &mut Reading, map: &mut Map<'_>) -> Option<Vec<(String, HeaderSource)>> {
    let (single, list) = (map.get("headers"), map.get("headers_list"));
    let mut headers = reading.value(list, values::headers).unwrap_or_default();
    for item in reading.list(single) {
        let mut pair = reading.map(&item);
        let name = pair.required(reading, "name", "the name of a header");
        let (name, value) = (reading.text(name), pair.get("value"));
        let value = reading.text(value);
        pair.finish(reading, Unknown::Refused);
        let (Some(name), Some(value)) = (name, value) else { continue };
        match values::header(&name, value.into_inner()) {
            Some((name, value)) => {
                headers.retain(|(given, _)| *given != name);
                headers.push((name, value.into()));
            }
            None => reading.wrong(&item, values::invalid_header()),
        }
    }
    (!headers.is_empty()).then_some(headers)
}
