//! Tests of each variable: its effect, its default, the problem that an invalid value causes, and its row in the book.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, Destination, Origin, Otlp, Signal};

const PAGE: &str = include_str!("../../../../book/src/variables.md");

struct Row {
    name: String,
    /// Other variables that this one requires.
    beside: Vec<(String, &'static str)>,
    /// Other variables that a valid value of this one requires.
    beside_good: Vec<(String, &'static str)>,
    /// Prints the settings that show the effect of the variable.
    show: Box<dyn Fn(&Config) -> String>,
    default: String,
    good: (&'static str, String),
    /// An invalid value and the text of the problem; empty if no value is invalid.
    wrong: (&'static str, String),
    setting: String,
}

impl Row {
    fn with(&self, value: &str, more: &[(String, &str)]) -> Config {
        let mut variables: Vec<(&str, &str)> =
            self.beside.iter().chain(more).map(|(name, value)| (name.as_str(), *value)).collect();
        variables.push((&self.name, value));
        config(&variables)
    }

    fn good(&self, value: &str) -> Config {
        self.with(value, &self.beside_good)
    }

    fn beside(mut self, name: &str, value: &'static str) -> Self {
        self.beside.push((name.to_owned(), value));
        self
    }
}

fn config(variables: &[(&str, &str)]) -> Config {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    Config::from_variables(|name| variables.get(name).map(|value| (*value).to_owned()))
}

fn check(row: &Row) {
    let name = &row.name;
    for unset in [row.with("", &[]), row.with("  ", &[])] {
        assert_eq!((row.show)(&unset), row.default, "{name} unset");
        assert_eq!(unset.problems(), [], "{name} unset");
    }
    let (value, shown) = &row.good;
    for value in [(*value).to_owned(), format!(" {value} ")] {
        let good = row.good(&value);
        assert_eq!((row.show)(&good), *shown, "{name}={value}");
        assert_eq!(good.problems(), [], "{name}={value}");
        if !PARTS.contains(&name.as_str()) {
            assert_eq!(good.origin(&row.setting).to_string(), *name, "{}", row.setting);
            assert!(good.origins().any(|(setting, _)| setting == row.setting), "{name}");
        }
    }
    assert_eq!(config(&[]).origin(&row.setting), &Origin::Default, "{name}");
    if !row.wrong.1.is_empty() {
        let wrong = row.with(row.wrong.0, &[]);
        let texts: Vec<String> = wrong.problems().iter().map(ToString::to_string).collect();
        assert_eq!(texts, [format!("{name}: {}", row.wrong.1)]);
        assert_eq!((row.show)(&wrong), row.default, "{name}={}", row.wrong.0);
    }
}

fn row(
    name: &str,
    setting: &str,
    show: impl Fn(&Config) -> String + 'static,
    default: &str,
    good: (&'static str, &str),
    wrong: (&'static str, &str),
) -> Row {
    Row {
        name: name.to_owned(),
        beside: Vec::new(),
        beside_good: Vec::new(),
        show: Box::new(show),
        default: default.to_owned(),
        good: (good.0, good.1.to_owned()),
        wrong: (wrong.0, wrong.1.to_owned()),
        setting: setting.to_owned(),
    }
}

/// Variables that change part of a setting whose origin is another variable.
const PARTS: [&str; 3] = ["OTEL_TRACES_SAMPLER_ARG", "TC_SPOOL_MAX_BYTES", "TC_SPOOL_MAX_AGE_MS"];
const NONE: (&str, &str) = ("", "");
const SWITCH: (&str, &str) = ("maybe", "`maybe` is not a boolean; expected true or false");
const NO_SWITCH_OF_FEATURE: (&str, &str) =
    ("maybe", "`maybe` is not a boolean; expected false, or true with the feature `tracing-emit` of `tracecast`");
const NOT_BUILT: (&str, &str) = (
    "true",
    "`true` needs a feature that is not built in; expected false, or true with the feature `tracing-emit` of `tracecast`",
);
const STANDARD_SWITCH: (&str, &str) = ("1", "`1` is not a boolean; expected true or false, using false");
const NUMBER: (&str, &str) = ("x", "`x` is not a count; expected a whole number from 0 to 4294967295");
const SIZE: (&str, &str) = ("0", "`0` is not a size; expected a whole number from 1 to 4294967295");
const MILLISECONDS: (&str, &str) = ("5s", "`5s` is not a duration; expected a whole number of milliseconds");

fn general() -> Vec<Row> {
    let enabled = |config: &Config| format!("{:?}", config.settings.enabled);
    let emit = |config: &Config| format!("{:?}", config.settings.tracing_emit);
    let if_built = match cfg!(has_tracing_emit) {
        true => (("true", "Some(true)"), NO_SWITCH_OF_FEATURE),
        false => (("0", "Some(false)"), NOT_BUILT),
    };
    let formats = "`x` is not a log format; expected auto, json, text or none";
    vec![
        row("OTEL_ENABLED", "enabled", enabled, "None", ("TRUE", "Some(true)"), SWITCH),
        row("OTEL_SDK_DISABLED", "enabled", enabled, "None", ("True", "Some(false)"), STANDARD_SWITCH),
        row("TC_OTEL_DEBUG", "debug", |config| config.settings.debug.to_string(), "false", ("1", "true"), SWITCH),
        row(
            "TC_SDK_METRICS",
            "metrics.sdk_names",
            |config| config.settings.metrics.sdk_names.to_string(),
            "false",
            ("true", "true"),
            SWITCH,
        ),
        row("TC_STRICT", "strict", |config| config.settings.strict.to_string(), "false", ("true", "true"), SWITCH),
        row("TC_TRACING_EMIT", "tracing_emit", emit, "None", if_built.0, if_built.1),
        row(
            "TC_CONSOLE_FORMAT",
            "console",
            |config| format!("{:?}", config.settings.console),
            "Text",
            ("JSON", "Json"),
            ("x", "`x` is not a console format; expected text or json"),
        ),
        row(
            "TC_LOG_FORMAT",
            "logs.lines",
            |config| format!("{:?}", config.settings.logs.lines),
            "None",
            ("Json", "Some(Json)"),
            ("x", formats),
        ),
        row(
            "TC_SPAN_FILTER",
            "filter",
            |config| config.settings.filter.allows("Store/Load").to_string(),
            "true",
            ("Store=off", "false"),
            (
                "Store",
                "`Store` is not a filter; expected `Component=on`, `Component/Operation=off` or `*=off`, separated by \
                 commas",
            ),
        ),
        row(
            "TC_BUSY_TIMES",
            "busy_times",
            |config| format!("{:?}", config.settings.busy_times.rule_of("Store/Load")),
            "None",
            ("Store=on", "Some(true)"),
            (
                "Store",
                "`Store` is not a filter; expected `Component=on`, `Component/Operation=off` or `*=off`, separated by \
                 commas",
            ),
        ),
        row("TC_STALLS", "stalls", |config| config.settings.stalls.to_string(), "false", ("true", "true"), SWITCH),
        row(
            "TC_STALL_THRESHOLD_MS",
            "stall_threshold",
            |config| format!("{:?}", config.settings.stall_threshold),
            "100ms",
            ("250", "250ms"),
            ("0", "`0` is not an interval; expected a whole number of milliseconds, at least 1"),
        ),
        row(
            "TC_MEMORY_LIMIT",
            "memory_limit",
            |config| config.settings.memory_limit.to_string(),
            "67108864",
            ("2MiB", "2097152"),
            ("lots", "`lots` is not a memory size; expected at least 1 MiB, as in 64MiB, 500MB or 67108864"),
        ),
        row("TC_ROLE", "role", |config| format!("{:?}", config.role()), "None", ("a", "Some(\"a\")"), NONE),
    ]
}

fn spool() -> Vec<Row> {
    let directory =
        |config: &Config| format!("{:?}", config.settings.spool.as_ref().map(|spool| spool.directory.clone()));
    let bytes = |config: &Config| config.settings.spool.as_ref().map_or(0, |spool| spool.max_bytes).to_string();
    let age = |config: &Config| {
        format!("{:?}", config.settings.spool.as_ref().map(|spool| spool.max_age).unwrap_or_default())
    };
    let wrong_bytes = ("lots", "`lots` is not a memory size; expected at least 1 MiB, as in 64MiB, 500MB or 67108864");
    let wrong_age = ("0", "`0` is not an interval; expected a whole number of milliseconds, at least 1");
    vec![
        row("TC_SPOOL_DIR", "spool", directory, "None", ("/spool", "Some(\"/spool\")"), NONE),
        row("TC_SPOOL_MAX_BYTES", "spool", bytes, "67108864", ("2MiB", "2097152"), wrong_bytes)
            .beside("TC_SPOOL_DIR", "/spool"),
        row("TC_SPOOL_MAX_AGE_MS", "spool", age, "86400s", ("5000", "5s"), wrong_age).beside("TC_SPOOL_DIR", "/spool"),
    ]
}

fn resource_and_logging() -> Vec<Row> {
    let name = |config: &Config| format!("{:?}", config.service_name());
    let filter = |config: &Config| format!("{:?}", config.settings.log_filter.level_of("hyper"));
    let accepted = "expected off, error, warn, info, debug or trace, or `target=level`, separated by commas";
    let accepted_in_rust_log =
        accepted.replace("or `target=level`", "`target=level`, or a target alone for all its levels");
    let level = format!("`loud` is not a log directive; {accepted}");
    let of_span = format!(
        "`[load{{id=1,to}}]=debug` selects events by `tracing` span, which only an `EnvFilter` around \
         `logs::layer()` supports; {accepted_in_rust_log}"
    );
    let hyper = format!("`hyper=loud` is not a log directive; {accepted_in_rust_log}");
    vec![
        row("OTEL_SERVICE_NAME", "service_name", name, "None", ("store", "Some(\"store\")"), NONE),
        row(
            "OTEL_RESOURCE_ATTRIBUTES",
            "resource",
            |config| format!("{:?}", config.settings.resource),
            "{}",
            ("a=b%2Cc, service.name=s", "{\"a\": Str(\"b,c\"), \"service.name\": Str(\"s\")}"),
            (
                "a=b,c",
                "`c` is not a resource attribute; expected `name=value` separated by commas, with commas and other \
                 special characters percent-encoded, using none of them",
            ),
        ),
        row(
            "OTEL_PROPAGATORS",
            "propagators",
            |config| format!("{:?}", config.settings.propagators),
            "[TraceContext, Baggage]",
            ("b3,B3Multi,tracecontext,b3", "[B3, B3Multi, TraceContext]"),
            (
                "xray",
                "`xray` is not a supported propagator; expected tracecontext, baggage, b3, b3multi or none, \
                 using tracecontext,baggage",
            ),
        ),
        row(
            "OTEL_LOG_LEVEL",
            "diagnostics_level",
            |config| format!("{:?}", config.settings.diagnostics_level),
            "Info",
            ("DEBUG", "Debug"),
            ("loud", "`loud` is not a log level; expected off, error, warn, info, debug or trace"),
        ),
        row("LOG_LEVEL", "log_filter", filter, "Info", ("debug", "Debug"), ("loud", &level)),
        row("RUST_LOG", "log_filter", filter, "Info", ("info,hyper=warn", "Warn"), ("[load{id=1,to}]=debug", &of_span)),
        row("RUST_LOG", "log_filter", filter, "Info", ("info,hyper", "Trace"), ("hyper=loud", &hyper)),
        row(
            "OTEL_SEMCONV_STABILITY_OPT_IN",
            "semconv",
            |config| format!("{:?}", config.settings.semconv),
            "[]",
            ("http, database/dup", "[\"http\", \"database/dup\"]"),
            NONE,
        ),
    ]
}

fn destinations(config: &Config, signal: Signal) -> String {
    let names = config.resolved(signal).into_iter().map(|destination| match destination {
        Destination::Otlp(otlp) => otlp.endpoint.to_string(),
        _ => "console".to_owned(),
    });
    names.collect::<Vec<_>>().join(" ")
}

fn exporters() -> Vec<Row> {
    let of = |signal: Signal| {
        let wrong = match signal {
            Signal::Metrics => "`zipkin` is not a supported exporter; expected otlp, prometheus, console or none",
            _ => "`zipkin` is not a supported exporter; expected otlp, console or none",
        };
        let (name, setting) =
            (format!("OTEL_{}_EXPORTER", signal.name().to_uppercase()), format!("{}.exporters", signal.name()));
        row(&name, &setting, move |config| destinations(config, signal), "", ("Console", "console"), ("zipkin", wrong))
    };
    Signal::ALL.map(of).into_iter().chain(scraping()).collect()
}

fn scraping() -> [Row; 2] {
    let show = |config: &Config| config.destinations(Signal::Metrics).join(" ");
    let default = "scrapers of http://localhost:9464/metrics";
    let port = ("0", "`0` is not a port; expected a whole number from 1 to 65535");
    [
        (
            "OTEL_EXPORTER_PROMETHEUS_HOST",
            "metrics.prometheus.host",
            ("::", "scrapers of http://[::]:9464/metrics"),
            NONE,
        ),
        (
            "OTEL_EXPORTER_PROMETHEUS_PORT",
            "metrics.prometheus.port",
            ("99", "scrapers of http://localhost:99/metrics"),
            port,
        ),
    ]
    .map(|(name, setting, good, wrong)| {
        row(name, setting, show, default, good, wrong).beside("OTEL_METRICS_EXPORTER", "prometheus")
    })
}

fn samplers() -> Vec<Row> {
    let show = |config: &Config| format!("{:?}", config.settings.traces.sampler);
    let accepted = "expected always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or \
                    parentbased_traceidratio, using parentbased_always_on";
    let wrong = format!("`half` is not a sampler; {accepted}");
    let missing = format!("`xray` is a sampler that Tracecast does not support; {accepted}");
    let cases = [
        ("always_on", "AlwaysOn"),
        ("always_off", "AlwaysOff"),
        ("traceidratio", "Ratio(1)"),
        ("parentbased_always_on", "AlwaysOn"),
        ("parentbased_always_off", "AlwaysOff"),
        ("ParentBased_TraceIdRatio", "Ratio(1)"),
    ];
    let sampler =
        |good, wrong, text: &str| row("OTEL_TRACES_SAMPLER", "traces.sampler", show, "AlwaysOn", good, (wrong, text));
    let mut rows: Vec<Row> =
        cases.into_iter().flat_map(|good| [sampler(good, "half", &wrong), sampler(good, "xray", &missing)]).collect();
    let wrong = ("1.5", "`1.5` is not a ratio; expected a number from 0 to 1, using 1");
    let argument = row("OTEL_TRACES_SAMPLER_ARG", "traces.sampler", show, "Ratio(1)", ("0.25", "Ratio(0.25)"), wrong);
    rows.push(argument.beside("OTEL_TRACES_SAMPLER", "traceidratio"));
    rows
}

fn limits() -> Vec<Row> {
    fn number(name: &str, setting: &str, default: &str, show: fn(&Config) -> u32) -> Row {
        row(name, setting, move |config| show(config).to_string(), default, ("7", "7"), NUMBER)
    }
    let (traces, logs) = ("traces.limits", "logs.limits");
    vec![
        number("OTEL_ATTRIBUTE_COUNT_LIMIT", traces, "128", |config| config.settings.traces.limits.attributes),
        number("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", traces, "4096", |config| config.settings.traces.limits.value_bytes),
        number("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", traces, "128", |config| config.settings.traces.limits.attributes),
        number("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", traces, "4096", |config| {
            config.settings.traces.limits.value_bytes
        }),
        number("OTEL_SPAN_EVENT_COUNT_LIMIT", traces, "128", |config| config.settings.traces.limits.events),
        number("OTEL_SPAN_LINK_COUNT_LIMIT", traces, "128", |config| config.settings.traces.limits.links),
        number("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", traces, "128", |config| {
            config.settings.traces.limits.attributes_per_event
        }),
        number("OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", traces, "128", |config| {
            config.settings.traces.attributes_per_link.unwrap_or(128)
        }),
        number("OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT", logs, "128", |config| config.settings.logs.limits.attributes),
        number("OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", logs, "4096", |config| {
            config.settings.logs.limits.value_bytes
        }),
    ]
}

fn batches() -> Vec<Row> {
    let (traces, logs) = ("traces.batch", "logs.batch");
    let queue = ("9", "Some(9)");
    vec![
        row(
            "OTEL_BSP_SCHEDULE_DELAY",
            traces,
            |c| format!("{:?}", c.settings.traces.batch.delay),
            "5s",
            ("0", "0ns"),
            MILLISECONDS,
        ),
        row(
            "OTEL_BSP_EXPORT_TIMEOUT",
            traces,
            |c| format!("{:?}", c.settings.traces.batch.timeout),
            "30s",
            ("0", "3600s"),
            MILLISECONDS,
        ),
        row("OTEL_BSP_MAX_QUEUE_SIZE", traces, |c| format!("{:?}", c.settings.traces.batch.queue), "None", queue, SIZE),
        row(
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
            traces,
            |c| c.settings.traces.batch.size.to_string(),
            "512",
            ("9", "9"),
            SIZE,
        ),
        row(
            "OTEL_BLRP_SCHEDULE_DELAY",
            logs,
            |c| format!("{:?}", c.settings.logs.batch.delay),
            "1s",
            ("70", "70ms"),
            MILLISECONDS,
        ),
        row(
            "OTEL_BLRP_EXPORT_TIMEOUT",
            logs,
            |c| format!("{:?}", c.settings.logs.batch.timeout),
            "30s",
            ("70", "70ms"),
            MILLISECONDS,
        ),
        row("OTEL_BLRP_MAX_QUEUE_SIZE", logs, |c| format!("{:?}", c.settings.logs.batch.queue), "None", queue, SIZE),
        row(
            "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE",
            logs,
            |c| c.settings.logs.batch.size.to_string(),
            "512",
            ("9", "9"),
            SIZE,
        ),
    ]
}

fn metrics() -> Vec<Row> {
    let wrong_interval = ("0", "`0` is not an interval; expected a whole number of milliseconds, at least 1");
    let interval = |config: &Config| format!("{:?}", config.settings.metrics.interval);
    let timeout = |config: &Config| format!("{:?}", config.settings.metrics.timeout);
    vec![
        row("OTEL_METRIC_EXPORT_INTERVAL", "metrics.interval", interval, "60s", ("5000", "5s"), wrong_interval),
        row("OTEL_METRIC_EXPORT_TIMEOUT", "metrics.timeout", timeout, "30s", ("5000", "5s"), MILLISECONDS),
        row(
            "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
            "metrics.temporality",
            |config| format!("{:?}", config.settings.metrics.temporality),
            "Cumulative",
            ("LowMemory", "LowMemory"),
            ("x", "`x` is not a temporality; expected cumulative, delta or lowmemory"),
        ),
        row(
            "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
            "metrics.histograms",
            |config| format!("{:?}", config.settings.metrics.histograms),
            "ExplicitBuckets",
            ("base2_exponential_bucket_histogram", "Exponential"),
            (
                "x",
                "`x` is not a histogram aggregation; expected explicit_bucket_histogram or \
                 base2_exponential_bucket_histogram",
            ),
        ),
        row(
            "OTEL_METRICS_EXEMPLAR_FILTER",
            "metrics.exemplars",
            |config| format!("{:?}", config.settings.metrics.exemplars),
            "InSampledSpans",
            ("always_off", "Off"),
            ("x", "`x` is not an exemplar filter; expected always_on, always_off or trace_based"),
        ),
    ]
}

/// Returns the rows of the proxies. Each proxy has a variable in lower case and one in upper case.
fn proxies() -> Vec<Row> {
    let proxy = |name: &str, setting: &str, protocol: &'static str| {
        let show = |config: &Config| config.destinations(Signal::Traces).join(" ");
        let default = format!("{protocol}://collector:4318/ by http/protobuf");
        let good = format!("{default} through http://[secret]@proxy:3128");
        let wrong = "`socks5://proxy` has a scheme other than http and https; expected an address such as \
                     http://proxy:3128, using no proxy";
        row(name, setting, show, &default, ("ann:hunter2@proxy:3128", &good), ("socks5://proxy", wrong))
            .beside("OTEL_TRACES_EXPORTER", "otlp")
            .beside(
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                if protocol == "http" { "http://collector:4318" } else { "https://collector:4318" },
            )
    };
    let bypass = |name: &str| {
        let show = |config: &Config| {
            config.resolved(Signal::Traces).iter().any(|to| to.to_string().contains("through")).to_string()
        };
        row(name, "proxy.bypass", show, "true", ("other,.example", "false"), NONE)
            .beside("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector.example:4318")
            .beside("HTTP_PROXY", "http://proxy:3128")
    };
    vec![
        proxy("http_proxy", "proxy.http", "http"),
        proxy("HTTP_PROXY", "proxy.http", "http"),
        proxy("https_proxy", "proxy.https", "https"),
        proxy("HTTPS_PROXY", "proxy.https", "https"),
        bypass("no_proxy"),
        bypass("NO_PROXY"),
    ]
}

/// Returns the rows of one OTLP option (`*` stands for the signal): one for all signals, and one for each signal, which
/// leaves the other signals at their default.
fn otlp(
    option: &str,
    setting: &str,
    show: fn(&Otlp) -> String,
    default: &str,
    good: (&'static str, &str),
    wrong: (&'static str, &str),
) -> Vec<Row> {
    let shown = move |config: &Config| {
        let of = |signal| match config.resolved(signal).first() {
            Some(Destination::Otlp(otlp)) => show(otlp),
            other => format!("{other:?}"),
        };
        Signal::ALL.map(of).join(" ")
    };
    let scopes = [None, Some(Signal::Traces), Some(Signal::Metrics), Some(Signal::Logs)];
    let of = |scope: Option<Signal>| {
        let upper = scope.map(|signal| format!("{}_", signal.name().to_uppercase())).unwrap_or_default();
        let lower = scope.map(|signal| format!("{}.", signal.name())).unwrap_or_default();
        let changed =
            Signal::ALL.map(|signal| if scope.is_none_or(|scope| scope == signal) { good.1 } else { default });
        let (name, setting) = (option.replace('*', &upper), format!("{lower}otlp.{setting}"));
        let default = [default; 3].join(" ");
        row(&name, &setting, shown, &default, (good.0, &changed.join(" ")), wrong).beside("OTEL_ENABLED", "true")
    };
    scopes.map(of).into()
}

fn receivers() -> Vec<Row> {
    let insecure = otlp(
        "OTEL_EXPORTER_OTLP_*INSECURE",
        "insecure",
        |otlp| otlp.endpoint.to_string(),
        "https://collector:1",
        ("true", "http://collector:1"),
        STANDARD_SWITCH,
    );
    let insecure = insecure.into_iter().map(|row| {
        row.beside("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc").beside("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:1")
    });
    let others = [
        otlp(
            "OTEL_EXPORTER_OTLP_*PROTOCOL",
            "protocol",
            |otlp| otlp.protocol.name().to_owned(),
            "http/protobuf",
            ("GRPC", "grpc"),
            ("http", "`http` is not a protocol; expected grpc, http/protobuf or http/json"),
        ),
        otlp(
            "OTEL_EXPORTER_OTLP_*ENDPOINT",
            "endpoint",
            |otlp| otlp.endpoint.host().to_owned(),
            "localhost",
            ("https://collector:4318/x", "collector"),
            (
                "collector:4318",
                "`collector:4318` has no scheme; expected an address such as http://collector:4318 or \
                 https://collector:4317",
            ),
        ),
        otlp(
            "OTEL_EXPORTER_OTLP_*HEADERS",
            "headers",
            |otlp| format!("{:?}", otlp.headers),
            "[]",
            ("Api-Key=hunter2", "[(\"api-key\", [secret])]"),
            (
                "a=b,hunter2",
                "`[secret]` has an invalid header at position 2; expected `name=value` separated by commas, \
                 with commas in values written as %2C",
            ),
        ),
        otlp(
            "TC_OTLP_*HEADER_FILES",
            "headers",
            |otlp| format!("{:?}", otlp.headers),
            "[]",
            ("Authorization=/run/token", "[(\"authorization\", from \"/run/token\")]"),
            (
                "a=/b,/c",
                "`/c` is not a header with a file; expected `name=path` separated by commas, with commas in paths \
                 written as %2C",
            ),
        ),
        otlp(
            "OTEL_EXPORTER_OTLP_*COMPRESSION",
            "compression",
            |otlp| format!("{:?}", otlp.compression),
            "None",
            ("gzip", "Gzip"),
            ("zstd", "`zstd` is not a compression; expected gzip or none"),
        ),
        otlp(
            "OTEL_EXPORTER_OTLP_*TIMEOUT",
            "timeout",
            |otlp| format!("{:?}", otlp.timeout),
            "10s",
            ("1500", "1.5s"),
            MILLISECONDS,
        ),
    ];
    others.into_iter().flatten().chain(insecure).collect()
}

/// Returns the rows of certificates: trusted authorities, and a client certificate and its key, which require each
/// other.
fn certificates() -> Vec<Row> {
    let mut rows = otlp(
        "OTEL_EXPORTER_OTLP_*CERTIFICATE",
        "tls.ca",
        |otlp| format!("{:?}", otlp.tls.ca),
        "None",
        ("/ca.pem", "Some(\"/ca.pem\")"),
        NONE,
    );
    let client = |option: &str, other: &str, setting: &str, show: fn(&Otlp) -> String| {
        let rows =
            otlp(&format!("OTEL_EXPORTER_OTLP_*{option}"), setting, show, "None", ("/x.pem", "Some(\"/x.pem\")"), NONE);
        let (option, other) = (option.to_owned(), other.to_owned());
        rows.into_iter().map(move |mut row| {
            let other = row.name.replace(&option, &other);
            let text = format!("`/x.pem` requires {other}; client certificate disabled");
            row.wrong = ("/x.pem", text);
            row.beside_good = vec![(other, "/other.pem")];
            row
        })
    };
    rows.extend(client("CLIENT_CERTIFICATE", "CLIENT_KEY", "tls.client_certificate", |otlp| {
        format!("{:?}", otlp.tls.client_certificate)
    }));
    rows.extend(client("CLIENT_KEY", "CLIENT_CERTIFICATE", "tls.client_key", |otlp| {
        format!("{:?}", otlp.tls.client_key)
    }));
    rows
}

#[test]
fn general_ones() {
    general().iter().for_each(check);
}

#[test]
fn those_of_the_spool() {
    spool().iter().for_each(check);
    let alone = config(&[("TC_SPOOL_MAX_BYTES", "2MiB")]);
    let expected = "TC_SPOOL_MAX_BYTES: `2MiB` requires TC_SPOOL_DIR; spool disabled";
    assert_eq!((alone.problems()[0].to_string().as_str(), alone.settings.spool.as_ref()), (expected, None));
}

#[test]
fn those_of_the_resource_and_of_logging() {
    resource_and_logging().iter().for_each(check);
    assert_eq!(config(&[("OTEL_PROPAGATORS", "none")]).settings.propagators, []);
}

#[test]
fn exporters_of_each_signal() {
    exporters().iter().for_each(check);
    let both = config(&[("OTEL_TRACES_EXPORTER", "otlp,console,otlp")]);
    assert_eq!(destinations(&both, Signal::Traces), "http://localhost:4318/v1/traces console");
    let both = config(&[("OTEL_METRICS_EXPORTER", "prometheus,otlp")]);
    assert_eq!(both.destinations(Signal::Metrics).len(), 2);
    let half = config(&[("OTEL_LOGS_EXPORTER", "prometheus,console")]);
    assert_eq!((destinations(&half, Signal::Logs).as_str(), half.problems().len()), ("console", 1));
}

#[test]
fn samplers_and_their_argument() {
    samplers().iter().for_each(check);
    let alone = config(&[("OTEL_TRACES_SAMPLER_ARG", "0.1")]);
    assert_eq!(
        alone.problems()[0].to_string(),
        "OTEL_TRACES_SAMPLER_ARG: `0.1` requires OTEL_TRACES_SAMPLER; expected \
         OTEL_TRACES_SAMPLER=parentbased_traceidratio, using parentbased_always_on"
    );
}

#[test]
fn limits_of_spans_and_records() {
    limits().iter().for_each(check);
}

#[test]
fn a_limit_of_one_signal_beats_the_limit_of_all() {
    let general = [("OTEL_ATTRIBUTE_COUNT_LIMIT", "1"), ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "2")];
    let read = config(&general);
    assert_eq!((read.settings.logs.limits.attributes, read.settings.logs.limits.value_bytes), (1, 2));
    let special = [("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "3"), ("OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", "4")];
    let read = config(&[general, special].concat());
    assert_eq!((read.settings.traces.limits.attributes, read.settings.traces.limits.value_bytes), (3, 2));
    assert_eq!((read.settings.logs.limits.attributes, read.settings.logs.limits.value_bytes), (1, 4));
}

#[test]
fn batches_of_spans_and_records() {
    batches().iter().for_each(check);
    let read = config(&[("OTEL_BSP_MAX_QUEUE_SIZE", "9"), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")]);
    assert_eq!(read.settings.traces.batch.size, 9);
    assert_eq!(
        read.problems()[0].to_string(),
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE: `10` is larger than the queue; expected at most 9, the value of \
         OTEL_BSP_MAX_QUEUE_SIZE, using 9"
    );
}

#[test]
fn those_of_metrics() {
    metrics().iter().for_each(check);
}

#[test]
fn otlp_of_all_signals_and_of_each() {
    receivers().iter().for_each(check);
}

#[test]
fn certificates_of_all_signals_and_of_each() {
    certificates().iter().for_each(check);
}

#[test]
fn those_of_proxies() {
    proxies().iter().for_each(check);
    let both = config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("http_proxy", "small"), ("HTTP_PROXY", "large")]);
    assert_eq!(both.get("proxy.http").as_deref(), Some("http://large"), "as in Go");
    let cgi = config(&[("REQUEST_METHOD", "GET"), ("HTTP_PROXY", "http://evil")]);
    assert_eq!((cgi.get("proxy.http"), cgi.problems().len()), (None, 1));
}

/// Proxies are read from variables even if a file is used: a file describes telemetry, the variables describe the
/// machine's network.
#[test]
fn proxies_hold_beside_a_file() {
    let text = "file_format: '1.0'\ntracer_provider: {processors: [{batch: {exporter: {otlp_http: {endpoint: 'http://c:1/'}}}}]}";
    let config =
        Config::from_yaml(text, |name| (name == "HTTP_PROXY").then(|| "http://proxy:3128".to_owned())).unwrap();
    assert_eq!(config.destinations(Signal::Traces), ["http://c:1/ by http/protobuf through http://proxy:3128"]);
}

const FILE: &str = "OTEL_CONFIG_FILE";
const FILE_ACCEPTED: &str = "a YAML file with the configuration";

#[test]
fn the_file() {
    let path = std::env::temp_dir().join(format!("tracecast-row-{}.yaml", std::process::id()));
    std::fs::write(&path, "file_format: '1.0'\nlog_level: warn").unwrap();
    let good = config(&[(FILE, path.to_str().unwrap())]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!((good.problems(), good.origin("diagnostics_level").to_string().as_str()), (&[][..], "log_level"));
    let wrong = config(&[(FILE, "/nowhere/telemetry.yaml")]);
    assert_eq!((wrong.settings.enabled, wrong.origin("enabled").to_string().as_str()), (Some(false), FILE));
    let [problem] = wrong.problems() else { panic!("{:?}", wrong.problems()) };
    assert!(problem.to_string().starts_with("/nowhere/telemetry.yaml: cannot be read: "), "{problem}");
    assert_eq!(problem.help, format!("expected {FILE_ACCEPTED}"));
}

fn all() -> Vec<Row> {
    let groups = [
        general(),
        spool(),
        resource_and_logging(),
        exporters(),
        samplers(),
        limits(),
        batches(),
        metrics(),
        receivers(),
        certificates(),
        proxies(),
    ];
    groups.into_iter().flatten().collect()
}

/// A row of the book's table.
struct Line {
    accepted: &'static str,
    default: &'static str,
    setting: String,
}

/// Replaces the book's placeholder for the signal, in the form of variables or of settings. Returns one name for each
/// signal, or the text itself if it has no placeholder.
fn of_each_signal(text: &str) -> Vec<String> {
    let of = |signal: &str| text.replace("<SIGNAL>", &signal.to_uppercase()).replace("<signal>", signal);
    if of("") == text { vec![text.to_owned()] } else { ["traces", "metrics", "logs"].map(of).to_vec() }
}

fn book() -> BTreeMap<String, Line> {
    let table = PAGE.split("| variable | accepted |").nth(1).unwrap().split("\n\n").next().unwrap();
    let lines = table.lines().filter(|line| line.starts_with("| `"));
    let cells = lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let mut all = BTreeMap::new();
    for cells in cells {
        let [name, accepted, default, setting, what] = cells[..] else { panic!("{cells:?}") };
        assert!(!what.is_empty(), "{name}");
        let (names, settings) = (of_each_signal(name.trim_matches('`')), of_each_signal(setting.trim_matches('`')));
        assert_eq!(names.len(), settings.len(), "{name} and {setting}");
        for (name, setting) in names.into_iter().zip(settings) {
            let twice = all.insert(name, Line { accepted, default, setting });
            assert!(twice.is_none(), "{cells:?} is listed twice in the book");
        }
    }
    all
}

#[test]
fn the_book_the_rows_and_the_code_have_the_same_variables() {
    let asked = RefCell::new(BTreeSet::new());
    let _ = Config::from_variables(|name| {
        asked.borrow_mut().insert(name.to_owned());
        None
    });
    let rows: BTreeSet<String> = all().into_iter().map(|row| row.name).chain([FILE.to_owned()]).collect();
    let book: BTreeSet<String> = book().into_keys().collect();
    assert_eq!(rows, asked.into_inner(), "rows of this test, and what the code reads");
    assert_eq!(book, rows, "the book, and rows of this test");
}

/// The names of settings, accepted values and defaults in the book equal those of the program.
#[test]
fn the_book_says_what_the_program_says() {
    let plain = |text: &str| text.replace('`', "");
    let book = book();
    assert_eq!(book[FILE].accepted, FILE_ACCEPTED);
    for row in all() {
        let (name, line) = (&row.name, &book[row.name.as_str()]);
        assert_eq!(line.setting, row.setting, "{name}");
        if !row.wrong.1.is_empty() && row.beside_good.is_empty() {
            let problem = row.with(row.wrong.0, &[]).problems()[0].clone();
            assert_eq!(plain(&format!("expected {}", line.accepted)), plain(&problem.help), "{name}");
        }
        // Setting a variable to its default is valid and changes nothing.
        if let Some(rest) = line.default.strip_prefix('`') {
            let default = rest.split('`').next().unwrap();
            let config = row.with(default, &[]);
            assert_eq!(((row.show)(&config), config.problems()), (row.default, &[][..]), "{name}={default}");
        }
    }
}

/// Variables of the specification that the book lists as not supported are not read.
#[test]
fn the_book_names_what_is_not_supported() {
    let asked = RefCell::new(BTreeSet::new());
    let _ = Config::from_variables(|name| {
        asked.borrow_mut().insert(name.to_owned());
        None
    });
    let section =
        PAGE.split("All variables of OpenTelemetry's specification are supported except these").nth(1).unwrap();
    let table = section.split("\n\n").nth(1).unwrap();
    let first = table.lines().filter_map(|line| line.strip_prefix("| `")).filter_map(|line| line.split(" |").next());
    let names: Vec<&str> = first.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`')).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("OTEL_") && !asked.borrow().contains(*name)), "{names:?}");
}
