//! Headers, keys, user info of addresses and values that variables put into a file: whatever a program does with telemetry,
//! none of it is printed, and none of it is in what is sent but where it belongs, in the headers.
#![cfg(feature = "logs")]

use std::path::PathBuf;
use std::time::Duration;

use tracecast::InternedKey;
use tracecast::config::Config;
use tracecast::prelude::*;
use tracecast_receiver::Receiver;

use crate::child::Child;

const SECRET: &str = "hunter2";

tc_metrics! {
    /// Loads.
    static LOADS: Counter = "tc_loads_total";
}

tracecast::tc_keys! {
    /// Who pays.
    label tenant: Interned<1> = "tc.test.tenant";
}

#[tc_span("Store/Load")]
fn load() {
    LOADS.add(1, ());
    tracing::info!("loaded");
}

/// Does everything that could print something.
#[test]
fn program() {
    if crate::child::role().is_none() {
        return;
    }
    let config = Config::from_env();
    println!("{config:?} {config:#?}");
    for problem in config.problems() {
        println!("{problem} {problem:?}");
    }
    for signal in tracecast::config::Signal::ALL {
        println!("{:?}", config.destinations(signal));
    }
    match config.clone().init() {
        Ok(telemetry) => {
            load();
            println!("{}", telemetry.flush(Duration::from_millis(500)));
            println!("{:?}", telemetry.reload());
            load();
            println!("{}", telemetry.render_prometheus());
            println!("{:?}", telemetry.shutdown(Duration::from_millis(500)));
        }
        Err(error) => println!("{error} {error:?}"),
    }
    println!("{}", tracecast::catalogue().to_markdown());
    println!("{}", tracecast::init().shutdown(Duration::from_millis(100)));
}

#[test]
fn a_full_label_does_not_print_the_value_that_did_not_fit() {
    if crate::child::role().is_some() {
        return ["gold", SECRET, SECRET, "tin"].into_iter().for_each(|text| _ = tenant::intern(text));
    }
    let output =
        Child::new(module_path!(), "a_full_label_does_not_print_the_value_that_did_not_fit", "overflows").run();
    assert!(output.succeeded && !output.text.contains(SECRET), "{}", output.text);
    assert_eq!(
        output.said(),
        ["warning: label `tc.test.tenant` reached its limit of 1 values; new values become `other`"]
    );
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tracecast-secrets-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn check(variables: &[(&str, &str)], receiver: Option<&Receiver>) -> String {
    // Everything that can be said is said.
    let loud = [("LOG_LEVEL", "trace"), ("OTEL_LOG_LEVEL", "trace"), ("TC_OTEL_DEBUG", "1")];
    let output = Child::new(module_path!(), "program", "prints").variables(&[&loud[..], variables].concat()).run();
    assert!(output.succeeded, "{}", output.text);
    let shown: Vec<&str> = output.text.lines().filter(|line| line.contains(SECRET)).collect();
    assert!(shown.is_empty(), "{variables:?}: {shown:#?}");
    for request in receiver.into_iter().flat_map(Receiver::all) {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(!body.contains(SECRET), "{}: {body}", request.path);
    }
    output.text
}

#[test]
fn of_variables_whatever_becomes_of_the_receiver() {
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer hunter2,api-key=hunter2");
    for protocol in ["http/protobuf", "http/json", "grpc"] {
        for (what, sick) in [("well", false), ("sick", true)] {
            let receiver = Receiver::start();
            receiver.set_sick(sick);
            let endpoint = format!("http://me:hunter2@{}/base?key=hunter2", receiver.address);
            let variables = [
                ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
                headers,
                ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ];
            let text = check(&variables, Some(&receiver));
            assert!(text.contains("[secret]@"), "{protocol} {what}: {text}");
        }
    }
    // Nobody there, nobody who can be, and an address that is none.
    for endpoint in ["http://me:hunter2@127.0.0.1:9", "http://me:hunter2@nowhere.invalid:4318", "ftp://me:hunter2@x"] {
        check(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint), headers, ("OTEL_ENABLED", "true")], None);
    }
}

#[test]
fn a_receiver_that_repeats_them_is_not_quoted() {
    for status in ["400 Bad Request", "401 Unauthorized", "503 Service Unavailable"] {
        let receiver = Receiver::start();
        for _ in 0..20 {
            receiver.answer(&format!("HTTP/1.1 {status}\r\ncontent-type: text/plain"), b"wrong token: hunter2");
        }
        let endpoint = format!("http://{}", receiver.address);
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hunter2"),
        ];
        let text = check(&variables, Some(&receiver));
        assert!(text.contains("\"message\":\"traces to"), "it is told: {text}");
        assert!(!receiver.all().is_empty());
    }
}

#[test]
fn of_files_with_keys() {
    let folder = Folder::new("keys");
    let key = folder.write("key.pem", "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n");
    let certificate = folder.write("certificate.pem", "hunter2, which is no certificate");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:9"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate.as_str()),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", key.as_str()),
        ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", certificate.as_str()),
    ];
    let text = check(&variables, None);
    assert!(text.contains("certificate.pem"), "the file is named: {text}");
    check(&[&variables[..], &[("TC_STRICT", "true")]].concat(), None);
}

#[test]
fn of_a_file_that_variables_fill() {
    let folder = Folder::new("filled");
    let receiver = Receiver::start();
    let exporter = |signal: &str| {
        format!(
            "{{otlp_http: {{endpoint: 'http://me:${{PASSWORD}}@{}/v1/{signal}', headers: [{{name: authorization, value: \
             'Bearer ${{PASSWORD}}'}}], headers_list: 'x-key=${{PASSWORD}}'}}}}",
            receiver.address
        )
    };
    let file = |more: &str| {
        format!(
            "file_format: '1.0'\ntracer_provider: {{processors: [{{batch: {{exporter: {}}}}}]}}\nlogger_provider: \
             {{processors: [{{batch: {{exporter: {}}}}}]}}\n{more}\n",
            exporter("traces"),
            exporter("logs")
        )
    };
    let run = |name: &str, text: &str, receiver| {
        let path = folder.write(name, text);
        check(&[("OTEL_CONFIG_FILE", path.as_str()), ("PASSWORD", SECRET)], receiver)
    };
    let text = run("good.yaml", &file(""), Some(&receiver));
    assert!(text.contains("[secret]"), "{text}");
    assert!(!receiver.all().is_empty(), "it did reach the receiver");
    let wrong = [
        "disabled: ${PASSWORD}",
        "resource: {attributes: [{name: a, value: '${PASSWORD}', type: int}]}",
        "propagator: {composite_list: '${PASSWORD}'}",
        "meter_provider: {readers: [{periodic: {interval: '${PASSWORD}', exporter: {console: }}}]}",
        "meter_provider: {readers: [{periodic: {exporter: {otlp_http: {endpoint: 'ftp://${PASSWORD}'}}}}]}",
        "meter_provider: {readers: [{periodic: {exporter: {otlp_http: {tls: {ca_file: '/${PASSWORD}/ca.pem'}, endpoint: \
         'https://127.0.0.1:9'}}}}]}",
        "distribution: {tracecast: {memory_limit: '${PASSWORD}', filter: '${PASSWORD}', log_filter: '${PASSWORD}'}}",
        "anything: ${PASSWORD}",
    ];
    for more in wrong {
        run("wrong.yaml", &file(more), None);
    }
}

/// The tests above would find one: a name is no secret, and prints.
#[test]
fn what_is_looked_for_would_be_found() {
    let output = Child::new(module_path!(), "program", "prints")
        .variables(&[("OTEL_SERVICE_NAME", SECRET), ("TC_OTEL_DEBUG", "1")])
        .run();
    assert!(output.text.contains(SECRET), "{}", output.text);
}
