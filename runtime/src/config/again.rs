//! A configuration that is read again while another one is in force.

use super::Config;
use super::origin::Origin;

impl Config {
    /// This configuration, and where code had the last word about the other one, that.
    pub(crate) fn with_what_code_said(mut self, other: &Config) -> Config {
        let code: Vec<_> = other.origins.settings().filter(|(_, origin)| **origin == Origin::Code).collect();
        for (setting, origin) in code {
            match setting {
                "enabled" => self.enabled = other.enabled,
                "debug" => self.debug = other.debug,
                "console" => self.console = other.console,
                "filter" => self.filter = other.filter.clone(),
                "log_filter" => self.log_filter = other.log_filter.clone(),
                "logs.lines" => self.logs.lines = other.logs.lines,
                "traces.sampler" => self.traces.sampler = other.traces.sampler.clone(),
                "traces.limits" => self.traces.limits = other.traces.limits,
                "traces.exporters" => self.traces.exporters = other.traces.exporters.clone(),
                "metrics.exporters" => self.metrics.exporters = other.metrics.exporters.clone(),
                "metrics.interval" => self.metrics.interval = other.metrics.interval,
                "logs.exporters" => self.logs.exporters = other.logs.exporters.clone(),
                "resource" | "service_name" | "role" => self.resource = other.resource.clone(),
                "propagators" => self.propagators = other.propagators.clone(),
                "interop" => self.interop = other.interop,
                "spool" => self.spool = other.spool.clone(),
                "memory_limit" => self.memory_limit = other.memory_limit,
                "strict" => self.strict = other.strict,
                // Those of OTLP are made again below; the hook is taken along in any case.
                _ => {}
            }
            self.origins.set(setting, origin.clone());
        }
        // These were said of all signals and of each exporter at once.
        for change in &other.code.0 {
            change(&mut self);
        }
        self.code = other.code.clone();
        self.redact = other.redact.clone();
        self.source = other.source.clone();
        self
    }

    /// Settings that are different in another configuration: those that can be changed at run time, and those that cannot.
    pub(crate) fn differences(&self, other: &Config) -> (Vec<&'static str>, Vec<&'static str>) {
        fn differing<T: std::fmt::Debug>(name: &'static str, one: &T, two: &T) -> Option<&'static str> {
            (format!("{one:?}") != format!("{two:?}")).then_some(name)
        }
        let exporters = |config: &Config| super::Signal::ALL.map(|signal| config.destinations(signal));
        let hot = [
            (exporters(self) != exporters(other)).then_some("exporters"),
            differing("traces.sampler", &self.traces.sampler, &other.traces.sampler),
            differing("traces.limits", &self.traces.limits, &other.traces.limits),
            differing("traces.batch", &self.traces.batch, &other.traces.batch),
            differing("logs.batch", &self.logs.batch, &other.logs.batch),
            differing("metrics.interval", &self.metrics.interval, &other.metrics.interval),
            (*self.filter != *other.filter).then_some("filter"),
            (*self.log_filter != *other.log_filter).then_some("log_filter"),
        ];
        let cold = [
            (self.resource != other.resource).then_some("resource"),
            differing("propagators", &self.propagators, &other.propagators),
            differing("semconv", &self.semconv, &other.semconv),
            differing("memory_limit", &self.memory_limit, &other.memory_limit),
            differing("metrics.temporality", &self.metrics.temporality, &other.metrics.temporality),
            differing("metrics.histograms", &self.metrics.histograms, &other.metrics.histograms),
            differing("metrics.exemplars", &self.metrics.exemplars, &other.metrics.exemplars),
            differing("metrics.cardinality", &self.metrics.cardinality, &other.metrics.cardinality),
            differing("metrics.views", &self.metrics.views, &other.metrics.views),
            differing("logs.lines", &self.logs.lines, &other.logs.lines),
            differing("logs.limits", &self.logs.limits, &other.logs.limits),
            differing("console", &self.console, &other.console),
            (self.spool != other.spool).then_some("spool"),
        ];
        (hot.into_iter().flatten().collect(), cold.into_iter().flatten().collect())
    }
}
