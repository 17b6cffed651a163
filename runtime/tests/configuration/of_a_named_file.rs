//! `OTEL_CONFIG_FILE` and `Config::from_file`: the file says everything, and a bad one means off.

use std::path::PathBuf;

use tracecast::config::{Config, Signal};

/// A file that goes away with the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tracecast-{}-{name}.yaml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        File(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn config(variables: &[(&str, &str)]) -> Config {
    Config::from_variables(|name| {
        variables.iter().find(|(given, _)| *given == name).map(|(_, value)| (*value).to_owned())
    })
}

const TRACES: &str = "file_format: '1.0'
resource: {attributes: [{name: service.name, value: '${NAME:-filed}'}]}
tracer_provider: {processors: [{batch: {exporter: {otlp_http: }}}]}";

#[test]
fn beside_a_file_other_standard_variables_are_ignored() {
    let file = File::new("beside", TRACES);
    let read = config(&[
        ("OTEL_CONFIG_FILE", file.path()),
        ("OTEL_SERVICE_NAME", "ignored"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://ignored:4318"),
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_SAMPLER", "nonsense"),
        ("TC_SPAN_FILTER", "Store=off"),
        ("LOG_LEVEL", "debug"),
    ]);
    assert_eq!(Signal::ALL.map(|signal| read.is_on(signal)), [true, false, false]);
    assert_eq!(read.service_name(), Some("filed"));
    assert!(!format!("{read:?}").contains("ignored"));
    assert_eq!(read.problems(), []);
    let filter = Config::new().with_filter("Store=off".parse().unwrap());
    assert_eq!(read.get("filter"), filter.get("filter"), "variables of ours hold beside a file");
    assert_ne!(read.get("filter"), Config::new().get("filter"));
    assert_eq!(read.origin("log_filter").to_string(), "LOG_LEVEL");
}

#[test]
fn variables_reach_the_file_by_substitution() {
    let file = File::new("substitution", TRACES);
    let read = config(&[("OTEL_CONFIG_FILE", file.path()), ("NAME", "given")]);
    assert_eq!(read.service_name(), Some("given"));
}

#[test]
fn a_bad_file_means_off() {
    let file = File::new("bad", "file_format: '1.0'\ntracer_provider: {processor: []}");
    let variables =
        [("OTEL_CONFIG_FILE", file.path()), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x:4318"), ("TC_STRICT", "true")];
    let read = config(&variables);
    assert_eq!(Signal::ALL.map(|signal| read.is_on(signal)), [false; 3]);
    assert_eq!(read.get("strict").as_deref(), Some("true"));
    assert!(read.problems().iter().any(|problem| problem.is_error()));
    assert_eq!(read.origin("enabled").to_string(), "OTEL_CONFIG_FILE");
    let text = read.problems()[0].to_string();
    assert!(text.starts_with(&format!("{} line 2: tracer_provider.", file.path())), "{text}");
}

#[test]
fn a_missing_file_is_named() {
    let error = Config::from_file("/nowhere/telemetry.yaml").unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/telemetry.yaml: cannot be read: "), "{error}");
    assert!(error.ends_with("; expected a YAML file with the configuration"), "{error}");
    assert!(!config(&[("OTEL_CONFIG_FILE", "/nowhere/telemetry.yaml")]).is_on(Signal::Traces));
}

#[test]
fn a_file_is_read_by_path() {
    let file = File::new("path", TRACES);
    assert!(Config::from_file(&file.0).unwrap().is_on(Signal::Traces));
}
