//! Each variable has its effect, its default, and a text for a wrong value that says what is accepted.
#![cfg(feature = "otlp")]

use std::collections::BTreeMap;

use tracecast::config::{Config, Destination, Origin, Signal};

struct Row {
    name: &'static str,
    /// What has to be set beside it.
    beside: &'static [(&'static str, &'static str)],
    /// What it is seen by.
    show: fn(&Config) -> String,
    default: &'static str,
    good: (&'static str, &'static str),
    /// A wrong value, and the whole text of the problem; empty if there are no wrong values.
    wrong: (&'static str, &'static str),
    setting: &'static str,
}

fn config(variables: &[(&str, &str)]) -> Config {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    Config::from_variables(|name| variables.get(name).map(|value| (*value).to_owned()))
}

fn check(row: &Row) {
    let name = row.name;
    let with = |value| {
        let mut variables = row.beside.to_vec();
        variables.push((name, value));
        config(&variables)
    };
    for unset in [config(row.beside), with(""), with("  ")] {
        assert_eq!((row.show)(&unset), row.default, "{name} unset");
        assert_eq!(unset.problems(), [], "{name} unset");
    }
    let good = with(row.good.0);
    assert_eq!((row.show)(&good), row.good.1, "{name}={}", row.good.0);
    assert_eq!(good.problems(), [], "{name}={}", row.good.0);
    if !row.setting.is_empty() {
        let variable =
            good.origins().find(|(setting, _)| *setting == row.setting).map(|(_, origin)| origin.to_string());
        assert_eq!(variable.as_deref(), Some(name));
        assert_eq!(config(&[]).origin(row.setting), &Origin::Default, "{name}");
    }
    let spaced = with(&*format!(" {} ", row.good.0).leak());
    assert_eq!((row.show)(&spaced), row.good.1, "{name} with spaces");
    if !row.wrong.1.is_empty() {
        let wrong = with(row.wrong.0);
        let texts: Vec<String> = wrong.problems().iter().map(ToString::to_string).collect();
        assert_eq!(texts, [format!("{name}: {}", row.wrong.1)]);
        assert_eq!((row.show)(&wrong), row.default, "{name}={}", row.wrong.0);
    }
}

fn row(
    name: &'static str,
    setting: &'static str,
    show: fn(&Config) -> String,
    default: &'static str,
    good: (&'static str, &'static str),
    wrong: (&'static str, &'static str),
) -> Row {
    Row { name, beside: &[], show, default, good, wrong, setting }
}

const NUMBER: &str = "`x` is not a count; expected a whole number from 0 to 4294967295";
const SIZE: &str = "`0` is not a size; expected a whole number from 1 to 4294967295";
const MILLISECONDS: &str = "`5s` is not a duration; expected a whole number of milliseconds";

#[test]
fn general_ones() {
    let switch = ("maybe", "`maybe` is not a switch; expected true or false");
    let enabled: fn(&Config) -> String = |config| format!("{:?}", config.enabled);
    check(&row("OTEL_ENABLED", "enabled", enabled, "None", ("TRUE", "Some(true)"), switch));
    let standard = ("1", "`1` is not a switch; expected true or false, using false");
    check(&row("OTEL_SDK_DISABLED", "enabled", enabled, "None", ("True", "Some(false)"), standard));
    check(&row("TC_OTEL_DEBUG", "debug", |config| config.debug.to_string(), "false", ("1", "true"), switch));
    check(&row("TC_STRICT", "strict", |config| config.strict.to_string(), "false", ("true", "true"), switch));
    check(&row(
        "TC_FILTER",
        "filter",
        |config| config.filter.allows("Store/Load").to_string(),
        "true",
        ("Store=off", "false"),
        (
            "Store",
            "`Store` is not a filter; expected `Component=on`, `Component/Operation=off` or `*=off`, separated by commas",
        ),
    ));
    check(&row(
        "TC_MEMORY_LIMIT",
        "memory_limit",
        |config| config.memory_limit.to_string(),
        "67108864",
        ("2MiB", "2097152"),
        ("lots", "`lots` is not a size of memory; expected at least 1 MiB, as in 64MiB, 500MB or 67108864"),
    ));
    check(&row(
        "TC_ROLE",
        "role",
        |config| format!("{:?}", config.role()),
        "None",
        ("daemon", "Some(\"daemon\")"),
        ("", ""),
    ));
}

#[test]
fn those_of_the_resource_and_of_logging() {
    let name: fn(&Config) -> String = |config| format!("{:?}", config.service_name());
    check(&row("OTEL_SERVICE_NAME", "service_name", name, "None", ("store", "Some(\"store\")"), ("", "")));
    check(&row(
        "OTEL_RESOURCE_ATTRIBUTES",
        "resource",
        |config| format!("{:?}", config.resource),
        "{}",
        ("a=b%2Cc, service.name=s", "{\"a\": Str(\"b,c\"), \"service.name\": Str(\"s\")}"),
        (
            "a=b,c",
            "`c` is not a resource attribute; expected `name=value` separated by commas, with commas and other special \
             characters percent-encoded, using none of them",
        ),
    ));
    check(&row(
        "OTEL_PROPAGATORS",
        "propagators",
        |config| format!("{:?}", config.propagators),
        "[TraceContext, Baggage]",
        ("b3,B3Multi,tracecontext,b3", "[B3, B3Multi, TraceContext]"),
        (
            "xray",
            "`xray` is not a propagator that Tracecast has; expected tracecontext, baggage, b3, b3multi or none, using \
             tracecontext,baggage",
        ),
    ));
    assert_eq!(config(&[("OTEL_PROPAGATORS", "none")]).propagators, []);
    let level = ("loud", "`loud` is not a log level; expected off, error, warn, info, debug or trace");
    check(&row(
        "OTEL_LOG_LEVEL",
        "own_level",
        |config| format!("{:?}", config.own_level),
        "Info",
        ("DEBUG", "Debug"),
        level,
    ));
    let filter: fn(&Config) -> String = |config| format!("{:?}", config.log_filter.level_of("hyper"));
    let directives = (
        "loud",
        "`loud` is not a log directive; expected off, error, warn, info, debug or trace, or `target=level`, separated by \
         commas",
    );
    check(&row("LOG_LEVEL", "log_filter", filter, "Info", ("debug", "Debug"), directives));
    check(&row("RUST_LOG", "log_filter", filter, "Info", ("info,hyper=warn", "Warn"), directives));
    check(&row(
        "OTEL_SEMCONV_STABILITY_OPT_IN",
        "semconv",
        |config| format!("{:?}", config.semconv),
        "[]",
        ("http, database/dup", "[\"http\", \"database/dup\"]"),
        ("", ""),
    ));
}

fn exporters(config: &Config, signal: Signal) -> String {
    let names = config.destinations(signal).into_iter().map(|destination| match destination {
        Destination::Otlp(otlp) => otlp.endpoint.to_string(),
        _ => "console".to_owned(),
    });
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn exporters_of_each_signal() {
    let wrong = ("zipkin", "`zipkin` is not an exporter that Tracecast has; expected otlp, console or none");
    let good = ("Console", "console");
    let traces: fn(&Config) -> String = |config| exporters(config, Signal::Traces);
    let metrics: fn(&Config) -> String = |config| exporters(config, Signal::Metrics);
    let logs: fn(&Config) -> String = |config| exporters(config, Signal::Logs);
    check(&row("OTEL_TRACES_EXPORTER", "traces.exporters", traces, "", good, wrong));
    check(&row("OTEL_METRICS_EXPORTER", "metrics.exporters", metrics, "", good, wrong));
    check(&row("OTEL_LOGS_EXPORTER", "logs.exporters", logs, "", good, wrong));
    let both = config(&[("OTEL_TRACES_EXPORTER", "otlp,console,otlp")]);
    assert_eq!(traces(&both), "http://localhost:4318/v1/traces console");
    let half = config(&[("OTEL_LOGS_EXPORTER", "prometheus,console")]);
    assert_eq!((logs(&half).as_str(), half.problems().len()), ("console", 1));
}

#[test]
fn samplers() {
    let show: fn(&Config) -> String = |config| format!("{:?}", config.traces.sampler);
    let accepted = "expected always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or \
                    parentbased_traceidratio, using parentbased_always_on";
    let wrong: &'static str = format!("`half` is not a sampler; {accepted}").leak();
    let missing: &'static str = format!("`xray` is a sampler that Tracecast does not have; {accepted}").leak();
    let cases = [
        ("always_on", "AlwaysOn"),
        ("always_off", "AlwaysOff"),
        ("traceidratio", "Ratio(1)"),
        ("parentbased_always_on", "AlwaysOn"),
        ("parentbased_always_off", "AlwaysOff"),
        ("ParentBased_TraceIdRatio", "Ratio(1)"),
    ];
    for good in cases {
        check(&row("OTEL_TRACES_SAMPLER", "traces.sampler", show, "AlwaysOn", good, ("half", wrong)));
        check(&row("OTEL_TRACES_SAMPLER", "traces.sampler", show, "AlwaysOn", good, ("xray", missing)));
    }
    check(&Row {
        name: "OTEL_TRACES_SAMPLER_ARG",
        beside: &[("OTEL_TRACES_SAMPLER", "traceidratio")],
        show,
        default: "Ratio(1)",
        good: ("0.25", "Ratio(0.25)"),
        wrong: ("1.5", "`1.5` is not a ratio; expected a number from 0 to 1, using 1"),
        setting: "",
    });
    let alone = config(&[("OTEL_TRACES_SAMPLER_ARG", "0.1")]);
    assert_eq!(
        alone.problems()[0].to_string(),
        "OTEL_TRACES_SAMPLER_ARG: `0.1` has no sampler to go with; expected \
         OTEL_TRACES_SAMPLER=parentbased_traceidratio beside it, using parentbased_always_on"
    );
}

#[test]
fn limits() {
    let number = |name, show, default| {
        let setting = if name == "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT" { "logs.limits" } else { "traces.limits" };
        check(&row(name, setting, show, default, ("7", "7"), ("x", NUMBER)));
    };
    number("OTEL_ATTRIBUTE_COUNT_LIMIT", |config| config.traces.limits.attributes.to_string(), "128");
    number("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", |config| config.traces.limits.value_bytes.to_string(), "4096");
    number("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", |config| config.traces.limits.attributes.to_string(), "128");
    number("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", |config| config.traces.limits.value_bytes.to_string(), "4096");
    number("OTEL_SPAN_EVENT_COUNT_LIMIT", |config| config.traces.limits.events.to_string(), "128");
    number("OTEL_SPAN_LINK_COUNT_LIMIT", |config| config.traces.limits.links.to_string(), "128");
    number("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", |config| config.traces.limits.attributes_per_event.to_string(), "128");
    let links: fn(&Config) -> String = |config| config.traces.attributes_per_link.unwrap_or(128).to_string();
    number("OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", links, "128");
    number("OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT", |config| config.logs.limits.attributes.to_string(), "128");
    let bytes: fn(&Config) -> String = |config| config.logs.limits.value_bytes.to_string();
    check(&row("OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", "logs.limits", bytes, "4096", ("7", "7"), ("x", NUMBER)));
}

#[test]
fn a_limit_of_one_signal_beats_the_limit_of_all() {
    let general = [("OTEL_ATTRIBUTE_COUNT_LIMIT", "1"), ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "2")];
    let read = config(&general);
    assert_eq!((read.logs.limits.attributes, read.logs.limits.value_bytes), (1, 2));
    let special = [("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "3"), ("OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", "4")];
    let read = config(&[general, special].concat());
    assert_eq!((read.traces.limits.attributes, read.traces.limits.value_bytes), (3, 2));
    assert_eq!((read.logs.limits.attributes, read.logs.limits.value_bytes), (1, 4));
}

#[test]
fn batches() {
    let ms = ("5s", MILLISECONDS);
    let size = ("0", SIZE);
    let (traces, logs) = ("traces.batch", "logs.batch");
    check(&row("OTEL_BSP_SCHEDULE_DELAY", traces, |c| format!("{:?}", c.traces.batch.delay), "5s", ("0", "0ns"), ms));
    check(&row(
        "OTEL_BSP_EXPORT_TIMEOUT",
        traces,
        |c| format!("{:?}", c.traces.batch.timeout),
        "30s",
        ("0", "3600s"),
        ms,
    ));
    check(&row(
        "OTEL_BSP_MAX_QUEUE_SIZE",
        traces,
        |c| format!("{:?}", c.traces.batch.queue),
        "None",
        ("9", "Some(9)"),
        size,
    ));
    check(&row("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", traces, |c| c.traces.batch.size.to_string(), "512", ("9", "9"), size));
    check(&row("OTEL_BLRP_SCHEDULE_DELAY", logs, |c| format!("{:?}", c.logs.batch.delay), "1s", ("70", "70ms"), ms));
    check(&row("OTEL_BLRP_EXPORT_TIMEOUT", logs, |c| format!("{:?}", c.logs.batch.timeout), "30s", ("70", "70ms"), ms));
    check(&row(
        "OTEL_BLRP_MAX_QUEUE_SIZE",
        logs,
        |c| format!("{:?}", c.logs.batch.queue),
        "None",
        ("9", "Some(9)"),
        size,
    ));
    check(&row("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", logs, |c| c.logs.batch.size.to_string(), "512", ("9", "9"), size));
    let read = config(&[("OTEL_BSP_MAX_QUEUE_SIZE", "9"), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")]);
    assert_eq!(read.traces.batch.size, 9);
    assert_eq!(
        read.problems()[0].to_string(),
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE: `10` is more than the queue holds; expected at most 9, as \
         OTEL_BSP_MAX_QUEUE_SIZE says, using 9"
    );
}

#[test]
fn metrics() {
    let interval = ("0", "`0` is not an interval; expected a whole number of milliseconds, at least 1");
    let show: fn(&Config) -> String = |config| format!("{:?}", config.metrics.interval);
    check(&row("OTEL_METRIC_EXPORT_INTERVAL", "metrics.interval", show, "60s", ("5000", "5s"), interval));
    let show: fn(&Config) -> String = |config| format!("{:?}", config.metrics.timeout);
    check(&row("OTEL_METRIC_EXPORT_TIMEOUT", "metrics.timeout", show, "30s", ("5000", "5s"), ("5s", MILLISECONDS)));
    check(&row(
        "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
        "metrics.temporality",
        |config| format!("{:?}", config.metrics.temporality),
        "Cumulative",
        ("LowMemory", "LowMemory"),
        ("x", "`x` is not a temporality; expected cumulative, delta or lowmemory"),
    ));
    check(&row(
        "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
        "metrics.histograms",
        |config| format!("{:?}", config.metrics.histograms),
        "ExplicitBuckets",
        ("base2_exponential_bucket_histogram", "Exponential"),
        (
            "x",
            "`x` is not an aggregation of histograms; expected explicit_bucket_histogram or \
             base2_exponential_bucket_histogram",
        ),
    ));
    check(&row(
        "OTEL_METRICS_EXEMPLAR_FILTER",
        "metrics.exemplars",
        |config| format!("{:?}", config.metrics.exemplars),
        "TraceBased",
        ("always_off", "AlwaysOff"),
        ("x", "`x` is not an exemplar filter; expected always_on, always_off or trace_based"),
    ));
}

/// One row of OTLP, for all signals and for each.
fn otlp(
    variable: &str,
    setting: &str,
    beside: &'static [(&'static str, &'static str)],
    show: fn(&tracecast::config::Otlp) -> String,
    default: &'static str,
    good: (&'static str, &'static str),
    wrong: (&'static str, &'static str),
) {
    fn shown(config: &Config, signal: Signal, show: fn(&tracecast::config::Otlp) -> String) -> String {
        match config.destinations(signal).first() {
            Some(Destination::Otlp(otlp)) => show(otlp),
            other => format!("{other:?}"),
        }
    }
    for (scope, signals) in [
        ("", vec![Signal::Traces, Signal::Metrics, Signal::Logs]),
        ("TRACES_", vec![Signal::Traces]),
        ("METRICS_", vec![Signal::Metrics]),
        ("LOGS_", vec![Signal::Logs]),
    ] {
        let name = format!("OTEL_EXPORTER_OTLP_{scope}{variable}");
        let with = |value: &'static str| {
            let own = [("OTEL_ENABLED", "true"), (&*name, value)];
            config(&[beside, &own].concat())
        };
        let (good_config, wrong_config) = (with(good.0), with(wrong.0));
        for signal in &signals {
            assert_eq!(shown(&with(""), *signal, show), default, "{name} unset");
            assert_eq!(shown(&good_config, *signal, show), good.1, "{name}={}", good.0);
            assert_eq!(shown(&wrong_config, *signal, show), default, "{name}={}", wrong.0);
        }
        for other in Signal::ALL.iter().filter(|signal| !signals.contains(signal)) {
            assert_eq!(shown(&good_config, *other, show), default, "{name} is not for {other:?}");
        }
        assert_eq!(good_config.problems(), []);
        let scope = scope.to_ascii_lowercase().replace('_', ".");
        assert_eq!(good_config.origin(&format!("{scope}otlp.{setting}")).to_string(), name);
        if !wrong.1.is_empty() {
            let texts: Vec<String> = wrong_config.problems().iter().map(ToString::to_string).collect();
            assert_eq!(texts, [format!("{name}: {}", wrong.1)]);
        }
    }
}

#[test]
fn otlp_of_all_signals_and_of_each() {
    otlp(
        "PROTOCOL",
        "protocol",
        &[],
        |otlp| otlp.protocol.name().to_owned(),
        "http/protobuf",
        ("GRPC", "grpc"),
        ("http", "`http` is not a protocol; expected grpc, http/protobuf or http/json"),
    );
    otlp(
        "ENDPOINT",
        "endpoint",
        &[],
        |otlp| otlp.endpoint.host().to_owned(),
        "localhost",
        ("https://collector:4318/x", "collector"),
        (
            "collector:4318",
            "`collector:4318` has no scheme; expected an address such as http://collector:4318 or https://collector:4317",
        ),
    );
    otlp(
        "HEADERS",
        "headers",
        &[],
        |otlp| format!("{:?}", otlp.headers),
        "[]",
        ("Api-Key=hunter2", "[(\"api-key\", [secret])]"),
        (
            "a=b,hunter2",
            "`[secret]` is not a list of headers, because of item 2; expected `name=value` separated by commas, with \
             commas in values written as %2C",
        ),
    );
    otlp(
        "COMPRESSION",
        "compression",
        &[],
        |otlp| format!("{:?}", otlp.compression),
        "None",
        ("gzip", "Gzip"),
        ("zstd", "`zstd` is not a compression; expected gzip or none"),
    );
    otlp(
        "TIMEOUT",
        "timeout",
        &[],
        |otlp| format!("{:?}", otlp.timeout),
        "10s",
        ("1500", "1.5s"),
        ("5s", MILLISECONDS),
    );
    let address = &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:1")];
    let show: fn(&tracecast::config::Otlp) -> String = |otlp| otlp.endpoint.to_string();
    let wrong = ("1", "`1` is not a switch; expected true or false, using false");
    otlp("INSECURE", "insecure", address, show, "https://collector:1", ("true", "http://collector:1"), wrong);
}

#[test]
fn certificates_of_all_signals_and_of_each() {
    let show: fn(&tracecast::config::Otlp) -> String = |otlp| format!("{:?}", otlp.tls.ca);
    otlp("CERTIFICATE", "tls.ca", &[], show, "None", ("/ca.pem", "Some(\"/ca.pem\")"), ("", ""));
    for scope in ["", "TRACES_", "METRICS_", "LOGS_"] {
        let [certificate, key] =
            ["CLIENT_CERTIFICATE", "CLIENT_KEY"].map(|name| format!("OTEL_EXPORTER_OTLP_{scope}{name}"));
        let enabled = ("OTEL_ENABLED", "true");
        let both = config(&[enabled, (&certificate, "/c.pem"), (&key, "/k.pem")]);
        let shown = format!("{:?}", both.destinations(Signal::Traces))
            + &format!("{:?}", both.destinations(Signal::Metrics))
            + &format!("{:?}", both.destinations(Signal::Logs));
        assert!(shown.contains("client_certificate: Some(\"/c.pem\"), client_key: Some(\"/k.pem\")"), "{shown}");
        for (given, missing) in [(&certificate, &key), (&key, &certificate)] {
            let alone = config(&[enabled, (given, "/x.pem")]);
            assert_eq!(
                alone.problems()[0].to_string(),
                format!("{given}: `/x.pem` stands alone; expected {missing} beside it, using no client certificate")
            );
            assert!(!format!("{:?}", alone.destinations(Signal::Traces)).contains("/x.pem"));
        }
    }
}
