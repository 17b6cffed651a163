//! Reads settings from environment variables: OpenTelemetry's `OTEL_*` and our own.
//!
//! An empty variable counts as not set. An invalid value is ignored and reported, together with the accepted values.

use std::path::PathBuf;

use super::header::HeaderSource;
use super::level::LogFilter;
use super::origin::Origin;
use super::otlp::OtlpSettings;
use super::parts::{Batch, Exporter};
use super::problem::{Severity, Wrong};
use super::values::{self, Parsed, positive};
use super::{Config, Propagator, Settings, Spool, proxy};
use crate::base::secret::Masked;
use crate::declare::value::OwnedValue;
use crate::record::sampling::Sampler;

/// Looks up a variable.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The variables, and the configuration read from them so far.
pub(super) struct Variables<'a> {
    pub(super) lookup: Lookup<'a>,
    pub(super) config: Config,
}

impl Variables<'_> {
    /// Returns the value of a variable, without surrounding white space; `None` if it is empty or not set.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = (self.lookup)(name)?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Parses a text. Reports an invalid one and returns `None`.
    fn parsed<T>(&mut self, name: &str, text: &str, parse: impl FnOnce(&str) -> Parsed<T>) -> Option<T> {
        parse(text).map_err(|wrong| self.complain(name, text, wrong)).ok()
    }

    /// Parses a text and sets the value. Reports an invalid text and returns false.
    pub(super) fn put<T>(
        &mut self,
        name: &str,
        text: &str,
        parse: impl FnOnce(&str) -> Parsed<T>,
        put: impl FnOnce(&mut Settings, T),
    ) -> bool {
        let value = self.parsed(name, text, parse);
        value.map(|value| put(&mut self.config.settings, value)).is_some()
    }

    fn complain(&mut self, name: &str, text: &str, wrong: Wrong) {
        self.config.problems.push(wrong.at(name, &Masked::from(text.to_owned()), Severity::Warning));
    }

    pub(super) fn attribute(&mut self, attribute: &str, text: &str) -> bool {
        self.config.settings.resource.set(attribute, Masked::from(OwnedValue::from(text.to_owned())));
        true
    }

    /// Sets a limit of the spool, or reports that there is no spool, which `TC_SPOOL_DIR` or a file creates. Always
    /// returns false, because the limit does not become the spool's origin.
    pub(super) fn spool_bound<T>(
        &mut self,
        name: &str,
        text: &str,
        parse: impl FnOnce(&str) -> Parsed<T>,
        put: impl FnOnce(&mut Spool, T),
    ) -> bool {
        let Some(value) = self.parsed(name, text, parse) else { return false };
        match &mut self.config.settings.spool {
            Some(spool) => put(spool, value),
            None => self.complain(name, text, Wrong::with_help("requires TC_SPOOL_DIR", "spool disabled")),
        }
        false
    }

    /// Sets the file of a client certificate or of its key. If the other of the two is not set, reports that and sets
    /// nothing.
    pub(super) fn client_file(
        &mut self,
        name: &str,
        text: &str,
        place: fn(&mut Settings) -> &mut Option<Masked<PathBuf>>,
    ) -> bool {
        let tls = &self.config.settings.otlp.tls;
        let (other, known) = match name.strip_suffix("KEY") {
            Some(start) => (format!("{start}CERTIFICATE"), &tls.client_certificate),
            None => (name.replace("CLIENT_CERTIFICATE", "CLIENT_KEY"), &tls.client_key),
        };
        if known.is_none() && self.text(&other).is_none() {
            let wrong = Wrong::with_help(format!("requires {other}"), "client certificate disabled");
            self.complain(name, text, wrong);
            return false;
        }
        self.put(name, text, values::path, |settings, path| *place(settings) = Some(path))
    }

    /// Adds headers whose values are read from files to the headers that are set so far. A header with the same name is
    /// replaced.
    pub(super) fn header_files(
        &mut self,
        name: &str,
        text: &str,
        otlp: fn(&mut Settings) -> &mut OtlpSettings,
    ) -> bool {
        self.put(name, text, values::header_files, |settings, files| {
            let otlp = otlp(settings);
            otlp.headers.get_or_insert_default();
            files.into_iter().for_each(|(name, path)| otlp.set_header(&name, &HeaderSource::File(path.into())));
        })
    }

    /// Sets a list of exporters. Invalid names are skipped and reported; if no name is valid, sets nothing and returns
    /// false.
    pub(super) fn exporters(
        &mut self,
        name: &str,
        text: &str,
        place: fn(&mut Settings) -> &mut Option<Vec<Exporter>>,
    ) -> bool {
        let (mut exporters, mut understood) = (Vec::new(), false);
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match values::exporter(item, name == "OTEL_METRICS_EXPORTER") {
                Ok(Some(exporter)) if !exporters.contains(&exporter) => exporters.push(exporter),
                Ok(_) => {}
                Err(wrong) => {
                    self.complain(name, text, wrong.part(item));
                    continue;
                }
            }
            understood = true;
        }
        if understood {
            *place(&mut self.config.settings) = Some(exporters);
        }
        understood
    }

    /// Sets the size of a queue. A queue that is smaller than the default batch lowers the size of batches.
    pub(super) fn queue(&mut self, name: &str, text: &str, batch: fn(&mut Settings) -> &mut Batch) -> bool {
        self.put(name, text, positive, |settings, queue| {
            let batch = batch(settings);
            (batch.queue, batch.size) = (Some(queue), batch.size.min(queue));
        })
    }

    pub(super) fn batch_size(&mut self, name: &str, text: &str, batch: fn(&mut Settings) -> &mut Batch) -> bool {
        let Some(size) = self.parsed(name, text, positive) else { return false };
        let queue = batch(&mut self.config.settings).queue.filter(|queue| *queue < size);
        if let Some(queue) = queue {
            let queue_name = name.replace("MAX_EXPORT_BATCH_SIZE", "MAX_QUEUE_SIZE");
            let wrong = Wrong::new("is larger than the queue", format!("at most {queue}, the value of {queue_name}"));
            self.complain(name, text, wrong.using(queue.to_string()));
        }
        batch(&mut self.config.settings).size = queue.unwrap_or(size);
        true
    }
}

/// Sets the directory of the spool. Limits that a file sets are kept.
pub(super) fn spool_directory(variables: &mut Variables<'_>, _: &'static str, text: &str) -> bool {
    let spool = variables.config.settings.spool.get_or_insert_with(|| Spool::new(""));
    spool.directory = PathBuf::from(text).into();
    true
}

/// Sets the proxy for `http`. Ignored in a CGI program, where a client sets this variable by sending a header `Proxy`.
pub(super) fn http_proxy(variables: &mut Variables<'_>, name: &'static str, text: &str) -> bool {
    if variables.text("REQUEST_METHOD").is_some() {
        let wrong = Wrong::with_help(
            "is ignored in a CGI program, where clients can set it",
            "set `http_proxy` in lower case instead",
        );
        variables.complain(name, text, wrong.secret());
        return false;
    }
    variables.put(name, text, proxy::parse, |settings, proxy| settings.proxies.http = Some(proxy))
}

/// Turns all telemetry off if the value is `true`, which overrides `OTEL_ENABLED=true`. Returns whether that changed
/// the setting.
pub(super) fn sdk_disabled(variables: &mut Variables<'_>, name: &'static str, text: &str) -> bool {
    let is_off = variables.parsed(name, text, values::standard_switch) == Some(true);
    let is_new = is_off && variables.config.settings.enabled != Some(false);
    if is_new {
        variables.config.settings.enabled = Some(false);
    }
    is_new
}

/// Sets resource attributes. Variables of single attributes are read later, so they override the ones set here.
pub(super) fn resource_attributes(variables: &mut Variables<'_>, name: &'static str, text: &str) -> bool {
    let Some(attributes) = variables.parsed(name, text, values::resource_attributes) else { return false };
    for (attribute, value) in attributes {
        variables.attribute(&attribute, &value);
    }
    variables.config.attributes_came_from(&Origin::Variable(name));
    true
}

pub(super) fn propagators(variables: &mut Variables<'_>, name: &'static str, text: &str) -> bool {
    let (propagators, wrong) = values::propagators(text);
    // If all names are invalid, the defaults stay, whereas `none` disables propagation.
    let understood = !propagators.is_empty() || wrong.is_empty();
    if understood {
        variables.config.settings.propagators = propagators;
    }
    let used = variables.config.settings.propagators.iter().copied().map(propagator_name).collect::<Vec<_>>().join(",");
    for wrong in wrong {
        variables.complain(name, text, wrong.using(used.clone()));
    }
    understood
}

fn propagator_name(propagator: Propagator) -> &'static str {
    match propagator {
        Propagator::TraceContext => "tracecontext",
        Propagator::Baggage => "baggage",
        Propagator::B3 => "b3",
        Propagator::B3Multi => "b3multi",
    }
}

/// Sets the log filter. `RUST_LOG` is ignored if `LOG_LEVEL` has a valid directive.
pub(super) fn log_filter(variables: &mut Variables<'_>, name: &'static str, text: &str) -> bool {
    if *variables.config.origin("log_filter") == Origin::Variable("LOG_LEVEL") {
        return false;
    }
    let read = if name == "RUST_LOG" { LogFilter::read_rust_log } else { LogFilter::read };
    let (filter, wrong) = read(text);
    for wrong in wrong {
        variables.complain(name, text, wrong);
    }
    let Some(filter) = filter else { return false };
    variables.config.settings.log_filter = filter.into();
    true
}

/// Sets the ratio of a ratio sampler; other samplers ignore it. Without `OTEL_TRACES_SAMPLER`, reports that it is
/// required.
pub(super) fn sampler_argument(variables: &mut Variables<'_>, name: &'static str, text: &str) -> bool {
    if matches!(variables.config.settings.traces.sampler, Sampler::Ratio(_)) {
        let ratio = |text: &str| values::ratio(text).map_err(|wrong| wrong.using("1"));
        variables.put(name, text, ratio, |settings, ratio| settings.traces.sampler = Sampler::Ratio(ratio));
    } else if variables.text("OTEL_TRACES_SAMPLER").is_none() {
        let wrong = Wrong::new("requires OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER=parentbased_traceidratio");
        variables.complain(name, text, wrong.using("parentbased_always_on"));
    }
    false
}
