//! Parses the head of a scraper's request, and chooses the format that its `Accept` header prefers.

use crate::meter::exposition::Form;

/// The kind of response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The metrics, or only the head of that response.
    Metrics { form: Form, head_only: bool },
    /// 404: another path.
    NotFound,
    /// 405: another method.
    NotAllowed,
    /// 400: not an HTTP/1 request.
    Malformed,
}

/// Parses the head of a request.
pub(super) fn asked(head: &[u8]) -> Asked {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Asked::Malformed;
    };
    if !version.starts_with("HTTP/1.") {
        return Asked::Malformed;
    }
    if target.split('?').next() != Some("/metrics") {
        return Asked::NotFound;
    }
    let head_only = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return Asked::NotAllowed,
    };
    let headers = lines.filter_map(|line| line.split_once(':'));
    let accepted = headers.filter(|(name, _)| name.eq_ignore_ascii_case("accept")).map(|(_, value)| value);
    Asked::Metrics { form: preferred(accepted.flat_map(|value| value.split(','))), head_only }
}

/// Returns OpenMetrics if the header names it, in our version or without a version, and gives plain text no higher
/// weight; otherwise the text format of Prometheus.
pub(super) fn preferred<'a>(ranges: impl Iterator<Item = &'a str>) -> Form {
    let (mut open, mut plain) = (0.0_f64, 0.0_f64);
    for range in ranges {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let parameter = |name: &str| parameters.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
        let weight = parameter("q").map_or(1.0, |(_, q)| q.trim().parse().unwrap_or(0.0));
        match media.as_str() {
            "application/openmetrics-text" if parameter("version").is_none_or(|(_, version)| *version == "1.0.0") => {
                open = open.max(weight);
            }
            "text/plain" => plain = plain.max(weight),
            _ => {}
        }
    }
    if open > 0.0 && open >= plain { Form::OpenMetrics } else { Form::Prometheus }
}

/// The media type of a format.
pub(crate) fn media_type(form: Form) -> &'static str {
    match form {
        Form::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        Form::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_the_header() {
        let check = |accept: &str, expected| assert_eq!(preferred(accept.split(',')), expected, "{accept}");
        check("", Form::Prometheus);
        check("*/*", Form::Prometheus);
        check("text/plain", Form::Prometheus);
        check("application/openmetrics-text", Form::OpenMetrics);
        check("Application/OpenMetrics-Text; Version=1.0.0; Q=0.5, text/plain;q=0.4", Form::OpenMetrics);
        check("application/openmetrics-text;q=0.4,text/plain", Form::Prometheus);
        check("application/openmetrics-text;q=0", Form::Prometheus);
        check("application/openmetrics-text;q=nonsense", Form::Prometheus);
        check("application/openmetrics-text;version=2.0.0", Form::Prometheus);
        // The headers of Prometheus 2 and 3.
        check(
            "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            Form::OpenMetrics,
        );
        check(
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;q=0.4,*/*;q=0.1",
            Form::OpenMetrics,
        );
    }

    #[test]
    fn only_metrics_are_served() {
        let metrics = |head_only| Asked::Metrics { form: Form::Prometheus, head_only };
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", metrics(false)),
            ("GET /metrics?name=x HTTP/1.0\r\n\r\n", metrics(false)),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", metrics(true)),
            ("POST /metrics HTTP/1.1\r\n\r\n", Asked::NotAllowed),
            ("GET / HTTP/1.1\r\n\r\n", Asked::NotFound),
            ("GET /metrics/x HTTP/1.1\r\n\r\n", Asked::NotFound),
            ("GET /metrics\r\n\r\n", Asked::Malformed),
            ("GET  /metrics HTTP/1.1\r\n\r\n", Asked::Malformed),
            ("PRI * HTTP/2.0\r\n\r\n", Asked::Malformed),
            ("\r\n\r\n", Asked::Malformed),
            ("", Asked::Malformed),
        ] {
            assert_eq!(asked(head.as_bytes()), expected, "{head:?}");
        }
        assert_eq!(asked(b"\x16\x03\x01\xff\xfe"), Asked::Malformed);
    }
}
