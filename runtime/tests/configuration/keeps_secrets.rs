//! Headers, keys, user info in addresses and substituted values print nowhere, whatever is wrong with them.

use std::error::Error;
use std::fmt::Write;

use tracecast::config::{Config, ConfigError, Endpoint, Secret, Signal};

const SECRET: &str = "hunter2";

/// Everything that a configuration can print.
fn printed(config: &Config) -> String {
    let mut all = format!("{config:?} {config:#?}");
    for problem in config.problems() {
        write!(all, "{problem} {problem:?}").unwrap();
    }
    for signal in Signal::ALL {
        write!(all, "{:?}", config.destinations(signal)).unwrap();
    }
    for (setting, origin) in config.origins() {
        write!(all, "{setting} {origin} {:?}", config.get(setting)).unwrap();
    }
    all
}

fn printed_error(error: &ConfigError) -> String {
    format!("{error} {error:?} {error:#?} {:?}", error.source())
}

fn check(printed: &str, what: &str) {
    assert!(!printed.contains(SECRET), "{what}: {printed}");
}

#[test]
fn of_variables() {
    let headers = [
        "authorization=Bearer hunter2",
        "hunter2",
        "a=hunter2%zz",
        "a=ok,hunter2",
        "hunter2 x=1",
        "=hunter2",
        "a=%0ahunter2",
    ];
    let addresses = [
        "http://me:hunter2@x:4318",
        "http://hunter2@x",
        "ftp://me:hunter2@x",
        "me:hunter2@x:4318",
        "http://me:hunter2@x:99999",
        "http://me:hunter2@",
        "http://me:hunter2@x y",
        "http://x/?token=hunter2",
        "ftp://x/?token=hunter2",
        "http://x/?token=hunter2#f",
    ];
    for scope in ["", "TRACES_", "METRICS_", "LOGS_"] {
        for (variable, values) in [("HEADERS", &headers[..]), ("ENDPOINT", &addresses[..])] {
            for value in values {
                let name = format!("OTEL_EXPORTER_OTLP_{scope}{variable}");
                let config = Config::from_variables(|asked| match asked {
                    "OTEL_ENABLED" => Some("true".to_owned()),
                    _ => (asked == name).then(|| (*value).to_owned()),
                });
                check(&printed(&config), &format!("{name}={value}"));
            }
        }
    }
}

#[test]
fn of_code() {
    let endpoint: Endpoint = "http://me:hunter2@x:4318/?k=hunter2".parse().unwrap();
    let config = Config::new().with_endpoint(endpoint).with_header("authorization", Secret::new(SECRET));
    check(&printed(&config), "code");
    let error = "ftp://me:hunter2@x".parse::<Endpoint>().unwrap_err();
    check(&format!("{error} {error:?}"), "an error of an endpoint");
}

/// Each value of a file in turn comes from a variable, right or wrong.
#[test]
fn of_files() {
    let places = [
        "disabled: ${S}",
        "log_level: ${S}",
        "resource: {attributes_list: 'a=${S}'}",
        "resource: {attributes_list: '${S}'}",
        "resource: {schema_url: '${S}', attributes: [{name: a, value: '${S}'}]}",
        "resource: {attributes: [{name: a, value: '${S}', type: int}]}",
        "resource: {attributes: [{name: a, value: ['x', '${S}'], type: string_array}]}",
        "resource: {attributes: [{name: a, value: x, type: '${S}'}]}",
        "propagator: {composite_list: '${S}'}",
        "attribute_limits: {attribute_count_limit: '${S}'}",
        "tracer_provider: ${S}",
        "tracer_provider: {processors: ${S}}",
        "tracer_provider: {processors: [{batch: {schedule_delay: '${S}', exporter: {console: }}}]}",
        "tracer_provider: {processors: [{batch: {exporter: {otlp_http: {endpoint: 'http://${S}:1/x'}}}}]}",
        "tracer_provider: {processors: [{batch: {exporter: {otlp_http: {endpoint: '${S}'}}}}]}",
        "tracer_provider: {processors: [{batch: {exporter: {otlp_http: {headers_list: '${S}'}}}}]}",
        "tracer_provider: {processors: [{batch: {exporter: {otlp_http: {headers: [{name: a, value: '${S}'}]}}}}]}",
        "tracer_provider: {processors: [{batch: {exporter: {otlp_http: {headers: [{name: 'b a', value: '${S}'}]}}}}]}",
        "tracer_provider: {processors: [{batch: {exporter: {otlp_http: {tls: {ca_file: '${S}'}}}}}]}",
        "tracer_provider: {processors: [{batch: {exporter: {otlp_http: {tls: {key_file: '${S}', cert_file: '${S}'}}}}}]}",
        "tracer_provider: {processors: [{batch: {exporter: {otlp_http: {compression: '${S}'}}}}]}",
        "tracer_provider: {processors: [], sampler: {trace_id_ratio_based: {ratio: '${S}'}}}",
        "meter_provider: {readers: [], exemplar_filter: '${S}'}",
        "meter_provider: {readers: [], views: [{selector: {instrument_name: '${S}'}, stream: {name: '${S}', description: '${S}', attribute_keys: {included: ['${S}'], excluded: ['${S}']}}}]}",
        "instrumentation/development: {general: {stability_opt_in_list: '${S}'}}",
        "distribution: {tracecast: {role: '${S}'}}",
        "distribution: {tracecast: {filter: '${S}'}}",
        "distribution: {tracecast: {filter: '${S}=off'}}",
        "distribution: {tracecast: {log_filter: '${S}'}}",
        "distribution: {tracecast: {log_filter: '${S}=warn'}}",
        "distribution: {tracecast: {memory_limit: '${S}'}}",
        "mine: ${S}",
    ];
    for place in places {
        let text = format!("file_format: '1.0'\n{place}");
        match Config::from_yaml(&text, |name| (name == "S").then(|| SECRET.to_owned())) {
            Ok(config) => check(&printed(&config), place),
            Err(error) => check(&printed_error(&error), place),
        }
    }
    let format = Config::from_yaml("file_format: ${S}", |_| Some(SECRET.to_owned())).unwrap_err();
    check(&printed_error(&format), "file_format");
}

/// Headers and addresses that stand in the file itself are as secret.
#[test]
fn of_files_without_variables() {
    let exporters = [
        "headers_list: 'a=hunter2'",
        "headers_list: 'hunter2'",
        "headers: [{name: a, value: hunter2}]",
        "headers: [{name: a b, value: hunter2}]",
        "headers: [{name: a, value: [hunter2]}]",
        "endpoint: 'http://me:hunter2@x/'",
        "endpoint: 'ftp://me:hunter2@x/'",
        "endpoint: 'me:hunter2@x'",
    ];
    for exporter in exporters {
        let text = format!(
            "file_format: '1.0'\ntracer_provider: {{processors: [{{batch: {{exporter: {{otlp_http: {{{exporter}}}}}}}}}]}}"
        );
        match Config::from_yaml(&text, |_| None) {
            Ok(config) => check(&printed(&config), exporter),
            Err(error) => check(&printed_error(&error), exporter),
        }
    }
}
