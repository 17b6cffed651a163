//! Files in OpenTelemetry's declarative format: the settings they make, the defaults of omitted keys, and problems.

use std::time::Duration;

use crate::config::{
    Aggregation, Compression, Config, Destination, Exemplars, HistogramAggregation, InstrumentType, Level, Otlp,
    Propagator, Protocol, Signal, TemporalityPreference,
};
use crate::declare::value::OwnedValue;

fn read(text: &str) -> Config {
    read_with(text, &[])
}

fn read_with(text: &str, variables: &[(&str, &str)]) -> Config {
    let lookup = |name: &str| variables.iter().find(|(given, _)| *given == name).map(|(_, value)| (*value).to_owned());
    Config::from_yaml(text, lookup).unwrap_or_else(|error| panic!("{error}"))
}

fn otlp(config: &Config, signal: Signal) -> Otlp {
    match config.resolved(signal).as_slice() {
        [Destination::Otlp(otlp), ..] => (**otlp).clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns the errors of a file with this text below its format.
fn errors(text: &str) -> Vec<String> {
    let error = Config::from_yaml(&format!("file_format: \"1.0\"\n{text}"), |_| None).expect_err(text);
    error.problems().iter().map(ToString::to_string).collect()
}

fn check_error(text: &str, expected: &str) {
    assert_eq!(errors(text), [expected], "{text}");
}

fn check_warning(text: &str, expected: &str) {
    let config = read(&format!("file_format: \"1.0\"\n{text}"));
    let texts: Vec<String> = config.problems().iter().map(ToString::to_string).collect();
    assert_eq!(texts, [expected], "{text}");
}

const EVERYTHING: &str = r#"
file_format: "1.0"
disabled: false
log_level: warn2
attribute_limits:
  attribute_value_length_limit: 100
  attribute_count_limit: 50
resource:
  schema_url: https://example.com/schema
  attributes_list: "service.name=listed,team=a%2Cb"
  attributes:
    - {name: service.name, value: store}
    - {name: shards, value: 4, type: int}
    - {name: weight, value: 1.5, type: double}
    - {name: canary, value: true, type: bool}
    - {name: zones, value: [a, b], type: string_array}
    - {name: ports, value: [1, 2], type: int_array}
    - {name: nothing, value: }
  detection/development:
    detectors: [{service: }, {host: }]
propagator:
  composite: [{tracecontext: }, {b3: }]
  composite_list: baggage,tracecontext
tracer_provider:
  processors:
    - batch:
        schedule_delay: 100
        export_timeout: 200
        max_queue_size: 300
        max_export_batch_size: 20
        exporter:
          otlp_http:
            endpoint: https://collector:4318/custom/traces
            encoding: json
            compression: gzip
            timeout: 700
            headers_list: "a=listed,b=2"
            headers:
              - {name: A, value: single}
              - {name: none, value: }
            tls: {ca_file: /ca.pem, key_file: /key.pem, cert_file: /cert.pem}
    - batch:
        schedule_delay: 100
        export_timeout: 200
        max_queue_size: 300
        max_export_batch_size: 20
        exporter: {console: }
  limits:
    attribute_count_limit: 10
    event_count_limit: 11
    link_count_limit: 12
    event_attribute_count_limit: 13
    link_attribute_count_limit: 14
  sampler:
    parent_based:
      root: {trace_id_ratio_based: {ratio: 0.25}}
      remote_parent_sampled: {always_on: }
meter_provider:
  exemplar_filter: always_off
  readers:
    - periodic:
        interval: 1000
        timeout: 500
        cardinality_limits: {default: 5, histogram: 6}
        exporter:
          otlp_grpc:
            endpoint: collector:4317
            tls: {insecure: true}
            temporality_preference: low_memory
            default_histogram_aggregation: base2_exponential_bucket_histogram
  views:
    - selector: {instrument_name: "http.*", instrument_type: histogram, unit: s, meter_name: m}
      stream:
        name: renamed
        aggregation_cardinality_limit: 9
        attribute_keys: {included: [a, "b*"], excluded: [bc]}
        aggregation: {explicit_bucket_histogram: {boundaries: [1, 2.5], record_min_max: false}}
    - selector: {instrument_name: noisy}
      stream: {aggregation: {drop: }}
logger_provider:
  processors:
    - simple: {exporter: {otlp_http: }}
  limits: {attribute_count_limit: 3}
instrumentation/development:
  general: {stability_opt_in_list: "http,database/dup"}
distribution:
  tracecast: {role: daemon, filter: "Store=off", memory_limit: 2MiB, strict: true, log_filter: debug}
  other: {anything: true}
"#;

#[test]
fn what_a_file_says_of_all_signals() {
    let config = read(EVERYTHING);
    assert_eq!(config.problems(), []);
    assert_eq!((config.settings.enabled, config.settings.diagnostics_level), (None, Level::Warn));
    assert_eq!((config.service_name(), config.role()), (Some("store"), Some("daemon")));
    assert_eq!(config.settings.resource.get("team"), Some(&"a,b".into()));
    assert_eq!(config.settings.resource.get("shards"), Some(&4_i64.into()));
    assert_eq!(config.settings.resource.get("weight"), Some(&1.5.into()));
    assert_eq!(config.settings.resource.get("canary"), Some(&true.into()));
    assert_eq!(config.settings.resource.get("zones"), Some(&OwnedValue::StrArray(vec!["a".into(), "b".into()])));
    assert_eq!(config.settings.resource.get("ports"), Some(&OwnedValue::I64Array(vec![1, 2])));
    assert_eq!(config.settings.resource.get("nothing"), None);
    assert_eq!(config.settings.resource.schema_url.as_ref().unwrap().as_str(), "https://example.com/schema");
    assert_eq!(config.settings.propagators, [Propagator::TraceContext, Propagator::B3, Propagator::Baggage]);
    assert_eq!(config.settings.semconv.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["http", "database/dup"]);
    assert!(config.settings.strict && !config.settings.filter.allows("Store/Load"));
    assert_eq!((config.settings.memory_limit, config.settings.log_filter.level_of("x")), (2 << 20, Level::Debug));
    assert_eq!(config.origin("traces.sampler").to_string(), "tracer_provider.sampler");
    assert_eq!(config.origin("role").to_string(), "distribution.tracecast.role");
}

#[test]
fn what_a_file_says_of_traces() {
    let config = read(EVERYTHING);
    let sent = otlp(&config, Signal::Traces);
    assert_eq!(sent.endpoint.to_string(), "https://collector:4318/custom/traces");
    assert_eq!((sent.protocol, sent.compression), (Protocol::HttpJson, Compression::Gzip));
    assert_eq!(sent.timeout, Duration::from_millis(700));
    let names: Vec<&str> = sent.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!(sent.headers[1].1, crate::config::Secret::new("single").into());
    assert_eq!(
        format!("{:?}", sent.tls),
        "TlsFiles { ca: Some(\"/ca.pem\"), client_certificate: Some(\"/cert.pem\"), client_key: Some(\"/key.pem\") }"
    );
    assert_eq!(config.resolved(Signal::Traces)[1], Destination::Console);
    let batch = config.settings.traces.batch;
    assert_eq!((batch.delay, batch.timeout), (Duration::from_millis(100), Duration::from_millis(200)));
    assert_eq!((batch.queue, batch.size), (Some(300), 20));
    let limits = config.settings.traces.limits;
    assert_eq!((limits.value_bytes, limits.attributes, limits.events), (100, 10, 11));
    assert_eq!(
        (limits.links, limits.attributes_per_event, config.settings.traces.attributes_per_link),
        (12, 13, Some(14))
    );
    assert_eq!(format!("{:?}", config.settings.traces.sampler), "Ratio(0.25)");
}

#[test]
fn what_a_file_says_of_metrics_and_logs() {
    let config = read(EVERYTHING);
    let sent = otlp(&config, Signal::Metrics);
    assert_eq!((sent.endpoint.to_string().as_str(), sent.protocol), ("http://collector:4317", Protocol::Grpc));
    let metrics = &config.settings.metrics;
    assert_eq!((metrics.interval, metrics.timeout), (Duration::from_secs(1), Duration::from_millis(500)));
    assert_eq!(metrics.temporality, TemporalityPreference::LowMemory);
    assert_eq!(metrics.histograms, HistogramAggregation::Exponential);
    assert_eq!(metrics.exemplars, Exemplars::Off);
    assert_eq!((metrics.cardinality.default, metrics.cardinality.histogram), (Some(5), Some(6)));
    let view = &metrics.views[0];
    assert_eq!(view.selector.instrument_name.as_ref().unwrap().as_str(), "http.*");
    assert_eq!(view.selector.instrument_type, Some(InstrumentType::Histogram));
    assert_eq!((view.stream.name.as_ref().unwrap().as_str(), view.stream.cardinality_limit), ("renamed", Some(9)));
    assert_eq!((view.stream.included.as_ref().unwrap().len(), view.stream.excluded.len()), (2, 1));
    let Some(Aggregation::ExplicitBuckets { boundaries, record_min_max, .. }) = &view.stream.aggregation else {
        panic!("{view:?}")
    };
    assert_eq!((boundaries.as_deref(), *record_min_max), (Some(&[1.0, 2.5][..]), false));
    assert_eq!(metrics.views[1].stream.aggregation, Some(Aggregation::Drop));

    assert_eq!(otlp(&config, Signal::Logs).endpoint.to_string(), "http://localhost:4318/v1/logs");
    assert_eq!((config.settings.logs.batch.delay, config.settings.logs.batch.size), (Duration::ZERO, 1));
    assert_eq!((config.settings.logs.limits.attributes, config.settings.logs.limits.value_bytes), (3, 100));
}

#[test]
fn what_is_left_out_is_off() {
    let config = read("file_format: '1.0'");
    assert_eq!(Signal::ALL.map(|signal| config.is_on(signal)), [false; 3]);
    assert_eq!(config.settings.propagators, []);
    let traces = "file_format: '1.0'\ntracer_provider: {processors: [{batch: {exporter: {otlp_grpc: }}}]}";
    let config = read(traces);
    assert_eq!(Signal::ALL.map(|signal| config.is_on(signal)), [true, false, false]);
    assert_eq!(otlp(&config, Signal::Traces).endpoint.to_string(), "http://localhost:4317");
    let config = read(&format!("{traces}\ndisabled: true"));
    assert!(!config.is_on(Signal::Traces));
}

#[test]
fn samplers() {
    let cases = [
        ("always_on: ", "AlwaysOn"),
        ("always_off: {}", "AlwaysOff"),
        ("trace_id_ratio_based: ", "Ratio(1)"),
        ("trace_id_ratio_based: {ratio: 0}", "Ratio(0)"),
        ("probability/development: {ratio: 0.5}", "Ratio(0.5)"),
        ("parent_based: ", "AlwaysOn"),
        ("parent_based: {root: {always_off: }}", "AlwaysOff"),
    ];
    for (sampler, expected) in cases {
        let text = format!(
            "file_format: '1.0'\ntracer_provider: {{processors: [{{simple: {{exporter: {{console: }}}}}}], sampler: {{{sampler}}}}}"
        );
        assert_eq!(format!("{:?}", read(&text).settings.traces.sampler), expected, "{sampler}");
    }
}

#[test]
fn variables_fill_a_file_and_are_not_shown() {
    let text = "
file_format: '1.0'
resource: {attributes: [{name: service.name, value: '${NAME}'}], attributes_list: '${LIST}'}
tracer_provider:
  processors:
    - batch:
        schedule_delay: ${DELAY:-250}
        export_timeout: ${UNSET}
        exporter:
          otlp_http: {endpoint: '${URL:-http://localhost:4318}/v1/traces', headers: [{name: k, value: '${KEY}'}]}
";
    let config = read(text);
    assert_eq!(otlp(&config, Signal::Traces).endpoint.to_string(), "http://localhost:4318/v1/traces");
    assert_eq!(config.settings.traces.batch.delay, Duration::from_millis(250));
    assert_eq!(config.settings.traces.batch.timeout, Duration::from_secs(30));
    let variables =
        [("NAME", "n-hunter2"), ("LIST", "a=l-hunter2"), ("URL", "http://u-hunter2:1"), ("KEY", "k-hunter2")];
    let config = read_with(text, &variables);
    assert_eq!(config.service_name(), Some("n-hunter2"));
    assert_eq!(otlp(&config, Signal::Traces).endpoint.host(), "u-hunter2");
    let shown = format!("{config:?} {:?}", config.resolved(Signal::Traces));
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn unknown_keys_in_closed_types_are_errors_with_their_path() {
    check_error(
        "tracer_provider:\n  procesors: []\n  processors: []",
        "line 3: tracer_provider.procesors: is not a known key; expected processors, limits, sampler, \
         id_generator or tracer_configurator/development",
    );
    check_error(
        "tracer_provider:\n  processors:\n    - batch:\n        exporter:\n          otlp_http: {endpont: x}",
        "line 6: tracer_provider.processors[0].batch.exporter.otlp_http.endpont: is not a known key; expected encoding, \
         endpoint, tls, headers, headers_list, compression or timeout",
    );
    check_error(
        "distribution: {tracecast: {rol: x}}",
        "line 2: distribution.tracecast.rol: is not a known key; expected tracing_emit, debug, console_format, log_format, \
         strict, memory_limit, spool, role, filter, busy_times, stalls, stall_threshold_ms, log_filter, header_files or sdk_metrics",
    );
    check_error(
        "meter_provider: {readers: [{push: }]}",
        "line 2: meter_provider.readers[0].push: is not a known key; expected periodic or pull",
    );
}

#[test]
fn elsewhere_they_are_warnings() {
    let top = "file_format, stability, disabled, log_level, resource, propagator, attribute_limits, tracer_provider, \
               meter_provider, logger_provider, instrumentation/development or distribution";
    check_warning("mine: 1", &format!("line 2: mine: is not a known key; expected {top}"));
    check_warning(
        "tracer_provider: {processors: [{tail: }, {batch: {exporter: {console: }}}]}",
        "line 2: tracer_provider.processors[0].tail: is not a known key; expected batch or simple",
    );
    check_warning(
        "tracer_provider: {processors: [{batch: {exporter: {zipkin: }}}]}",
        "line 2: tracer_provider.processors[0].batch.exporter.zipkin: is not a known key; expected otlp_http, otlp_grpc \
         or console",
    );
    check_warning(
        "meter_provider: {readers: [{pull: {exporter: {prometheus/development: {without_scope_info: true}}}}]}",
        "line 2: meter_provider.readers[0].pull.exporter.prometheus/development.without_scope_info: `true` is not \
         supported; expected false",
    );
    check_warning(
        "tracer_provider: {processors: [], sampler: {parent_based: {local_parent_sampled: {always_off: }}}}",
        "line 2: tracer_provider.sampler.parent_based.local_parent_sampled.always_off: is not supported: \
         children follow their parent; expected always_on",
    );
    check_warning(
        "tracer_provider: {processors: [], tracer_configurator/development: {}}",
        "line 2: tracer_provider.tracer_configurator/development: is not supported; remove it",
    );
    check_warning(
        "propagator: {composite_list: 'baggage,smoke'}",
        "line 2: propagator.composite_list: `smoke` is not a supported propagator; expected tracecontext, \
         baggage, b3, b3multi or none",
    );
    check_warning(
        "logger_provider: {processors: [{batch: {exporter: {console: }}}, {simple: {exporter: {console: }}}]}",
        "line 2: logger_provider.processors[1].simple: differs from the first processor, whose batch \
         settings are used; give all processors of a signal the same",
    );
}

#[test]
fn wrong_values_are_errors_with_their_path() {
    let batch =
        |inside: &str| format!("tracer_provider: {{processors: [{{batch: {{exporter: {{console: }}, {inside}}}}}]}}");
    let at = "line 2: tracer_provider.processors[0].batch";
    check_error(
        &batch("schedule_delay: -1"),
        &format!("{at}.schedule_delay: `-1` is not a duration; expected a whole number of milliseconds"),
    );
    check_error(
        &batch("max_queue_size: 5, max_export_batch_size: 6"),
        &format!(
            "{at}.max_export_batch_size: `6` is larger than the queue; expected at most 5, the value of `max_queue_size`"
        ),
    );
    check_error(
        "tracer_provider: {processors: [], sampler: {trace_id_ratio_based: {ratio: 1.5}}}",
        "line 2: tracer_provider.sampler.trace_id_ratio_based.ratio: `1.5` is not a ratio; expected a number from 0 to 1",
    );
    check_error("disabled: maybe", "line 2: disabled: `maybe` is not a boolean; expected true or false");
    check_error("resource: 5", "line 2: resource: `5` is not a map; expected keys with values below it");
    check_error(
        "tracer_provider: {processors: x}",
        "line 2: tracer_provider.processors: `x` is not a list; expected items that begin with `-`",
    );
    check_error(
        "tracer_provider: {limits: {}}",
        "line 2: tracer_provider.processors: is missing; expected a list of processors, `batch` or `simple`",
    );
    check_error(
        "tracer_provider: {processors: [{batch: , simple: }]}",
        "line 2: tracer_provider.processors[0]: has 2 keys; expected exactly one of batch or simple",
    );
    check_error(
        "resource: {attributes: [{name: a, value: x, type: int}]}",
        "line 2: resource.attributes[0].value: `x` is not a whole number; expected a whole number",
    );
    check_error(
        "attribute_limits: {attribute_count_limit: many}",
        "line 2: attribute_limits.attribute_count_limit: `many` is not a count; expected a whole number from 0 to 4294967295",
    );
}

#[test]
fn wrong_exporters_and_views() {
    let exporter = |inside: &str| format!("logger_provider: {{processors: [{{simple: {{exporter: {{{inside}}}}}}}]}}");
    let at = "line 2: logger_provider.processors[0].simple.exporter";
    check_error(
        &exporter("otlp_http: {endpoint: 'collector:4318'}"),
        &format!(
            "{at}.otlp_http.endpoint: `collector:4318` has no scheme; expected an address such as http://collector:4318 or \
             https://collector:4317"
        ),
    );
    check_error(
        &exporter("otlp_http: {endpoint: 'ftp://me:hunter2@x'}"),
        &format!(
            "{at}.otlp_http.endpoint: `[secret]` has a scheme other than http and https; expected an address such as \
             http://collector:4318 or https://collector:4317"
        ),
    );
    check_error(
        &exporter("otlp_grpc: {tls: {key_file: /k}}"),
        &format!("{at}.otlp_grpc.tls: requires both `cert_file` and `key_file`; add the missing one"),
    );
    check_error(
        &exporter("otlp_grpc: {headers: [{name: 'a b', value: hunter2}]}"),
        &format!(
            "{at}.otlp_grpc.headers[0]: is not a valid HTTP header; expected a token as its name and no \
             control characters in its value"
        ),
    );
    check_error(
        "meter_provider: {readers: [], views: [{selector: {}, stream: {aggregation: {explicit_bucket_histogram: {boundaries: [2, 1]}}}}]}",
        "line 2: meter_provider.views[0].stream.aggregation.explicit_bucket_histogram.boundaries: is not increasing; \
         expected numbers, each greater than the one before",
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let error = Config::from_yaml("file_format: '1.0'\ndisabled: x\nlog_level: y", |_| None).unwrap_err();
    assert_eq!(error.problems().len(), 2);
    assert!(error.to_string().contains("line 2: disabled") && error.to_string().contains("; line 3: log_level"));
}

#[test]
fn versions_of_the_format() {
    let with = |version: &str| Config::from_yaml(&format!("file_format: {version}"), |_| None);
    assert_eq!(with("'1.0'").unwrap().problems(), []);
    assert_eq!(with("1.0").unwrap().problems(), []);
    assert_eq!(with("'1.1'").unwrap().problems(), []);
    for newer in ["'1.7'", "'1.0-rc.3'", "'1.1-rc.1'"] {
        let problem = with(newer).unwrap().problems()[0].to_string();
        let expected = format!(
            "line 1: file_format: `{}` is only partly supported; expected 1.0 or 1.1",
            newer.trim_matches('\'')
        );
        assert_eq!(problem, expected);
    }
    for wrong in ["'0.4'", "'2.0'", "x", "'1.'"] {
        assert!(with(wrong).unwrap_err().to_string().contains("is not a supported version"), "{wrong}");
    }
    let missing = Config::from_yaml("disabled: true", |_| None).unwrap_err().to_string();
    assert_eq!(missing, "line 1: file_format: is missing; expected \"1.0\" or \"1.1\"");
    assert!(Config::from_yaml("", |_| None).is_err());
}

#[test]
fn anchors_are_shared() {
    let config = read(
        "file_format: '1.0'
exporters: &otlp {endpoint: 'http://x:1/y', compression: gzip}
tracer_provider: {processors: [{batch: {exporter: {otlp_http: {<<: *otlp, compression: none}}}}]}
logger_provider: {processors: [{batch: {exporter: {otlp_http: *otlp}}}]}",
    );
    assert_eq!(otlp(&config, Signal::Traces).compression, Compression::None);
    assert_eq!(otlp(&config, Signal::Traces).endpoint.to_string(), "http://x:1/y");
    assert_eq!(otlp(&config, Signal::Logs).compression, Compression::Gzip);
}

/// Reading damaged files returns a configuration or an error, and never panics.
#[test]
fn damaged_files_do_no_harm() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let pieces = [
        "{", "}", "[", "]", ":", "- ", "\n", "\t", "${", "${A}", "*x", "&x ", "<<: ", "'", "\"", "|", "%", "é", "~",
        "!!",
    ];
    let mut refused = 0;
    for _ in 0..1000 {
        let mut text: Vec<char> = EVERYTHING.chars().collect();
        for _ in 0..=random(4) {
            let at = random(text.len());
            let end = (at + random(12)).min(text.len());
            text.splice(at..end, pieces[random(pieces.len())].chars());
        }
        let text: String = text.into_iter().collect();
        match Config::from_yaml(&text, |_| Some("5".to_owned())) {
            Ok(config) => drop(format!("{config:?}")),
            Err(error) => {
                assert!(!error.to_string().is_empty() && !error.to_string().contains('\n'), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "{refused}");
}
