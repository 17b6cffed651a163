//! Parsers of the texts in variables and files. Each error names what is accepted.

use std::path::PathBuf;
use std::time::Duration;

use super::endpoint::{self, Endpoint};
use super::header::HeaderSource;
use super::otlp::{Compression, Protocol};
use super::parts::{ConsoleFormat, Exporter, HistogramAggregation, LogFormat, NO_LIMIT, TemporalityPreference};
use super::problem::Wrong;
use crate::base::percent::decoded;
use crate::base::secret::{Masked, Secret};
use crate::declare::filter::Filter;
use crate::meter::exemplar::Exemplars;
use crate::propagate::format::Propagator;
use crate::record::sampling::Sampler;

pub(super) type Parsed<T> = Result<T, Wrong>;

/// Finds a text among names, ignoring case.
pub(super) fn one_of<T: Copy>(
    text: &str,
    names: &[(&str, T)],
    complaint: &'static str,
    accepted: &'static str,
) -> Parsed<T> {
    let found = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|(_, value)| *value).ok_or_else(|| Wrong::new(complaint, accepted))
}

/// Parses the boolean of a variable of ours.
pub(super) fn switch(text: &str) -> Parsed<bool> {
    let names = [("true", true), ("1", true), ("false", false), ("0", false)];
    one_of(text, &names, "is not a boolean", "true or false")
}

/// Parses a boolean as the specification defines it: only `true`, in any case, is true. Texts other than `true` and
/// `false` are reported, and count as false.
pub(super) fn standard_switch(text: &str) -> Parsed<bool> {
    let names = [("true", true), ("false", false)];
    one_of(text, &names, "is not a boolean", "true or false").map_err(|wrong| wrong.using("false"))
}

/// Parses a boolean of YAML's core schema.
pub(super) fn truth(text: &str) -> Parsed<bool> {
    match text {
        "true" | "True" | "TRUE" => Ok(true),
        "false" | "False" | "FALSE" => Ok(false),
        _ => Err(Wrong::new("is not a boolean", "true or false")),
    }
}

/// Parses whether our spans are emitted to `tracing`; `true` requires the feature `tracing-emit`.
pub(super) fn tracing_emit(text: &str) -> Parsed<bool> {
    let accepted = "false, or true with the feature `tracing-emit` of `tracecast`";
    match switch(text) {
        Ok(true) if !cfg!(has_tracing_emit) => Err(Wrong::new("needs a feature that is not built in", accepted)),
        Ok(on) => Ok(on),
        Err(_) => Err(Wrong::new("is not a boolean", accepted)),
    }
}

/// Parses names that are separated by commas.
pub(super) fn names(text: &str) -> Parsed<Vec<Masked<String>>> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(names.map(|name| Masked::from(name.to_owned())).collect())
}

pub(super) fn any_text(text: &str) -> Parsed<Masked<String>> {
    Ok(Masked::from(text.to_owned()))
}

pub(super) fn path(text: &str) -> Parsed<Masked<PathBuf>> {
    Ok(Masked::from(PathBuf::from(text)))
}

/// Parses an exporter; `none` is `None`. Only metrics have `prometheus`.
pub(super) fn exporter(name: &str, of_metrics: bool) -> Parsed<Option<Exporter>> {
    match name.to_ascii_lowercase().as_str() {
        "prometheus" if of_metrics => Ok(Some(Exporter::Prometheus)),
        "otlp" => Ok(Some(Exporter::Otlp(Box::default()))),
        // `logging` is an older name of `console`.
        "console" | "logging" => Ok(Some(Exporter::Console)),
        "none" => Ok(None),
        _ => {
            let accepted = if of_metrics { "otlp, prometheus, console or none" } else { "otlp, console or none" };
            Err(Wrong::new("is not a supported exporter", accepted))
        }
    }
}

pub(super) fn log_lines(text: &str) -> Parsed<LogFormat> {
    let names =
        [("auto", LogFormat::Auto), ("json", LogFormat::Json), ("text", LogFormat::Text), ("none", LogFormat::None)];
    one_of(text, &names, "is not a log format", "auto, json, text or none")
}

pub(super) fn console(text: &str) -> Parsed<ConsoleFormat> {
    let names = [("text", ConsoleFormat::Text), ("json", ConsoleFormat::Json)];
    one_of(text, &names, "is not a console format", "text or json")
}

pub(super) fn ratio(text: &str) -> Parsed<f64> {
    let ratio = text.parse::<f64>().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| Wrong::new("is not a ratio", "a number from 0 to 1"))
}

pub(super) fn count(text: &str) -> Parsed<u32> {
    text.parse().map_err(|_| Wrong::new("is not a count", "a whole number from 0 to 4294967295"))
}

pub(super) fn positive(text: &str) -> Parsed<u32> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Wrong::new("is not a size", "a whole number from 1 to 4294967295"))
}

pub(super) fn milliseconds(text: &str) -> Parsed<Duration> {
    let number = text.parse::<u32>();
    let duration = number.map(|number| Duration::from_millis(number.into()));
    duration.map_err(|_| Wrong::new("is not a duration", "a whole number of milliseconds"))
}

/// Parses a timeout; 0 means no limit.
pub(super) fn timeout(text: &str) -> Parsed<Duration> {
    milliseconds(text).map(|timeout| if timeout.is_zero() { NO_LIMIT } else { timeout })
}

/// Parses an interval, which cannot be 0.
pub(super) fn interval(text: &str) -> Parsed<Duration> {
    let interval = milliseconds(text).ok().filter(|interval| !interval.is_zero());
    interval.ok_or_else(|| Wrong::new("is not an interval", "a whole number of milliseconds, at least 1"))
}

pub(super) fn port(text: &str) -> Parsed<u16> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Wrong::new("is not a port", "a whole number from 1 to 65535"))
}

/// Parses a size of at least 1 MiB: `64MiB`, `500 MB`, or a number of bytes.
pub(super) fn bytes(text: &str) -> Parsed<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "kb" => Some(1_000),
        "kib" | "k" => Some(1 << 10),
        "mb" => Some(1_000_000),
        "mib" | "m" => Some(1 << 20),
        "gb" => Some(1_000_000_000),
        "gib" | "g" => Some(1 << 30),
        _ => None,
    };
    let size = digits.parse::<usize>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    size.filter(|size| *size >= 1 << 20)
        .ok_or_else(|| Wrong::new("is not a memory size", "at least 1 MiB, as in 64MiB, 500MB or 67108864"))
}

pub(super) fn protocol(text: &str) -> Parsed<Protocol> {
    let all = [Protocol::Grpc, Protocol::HttpProtobuf, Protocol::HttpJson].map(|protocol| (protocol.name(), protocol));
    one_of(text, &all, "is not a protocol", "grpc, http/protobuf or http/json")
}

pub(super) fn compression(text: &str) -> Parsed<Compression> {
    let names = [("gzip", Compression::Gzip), ("none", Compression::None)];
    one_of(text, &names, "is not a compression", "gzip or none")
}

pub(super) fn temporality(text: &str) -> Parsed<TemporalityPreference> {
    use TemporalityPreference::{Cumulative, Delta, LowMemory};
    let names = [("cumulative", Cumulative), ("delta", Delta), ("lowmemory", LowMemory), ("low_memory", LowMemory)];
    one_of(text, &names, "is not a temporality", "cumulative, delta or lowmemory")
}

pub(super) fn histograms(text: &str) -> Parsed<HistogramAggregation> {
    let names = [
        ("explicit_bucket_histogram", HistogramAggregation::ExplicitBuckets),
        ("base2_exponential_bucket_histogram", HistogramAggregation::Exponential),
    ];
    let accepted = "explicit_bucket_histogram or base2_exponential_bucket_histogram";
    one_of(text, &names, "is not a histogram aggregation", accepted)
}

pub(super) fn exemplars(text: &str) -> Parsed<Exemplars> {
    use Exemplars::{Everywhere, InSampledSpans, Off};
    let names = [("always_on", Everywhere), ("always_off", Off), ("trace_based", InSampledSpans)];
    one_of(text, &names, "is not an exemplar filter", "always_on, always_off or trace_based")
}

/// Parses a sampler without its argument; its ratio is 1.
pub(super) fn sampler(text: &str) -> Parsed<Sampler> {
    // Children always follow their parent, so a parent-based sampler equals its root sampler here.
    match text.to_ascii_lowercase().as_str() {
        "always_on" | "parentbased_always_on" => Ok(Sampler::AlwaysOn),
        "always_off" | "parentbased_always_off" => Ok(Sampler::AlwaysOff),
        "traceidratio" | "parentbased_traceidratio" => Ok(Sampler::Ratio(1.0)),
        known => {
            let complaint = match known {
                "jaeger_remote" | "parentbased_jaeger_remote" | "xray" => {
                    "is a sampler that Tracecast does not support"
                }
                _ => "is not a sampler",
            };
            let accepted = "always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or \
                            parentbased_traceidratio";
            Err(Wrong::new(complaint, accepted).using("parentbased_always_on"))
        }
    }
}

/// Parses a list of propagators. Duplicates are ignored; invalid names are skipped and reported.
pub(super) fn propagators(text: &str) -> (Vec<Propagator>, Vec<Wrong>) {
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match propagator(name) {
            Ok(Some(propagator)) if !all.contains(&propagator) => all.push(propagator),
            Ok(_) => {}
            Err(complaint) => wrong.push(complaint.part(name)),
        }
    }
    (all, wrong)
}

/// Parses a propagator; `none` is `None`.
pub(super) fn propagator(name: &str) -> Parsed<Option<Propagator>> {
    use Propagator::{B3, B3Multi, Baggage, TraceContext};
    let names = [
        ("tracecontext", Some(TraceContext)),
        ("baggage", Some(Baggage)),
        ("b3", Some(B3)),
        ("b3multi", Some(B3Multi)),
        ("none", None),
    ];
    one_of(name, &names, "is not a supported propagator", "tracecontext, baggage, b3, b3multi or none")
}

pub(super) fn filter(text: &str) -> Parsed<Filter> {
    let accepted = "`Component=on`, `Component/Operation=off` or `*=off`, separated by commas";
    text.parse().map_err(|_| Wrong::new("is not a filter", accepted))
}

/// Parses an endpoint; only gRPC allows one without a scheme.
pub(super) fn endpoint(text: &str, named: Option<Protocol>) -> Parsed<Endpoint> {
    let parsed = endpoint::parse(text)?;
    let by_port = (parsed.port() == Some(4317)).then_some(Protocol::Grpc);
    if !parsed.has_scheme() && named.or(by_port) != Some(Protocol::Grpc) {
        return Err(endpoint::wrong(text, "has no scheme"));
    }
    Ok(parsed)
}

/// Parses headers: `name=value,name=value`, values percent-encoded. Errors never show the text.
pub(super) fn headers(text: &str) -> Parsed<Vec<(String, HeaderSource)>> {
    let mut headers: Vec<(String, HeaderSource)> = Vec::new();
    let items = text.split(',').enumerate().filter(|(_, item)| !item.trim().is_empty());
    for (index, item) in items {
        let wrong = || {
            let complaint = format!("has an invalid header at position {}", index + 1);
            Wrong::new(complaint, "`name=value` separated by commas, with commas in values written as %2C").secret()
        };
        let (name, value) = item.split_once('=').ok_or_else(wrong)?;
        let value = percent_decoded(value.trim()).ok_or_else(wrong)?;
        let header = header(name.trim(), value).ok_or_else(wrong)?;
        headers.retain(|(name, _)| *name != header.0);
        headers.push((header.0, header.1.into()));
    }
    Ok(headers)
}

/// Parses the files of header values: `name=path,name=path`, paths percent-encoded.
pub(super) fn header_files(text: &str) -> Parsed<Vec<(String, PathBuf)>> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    let file = |item: &str| {
        let (name, path) = item.split_once('=')?;
        let path = percent_decoded(path.trim()).filter(|path| !path.is_empty())?;
        header(name.trim(), String::new()).map(|(name, _)| (name, PathBuf::from(path)))
    };
    let accepted = "`name=path` separated by commas, with commas in paths written as %2C";
    items.map(|item| file(item).ok_or_else(|| Wrong::new("is not a header with a file", accepted).part(item))).collect()
}

/// Returns the problem of a header that [`header`] rejects.
pub(super) fn invalid_header() -> Wrong {
    Wrong::new("is not a valid HTTP header", "a token as its name and no control characters in its value")
}

/// Checks that HTTP allows a header, and lowers the case of its name. Returns `None` for an invalid header.
pub(super) fn header(name: &str, value: String) -> Option<(String, Secret)> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let sendable = |c: char| c == '\t' || !c.is_control();
    let valid = !name.is_empty() && name.chars().all(token) && value.chars().all(sendable);
    valid.then(|| (name.to_ascii_lowercase(), Secret::new(value)))
}

/// Parses resource attributes: `name=value,name=value`, percent-encoded. As the specification requires, one invalid
/// attribute invalidates the list.
pub(super) fn resource_attributes(text: &str) -> Parsed<Vec<(String, String)>> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(resource_attribute).collect()
}

fn resource_attribute(item: &str) -> Parsed<(String, String)> {
    let parsed = item.split_once('=').and_then(|(name, value)| {
        let (name, value) = (percent_decoded(name.trim())?, percent_decoded(value.trim())?);
        (!name.is_empty()).then_some((name, value))
    });
    let accepted = "`name=value` separated by commas, with commas and other special characters percent-encoded";
    parsed.ok_or_else(|| Wrong::new("is not a resource attribute", accepted).part(item).using("none of them"))
}

/// Decodes percent-escapes; `None` if one is malformed or the result is not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let (bytes, is_right) = decoded(text, b'+');
    String::from_utf8(bytes).ok().filter(|_| is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let cases = [("1MiB", 1 << 20), ("500 MB", 500_000_000), ("2g", 2 << 30), ("1048576", 1 << 20)];
        for (text, expected) in cases {
            assert_eq!(bytes(text).unwrap(), expected, "{text}");
        }
        for text in ["", "MiB", "1.5MiB", "-1", "10", "1 potato", "99999999999GiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn headers_are_decoded_and_the_last_of_two_counts() {
        let read = headers(" Authorization=Basic%20abc== ,x=1,x=2,").unwrap();
        let fixed = |value: &str| HeaderSource::from(Secret::new(value));
        assert_eq!(read, [("authorization".into(), fixed("Basic abc==")), ("x".into(), fixed("2"))]);
        for text in ["a", "=b", "a b=c", "a=%zz", "a=%0a", "a=%ff"] {
            assert!(headers(text).unwrap_err().secret, "{text}");
        }
    }

    #[test]
    fn resource_attributes_are_decoded() {
        let read = resource_attributes("a=b%2Cc, d%3D=%C3%A4,").unwrap();
        assert_eq!(read, [("a".into(), "b,c".into()), ("d=".into(), "ä".into())]);
        for text in ["a", "a=b,c", "=b", "a=%2"] {
            assert!(resource_attributes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn not_a_number_is_not_a_ratio() {
        assert!(ratio("NaN").is_err());
        assert!(ratio("-0.1").is_err());
        assert_eq!(ratio("0.25"), Ok(0.25));
    }
}
