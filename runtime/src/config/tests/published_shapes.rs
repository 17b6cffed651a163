//! Files of the shapes that OpenTelemetry publishes as examples with its schema: each can be read, and keys that are
//! not supported are reported.

use crate::config::{Config, Destination, Protocol, Severity, Signal};

fn read(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Config {
    Config::from_yaml(text, lookup).unwrap_or_else(|error| panic!("{error}"))
}

fn places(config: &Config) -> Vec<&str> {
    assert!(config.problems().iter().all(|problem| problem.severity == Severity::Warning));
    config.problems().iter().map(|problem| problem.what.as_str()).collect()
}

fn endpoints(config: &Config) -> [String; 3] {
    Signal::ALL.map(|signal| match &config.resolved(signal)[..] {
        [Destination::Otlp(otlp)] => otlp.endpoint.to_string(),
        other => panic!("{other:?}"),
    })
}

/// The example to get started: resource and endpoint from variables, defaults for the rest.
const STARTED: &str = "
file_format: \"FORMAT\"
resource:
  attributes_list: ${OTEL_RESOURCE_ATTRIBUTES}
  DETECTION:
    detectors: [{service: }, {host: }, {process: }, {container: }]
propagator: {composite: [{tracecontext: }, {baggage: }]}
tracer_provider:
  sampler: {parent_based: {root: {always_on: }}}
  processors: [{batch: {exporter: {otlp_http: {endpoint: '${OTEL_EXPORTER_OTLP_ENDPOINT:-http://localhost:4318}/v1/traces'}}}}]
meter_provider:
  readers: [{periodic: {exporter: {otlp_http: {endpoint: '${OTEL_EXPORTER_OTLP_ENDPOINT:-http://localhost:4318}/v1/metrics'}}}}]
logger_provider:
  processors: [{batch: {exporter: {otlp_http: {endpoint: '${OTEL_EXPORTER_OTLP_ENDPOINT:-http://localhost:4318}/v1/logs'}}}}]
";

#[test]
fn to_get_started_in_each_version() {
    let newer = &["file_format"][..];
    for (format, detection, warnings) in
        [("1.0", "detection/development", &[][..]), ("1.1", "detection/development", &[]), ("1.2", "detection", newer)]
    {
        let text = STARTED.replace("FORMAT", format).replace("DETECTION", detection);
        let config = read(&text, |_| None);
        assert_eq!(places(&config), warnings, "{format}");
        let local = ["traces", "metrics", "logs"].map(|signal| format!("http://localhost:4318/v1/{signal}"));
        assert_eq!(endpoints(&config), local);
        let filled = read(&text, |name| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some("http://collector:4318".to_owned()),
            "OTEL_RESOURCE_ATTRIBUTES" => Some("service.name=store".to_owned()),
            _ => None,
        });
        assert_eq!(filled.service_name(), Some("store"));
        let Destination::Otlp(otlp) = &filled.resolved(Signal::Metrics)[0] else { panic!() };
        assert_eq!((otlp.endpoint.host(), otlp.endpoint.path()), ("collector", "/v1/metrics"));
    }
}

/// Returns the exporters of the general example, with empty values for its placeholders.
fn otlp_http(signal: &str, more: &str) -> String {
    format!(
        "{{otlp_http: {{endpoint: 'http://localhost:4318/v1/{signal}', tls: {{ca_file: , key_file: , cert_file: }}, \
         compression: gzip, timeout: 10000{more}}}}}"
    )
}

#[test]
fn everything_at_its_default() {
    let batch = "export_timeout: 30000, max_queue_size: 2048, max_export_batch_size: 512";
    let metrics = ", temporality_preference: cumulative, default_histogram_aggregation: explicit_bucket_histogram";
    let counts = "event_count_limit: 128, link_count_limit: 128, event_attribute_count_limit: 128, \
                  link_attribute_count_limit: 128";
    let text = format!(
        "
file_format: '1.0'
disabled: false
log_level: INFO
resource: {{attributes: [{{name: service.name, value: unknown_service}}]}}
attribute_limits: {{attribute_value_length_limit: , attribute_count_limit: 128}}
propagator: {{composite: [{{tracecontext: }}, {{baggage: }}]}}
tracer_provider:
  processors: [{{batch: {{schedule_delay: 5000, {batch}, exporter: {}}}}}]
  limits: {{attribute_value_length_limit: , attribute_count_limit: 128, {counts}}}
  sampler:
    parent_based:
      root: {{always_on: }}
      remote_parent_sampled: {{always_on: }}
      remote_parent_not_sampled: {{always_off: }}
      local_parent_sampled: {{always_on: }}
      local_parent_not_sampled: {{always_off: }}
meter_provider:
  readers: [{{periodic: {{interval: 60000, timeout: 30000, exporter: {}}}}}]
  exemplar_filter: trace_based
logger_provider:
  processors: [{{batch: {{schedule_delay: 1000, {batch}, exporter: {}}}}}]
  limits: {{attribute_value_length_limit: , attribute_count_limit: 128}}
",
        otlp_http("traces", ""),
        otlp_http("metrics", metrics),
        otlp_http("logs", ""),
    );
    let config = read(&text, |_| None);
    assert_eq!(places(&config), Vec::<&str>::new());
    // The file writes out the defaults; only the queue is limited otherwise.
    let default = Config::new();
    assert_eq!(config.settings.traces.limits, default.settings.traces.limits);
    assert_eq!(config.settings.logs.limits, default.settings.logs.limits);
    assert_eq!(
        (config.settings.metrics.interval, config.settings.metrics.timeout),
        (default.settings.metrics.interval, default.settings.metrics.timeout)
    );
    assert_eq!(config.settings.propagators, default.settings.propagators);
    assert_eq!(
        (config.settings.traces.batch.delay, config.settings.traces.batch.size),
        (default.settings.traces.batch.delay, 512)
    );
    assert_eq!(
        (config.settings.logs.batch.delay, config.settings.logs.batch.queue),
        (default.settings.logs.batch.delay, Some(2048))
    );
}

/// The example for moving from variables to a file: every value is a variable with its default.
#[test]
fn to_move_from_variables() {
    // In block style: without quotes, a variable that is not set leaves null and not an empty string.
    let exporter = |signal: &str| {
        let own = format!("${{OTEL_EXPORTER_OTLP_{}", signal.to_uppercase());
        format!(
            "
            otlp_http:
              endpoint: ${{OTEL_EXPORTER_OTLP_ENDPOINT:-http://localhost:4318}}/v1/{signal}
              tls:
                ca_file: {own}_CERTIFICATE}}
                key_file: {own}_CLIENT_KEY}}
                cert_file: {own}_CLIENT_CERTIFICATE}}
              compression: {own}_COMPRESSION:-gzip}}
              timeout: {own}_TIMEOUT:-10000}}
              headers_list: {own}_HEADERS}}"
        )
    };
    let (traces, metrics, logs) = (exporter("traces"), exporter("metrics"), exporter("logs"));
    let text = format!(
        "
file_format: \"1.2\"
stability: development
disabled: ${{OTEL_SDK_DISABLED:-false}}
log_level: info
resource:
  attributes: [{{name: service.name, value: '${{OTEL_SERVICE_NAME:-unknown_service}}'}}]
  attributes_list: ${{OTEL_RESOURCE_ATTRIBUTES}}
attribute_limits:
  attribute_value_length_limit: ${{OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT}}
  attribute_count_limit: ${{OTEL_ATTRIBUTE_COUNT_LIMIT:-128}}
propagator:
  composite_list: ${{OTEL_PROPAGATORS:-tracecontext,baggage}}
tracer_provider:
  processors:
    - batch:
        schedule_delay: ${{OTEL_BSP_SCHEDULE_DELAY:-5000}}
        exporter: {traces}
meter_provider:
  readers:
    - periodic:
        interval: ${{OTEL_METRIC_EXPORT_INTERVAL:-60000}}
        exporter: {metrics}
              temporality_preference: ${{OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE:-cumulative}}
  exemplar_filter: ${{OTEL_METRICS_EXEMPLAR_FILTER:-trace_based}}
logger_provider:
  processors:
    - batch:
        exporter: {logs}
instrumentation:
  general:
    stability_opt_in_list: ${{OTEL_SEMCONV_STABILITY_OPT_IN}}
"
    );
    let config = read(&text, |_| None);
    assert_eq!(places(&config), ["file_format"]);
    assert_eq!(endpoints(&config), ["traces", "metrics", "logs"].map(|s| format!("http://localhost:4318/v1/{s}")));
    let filled = read(&text, |name| match name {
        "OTEL_SEMCONV_STABILITY_OPT_IN" => Some("http,database".to_owned()),
        "OTEL_SDK_DISABLED" => Some("true".to_owned()),
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS" => Some("api-key=hunter2".to_owned()),
        _ => None,
    });
    assert_eq!((filled.settings.semconv.len(), filled.settings.enabled), (2, Some(false)));
    assert!(!format!("{filled:?}").contains("hunter2"));
}

/// Tests a file with every key of the schema. Unsupported keys are reported; all others take effect.
#[test]
fn all_there_is() {
    let exporters = |mark: &str| {
        format!(
            "
    - batch: {{exporter: {{otlp_http: {{encoding: json}}}}}}
    - batch: {{exporter: {{otlp_grpc: {{endpoint: 'http://localhost:4317', tls: {{insecure: false}}}}}}}}
    - batch: {{exporter: {{otlp_file{mark}: {{output_stream: stdout}}}}}}"
        )
    };
    for mark in ["/development", ""] {
        let text = format!(
            "
file_format: '1.0'
propagator:
  composite: [{{tracecontext: }}, {{baggage: }}, {{b3: }}, {{b3multi: }}, {{ottrace: }}]
  composite_list: tracecontext,jaeger
resource:
  detection{mark}: {{attributes: {{included: [process.*]}}, detectors: [{{container: }}]}}
logger_provider:
  processors: {}
  logger_configurator{mark}: {{default_config: {{disabled: true}}}}
meter_provider:
  readers:
    - pull: {{exporter: {{prometheus{mark}: {{host: localhost, port: 9464}}}}}}
    - periodic: {{exporter: {{console: {{temporality_preference: delta}}}}, producers: [{{opencensus: }}]}}
  view_matching_mode{mark}: composable
  meter_configurator{mark}: {{meters: []}}
tracer_provider:
  processors: {}
    - batch: {{exporter: {{zipkin: {{endpoint: 'http://localhost:9411/api/v2/spans'}}}}}}
  id_generator: {{mine: {{seed: 1}}}}
  sampler:
    parent_based:
      root: {{trace_id_ratio_based: {{ratio: 0.0001}}}}
      remote_parent_not_sampled: {{probability{mark}: {{ratio: 0.01}}}}
      local_parent_sampled: {{composite{mark}: {{probability: {{ratio: 0.001}}}}}}
  tracer_configurator{mark}: {{tracers: []}}
instrumentation{mark}:
  general: {{http: {{client: {{request_captured_headers: [Accept]}}}}}}
  rust: {{example: {{property: value}}}}
",
            exporters(mark),
            exporters(mark),
        );
        let config = read(&text, |_| None);
        let expected = [
            "propagator.composite[4].ottrace".to_owned(),
            "propagator.composite_list".to_owned(),
            format!("tracer_provider.processors[2].batch.exporter.otlp_file{mark}"),
            "tracer_provider.processors[3].batch.exporter.zipkin".to_owned(),
            format!("tracer_provider.sampler.parent_based.remote_parent_not_sampled.probability{mark}"),
            format!("tracer_provider.sampler.parent_based.local_parent_sampled.composite{mark}"),
            "tracer_provider.id_generator.mine".to_owned(),
            format!("tracer_provider.tracer_configurator{mark}"),
            "meter_provider.readers[1].periodic.producers".to_owned(),
            format!("meter_provider.view_matching_mode{mark}"),
            format!("meter_provider.meter_configurator{mark}"),
            format!("logger_provider.processors[2].batch.exporter.otlp_file{mark}"),
            format!("logger_provider.logger_configurator{mark}"),
        ];
        assert_eq!(places(&config), expected, "{mark}");
        let protocols: Vec<Protocol> = config
            .resolved(Signal::Traces)
            .iter()
            .map(|to| if let Destination::Otlp(otlp) = to { otlp.protocol } else { panic!("{to:?}") })
            .collect();
        assert_eq!(protocols, [Protocol::HttpJson, Protocol::Grpc]);
        let metrics = config.destinations(Signal::Metrics);
        assert_eq!(metrics, ["scrapers of http://localhost:9464/metrics", "the console"]);
        assert_eq!(format!("{:?}", config.settings.traces.sampler), "Ratio(0.0001)");
    }
}

/// Tests each key that schema 1.1 adds to 1.0. A key causes no problem if its value is the only supported one.
#[test]
fn what_version_1_1_adds() {
    let with = |id: &str, info: &str, more: &str| {
        format!(
            "
file_format: '1.1'
tracer_provider: {{processors: [], id_generator: {{{id}: }}}}
meter_provider:
  readers:
    - pull: {{exporter: {{prometheus/development: {{scope_info_enabled: {info}, target_info_enabled/development: {info}{more}}}}}}}
"
        )
    };
    assert_eq!(places(&read(&with("random", "true", ""), |_| None)), Vec::<&str>::new());
    let text = with("xray", "false", ", resource_constant_labels: {included: [service*]}")
        + "    - periodic: {exporter: {console: }, max_export_batch_size/development: 100}
logger_provider: {processors: [{event_to_span_event_bridge/development: }, {batch: {exporter: {console: }}}]}";
    let config = read(&text, |_| None);
    let prometheus = "meter_provider.readers[0].pull.exporter.prometheus/development";
    let expected = [
        "line 3: tracer_provider.id_generator.xray: is not a known key; expected random".to_owned(),
        format!("line 6: {prometheus}.scope_info_enabled: `false` is not supported; expected true"),
        format!("line 6: {prometheus}.target_info_enabled/development: `false` is not supported; expected true"),
        format!("line 6: {prometheus}.resource_constant_labels: is not supported; remove it"),
        "line 7: meter_provider.readers[1].periodic.max_export_batch_size/development: is not supported; \
         remove it"
            .to_owned(),
        "line 8: logger_provider.processors[0].event_to_span_event_bridge/development: is not a known key; expected \
         batch or simple"
            .to_owned(),
    ];
    assert_eq!(config.problems().iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    assert!(config.is_on(Signal::Metrics) && config.is_on(Signal::Logs));
    let wrong = Config::from_yaml(&with("random", "perhaps", ""), |_| None).unwrap_err();
    assert!(wrong.to_string().contains("scope_info_enabled: `perhaps` is not a boolean"), "{wrong}");
}

/// Settings that several exporters share, in a map of its own below a key that no schema has.
#[test]
fn parts_shared_by_anchors() {
    let text = "
file_format: '1.0'
exporters:
  otlp: &otlp {otlp_http: {endpoint: 'http://localhost:4318/v1/traces', compression: gzip}}
tracer_provider: {processors: [{batch: {exporter: *otlp}}]}
";
    let config = read(text, |_| None);
    assert_eq!(places(&config), ["exporters"]);
    assert!(config.is_on(Signal::Traces));
}
