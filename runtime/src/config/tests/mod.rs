//! Tests of the table of settings and of reloads. The submodules test the sources.

mod from_a_file;
mod in_the_book;
mod of_deploy_files;
mod of_each_variable;
mod of_the_application;
mod precedence;
mod published_shapes;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::otlp::Address;
use super::parts::CardinalityLimits;
use super::table::{Setting, When};
use super::*;
use crate::record::limits::Limits;
use crate::record::sampling::Sampler;

fn otlp() -> OtlpSettings {
    let file = |name: &str| Some(PathBuf::from(name).into());
    OtlpSettings {
        address: Some(Address::Base("http://other:4318".parse::<Endpoint>().unwrap().into())),
        protocol: Some(Protocol::HttpJson),
        headers: Some(vec![("x-key".to_owned(), Secret::new("other").into())]),
        tls: TlsFiles { ca: file("ca"), client_certificate: file("certificate"), client_key: file("key") },
        compression: Some(Compression::Gzip),
        timeout: Some(Duration::from_secs(77)),
        insecure: Some(true),
    }
}

/// Settings that all differ from their defaults. Every field is named, so a new one does not compile until it is added
/// here.
fn other() -> Settings {
    let exporters = || Some(vec![Exporter::Console]);
    let batch = Batch { delay: Duration::ZERO, timeout: Duration::from_secs(3), queue: Some(3), size: 3 };
    let text = |text: &str| Masked::from(OwnedValue::from(text));
    let attributes = [("a", "b"), ("service.name", "other"), ("tc.role", "other")];
    Settings {
        enabled: Some(false),
        debug: true,
        console: ConsoleFormat::Json,
        strict: true,
        resource: Resource {
            attributes: attributes.map(|(name, value)| (name.to_owned(), text(value))).into(),
            schema_url: Some("other".to_owned().into()),
        },
        interop: Interop::Off,
        tracing_emit: Some(false),
        propagators: vec![Propagator::B3],
        log_filter: "debug".parse::<LogFilter>().unwrap().into(),
        diagnostics_level: Level::Trace,
        semconv: vec!["http".to_owned().into()],
        filter: "Store=off".parse::<Filter>().unwrap().into(),
        busy_times: "Store=on".parse::<Filter>().unwrap().into(),
        stalls: true,
        stall_threshold: Duration::from_millis(7),
        memory_limit: 1 << 20,
        spool: Some(Spool::new("other")),
        otlp: otlp(),
        proxies: Proxies {
            http: Some(proxy::parse("http://other:1").unwrap()),
            https: Some(proxy::parse("http://other:1").unwrap()),
            bypass: Some("other".to_owned().into()),
        },
        traces: Traces {
            exporters: exporters(),
            otlp: otlp(),
            sampler: Sampler::Ratio(0.5),
            limits: Limits { attributes: 3, ..Limits::default() },
            attributes_per_link: Some(3),
            batch,
        },
        metrics: Metrics {
            exporters: exporters(),
            otlp: otlp(),
            prometheus: ScrapeAddress { host: "other".to_owned().into(), port: 1 },
            interval: Duration::from_secs(3),
            timeout: Duration::from_secs(3),
            temporality: TemporalityPreference::Delta,
            histograms: HistogramAggregation::Exponential,
            exemplars: Exemplars::Off,
            cardinality: CardinalityLimits { default: Some(3), ..CardinalityLimits::default() },
            sdk_names: true,
            views: vec![View::of("*")],
        },
        logs: Logs {
            exporters: exporters(),
            otlp: otlp(),
            limits: LogLimits { attributes: 3, value_bytes: 3 },
            batch,
            lines: Some(LogFormat::Json),
        },
    }
}

/// Returns the names of the settings that differ between two configurations.
fn differing(one: &Config, two: &Config) -> Vec<&'static str> {
    let (one, two) = (&one.settings, &two.settings);
    settings().filter(|setting| (setting.differs)(one, two)).map(|setting| setting.name).collect()
}

#[test]
fn every_setting_and_part_prints() {
    let (default, config) = (Config::default(), Config { settings: other(), ..Config::default() });
    let names = settings().map(|setting| setting.name).chain(PARTS.map(|(name, _)| name));
    for name in names {
        let shown = config.get(name).unwrap_or_else(|| panic!("{name}"));
        // One of the limits differs from its default.
        let is_equal = default.get(name).is_some_and(|default| default == shown);
        assert!(!is_equal || name.starts_with("traces.limits."), "{name}: {shown}");
    }
    assert_eq!(config.get("otlp.endpoint").as_deref(), Some("http://other:4318"));
    assert_eq!(config.get("logs.otlp.headers").as_deref(), Some(r#"[("x-key", [secret])]"#));
    assert_eq!(config.get("service_name").as_deref(), Some("other"));
    assert_eq!(config.get("spool.directory").as_deref(), Some("other"));
    assert_eq!(config.get("no.such.setting"), None);
    let hidden = "file_format: '1.0'\nresource: {attributes: [{name: service.name, value: '${NAME}'}]}";
    let hidden = Config::from_yaml(hidden, |_| Some("hunter2".to_owned())).unwrap();
    assert_eq!((hidden.service_name(), hidden.get("service_name").as_deref()), (Some("hunter2"), Some("[secret]")));
}

/// Returns a source that sets only this setting, to the value in `other()`.
fn saying(setting: &Setting) -> Config {
    let mut source = Config::default();
    (setting.copy)(&mut source.settings, &other());
    source.origins.set(setting.name, Origin::File("there".to_owned()));
    source
}

fn variables(variables: &[(&str, &str)]) -> Config {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    Config::from_variables(|name| variables.get(name).map(|value| (*value).to_owned()))
}

fn section(text: &str) -> Telemetry {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_field_is_in_the_table() {
    let (mut copied, names) = (Settings::default(), settings().map(|setting| setting.name));
    let names: BTreeSet<_> = names.collect();
    assert_eq!(names.len(), settings().count(), "a name is listed twice");
    assert!(settings().all(|setting| (setting.differs)(&copied, &other())));
    settings().for_each(|setting| (setting.copy)(&mut copied, &other()));
    assert_eq!(format!("{copied:#?}"), format!("{:#?}", other()));
}

#[test]
fn each_setting_can_be_read_again_by_itself() {
    for setting in settings() {
        let running = Config::default();
        let next = running.read_again(saying(setting));
        assert_eq!(differing(&running, &next), [setting.name]);
        assert_eq!(differing(&next, &next.read_again(saying(setting))), [""; 0]);
        // A second reload, back to the default.
        let back = next.read_again(Config::default());
        assert_eq!((differing(&running, &back), back.origin(setting.name)), (vec![], &Origin::Default));
    }
}

#[test]
fn what_code_said_stays_whatever_the_source_says() {
    for setting in settings() {
        let copy = setting.copy;
        let code = |source: Config| source.set(setting.name, move |config| copy(&mut config.settings, &other()));
        let running = code(Config::default());
        assert_eq!(differing(&running, &running.read_again(Config::default())), [""; 0]);
        // The value of code stays even if the source had the same value at first.
        let running = code(saying(setting));
        let next = running.read_again(Config::default());
        assert_eq!((differing(&running, &next), next.origin(setting.name)), (vec![], &Origin::Code));
        // Another setting can change at the same time.
        let beside = settings().find(|other| other.name != setting.name).unwrap();
        assert_eq!(differing(&running, &running.read_again(saying(beside))), [beside.name]);
    }
}

#[test]
fn code_can_change_every_setting() {
    let of_all = || {
        let endpoint = || "http://other:4318".parse().unwrap();
        let config =
            Config::new().with_endpoint(endpoint()).with_protocol(Protocol::Grpc).with_tls(TlsFiles::default());
        let config = config.with_header("k", Secret::new("v")).with_compression(Compression::Gzip).with_insecure(true);
        let config = config.with_timeout(Duration::from_secs(3));
        Signal::ALL.into_iter().fold(config, |config, signal| {
            config.with_otlp_of(signal, otlp()).with_exporters(signal, vec![Exporter::Console])
        })
    };
    let Settings { traces, metrics, logs, spool, .. } = other();
    let config = of_all()
        .with_enabled(true)
        .with_debug(true)
        .with_console(ConsoleFormat::Json)
        .with_strict(true)
        .with_service_name("other")
        .with_role("other")
        .with_resource_attribute("a", "b")
        .with_schema_url("other")
        .with_interop(Interop::Off)
        .with_tracing_emit(false)
        .with_propagators(vec![Propagator::B3])
        .with_log_filter("debug".parse().unwrap())
        .with_diagnostics_level(Level::Trace)
        .with_semconv(["http"])
        .with_filter("Store=off".parse().unwrap())
        .with_busy_times("Store=on".parse().unwrap())
        .with_stalls(true)
        .with_stall_threshold(Duration::from_millis(7))
        .with_memory_limit(1 << 20)
        .with_spool(spool)
        .with_proxy(Some("http://other:1".parse().unwrap()))
        .with_sampler(traces.sampler)
        .with_limits(move |limits| *limits = traces.limits)
        .with_attributes_per_link(3)
        .with_span_batch(move |batch| *batch = traces.batch)
        .with_prometheus_address("other", 1)
        .with_metric_interval(metrics.interval)
        .with_metric_timeout(metrics.timeout)
        .with_temporality(metrics.temporality)
        .with_histograms(metrics.histograms)
        .with_exemplars(metrics.exemplars)
        .with_cardinality_limit(3)
        .with_sdk_metrics(true)
        .with_view(View::of("*"))
        .with_log_limits(move |limits| *limits = logs.limits)
        .with_log_batch(move |batch| *batch = logs.batch)
        .with_log_format(LogFormat::Json);
    let by_others = settings().map(|setting| setting.name).filter(|name| *config.origin(name) != Origin::Code);
    assert_eq!(by_others.collect::<Vec<_>>(), [""; 0]);
    let everything = settings().fold(Config::default(), |mut source, setting| {
        (setting.copy)(&mut source.settings, &other());
        source
    });
    for source in [Config::default(), everything] {
        let again = config.read_again(source);
        assert!(settings().all(|setting| *again.origin(setting.name) == Origin::Code));
    }
    assert_eq!(differing(&config, &config.read_again(Config::default())), [""; 0]);
}

const EVERYTHING: &str = r#"{
    "enabled": true, "debug": true, "strict": true, "service_name": "store", "role": "daemon",
    "resource_attributes": {"a": "b"}, "otlp_endpoint": "http://collector:4318", "protocol": "http/json",
    "headers": {"k": "v"}, "header_files": {"k": "/v"}, "tls": {"ca_file": "/ca", "cert_file": "/c", "key_file": "/k"}, "compression": "gzip",
    "timeout_ms": 1500, "metric_interval_ms": 2000, "sampling_ratio": 0.25, "traces": true, "metrics": false, "logs": false,
    "filter": "Cache=off", "log_level": "warn", "log_format": "text", "spool_dir": "/spool", "memory_limit": "2MiB"
}"#;

#[test]
fn the_section_fills_what_the_source_leaves_out_however_often_that_changes() {
    let running = Config::default().with_telemetry(section(EVERYTHING));
    let in_section = differing(&running, &Config::default());
    let expected = settings().filter(|setting| setting.section.is_some() || setting.name == "resource");
    assert_eq!(in_section, expected.map(|setting| setting.name).collect::<Vec<_>>());
    assert!(in_section.iter().all(|name| *running.origin(name) == Origin::Section));
    for setting in settings() {
        let same = running.read_again(Config::default());
        assert_eq!(differing(&running, &same), [""; 0]);
        // The source overrides the section; a setting that the source drops is the section's again.
        let next = running.read_again(saying(setting));
        let expected = Some(setting.name).filter(|_| (setting.differs)(&running.settings, &other()));
        assert_eq!(differing(&running, &next), expected.into_iter().collect::<Vec<_>>());
        assert_eq!(next.origin(setting.name), &Origin::File("there".to_owned()));
        let back = next.read_again(Config::default());
        assert_eq!((differing(&running, &back), back.origin(setting.name)), (vec![], running.origin(setting.name)));
    }
    // Resource attributes of the source, the section and code are combined.
    let source = |value: &str| variables(&[("OTEL_RESOURCE_ATTRIBUTES", value)]);
    let beside = source("env=prod").with_telemetry(section(r#"{"service_name": "store"}"#)).with_role("daemon");
    assert_eq!(differing(&beside, &beside.read_again(source("env=prod"))), [""; 0]);
    assert_eq!(differing(&beside, &beside.read_again(source("env=test"))), ["resource"]);
    assert_eq!(differing(&beside, &beside.read_again(source("env=prod,service.name=s"))), ["service_name"]);
}

/// Returns a valid value of a variable, and the variables that it requires.
fn value_of(name: &str) -> (&'static str, &[(&'static str, &'static str)]) {
    let end = |text: &str| name.ends_with(text);
    match name {
        "OTEL_SERVICE_NAME" | "TC_ROLE" => ("store", &[]),
        "OTEL_RESOURCE_ATTRIBUTES" => ("a=b", &[]),
        "OTEL_PROPAGATORS" => ("b3", &[]),
        "OTEL_LOG_LEVEL" | "LOG_LEVEL" | "RUST_LOG" => ("debug", &[]),
        "OTEL_SEMCONV_STABILITY_OPT_IN" => ("http", &[]),
        "OTEL_TRACES_SAMPLER" => ("always_off", &[]),
        "OTEL_TRACES_SAMPLER_ARG" => ("0.5", &[("OTEL_TRACES_SAMPLER", "traceidratio")]),
        "OTEL_METRICS_EXEMPLAR_FILTER" => ("always_off", &[]),
        "TC_TRACING_EMIT" => ("false", &[]),
        "TC_CONSOLE_FORMAT" | "TC_LOG_FORMAT" => ("json", &[]),
        "TC_SPAN_FILTER" | "TC_BUSY_TIMES" => ("Store=off", &[]),
        "TC_STALL_THRESHOLD_MS" => ("9", &[]),
        "TC_MEMORY_LIMIT" => ("2MiB", &[]),
        "TC_SPOOL_DIR" => ("/spool", &[]),
        "TC_SPOOL_MAX_BYTES" => ("2MiB", &[("TC_SPOOL_DIR", "/spool")]),
        "TC_SPOOL_MAX_AGE_MS" => ("9", &[("TC_SPOOL_DIR", "/spool")]),
        _ if end("_EXPORTER") => ("console", &[]),
        _ if end("_ENDPOINT") => ("http://collector:4318", &[]),
        _ if end("_PROTOCOL") => ("grpc", &[]),
        "OTEL_EXPORTER_PROMETHEUS_HOST" => ("0.0.0.0", &[]),
        "OTEL_EXPORTER_PROMETHEUS_PORT" => ("9090", &[]),
        _ if end("_HEADERS") => ("k=v", &[]),
        _ if end("_HEADER_FILES") => ("k=/v", &[]),
        _ if name.to_ascii_lowercase().ends_with("_proxy") => ("http://other:1", &[]),
        _ if end("_COMPRESSION") => ("gzip", &[]),
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE" => ("/c", &[("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/k")]),
        "OTEL_EXPORTER_OTLP_CLIENT_KEY" => ("/k", &[("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/c")]),
        _ if end("_CLIENT_CERTIFICATE") | end("_CLIENT_KEY") => {
            ("/own", &[("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/c"), ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/k")])
        }
        _ if end("_CERTIFICATE") => ("/ca", &[]),
        _ if end("_TEMPORALITY_PREFERENCE") => ("delta", &[]),
        _ if end("_HISTOGRAM_AGGREGATION") => ("base2_exponential_bucket_histogram", &[]),
        _ if end("_LIMIT") | end("_SIZE") | end("_DELAY") | end("_TIMEOUT") | end("_INTERVAL") => ("9", &[]),
        _ => ("true", &[]),
    }
}

#[test]
fn each_variable_changes_its_setting_and_no_other() {
    for setting in settings() {
        for variable in setting.variables {
            let name = variable.name;
            let (value, beside) = value_of(name);
            let (without, with) = (variables(beside), variables(&[beside, &[(name, value)]].concat()));
            assert_eq!(with.problems(), [], "{name}={value}");
            let expected = match name {
                // Limits of all signals, and the limit of attributes per link, which is a setting of its own.
                "OTEL_ATTRIBUTE_COUNT_LIMIT" | "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT" => {
                    vec!["traces.limits", "logs.limits"]
                }
                "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT" => vec!["traces.attributes_per_link"],
                // A client certificate requires its key.
                "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE" | "OTEL_EXPORTER_OTLP_CLIENT_KEY" => {
                    vec!["otlp.tls.client_certificate", "otlp.tls.client_key"]
                }
                _ => vec![setting.name],
            };
            assert_eq!(differing(&without, &with), expected, "{name}");
            assert_eq!(differing(&without, &without.read_again(with.clone())), expected, "{name}");
            assert_eq!(differing(&with, &with.read_again(with.clone())), [""; 0], "{name}");
        }
    }
}

/// Reads a file with this content in the map at the path `map`.
fn file(map: &str, content: &str) -> Config {
    let mut text = content.to_owned();
    for key in map.rsplit('.').filter(|key| !key.is_empty()) {
        let required = match key {
            "tracer_provider" | "logger_provider" => "processors: [], ",
            "meter_provider" => "readers: [], ",
            _ => "",
        };
        text = format!("{key}: {{{required}{text}}}");
    }
    Config::from_yaml(&format!("file_format: '1.0'\n{text}"), |_| None)
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn each_value_of_the_file_changes_its_setting_and_no_other() {
    for setting in settings() {
        for (map, key) in setting.file.iter().map(|value| value.place()) {
            let value = match key {
                "log_level" | "log_filter" => "debug",
                "console_format" | "log_format" => "json",
                "memory_limit" => "2MiB",
                "spool" => "{directory: /spool, max_bytes: 2MiB, max_age: 9}",
                "role" => "daemon",
                "filter" => "Store=off",
                "busy_times" => "Store=on",
                "stall_threshold_ms" => "9",
                "header_files" => "authorization=/token",
                "exemplar_filter" => "always_off",
                "tracing_emit" => "false",
                _ if key.ends_with("_limit") => "9",
                _ => "true",
            };
            let (without, with) = (file(map, ""), file(map, &format!("{key}: {value}")));
            assert_eq!(with.problems(), [], "{key}");
            let expected = match (map, key) {
                ("attribute_limits", _) => vec!["traces.limits", "logs.limits"],
                (_, "link_attribute_count_limit") => vec!["traces.attributes_per_link"],
                _ => vec![setting.name],
            };
            assert_eq!(differing(&without, &with), expected, "{key}");
            assert_eq!(differing(&without, &without.read_again(with.clone())), expected, "{key}");
            assert_eq!(differing(&with, &with.read_again(with.clone())), [""; 0], "{key}");
            assert!(matches!(with.origin(setting.name), Origin::File(path) if path.ends_with(key)), "{key}");
        }
    }
}

#[test]
fn origins_have_names_of_settings() {
    let all: Vec<_> = settings().flat_map(|setting| setting.variables).map(|v| (v.name, value_of(v.name).0)).collect();
    let book = include_str!("../../../../book/src/configuration-file.md");
    let files = book.split("\n```yaml\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let mut read: Vec<_> = files.map(|text| Config::from_yaml(text, |_| None).unwrap()).collect();
    assert_eq!(read.len(), 4);
    read.extend([variables(&all), Config::default().with_telemetry(section(EVERYTHING))]);
    let names: BTreeSet<_> = settings().map(|setting| setting.name).collect();
    for config in read {
        assert_eq!(config.origins().find(|(name, _)| !names.contains(name)), None);
        assert_eq!(differing(&config, &config.read_again(config.clone())), [""; 0]);
    }
}

#[test]
fn a_setting_that_code_changes_again_and_again_takes_no_more_memory() {
    let mut config = Config::default().with_telemetry(section(EVERYTHING));
    for ratio in 0..100 {
        config =
            config.with_sampler(Sampler::Ratio(f64::from(ratio) / 100.0)).with_filter("Store=off".parse().unwrap());
    }
    assert_eq!(config.layers.len(), 3);
    let again = config.read_again(Config::default());
    assert_eq!((again.layers.len(), format!("{:?}", again.settings.traces.sampler)), (3, "Ratio(0.99)".to_owned()));
}

#[test]
fn headers_that_code_adds_come_on_top_of_those_that_are_read() {
    let source = |key: &str| variables(&[("OTEL_EXPORTER_OTLP_HEADERS", key)]);
    let running = source("key=1").with_header("x", Secret::new("y"));
    let expected = source("key=2").with_header("x", Secret::new("y"));
    assert_eq!(running.read_again(source("key=2")).settings.otlp.headers, expected.settings.otlp.headers);
}

#[test]
fn the_book_has_the_table() {
    let (guide, page) =
        (include_str!("../../../../book/src/configuration.md"), include_str!("../../../../book/src/variables.md"));
    let table = page.split("| variable | accepted |").nth(1).unwrap().split("\n\n").next().unwrap();
    // One row of the book's table describes the variables of all three signals.
    let of_signals = |line: &str| {
        let of = |signal: &str| line.replace("<SIGNAL>", &signal.to_uppercase()).replace("<signal>", signal);
        ["traces", "metrics", "logs"].map(of)
    };
    let rows = table.lines().filter(|line| line.starts_with("| `")).flat_map(of_signals).map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        (cells[0].to_owned(), cells[3].to_owned())
    });
    let mut expected = vec![("OTEL_CONFIG_FILE", "enabled")];
    for setting in settings() {
        for variable in setting.variables {
            // The book lists the limits of all signals as settings of spans.
            if !expected.iter().any(|(name, _)| *name == variable.name) {
                expected.push((variable.name, setting.name));
            }
        }
    }
    let expected = expected.into_iter().map(|(name, setting)| (name.to_owned(), setting.to_owned()));
    assert_eq!(rows.collect::<BTreeSet<_>>(), expected.collect());
    let restart =
        guide.split("These settings change with the next start only:").nth(1).unwrap().split("\n\n").next().unwrap();
    let restart: BTreeSet<_> = restart.split('`').skip(1).step_by(2).collect();
    assert_eq!(restart, settings().filter(|setting| setting.when == When::Later).map(|setting| setting.name).collect());
}
