//! A configuration that is read again while another one is in force.
//!
//! What the source says now is compared with what it said before. Only settings in which the two differ are changed, and
//! only if neither code nor the application's section has the last word about them. So a source in which nothing changed
//! changes nothing, whoever set what.

use super::origin::Origin;
use super::{Config, Signal};

/// When a change of a setting takes effect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// At once.
    Now,
    /// As a part of what goes where, which is compared as a whole.
    AsExporters,
    /// With the next start.
    Later,
    /// It concerns the reading of the configuration itself.
    Never,
}

/// A setting, by its name and its place in `Config`.
struct Setting {
    /// As in `Config::origin`.
    name: &'static str,
    when: When,
    differs: fn(&Config, &Config) -> bool,
    copy: fn(&mut Config, &Config),
}

impl Setting {
    /// The names under which `Config::origin` knows it.
    fn parts(&self) -> impl Iterator<Item = &'static str> {
        let others: &[&str] = if self.name == "resource" { &["service_name", "role"] } else { &[] };
        std::iter::once(self.name).chain(others.iter().copied())
    }
}

macro_rules! settings {
    ($($name:literal $when:ident $($field:ident).+),* $(,)?) => {
        [$(Setting {
            name: $name,
            when: When::$when,
            differs: |one, other| one.$($field).+ != other.$($field).+,
            copy: |to, from| to.$($field).+.clone_from(&from.$($field).+),
        }),*]
    };
}

const SETTINGS: [Setting; 65] = settings![
    "enabled" AsExporters enabled,
    "debug" AsExporters debug,
    "console" Later console,
    "strict" Never strict,
    "resource" Later resource,
    "interop" Later interop,
    "propagators" Later propagators,
    "log_filter" Now log_filter,
    "own_level" Now own_level,
    "semconv" Later semconv,
    "filter" Now filter,
    "memory_limit" Later memory_limit,
    "spool" Later spool,
    "otlp.endpoint" AsExporters otlp.address,
    "otlp.protocol" AsExporters otlp.protocol,
    "otlp.headers" AsExporters otlp.headers,
    "otlp.tls.ca" AsExporters otlp.tls.ca,
    "otlp.tls.client_certificate" AsExporters otlp.tls.client_certificate,
    "otlp.tls.client_key" AsExporters otlp.tls.client_key,
    "otlp.compression" AsExporters otlp.compression,
    "otlp.timeout" AsExporters otlp.timeout,
    "otlp.insecure" AsExporters otlp.insecure,
    "traces.otlp.endpoint" AsExporters traces.otlp.address,
    "traces.otlp.protocol" AsExporters traces.otlp.protocol,
    "traces.otlp.headers" AsExporters traces.otlp.headers,
    "traces.otlp.tls.ca" AsExporters traces.otlp.tls.ca,
    "traces.otlp.tls.client_certificate" AsExporters traces.otlp.tls.client_certificate,
    "traces.otlp.tls.client_key" AsExporters traces.otlp.tls.client_key,
    "traces.otlp.compression" AsExporters traces.otlp.compression,
    "traces.otlp.timeout" AsExporters traces.otlp.timeout,
    "traces.otlp.insecure" AsExporters traces.otlp.insecure,
    "traces.exporters" AsExporters traces.exporters,
    "traces.limits" Now traces.limits,
    "traces.attributes_per_link" Now traces.attributes_per_link,
    "traces.batch" Now traces.batch,
    "metrics.otlp.endpoint" AsExporters metrics.otlp.address,
    "metrics.otlp.protocol" AsExporters metrics.otlp.protocol,
    "metrics.otlp.headers" AsExporters metrics.otlp.headers,
    "metrics.otlp.tls.ca" AsExporters metrics.otlp.tls.ca,
    "metrics.otlp.tls.client_certificate" AsExporters metrics.otlp.tls.client_certificate,
    "metrics.otlp.tls.client_key" AsExporters metrics.otlp.tls.client_key,
    "metrics.otlp.compression" AsExporters metrics.otlp.compression,
    "metrics.otlp.timeout" AsExporters metrics.otlp.timeout,
    "metrics.otlp.insecure" AsExporters metrics.otlp.insecure,
    "metrics.exporters" AsExporters metrics.exporters,
    "metrics.interval" Now metrics.interval,
    "metrics.timeout" Now metrics.timeout,
    "metrics.temporality" Later metrics.temporality,
    "metrics.histograms" Later metrics.histograms,
    "metrics.exemplars" Later metrics.exemplars,
    "metrics.cardinality" Later metrics.cardinality,
    "metrics.views" Later metrics.views,
    "logs.otlp.endpoint" AsExporters logs.otlp.address,
    "logs.otlp.protocol" AsExporters logs.otlp.protocol,
    "logs.otlp.headers" AsExporters logs.otlp.headers,
    "logs.otlp.tls.ca" AsExporters logs.otlp.tls.ca,
    "logs.otlp.tls.client_certificate" AsExporters logs.otlp.tls.client_certificate,
    "logs.otlp.tls.client_key" AsExporters logs.otlp.tls.client_key,
    "logs.otlp.compression" AsExporters logs.otlp.compression,
    "logs.otlp.timeout" AsExporters logs.otlp.timeout,
    "logs.otlp.insecure" AsExporters logs.otlp.insecure,
    "logs.exporters" AsExporters logs.exporters,
    "logs.limits" Later logs.limits,
    "logs.batch" Now logs.batch,
    "logs.lines" Later logs.lines,
];

/// A custom sampler is compared by its name.
const SAMPLER: Setting = Setting {
    name: "traces.sampler",
    when: When::Now,
    differs: |one, other| format!("{:?}", one.traces.sampler) != format!("{:?}", other.traces.sampler),
    copy: |to, from| to.traces.sampler.clone_from(&from.traces.sampler),
};

fn settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().chain([&SAMPLER])
}

impl Config {
    /// This configuration with what its source, read again, says differently now.
    pub(crate) fn read_again(&self, fresh: Config) -> Config {
        let said = |config: &Config| {
            let mut said = config.clone();
            // Said of all signals and of each exporter at once, also of those that a file names only now.
            self.code.0.iter().for_each(|change| change(&mut said));
            said
        };
        let (before, now) = (self.as_read.as_deref().map(said).unwrap_or_default(), said(&fresh));
        let mut next = self.clone();
        let is_new = |setting: &&Setting| (setting.differs)(&before, &now) && (setting.differs)(self, &now);
        for setting in settings().filter(is_new).filter(|setting| !self.decides(setting, &before, &now)) {
            (setting.copy)(&mut next, &now);
            for part in setting.parts() {
                next.origins.set(part, now.origins.of(part).clone());
            }
        }
        Config { problems: fresh.problems.clone(), as_read: fresh.as_read, ..next }
    }

    /// Whether code or the application's section has the last word about a setting, whatever its source says.
    fn decides(&self, setting: &Setting, before: &Config, now: &Config) -> bool {
        let is = |origin: Origin| setting.parts().any(|part| *self.origins.of(part) == origin);
        let is_changed = (setting.differs)(self, before);
        if is(Origin::Section) {
            return is_changed && setting.parts().all(|part| *now.origins.of(part) == Origin::Default);
        }
        // What code said of OTLP is in both: it was said of what is read now, too.
        is_changed || is(Origin::Code) && !setting.name.contains("otlp.")
    }

    /// Settings that are different in another configuration: those that can be changed at run time, and those that cannot.
    pub(crate) fn differences(&self, other: &Config) -> (Vec<&'static str>, Vec<&'static str>) {
        let exporters = |config: &Config| Signal::ALL.map(|signal| config.destinations(signal));
        let named = |when: When| {
            let of_kind = settings().filter(move |setting| setting.when == when && (setting.differs)(self, other));
            of_kind.map(|setting| setting.name)
        };
        let changed = (exporters(self) != exporters(other)).then_some("exporters");
        (changed.into_iter().chain(named(When::Now)).collect(), named(When::Later).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{
        Address, Compression, ConsoleFormat, Exemplars, Exporter, HistogramAggregation, Interop, Level, LogLines,
        OtlpSettings, Propagator, Protocol, Source, Spool, Telemetry, TemporalityPreference, TlsFiles, View,
    };
    use crate::record::sampling::Sampler;

    fn otlp() -> OtlpSettings {
        let file = |name: &str| Some(std::path::PathBuf::from(name).into());
        OtlpSettings {
            address: Some(Address::Base("http://other:4318".parse::<crate::config::Endpoint>().unwrap().into())),
            protocol: Some(Protocol::HttpJson),
            headers: Some(vec![("x-key".to_owned(), crate::base::secret::Secret::new("other"))]),
            tls: TlsFiles { ca: file("ca"), client_certificate: file("certificate"), client_key: file("key") },
            compression: Some(Compression::Gzip),
            timeout: Some(Duration::from_secs(77)),
            insecure: Some(true),
        }
    }

    /// A configuration in which every setting is other than its default.
    fn other() -> Config {
        let mut other = Config { otlp: otlp(), ..Config::default() };
        other.enabled = Some(true);
        other.debug = true;
        other.console = ConsoleFormat::Json;
        other.strict = true;
        other.resource.set("service.name", crate::declare::value::OwnedValue::from("other".to_owned()).into());
        other.interop = if other.interop == Interop::Off { Interop::Boundaries } else { Interop::Off };
        other.propagators = vec![Propagator::B3];
        other.log_filter = "debug".parse::<crate::config::LogFilter>().unwrap().into();
        other.own_level = Level::Trace;
        other.semconv = vec!["http".to_owned().into()];
        other.filter = "Store=off".parse::<crate::declare::filter::Filter>().unwrap().into();
        other.memory_limit = 1 << 20;
        other.spool = Some(Spool::new("other"));
        (other.traces.otlp, other.metrics.otlp, other.logs.otlp) = (otlp(), otlp(), otlp());
        let exporters = || Some(vec![Exporter::Console]);
        (other.traces.exporters, other.metrics.exporters, other.logs.exporters) =
            (exporters(), exporters(), exporters());
        other.traces.sampler = Sampler::Ratio(0.5);
        other.traces.limits.attributes = 3;
        other.traces.attributes_per_link = Some(3);
        other.traces.batch.size = 3;
        other.metrics.interval = Duration::from_secs(3);
        other.metrics.timeout = Duration::from_secs(3);
        other.metrics.temporality = TemporalityPreference::Delta;
        other.metrics.histograms = HistogramAggregation::Exponential;
        other.metrics.exemplars = Exemplars::Off;
        other.metrics.cardinality.default = Some(3);
        other.metrics.views = vec![View::default()];
        other.logs.limits.attributes = 3;
        other.logs.batch.size = 3;
        other.logs.lines = Some(LogLines::Json);
        other
    }

    /// The names of the settings in which two configurations differ.
    fn differing(one: &Config, two: &Config) -> Vec<&'static str> {
        settings().filter(|setting| (setting.differs)(one, two)).map(|setting| setting.name).collect()
    }

    fn read(config: Config) -> Config {
        config.read_from(Source::Variables)
    }

    #[test]
    fn each_setting_can_be_read_again_by_itself() {
        assert_eq!(differing(&Config::default(), &other()).len(), settings().count());
        for setting in settings() {
            let running = read(Config::default());
            let mut fresh = Config::default();
            (setting.copy)(&mut fresh, &other());
            let next = running.read_again(read(fresh));
            assert_eq!(differing(&running, &next), [setting.name]);
            // And once more, back to the default.
            let back = next.read_again(read(Config::default()));
            assert_eq!(differing(&running, &back), [""; 0]);
        }
    }

    #[test]
    fn headers_that_code_adds_come_on_top_of_those_that_are_read() {
        let source = |key: &str| {
            let mut source = Config::default();
            source.otlp.headers = Some(vec![("key".to_owned(), crate::base::secret::Secret::new(key))]);
            read(source)
        };
        let running = source("1").with_header("x", crate::base::secret::Secret::new("y"));
        let expected = source("2").with_header("x", crate::base::secret::Secret::new("y"));
        assert_eq!(running.read_again(source("2")).otlp.headers, expected.otlp.headers);
    }

    #[test]
    fn a_source_that_says_the_same_changes_nothing_whoever_set_what() {
        for setting in settings() {
            // By a field.
            let mut running = read(Config::default());
            (setting.copy)(&mut running, &other());
            let next = running.read_again(read(Config::default()));
            assert_eq!(differing(&running, &next), [""; 0], "{}", setting.name);
            // Code has the last word, also if the source says something else later.
            let mut third = Config { memory_limit: 7 << 20, ..Config::default() };
            third.metrics.interval = Duration::from_secs(7);
            let next = running.read_again(read(third));
            assert!(!(setting.differs)(&running, &next), "{}", setting.name);
        }
        let section = r#"{"service_name": "store", "otlp_endpoint": "http://collector:4318", "sampling_ratio": 0.1}"#;
        let section: Telemetry = serde_json::from_str(section).unwrap();
        let running = read(Config::default()).with_telemetry(section);
        assert!(running.is_on(Signal::Traces));
        let next = running.read_again(read(Config::default()));
        assert_eq!(differing(&running, &next), [""; 0]);
        // Also beside attributes that a source sets.
        let mut attributes = Config::default();
        attributes.resource.set("env", crate::declare::value::OwnedValue::from("prod".to_owned()).into());
        attributes.origins.set("resource", Origin::Variable("OTEL_RESOURCE_ATTRIBUTES"));
        let section: Telemetry = serde_json::from_str(r#"{"service_name": "store"}"#).unwrap();
        let beside = read(attributes.clone()).with_telemetry(section);
        assert_eq!(differing(&beside, &beside.read_again(read(attributes))), [""; 0]);
        // What a source says goes before the section.
        let mut fresh = Config::default();
        fresh.traces.sampler = Sampler::AlwaysOff;
        fresh.origins.set("traces.sampler", Origin::Variable("OTEL_TRACES_SAMPLER"));
        assert_eq!(differing(&running, &running.read_again(read(fresh))), ["traces.sampler"]);
    }
}
