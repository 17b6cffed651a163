//! The table of settings. A row has a setting's name, its field in [`Settings`], the variables, the key of the
//! application's section and the paths in the file from which it is read, and when a change takes effect. The table
//! drives the environment, the section, single values of the file, origins, `reload` and the book.

#![expect(clippy::needless_update, reason = "some rows have all sources")]

use std::path::PathBuf;
use std::time::Duration;

use super::endpoint::Endpoint;
use super::env::{self, Variables};
use super::file::{self, At, Reading};
use super::header::HeaderSource;
use super::level::{Level, LogFilter};
use super::otlp::{Address, Compression, Protocol};
use super::parts::{
    Batch, CardinalityLimits, ConsoleFormat, Exporter, HistogramAggregation, LogFormat, LogLimits, Resource,
    TemporalityPreference,
};
use super::proxy;
use super::short::{self, Telemetry};
use super::values::{self, count};
use super::views::View;
use super::{Config, Settings, Signal, Spool};
use crate::base::secret::Masked;
use crate::declare::filter::Filter;
use crate::declare::value::OwnedValue;
use crate::meter::exemplar::Exemplars;
use crate::propagate::format::Propagator;
use crate::record::bridge::Interop;
use crate::record::limits::Limits;
use crate::record::sampling::Sampler;

/// When a change of a setting takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// At once.
    Now,
    /// At once, as part of the destinations of signals, which are compared as a whole.
    AsExporters,
    /// At the next start.
    Later,
    /// Not at all: the setting applies to reading the configuration.
    Never,
}

/// A setting.
pub(super) struct Setting {
    /// The name in [`Config::get`] and [`Config::origin`].
    pub(super) name: &'static str,
    pub(super) when: When,
    pub(super) differs: fn(&Settings, &Settings) -> bool,
    pub(super) show: Show,
    #[cfg(test)]
    pub(super) copy: fn(&mut Settings, &Settings),
    /// The variables, in the order in which they are read: a later one overrides an earlier one.
    pub(super) variables: &'static [Variable],
    /// Sets the value that the section has; `false` if it has none.
    pub(super) section: Option<fn(&mut Config, &Telemetry) -> bool>,
    /// Single values of the file. Lists and choices are read by code of their own.
    pub(super) file: &'static [InFile],
}

impl Setting {
    /// Returns whether this is a setting of proxies.
    pub(super) fn is_proxy(&self) -> bool {
        self.name.starts_with("proxy.")
    }

    /// Returns whether this is an OTLP setting of this signal alone.
    pub(super) fn is_otlp_of(&self, signal: Signal) -> bool {
        self.name.strip_prefix(signal.name()).is_some_and(|rest| rest.starts_with(".otlp."))
    }
}

/// Prints the value of a setting, if it has one.
pub(super) type Show = fn(&Settings) -> Option<String>;

/// A variable of a setting.
pub(super) struct Variable {
    pub(super) name: &'static str,
    /// Parses the text and sets the value; `false` if this variable does not become the setting's origin.
    pub(super) read: fn(&mut Variables<'_>, &'static str, &str) -> bool,
}

/// A value of the file.
pub(super) struct InFile {
    path: &'static str,
    /// Parses the value and sets it; `false` if it is invalid.
    pub(super) read: fn(&mut Reading, &At<'_>) -> bool,
}

impl InFile {
    /// Returns the path of the map that contains the value, and the value's key.
    pub(super) fn place(&self) -> (&'static str, &'static str) {
        self.path.rsplit_once('.').unwrap_or(("", self.path))
    }
}

/// Compares values of settings.
trait Compared {
    fn differs(&self, other: &Self) -> bool;
}

impl<T: PartialEq> Compared for T {
    fn differs(&self, other: &Self) -> bool {
        self != other
    }
}

/// Compares custom samplers by their names.
impl Compared for Sampler {
    fn differs(&self, other: &Self) -> bool {
        format!("{self:?}") != format!("{other:?}")
    }
}

/// Prints a value for [`Config::get`].
trait Shown {
    fn shown(&self) -> Option<String>;
}

impl<T: Shown> Shown for &T {
    fn shown(&self) -> Option<String> {
        T::shown(self)
    }
}

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(T::shown)
    }
}

impl<T: Shown> Shown for Masked<T> {
    fn shown(&self) -> Option<String> {
        (**self).shown().map(|text| Masked::new(text, self.is_hidden()).to_string())
    }
}

impl Shown for OwnedValue {
    fn shown(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Shown for Address {
    fn shown(&self) -> Option<String> {
        Some(self.endpoint().to_string())
    }
}

/// Implements `Shown` for types by their formats.
macro_rules! shown {
    ($($format:literal: $($type:ty),+;)+) => { $(shown!(@ $format $($type)+);)+ };
    (@ $format:literal $($type:ty)+) => {$(
        impl Shown for $type {
            fn shown(&self) -> Option<String> {
                Some(format!($format, self))
            }
        }
    )+};
}

shown! {
    "{}": bool, u16, u32, u64, usize, Endpoint, String;
    "{:?}": Batch, CardinalityLimits, Compression, ConsoleFormat, Duration, Exemplars, Filter, HistogramAggregation,
        Interop, Level, Limits, LogFilter, LogFormat, LogLimits, Protocol, Resource, Sampler, Spool, TemporalityPreference,
        Vec<(String, HeaderSource)>, Vec<Exporter>, Vec<Masked<String>>, Vec<Propagator>, Vec<View>;
}

impl Shown for PathBuf {
    fn shown(&self) -> Option<String> {
        Some(self.display().to_string())
    }
}

/// Accesses a field of the settings.
macro_rules! place {
    ($settings:expr, ($($field:ident).+)) => { $settings.$($field).+ };
}

/// Reads a variable: `(parse)` sets the field, `(parse => other.field)` another field, `(via f)` calls a function.
macro_rules! read {
    ($field:tt (via $read:expr)) => { $read };
    ($field:tt ($parse:expr => $($part:ident).+)) => { read!(($($part).+) ($parse)) };
    ($field:tt ($parse:expr)) => {
        |variables, name, text| variables.put(name, text, $parse, |settings, value| place!(settings, $field) = value.into())
    };
}

/// Sets the field to the value that a function takes from the section.
macro_rules! section {
    ($field:tt ($given:expr)) => {
        |config, telemetry| {
            let given: fn(&Telemetry) -> Option<_> = $given;
            let value = given(telemetry);
            value.map(|value| place!(config.settings, $field) = value.into()).is_some()
        }
    };
}

/// Reads a value of the file, with the same forms as the macro `read`.
macro_rules! file {
    ($field:tt (via $read:expr)) => { $read };
    ($field:tt ($parse:expr => $($part:ident).+)) => { file!(($($part).+) ($parse)) };
    ($field:tt ($parse:expr)) => {
        |reading, at| reading.put(at, $parse, |settings, value| place!(settings, $field) = value.into())
    };
}

macro_rules! source {
    (variables $field:tt [$($variable:expr => $how:tt),* $(,)?]) => {
        &[$(Variable { name: $variable, read: read!($field $how) }),*]
    };
    (section $field:tt $how:tt) => { Some(section!($field $how)) };
    (file $field:tt [$($path:expr => $how:tt),* $(,)?]) => {
        &[$(InFile { path: $path, read: file!($field $how) }),*]
    };
}

macro_rules! setting {
    ($name:expr, $when:ident, $field:tt $(, $source:ident: $how:tt)* $(,)?) => {
        Setting {
            name: $name,
            when: When::$when,
            differs: |one, other| place!(one, $field).differs(&place!(other, $field)),
            show: |settings| place!(settings, $field).shown(),
            #[cfg(test)]
            copy: |to, from| place!(to, $field).clone_from(&place!(from, $field)),
            $($source: source!($source $field $how),)*
            ..NOWHERE
        }
    };
}

/// A setting without sources, from which the rows take the fields that they omit.
const NOWHERE: Setting = Setting {
    name: "",
    when: When::Never,
    differs: |_, _| false,
    show: |_| None,
    #[cfg(test)]
    copy: |_, _| {},
    variables: &[],
    section: None,
    file: &[],
};

/// The settings that apply to all signals. Two resource attributes have settings of their own.
const GENERAL: [Setting; 23] = [
    setting!("enabled", AsExporters, (enabled),
        variables: ["OTEL_ENABLED" => (values::switch), "OTEL_SDK_DISABLED" => (via env::sdk_disabled)],
        section: (|section| section.enabled),
        file: ["disabled" => (|text| values::truth(text).map(|disabled| disabled.then_some(false)))]),
    setting!("propagators", Later, (propagators), variables: ["OTEL_PROPAGATORS" => (via env::propagators)]),
    setting!("diagnostics_level", Now, (diagnostics_level),
        variables: ["OTEL_LOG_LEVEL" => (Level::parse)], file: ["log_level" => (Level::parse_severity)]),
    setting!("semconv", Later, (semconv), variables: ["OTEL_SEMCONV_STABILITY_OPT_IN" => (values::names)]),
    setting!("interop", Later, (interop)),
    setting!("tracing_emit", Later, (tracing_emit),
        variables: ["TC_TRACING_EMIT" => (values::tracing_emit)],
        file: ["distribution.tracecast.tracing_emit" => (values::tracing_emit)]),
    setting!("debug", AsExporters, (debug),
        variables: ["TC_OTEL_DEBUG" => (values::switch)], section: (|section| section.debug),
        file: ["distribution.tracecast.debug" => (values::truth)]),
    setting!("console", Later, (console),
        variables: ["TC_CONSOLE_FORMAT" => (values::console)], file: ["distribution.tracecast.console_format" => (values::console)]),
    setting!("logs.lines", Later, (logs.lines),
        variables: ["TC_LOG_FORMAT" => (values::log_lines)], section: (|section| section.log_format),
        file: ["distribution.tracecast.log_format" => (values::log_lines)]),
    setting!("strict", Never, (strict),
        variables: ["TC_STRICT" => (values::switch)], section: (|section| section.strict),
        file: ["distribution.tracecast.strict" => (values::truth)]),
    setting!("memory_limit", Later, (memory_limit),
        variables: ["TC_MEMORY_LIMIT" => (values::bytes)], section: (|section| section.memory_limit),
        file: ["distribution.tracecast.memory_limit" => (values::bytes)]),
    setting!("spool", Later, (spool),
        variables: [
            "TC_SPOOL_DIR" => (via env::spool_directory),
            "TC_SPOOL_MAX_BYTES" => (via |variables, name, text| {
                variables.spool_bound(name, text, values::bytes, |spool, bytes| spool.max_bytes = bytes as u64)
            }),
            "TC_SPOOL_MAX_AGE_MS" => (via |variables, name, text| {
                variables.spool_bound(name, text, values::interval, |spool, age| spool.max_age = age)
            }),
        ],
        section: (|section| section.spool_dir.as_ref().map(Spool::new)),
        file: ["distribution.tracecast.spool" => (via file::spool)]),
    Setting {
        name: "resource",
        when: When::Later,
        differs: |one, other| one.resource.others() != other.resource.others(),
        show: |settings| settings.resource.others().shown(),
        #[cfg(test)]
        copy: |to, from| to.resource = from.resource.others(),
        variables: &[Variable { name: "OTEL_RESOURCE_ATTRIBUTES", read: env::resource_attributes }],
        ..NOWHERE
    },
    Setting {
        name: "service_name",
        when: When::Later,
        differs: |one, other| one.resource.get("service.name") != other.resource.get("service.name"),
        show: |settings| settings.resource.masked("service.name").shown(),
        #[cfg(test)]
        copy: |to, from| to.resource.set("service.name", from.resource.get("service.name").cloned().unwrap().into()),
        variables: &[Variable {
            name: "OTEL_SERVICE_NAME",
            read: |variables, _, text| variables.attribute("service.name", text),
        }],
        section: Some(|config, telemetry| config.fill_attribute("service.name", telemetry.service_name.as_ref())),
        ..NOWHERE
    },
    Setting {
        name: "role",
        when: When::Later,
        differs: |one, other| one.resource.get("tc.role") != other.resource.get("tc.role"),
        show: |settings| settings.resource.masked("tc.role").shown(),
        #[cfg(test)]
        copy: |to, from| to.resource.set("tc.role", from.resource.get("tc.role").cloned().unwrap().into()),
        variables: &[Variable { name: "TC_ROLE", read: |variables, _, text| variables.attribute("tc.role", text) }],
        section: Some(|config, telemetry| config.fill_attribute("tc.role", telemetry.role.as_ref())),
        file: &[InFile { path: "distribution.tracecast.role", read: file::role }],
    },
    setting!("filter", Now, (filter),
        variables: ["TC_SPAN_FILTER" => (values::filter)], section: (|section| section.filter.clone()),
        file: ["distribution.tracecast.filter" => (via file::filter)]),
    setting!("busy_times", Now, (busy_times),
        variables: ["TC_BUSY_TIMES" => (values::filter)],
        file: ["distribution.tracecast.busy_times" => (via file::busy_times)]),
    setting!("stalls", Now, (stalls),
        variables: ["TC_STALLS" => (values::switch)], file: ["distribution.tracecast.stalls" => (values::truth)]),
    setting!("stall_threshold", Now, (stall_threshold),
        variables: ["TC_STALL_THRESHOLD_MS" => (values::interval)],
        file: ["distribution.tracecast.stall_threshold_ms" => (values::interval)]),
    setting!("log_filter", Now, (log_filter),
        variables: ["LOG_LEVEL" => (via env::log_filter), "RUST_LOG" => (via env::log_filter)],
        section: (|section| section.log_level.clone()),
        file: ["distribution.tracecast.log_filter" => (via file::log_filter)]),
    setting!("proxy.http", AsExporters, (proxies.http),
        variables: ["http_proxy" => (proxy::parse), "HTTP_PROXY" => (via env::http_proxy)]),
    setting!("proxy.https", AsExporters, (proxies.https),
        variables: ["https_proxy" => (proxy::parse), "HTTPS_PROXY" => (proxy::parse)]),
    setting!("proxy.bypass", AsExporters, (proxies.bypass),
        variables: ["no_proxy" => (values::any_text), "NO_PROXY" => (values::any_text)]),
];

/// OTLP settings for all signals or of one. The protocol comes first, because it decides which endpoints are valid.
macro_rules! otlp {
    ($scope:literal, $variables:literal, ($($otlp:ident).+), $address:path) => {[
        setting!(concat!($scope, "otlp.protocol"), AsExporters, ($($otlp).+.protocol),
            variables: [concat!("OTEL_EXPORTER_OTLP_", $variables, "PROTOCOL") => (values::protocol)]),
        setting!(concat!($scope, "otlp.endpoint"), AsExporters, ($($otlp).+.address),
            variables: [concat!("OTEL_EXPORTER_OTLP_", $variables, "ENDPOINT") => (via |variables, name, text| {
                let named = variables.config.settings.$($otlp).+.protocol.or(variables.config.settings.otlp.protocol);
                variables.put(name, text, |text| values::endpoint(text, named), |settings, endpoint| {
                    settings.$($otlp).+.address = Some($address(endpoint.into()));
                })
            })]),
        setting!(concat!($scope, "otlp.headers"), AsExporters, ($($otlp).+.headers),
            variables: [
                concat!("OTEL_EXPORTER_OTLP_", $variables, "HEADERS") => (values::headers),
                concat!("TC_OTLP_", $variables, "HEADER_FILES") => (via |variables, name, text| {
                    variables.header_files(name, text, |settings| &mut settings.$($otlp).+)
                }),
            ]),
        setting!(concat!($scope, "otlp.tls.ca"), AsExporters, ($($otlp).+.tls.ca),
            variables: [concat!("OTEL_EXPORTER_OTLP_", $variables, "CERTIFICATE") => (values::path)]),
        setting!(concat!($scope, "otlp.tls.client_certificate"), AsExporters, ($($otlp).+.tls.client_certificate),
            variables: [concat!("OTEL_EXPORTER_OTLP_", $variables, "CLIENT_CERTIFICATE") => (via |variables, name, text| {
                variables.client_file(name, text, |settings| &mut settings.$($otlp).+.tls.client_certificate)
            })]),
        setting!(concat!($scope, "otlp.tls.client_key"), AsExporters, ($($otlp).+.tls.client_key),
            variables: [concat!("OTEL_EXPORTER_OTLP_", $variables, "CLIENT_KEY") => (via |variables, name, text| {
                variables.client_file(name, text, |settings| &mut settings.$($otlp).+.tls.client_key)
            })]),
        setting!(concat!($scope, "otlp.compression"), AsExporters, ($($otlp).+.compression),
            variables: [concat!("OTEL_EXPORTER_OTLP_", $variables, "COMPRESSION") => (values::compression)]),
        setting!(concat!($scope, "otlp.timeout"), AsExporters, ($($otlp).+.timeout),
            variables: [concat!("OTEL_EXPORTER_OTLP_", $variables, "TIMEOUT") => (values::timeout)]),
        setting!(concat!($scope, "otlp.insecure"), AsExporters, ($($otlp).+.insecure),
            variables: [concat!("OTEL_EXPORTER_OTLP_", $variables, "INSECURE") => (values::standard_switch)]),
    ]};
}

/// OTLP settings for all signals. Those of single signals cannot be set in the section.
const OTLP: [Setting; 9] = {
    let [protocol, endpoint, headers, ca, certificate, key, compression, timeout, insecure] =
        otlp!("", "", (otlp), Address::Base);
    [
        Setting { section: Some(section!((otlp.protocol)(|section| section.protocol))), ..protocol },
        Setting { section: Some(section!((otlp.address)(Telemetry::address))), ..endpoint },
        Setting {
            section: Some(section!((otlp.headers)(Telemetry::sendable_headers))),
            file: &[InFile { path: "distribution.tracecast.header_files", read: file::header_files }],
            ..headers
        },
        Setting {
            section: Some(section!((otlp.tls.ca)(|section| section.tls.ca_file.clone().map(Masked::from)))),
            ..ca
        },
        Setting {
            section: Some(section!((otlp.tls.client_certificate)(|section| section
                .tls
                .client()
                .map(|client| client.0)))),
            ..certificate
        },
        Setting {
            section: Some(section!((otlp.tls.client_key)(|section| section.tls.client().map(|client| client.1)))),
            ..key
        },
        Setting { section: Some(section!((otlp.compression)(|section| section.compression))), ..compression },
        Setting { section: Some(section!((otlp.timeout)(|section| section.timeout_ms))), ..timeout },
        insecure,
    ]
};
const OTLP_TRACES: [Setting; 9] = otlp!("traces.", "TRACES_", (traces.otlp), Address::Exact);
const OTLP_METRICS: [Setting; 9] = otlp!("metrics.", "METRICS_", (metrics.otlp), Address::Exact);
const OTLP_LOGS: [Setting; 9] = otlp!("logs.", "LOGS_", (logs.otlp), Address::Exact);

macro_rules! exporters {
    ($name:literal, $signal:ident, $variable:literal) => {
        setting!($name, AsExporters, ($signal.exporters),
            variables: [$variable => (via |variables, name, text| {
                variables.exporters(name, text, |settings| &mut settings.$signal.exporters)
            })],
            section: (|section| section.$signal.map(short::exporters)))
    };
}

macro_rules! batch {
    ($name:literal, $signal:ident, $processor:literal) => {
        setting!($name, Now, ($signal.batch), variables: [
            concat!("OTEL_", $processor, "_SCHEDULE_DELAY") => (values::milliseconds => $signal.batch.delay),
            concat!("OTEL_", $processor, "_EXPORT_TIMEOUT") => (values::timeout => $signal.batch.timeout),
            concat!("OTEL_", $processor, "_MAX_QUEUE_SIZE") => (via |variables, name, text| {
                variables.queue(name, text, |settings| &mut settings.$signal.batch)
            }),
            concat!("OTEL_", $processor, "_MAX_EXPORT_BATCH_SIZE") => (via |variables, name, text| {
                variables.batch_size(name, text, |settings| &mut settings.$signal.batch)
            }),
        ])
    };
}

/// Settings of single signals. A limit of a signal comes after the limit for all signals, because it replaces that one.
const SIGNALS: [Setting; 19] = [
    exporters!("traces.exporters", traces, "OTEL_TRACES_EXPORTER"),
    setting!("traces.sampler", Now, (traces.sampler),
        variables: [
            "OTEL_TRACES_SAMPLER" => (values::sampler),
            "OTEL_TRACES_SAMPLER_ARG" => (via env::sampler_argument),
        ],
        section: (|section| section.sampling_ratio.map(Sampler::Ratio))),
    setting!("traces.limits", Now, (traces.limits), variables: [
        "OTEL_ATTRIBUTE_COUNT_LIMIT" => (count => traces.limits.attributes),
        "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT" => (count => traces.limits.value_bytes),
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT" => (count => traces.limits.attributes),
        "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT" => (count => traces.limits.value_bytes),
        "OTEL_SPAN_EVENT_COUNT_LIMIT" => (count => traces.limits.events),
        "OTEL_SPAN_LINK_COUNT_LIMIT" => (count => traces.limits.links),
        "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT" => (count => traces.limits.attributes_per_event),
        "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT" => (count => traces.attributes_per_link),
    ], file: [
        "attribute_limits.attribute_value_length_limit" => (count => traces.limits.value_bytes),
        "attribute_limits.attribute_count_limit" => (count => traces.limits.attributes),
        "tracer_provider.limits.attribute_value_length_limit" => (count => traces.limits.value_bytes),
        "tracer_provider.limits.attribute_count_limit" => (count => traces.limits.attributes),
        "tracer_provider.limits.event_count_limit" => (count => traces.limits.events),
        "tracer_provider.limits.link_count_limit" => (count => traces.limits.links),
        "tracer_provider.limits.event_attribute_count_limit" => (count => traces.limits.attributes_per_event),
        "tracer_provider.limits.link_attribute_count_limit" => (count => traces.attributes_per_link),
    ]),
    setting!("traces.attributes_per_link", Now, (traces.attributes_per_link)),
    batch!("traces.batch", traces, "BSP"),
    exporters!("metrics.exporters", metrics, "OTEL_METRICS_EXPORTER"),
    setting!("metrics.prometheus.host", AsExporters, (metrics.prometheus.host),
        variables: ["OTEL_EXPORTER_PROMETHEUS_HOST" => (values::any_text)]),
    setting!("metrics.prometheus.port", AsExporters, (metrics.prometheus.port),
        variables: ["OTEL_EXPORTER_PROMETHEUS_PORT" => (values::port)]),
    setting!("metrics.interval", Now, (metrics.interval),
        variables: ["OTEL_METRIC_EXPORT_INTERVAL" => (values::interval)], section: (|section| section.metric_interval_ms)),
    setting!("metrics.timeout", Now, (metrics.timeout),
        variables: ["OTEL_METRIC_EXPORT_TIMEOUT" => (values::timeout)]),
    setting!("metrics.temporality", Later, (metrics.temporality),
        variables: ["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE" => (values::temporality)]),
    setting!("metrics.histograms", Later, (metrics.histograms),
        variables: ["OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION" => (values::histograms)]),
    setting!("metrics.exemplars", Later, (metrics.exemplars),
        variables: ["OTEL_METRICS_EXEMPLAR_FILTER" => (values::exemplars)],
        file: ["meter_provider.exemplar_filter" => (values::exemplars)]),
    setting!("metrics.cardinality", Later, (metrics.cardinality)),
    setting!("metrics.sdk_names", Later, (metrics.sdk_names),
        variables: ["TC_SDK_METRICS" => (values::switch)],
        file: ["distribution.tracecast.sdk_metrics" => (values::truth)]),
    setting!("metrics.views", Later, (metrics.views)),
    exporters!("logs.exporters", logs, "OTEL_LOGS_EXPORTER"),
    setting!("logs.limits", Later, (logs.limits), variables: [
        "OTEL_ATTRIBUTE_COUNT_LIMIT" => (count => logs.limits.attributes),
        "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT" => (count => logs.limits.value_bytes),
        "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT" => (count => logs.limits.attributes),
        "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT" => (count => logs.limits.value_bytes),
    ], file: [
        "attribute_limits.attribute_value_length_limit" => (count => logs.limits.value_bytes),
        "attribute_limits.attribute_count_limit" => (count => logs.limits.attributes),
        "logger_provider.limits.attribute_value_length_limit" => (count => logs.limits.value_bytes),
        "logger_provider.limits.attribute_count_limit" => (count => logs.limits.attributes),
    ]),
    batch!("logs.batch", logs, "BLRP"),
];

const TABLE: [&[Setting]; 6] = [&GENERAL, &OTLP, &OTLP_TRACES, &OTLP_METRICS, &OTLP_LOGS, &SIGNALS];

/// Parts of settings that [`Config::get`] can read.
pub(super) const PARTS: [(&str, Show); 20] = [
    ("traces.batch.delay", |settings| settings.traces.batch.delay.shown()),
    ("traces.batch.timeout", |settings| settings.traces.batch.timeout.shown()),
    ("traces.batch.queue", |settings| settings.traces.batch.queue.shown()),
    ("traces.batch.size", |settings| settings.traces.batch.size.shown()),
    ("logs.batch.delay", |settings| settings.logs.batch.delay.shown()),
    ("logs.batch.timeout", |settings| settings.logs.batch.timeout.shown()),
    ("logs.batch.queue", |settings| settings.logs.batch.queue.shown()),
    ("logs.batch.size", |settings| settings.logs.batch.size.shown()),
    ("traces.limits.attributes", |settings| settings.traces.limits.attributes.shown()),
    ("traces.limits.value_bytes", |settings| settings.traces.limits.value_bytes.shown()),
    ("traces.limits.events", |settings| settings.traces.limits.events.shown()),
    ("traces.limits.links", |settings| settings.traces.limits.links.shown()),
    ("traces.limits.attributes_per_event", |settings| settings.traces.limits.attributes_per_event.shown()),
    ("logs.limits.attributes", |settings| settings.logs.limits.attributes.shown()),
    ("logs.limits.value_bytes", |settings| settings.logs.limits.value_bytes.shown()),
    ("metrics.cardinality.default", |settings| settings.metrics.cardinality.default.shown()),
    ("resource.schema_url", |settings| settings.resource.schema_url.shown()),
    ("spool.directory", |settings| settings.spool.as_ref()?.directory.shown()),
    ("spool.max_bytes", |settings| settings.spool.as_ref()?.max_bytes.shown()),
    ("spool.max_age", |settings| settings.spool.as_ref()?.max_age.shown()),
];

/// Returns all settings.
pub(super) fn settings() -> impl Iterator<Item = &'static Setting> {
    TABLE.into_iter().flatten()
}
