//! What can be changed without a restart: sampling, filters, whole signals, the file; and what sees every text.

use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use prost::Message;
use tracecast::config::{Batch, Config, ConsoleFormat, Exporter, OtlpSettings, Signal};
use tracecast::prelude::*;
use tracecast::{Guard, InternedKey, Report, Sampler};
use tracecast_receiver::Receiver;

use crate::turn::turn;

tracecast::tc_keys! {
    /// What a user asked for.
    pub id prompt: str = "tc.test.prompt";
    /// A slot of a large table.
    pub label slot: Index<1500> = "tc.test.slot";
    /// Who asked.
    pub label tenant: Interned<4> = "tc.test.tenant";
}

tc_metrics! {
    /// Loads.
    static LOADS: Counter = "tc_loads_total";
    /// Loads of a slot: enough series for large requests.
    static BY_SLOT: Counter<(slot,)> = "tc_loads_by_slot_total";
    /// Loads of a tenant.
    static BY_TENANT: Counter<(tenant,)> = "tc_loads_by_tenant_total";
}

#[tc_span("Store/Load", attrs(prompt = text))]
fn load(text: &str) {
    LOADS.add(1, ());
}

#[tc_span("Cache/Look")]
fn look() {}

#[tc_span("Store/Fail", attrs(prompt = "kept"))]
fn fail() -> Result<(), std::io::Error> {
    Err(std::io::Error::other("token=hunter2"))
}

const LONG: Duration = Duration::from_secs(20);

fn to(receiver: &Receiver) -> Config {
    Config::new().with_endpoint(receiver.endpoint())
}

/// Sends batches at once, however few spans they have.
fn soon(batch: &mut Batch) {
    batch.delay = Duration::from_millis(50);
}

fn traces_to(receiver: &Receiver) -> OtlpSettings {
    let endpoint = format!("{}/v1/traces", receiver.endpoint::<String>());
    OtlpSettings::default().with_endpoint(endpoint.parse().unwrap())
}

fn flush(telemetry: &Guard) -> Report {
    let report = telemetry.flush(LONG);
    assert!(report.complete, "{report}");
    report
}

#[test]
fn sampling_and_filters() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = to(&receiver).with_sampler(Sampler::AlwaysOff).init().unwrap();
    load("unsampled");
    telemetry.set_sampler(&Sampler::AlwaysOn).unwrap();
    load("sampled");
    telemetry.set_filter("Store=off".parse().unwrap()).unwrap();
    load("filtered");
    look();
    telemetry.set_sampler(&Sampler::Ratio(0.0)).unwrap();
    look();
    assert_eq!(flush(&telemetry).spans_exported, 2);
    assert_eq!(receiver.span_names(), ["Store/Load", "Cache/Look"]);
}

#[test]
fn signals_off_and_on_again() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = to(&receiver).with_exporters(Signal::Logs, Vec::new()).init().unwrap();
    load("one");
    telemetry.set_enabled(Signal::Traces, false).unwrap();
    load("two");
    assert!(!telemetry.is_on(Signal::Traces) && telemetry.is_on(Signal::Metrics));
    telemetry.set_enabled(Signal::Traces, true).unwrap();
    load("three");
    assert_eq!(flush(&telemetry).spans_exported, 2, "what was recorded before it was switched off is exported");
    assert_eq!(receiver.last_sum("tc_loads_total"), Some(3), "metrics went on");

    telemetry.set_enabled(Signal::Metrics, false).unwrap();
    load("four");
    let before = receiver.at("/v1/metrics").len();
    assert_eq!(flush(&telemetry).spans_exported, 3);
    assert_eq!(receiver.at("/v1/metrics").len(), before, "nothing is sent of a signal that is off");
    telemetry.set_enabled(Signal::Metrics, true).unwrap();
    load("five");
    flush(&telemetry);
    assert_eq!(receiver.last_sum("tc_loads_total"), Some(4), "it goes on from where it was");

    let error = telemetry.set_enabled(Signal::Logs, true).unwrap_err();
    assert_eq!(error.to_string(), "logs have no exporter; set OTEL_LOGS_EXPORTER or an endpoint");
}

fn file(receiver: &Receiver, ratio: f64, filter: &str) -> String {
    format!(
        "file_format: '1.0'
tracer_provider:
  sampler: {{trace_id_ratio_based: {{ratio: {ratio}}}}}
  processors: [{{batch: {{exporter: {{otlp_http: {{endpoint: 'http://{}/v1/traces'}}}}}}}}]
distribution: {{tracecast: {{filter: '{filter}'}}}}
",
        receiver.address
    )
}

#[test]
fn the_file_is_read_again() {
    let _turn = turn();
    let (first, second) = (Receiver::start(), Receiver::start());
    let folder = std::env::temp_dir().join(format!("tracecast-reload-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("telemetry.yaml");
    std::fs::write(&path, file(&first, 1.0, "Cache=off")).unwrap();
    let telemetry = Config::from_file(&path).unwrap().init().unwrap();
    load("one");
    look();
    assert_eq!(flush(&telemetry).spans_exported, 1);

    std::fs::write(&path, file(&second, 1.0, "Store=off")).unwrap();
    let reloaded = telemetry.reload().unwrap();
    assert_eq!((reloaded.changed, reloaded.needs_restart), (vec!["exporters", "filter"], vec![]));
    load("two");
    look();
    assert_eq!(flush(&telemetry).spans_exported, 2, "both receivers count");
    assert_eq!((first.span_names(), second.span_names()), (vec!["Store/Load".into()], vec!["Cache/Look".into()]));

    std::fs::write(&path, "file_format: '1.0'\ntracer_provider: {loud: true}\n").unwrap();
    let error = telemetry.reload().unwrap_err().to_string();
    assert!(error.contains("tracer_provider") && error.contains("loud"), "{error}");
    let chain = (1..500).map(|at| format!("- &a{at} [*a{}]\n", at - 1)).collect::<String>();
    let hostile = [
        (format!("- &a {}\n{}", "x".repeat(60_000), "- *a\n".repeat(90_000)), "line 70: file: is too large"),
        (format!("- &a0 []\n{chain}"), "line 64: file: is nested too deep"),
    ];
    for (text, expected) in hostile {
        std::fs::write(&path, text).unwrap();
        let error = telemetry.reload().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    look();
    assert_eq!(flush(&telemetry).spans_exported, 3, "a wrong file changes nothing");

    std::fs::write(&path, "file_format: '1.0'\nresource: {attributes: [{name: a, value: b}]}\n").unwrap();
    let reloaded = telemetry.reload().unwrap();
    assert_eq!(reloaded.needs_restart, ["resource"]);
    assert!(!telemetry.is_on(Signal::Traces), "without exporters it is off");
    look();
    assert_eq!(flush(&telemetry).spans_exported, 3);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_code_said_stays() {
    let _turn = turn();
    let receiver = Receiver::start();
    let folder = std::env::temp_dir().join(format!("tracecast-code-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("telemetry.yaml");
    std::fs::write(&path, file(&receiver, 0.0, "")).unwrap();
    let telemetry = Config::from_file(&path).unwrap().with_sampler(Sampler::AlwaysOn).init().unwrap();
    std::fs::write(&path, file(&receiver, 0.0, "Cache=off")).unwrap();
    assert_eq!(telemetry.reload().unwrap().changed, ["filter"]);
    load("sampled");
    assert_eq!(flush(&telemetry).spans_exported, 1);
    drop(telemetry);
    let error = to(&receiver).init().unwrap().reload().unwrap_err().to_string();
    assert!(error.starts_with("nothing to reload: the program built the configuration"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

tracecast::tc_keys! {
    /// Shared with spans and log records.
    pub id tags: [str] = "tc.test.tags" { logs };
}

#[tc_span("Store/List", attrs("tc.test.list" = texts), share(tags = texts))]
fn list(texts: &[&str]) {
    tracing::info!("listed");
}

#[test]
fn a_hook_sees_every_text() {
    let _turn = turn();
    for protocol in [tracecast::config::Protocol::HttpProtobuf, tracecast::config::Protocol::HttpJson] {
        let receiver = Receiver::start();
        let telemetry = to(&receiver)
            .with_protocol(protocol)
            .with_resource_attribute("owner", "hunter2@example.org")
            .with_redaction(|name, text| match name {
                "tc.test.prompt" if text == "kept" => None,
                _ => text.contains("hunter2").then(|| "[removed]".to_owned()),
            })
            .init()
            .unwrap();
        load("hunter2 is my password");
        list(&["kept in a list", "hunter2 too"]);
        let _ = fail();
        BY_TENANT.add(1, (tenant::intern("hunter2 inc"),));
        flush(&telemetry);
        let bodies: Vec<_> =
            receiver.all().iter().map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect();
        assert!(bodies.len() >= 2, "{bodies:?}");
        assert!(bodies.iter().all(|body| !body.contains("hunter2")), "{bodies:?}");
        let removed = bodies.iter().map(|body| body.matches("[removed]").count()).sum::<usize>();
        // The attribute, the error's message (as attribute and as status), the tenant, a text in each of three lists, and the
        // resource of each request.
        assert!(removed >= 7 + bodies.len(), "{removed}: {bodies:?}");
        assert_eq!(bodies.iter().map(|body| body.matches("kept in a list").count()).sum::<usize>(), 3, "{bodies:?}");
        assert!(bodies.iter().any(|body| body.contains("kept")), "{bodies:?}");
    }
}

#[test]
fn a_hook_serves_receivers_of_both_forms() {
    let _turn = turn();
    let receivers = [Receiver::start(), Receiver::start()];
    let protocols = [tracecast::config::Protocol::HttpProtobuf, tracecast::config::Protocol::HttpJson];
    let exporters = receivers
        .iter()
        .zip(protocols)
        .map(|(receiver, protocol)| Exporter::Otlp(Box::new(traces_to(receiver).with_protocol(protocol))));
    let telemetry = Config::new()
        .with_exporters(Signal::Traces, exporters.collect())
        .with_redaction(|_, text| text.contains("hunter2").then(|| "[removed]".to_owned()))
        .init()
        .unwrap();
    load("hunter2 is my password");
    load("kept");
    assert_eq!(flush(&telemetry).spans_exported, 2);
    for receiver in &receivers {
        let bodies = receiver.all();
        let text: String = bodies.iter().map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect();
        assert!(!text.contains("hunter2") && text.contains("[removed]") && text.contains("kept"), "{text}");
        assert_eq!(text.matches("Store/Load").count(), 2, "{text}");
    }
}

#[test]
fn with_several_receivers_the_slowest_counts() {
    let _turn = turn();
    let (well, sick) = (Receiver::start(), Receiver::start());
    sick.set_sick(true);
    let otlp = |receiver: &Receiver| Exporter::Otlp(Box::new(traces_to(receiver)));
    let config = Config::new()
        .with_console(ConsoleFormat::Json)
        .with_exporters(Signal::Traces, vec![otlp(&well), Exporter::Console, otlp(&sick)]);
    let telemetry = config.init().unwrap();
    load("one");
    let report = telemetry.flush(Duration::from_millis(500));
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_pending), (1, 0, 1), "{report}");
    assert_eq!(well.span_names(), ["Store/Load"]);
    sick.set_sick(false);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_pending), (1, 1, 0), "{report}");
    assert_eq!(sick.span_names(), ["Store/Load"]);
}

struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("tracecast-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_waits_goes_to_the_new_receiver() {
    let _turn = turn();
    let (first, second, folder) = (Receiver::start(), Receiver::start(), Folder::new("moves"));
    first.set_sick(true);
    let path = folder.0.join("telemetry.yaml");
    std::fs::write(&path, file(&first, 1.0, "")).unwrap();
    let telemetry = Config::from_file(&path).unwrap().init().unwrap();
    load("one");
    let report = telemetry.flush(Duration::from_millis(300));
    assert_eq!((report.spans_pending, report.complete), (1, false), "{report}");
    std::fs::write(&path, file(&second, 1.0, "")).unwrap();
    telemetry.reload().unwrap();
    load("two");
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.complete), (2, 2, true), "{report}");
    assert_eq!((first.span_names().len(), second.span_names().len()), (0, 2));
}

#[test]
fn beside_another_receiver_what_waits_goes_where_it_was_to_go() {
    let _turn = turn();
    let (first, second, folder) = (Receiver::start(), Receiver::start(), Folder::new("beside"));
    first.set_sick(true);
    let path = folder.0.join("telemetry.yaml");
    std::fs::write(&path, file(&first, 1.0, "")).unwrap();
    // The console is the other one.
    let telemetry = Config::from_file(&path).unwrap().with_debug(true).init().unwrap();
    load("one");
    telemetry.flush(Duration::from_millis(300));
    std::fs::write(&path, file(&second, 1.0, "")).unwrap();
    telemetry.reload().unwrap();
    load("two");
    let report = telemetry.flush(Duration::from_millis(300));
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_pending), (2, 1, 1), "{report}");
    first.set_sick(false);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.complete), (2, 2, true), "{report}");
    assert_eq!((first.span_names().len(), second.span_names().len()), (1, 1));
}

#[test]
fn what_is_on_disk_does_not_go_where_it_went_before() {
    let _turn = turn();
    let (first, second, folder) = (Receiver::start(), Receiver::start(), Folder::new("tenants"));
    second.set_sick(true);
    let path = folder.0.join("telemetry.yaml");
    std::fs::write(&path, file(&first, 1.0, "")).unwrap();
    let spool = tracecast::config::Spool::new(folder.0.join("spool"));
    let telemetry = Config::from_file(&path).unwrap().with_spool(spool).init().unwrap();
    std::fs::write(&path, file(&second, 1.0, "")).unwrap();
    telemetry.reload().unwrap();
    load("for the second");
    let report = telemetry.flush(Duration::from_secs(3));
    assert_eq!((report.spans_ended, report.spans_spooled), (1, 1), "{report}");
    second.set_sick(false);
    let began = std::time::Instant::now();
    while second.span_names().is_empty() && began.elapsed() < LONG {
        telemetry.flush(LONG);
    }
    assert_eq!((first.span_names().len(), second.span_names().len()), (0, 1));
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_exported, report.spans_spooled), (1, 0), "{report}");
}

#[test]
fn what_code_said_of_exporters_is_said_again() {
    let _turn = turn();
    let (receiver, folder) = (Receiver::start(), Folder::new("again"));
    let path = folder.0.join("telemetry.yaml");
    std::fs::write(&path, file(&receiver, 1.0, "")).unwrap();
    let config = Config::from_file(&path).unwrap().with_protocol(tracecast::config::Protocol::HttpJson);
    let telemetry = config.with_service_name("store").init().unwrap();
    std::fs::write(&path, file(&receiver, 1.0, "Cache=off")).unwrap();
    let reloaded = telemetry.reload().unwrap();
    assert_eq!((reloaded.changed, reloaded.needs_restart), (vec!["filter"], vec![]));
    load("one");
    assert!(telemetry.shutdown(LONG).complete);
    assert_eq!(receiver.at("/v1/traces")[0].header("content-type"), "application/json");
}

#[test]
fn reading_the_same_again_changes_nothing() {
    let _turn = turn();
    let receiver = Receiver::start();
    let section = format!(r#"{{"service_name": "store", "otlp_endpoint": "{}"}}"#, receiver.endpoint::<String>());
    let config = Config::from_env().with_telemetry(serde_json::from_str(&section).unwrap());
    let telemetry = config.with_span_batch(|batch| batch.size = 256).init().unwrap();
    load("one");
    telemetry.set_filter("Cache=off".parse().unwrap()).unwrap();
    let reloaded = telemetry.reload().unwrap();
    assert_eq!((reloaded.changed, reloaded.needs_restart), (vec![], vec![]));
    load("two");
    look();
    assert!(telemetry.shutdown(LONG).complete);
    assert_eq!(receiver.span_names().len(), 2);
}

/// A file, of which a test changes one thing at a time.
#[derive(Clone, Copy)]
struct Said<'a> {
    to: &'a Receiver,
    ratio: f64,
    bytes: u32,
    size: u32,
    interval: u32,
    name: &'a str,
    filter: &'a str,
    log_filter: &'a str,
}

impl Said<'_> {
    fn yaml(&self) -> String {
        let Said { to, ratio, bytes, size, interval, name, filter, log_filter } = *self;
        let to = to.address;
        format!(
            "file_format: '1.0'
resource: {{attributes: [{{name: service.name, value: {name}}}]}}
tracer_provider:
  sampler: {{trace_id_ratio_based: {{ratio: {ratio}}}}}
  limits: {{attribute_value_length_limit: {bytes}}}
  processors:
    - batch:
        schedule_delay: 3600000
        max_export_batch_size: {size}
        exporter: {{otlp_http: {{endpoint: 'http://{to}/v1/traces'}}}}
meter_provider:
  readers: [{{periodic: {{interval: {interval}, exporter: {{otlp_http: {{endpoint: 'http://{to}/v1/metrics'}}}}}}}}]
distribution: {{tracecast: {{filter: '{filter}', log_filter: {log_filter}}}}}
"
        )
    }
}

/// What is seen of five calls from outside: which receiver got spans, how many of each name, the bytes of a text, the most
/// spans of a request, and the name of the service.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    by: [bool; 2],
    names: [usize; 2],
    bytes: usize,
    most: usize,
    service: String,
}

fn seen(telemetry: &Guard, receivers: [&Receiver; 2]) -> Seen {
    let before = receivers.map(|receiver| receiver.at("/v1/traces").len());
    (0..4).for_each(|_| load("0123456789"));
    look();
    flush(telemetry);
    let mut seen = Seen { by: [false; 2], names: [0; 2], bytes: 0, most: 0, service: String::new() };
    for (at, receiver) in receivers.into_iter().enumerate() {
        for request in &receiver.at("/v1/traces")[before[at]..] {
            let decoded = ExportTraceServiceRequest::decode(&request.body[..]).unwrap();
            let [resource] = &decoded.resource_spans[..] else { panic!("{decoded:?}") };
            let attributes = resource.resource.iter().flat_map(|resource| &resource.attributes);
            let text = |value: &Option<AnyValue>| match value.as_ref().and_then(|value| value.value.clone()) {
                Some(any_value::Value::StringValue(text)) => text,
                _ => String::new(),
            };
            let service = attributes.clone().find(|attribute| attribute.key == "service.name").unwrap();
            seen.service = text(&service.value);
            let spans: Vec<_> = resource.scope_spans.iter().flat_map(|scope| &scope.spans).collect();
            (seen.by[at], seen.most) = (true, seen.most.max(spans.len()));
            for span in spans {
                seen.names[usize::from(span.name == "Cache/Look")] += 1;
                let prompt = span.attributes.iter().find(|attribute| attribute.key == "tc.test.prompt");
                seen.bytes = prompt.map_or(seen.bytes, |prompt| text(&prompt.value).len());
            }
        }
    }
    seen
}

#[test]
fn one_setting_that_is_read_again_changes_and_nothing_else() {
    let _turn = turn();
    let (first, second, folder) = (Receiver::start(), Receiver::start(), Folder::new("one"));
    let path = folder.0.join("telemetry.yaml");
    let base = Said {
        to: &first,
        ratio: 1.0,
        bytes: 8,
        size: 100,
        interval: 3_600_000,
        name: "store",
        filter: "",
        log_filter: "info",
    };
    std::fs::write(&path, base.yaml()).unwrap();
    let telemetry = Config::from_file(&path).unwrap().init().unwrap();
    let look = || seen(&telemetry, [&first, &second]);
    let usual = Seen { by: [true, false], names: [4, 1], bytes: 8, most: 5, service: "store".to_owned() };
    assert_eq!(look(), usual);
    let nothing = Seen { by: [false; 2], names: [0; 2], bytes: 0, most: 0, service: String::new() };
    let cases = [
        (base, None, usual.clone()),
        (Said { ratio: 0.0, ..base }, Some("traces.sampler"), nothing),
        (Said { bytes: 3, ..base }, Some("traces.limits"), Seen { bytes: 3, ..usual.clone() }),
        (Said { size: 2, ..base }, Some("traces.batch"), Seen { most: 2, ..usual.clone() }),
        (Said { filter: "Cache=off", ..base }, Some("filter"), Seen { names: [4, 0], most: 4, ..usual.clone() }),
        (Said { to: &second, ..base }, Some("exporters"), Seen { by: [false, true], ..usual.clone() }),
        (Said { log_filter: "debug", ..base }, Some("log_filter"), usual.clone()),
        (Said { interval: 10, ..base }, Some("metrics.interval"), usual.clone()),
        (Said { name: "other", ..base }, None, usual.clone()),
    ];
    for (said, changed, expected) in cases {
        std::fs::write(&path, said.yaml()).unwrap();
        let reloaded = telemetry.reload().unwrap();
        let needs_restart = Some("service_name").filter(|_| said.name != base.name);
        assert_eq!(
            (reloaded.changed, reloaded.needs_restart),
            (Vec::from_iter(changed), Vec::from_iter(needs_restart))
        );
        assert_eq!(look(), expected, "{changed:?}");
        if said.interval != base.interval {
            let (before, began) = (first.at("/v1/metrics").len(), std::time::Instant::now());
            while first.at("/v1/metrics").len() < before + 2 {
                assert!(began.elapsed() < LONG, "metrics are not sent by themselves");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        // And once more, back to where it was.
        std::fs::write(&path, base.yaml()).unwrap();
        assert_eq!(telemetry.reload().unwrap().changed, Vec::from_iter(changed));
        assert_eq!(look(), usual, "{changed:?}");
    }
}

#[test]
fn a_timeout_that_is_read_again_is_in_force() {
    let _turn = turn();
    // It takes connections and never answers.
    let (silent, folder) = (std::net::TcpListener::bind("127.0.0.1:0").unwrap(), Folder::new("timeout"));
    let path = folder.0.join("telemetry.yaml");
    let yaml = |timeout: u32| {
        format!(
            "file_format: '1.0'\ntracer_provider:\n  processors:\n    - batch:\n        export_timeout: {timeout}\n        \
             exporter:\n          otlp_http:\n            endpoint: http://{}/v1/traces\n            timeout: 60000\n",
            silent.local_addr().unwrap()
        )
    };
    std::fs::write(&path, yaml(60_000)).unwrap();
    let telemetry = Config::from_file(&path).unwrap().init().unwrap();
    std::fs::write(&path, yaml(50)).unwrap();
    let reloaded = telemetry.reload().unwrap();
    assert_eq!((reloaded.changed, reloaded.needs_restart), (vec!["traces.batch"], vec![]));
    load("one");
    telemetry.flush(Duration::ZERO);
    // With the old timeout the second attempt would come after a minute.
    let (send, attempts) = std::sync::mpsc::channel();
    std::thread::spawn(move || silent.incoming().try_for_each(|attempt| send.send(attempt)));
    let attempts: Vec<_> = (0..2).map(|_| attempts.recv_timeout(LONG)).collect();
    assert!(attempts.iter().all(Result::is_ok), "{attempts:?}");
    assert_eq!(telemetry.shutdown(Duration::ZERO).spans_pending, 1);
}

#[test]
fn a_receiver_that_is_down_does_not_hold_up_another_signal() {
    let _turn = turn();
    let (well, sick) = (Receiver::start(), Receiver::start());
    sick.set_sick(true);
    let config =
        to(&well).with_signal_endpoint(Signal::Metrics, format!("http://{}/v1/metrics", sick.address).parse().unwrap());
    let config = config.with_span_batch(soon).with_metric_interval(Duration::from_millis(5));
    let telemetry = config.with_memory_limit(4 << 20).init().unwrap();
    // Large requests, until those of metrics fill the memory that they may use.
    (0..1500_u32).for_each(|slot| BY_SLOT.add(1, (slot,)));
    let began = std::time::Instant::now();
    while telemetry.flush(Duration::from_millis(20)).points_dropped == 0 {
        assert!(began.elapsed() < LONG, "metrics never filled the memory");
    }
    (0..2_000).for_each(|_| load("x"));
    while well.span_names().len() < 2_000 {
        assert!(began.elapsed() < 2 * LONG, "{}", telemetry.flush(Duration::from_millis(20)));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(telemetry.shutdown(Duration::from_millis(500)).spans_dropped, 0);
}

/// Stays open until its first marker has arrived.
#[tc_span("Store/Session", heartbeat = "1s")]
fn session(receiver: &Receiver) {
    let began = std::time::Instant::now();
    while !receiver.span_names().iter().any(|name| name == "Store/Session/open") {
        assert!(began.elapsed() < LONG, "no marker");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn markers_of_open_spans_are_accounted_for() {
    let _turn = turn();
    let receiver = Receiver::start();
    let config = to(&receiver).with_exporters(Signal::Metrics, Vec::new()).with_span_batch(soon);
    let telemetry = config.init().unwrap();
    session(&receiver);
    let report = telemetry.shutdown(LONG);
    let names = receiver.span_names();
    assert!(names.len() >= 2 && names.iter().any(|name| name == "Store/Session"), "{names:?}");
    assert_eq!((report.spans_ended, report.spans_exported), (names.len() as u64, names.len() as u64), "{report}");
}
