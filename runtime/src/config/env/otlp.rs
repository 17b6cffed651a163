//! `OTEL_EXPORTER_OTLP_*`, for all signals and for one.

use std::path::PathBuf;

use super::Variables;
use crate::base::secret::Masked;
use crate::config::otlp::{Address, OtlpSettings, Signal, TlsFiles};
use crate::config::problem::Wrong;
use crate::config::values;

/// The variables of one scope, each with the setting that it fills.
struct Names {
    endpoint: (&'static str, &'static str),
    protocol: (&'static str, &'static str),
    headers: (&'static str, &'static str),
    certificate: (&'static str, &'static str),
    client_certificate: (&'static str, &'static str),
    client_key: (&'static str, &'static str),
    compression: (&'static str, &'static str),
    timeout: (&'static str, &'static str),
    insecure: (&'static str, &'static str),
}

macro_rules! names {
    ($signal:literal, $setting:literal) => {
        Names {
            endpoint: names!(@ $signal, "ENDPOINT", $setting, "endpoint"),
            protocol: names!(@ $signal, "PROTOCOL", $setting, "protocol"),
            headers: names!(@ $signal, "HEADERS", $setting, "headers"),
            certificate: names!(@ $signal, "CERTIFICATE", $setting, "tls.ca"),
            client_certificate: names!(@ $signal, "CLIENT_CERTIFICATE", $setting, "tls.client_certificate"),
            client_key: names!(@ $signal, "CLIENT_KEY", $setting, "tls.client_key"),
            compression: names!(@ $signal, "COMPRESSION", $setting, "compression"),
            timeout: names!(@ $signal, "TIMEOUT", $setting, "timeout"),
            insecure: names!(@ $signal, "INSECURE", $setting, "insecure"),
        }
    };
    (@ $signal:literal, $variable:literal, $scope:literal, $setting:literal) => {
        (concat!("OTEL_EXPORTER_OTLP_", $signal, $variable), concat!($scope, "otlp.", $setting))
    };
}

const ALL: Names = names!("", "");
const TRACES: Names = names!("TRACES_", "traces.");
const METRICS: Names = names!("METRICS_", "metrics.");
const LOGS: Names = names!("LOGS_", "logs.");

impl Variables<'_> {
    pub(super) fn otlp(&mut self) {
        self.config.otlp = self.settings(&ALL, Address::Base);
        for (signal, names) in [(Signal::Traces, &TRACES), (Signal::Metrics, &METRICS), (Signal::Logs, &LOGS)] {
            *self.config.otlp_of(signal) = self.settings(names, Address::Exact);
        }
    }

    fn settings(&mut self, names: &Names, address: fn(Masked<super::super::Endpoint>) -> Address) -> OtlpSettings {
        let protocol = self.from(names.protocol, values::protocol);
        let named = protocol.or(self.config.otlp.protocol);
        let endpoint = self.from(names.endpoint, |text| values::endpoint(text, named));
        OtlpSettings {
            address: endpoint.map(|endpoint| address(endpoint.into())),
            protocol,
            headers: self.from(names.headers, values::headers),
            tls: self.tls(names),
            compression: self.from(names.compression, values::compression),
            timeout: self.from(names.timeout, values::timeout),
            insecure: self.from(names.insecure, values::standard_switch),
        }
    }

    fn tls(&mut self, names: &Names) -> TlsFiles {
        let path = |text: &str| Ok(Masked::from(PathBuf::from(text)));
        let ca = self.from(names.certificate, path);
        let client_certificate = self.from(names.client_certificate, path);
        let client_key = self.from(names.client_key, path);
        match (&client_certificate, &client_key) {
            (Some(_), None) if self.config.otlp.tls.client_key.is_none() => {
                self.stands_alone(names.client_certificate.0, names.client_key.0);
                TlsFiles { ca, ..TlsFiles::default() }
            }
            (None, Some(_)) if self.config.otlp.tls.client_certificate.is_none() => {
                self.stands_alone(names.client_key.0, names.client_certificate.0);
                TlsFiles { ca, ..TlsFiles::default() }
            }
            _ => TlsFiles { ca, client_certificate, client_key },
        }
    }

    fn stands_alone(&mut self, given: &'static str, missing: &'static str) {
        let text = self.text(given).unwrap_or_default();
        let wrong = Wrong::new("stands alone", format!("{missing} beside it")).using("no client certificate");
        self.complain(given, text, wrong);
    }

    fn from<T>(
        &mut self,
        (variable, setting): (&'static str, &'static str),
        parse: impl FnOnce(&str) -> values::Parsed<T>,
    ) -> Option<T> {
        let value = self.read(variable, parse)?;
        self.came_from(setting, variable);
        Some(value)
    }
}
