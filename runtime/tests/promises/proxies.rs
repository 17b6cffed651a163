//! Receivers behind a proxy that variables name, and tokens that are rotated. Each program is started as users do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tracecast::config::{Config, Secret, Signal};
use tracecast::prelude::*;
use tracecast_receiver::{Faulty, Folder, Mood, Receiver};

use crate::turn::turn;

#[tc_span("Store/Load")]
fn load() {}

const LONG: Duration = Duration::from_secs(20);

/// A proxy that sends everything to one receiver, by a tunnel if that is asked for. It keeps the heads of requests.
struct Proxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn to(receiver: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, heads) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let seen = heads.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = seen.clone();
                std::thread::spawn(move || forward(stream, receiver, &seen));
            }
        });
        Proxy { address, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn forward(stream: TcpStream, receiver: SocketAddr, seen: &Mutex<Vec<String>>) {
    let (mut back, mut reader) = (stream.try_clone().unwrap(), BufReader::new(stream));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let mut onward = TcpStream::connect(receiver).unwrap();
    if head.starts_with("CONNECT ") {
        back.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    } else {
        // A receiver wants the path alone.
        onward.write_all(head.replacen("http://collector.test:4318", "", 1).as_bytes()).unwrap();
    }
    seen.lock().unwrap().push(head);
    let answers = onward.try_clone().unwrap();
    std::thread::spawn(move || pass(answers, &mut back));
    pass(reader, &mut onward);
}

fn pass(mut from: impl Read, to: &mut TcpStream) {
    let _ = std::io::copy(&mut from, to);
    let _ = to.shutdown(Shutdown::Both);
}

fn config(variables: &[(&str, String)]) -> Config {
    Config::from_variables(|name| variables.iter().find(|(given, _)| *given == name).map(|(_, value)| value.clone()))
}

fn export(config: Config) {
    assert_eq!(config.problems(), []);
    let telemetry = config.init().unwrap();
    load();
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_exported, report.complete), (1, true), "{report}");
}

#[test]
fn http_goes_through_the_proxy_that_a_variable_names() {
    let _turn = turn();
    let receiver = Receiver::start();
    let proxy = Proxy::to(receiver.address);
    export(config(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector.test:4318/v1/traces".into()),
        ("HTTP_PROXY", proxy.address.to_string()),
        ("HTTPS_PROXY", "http://wrong.test".into()),
    ]));
    assert_eq!(receiver.at("/v1/traces").len(), 1);
    assert!(
        proxy.heads()[0].starts_with("POST http://collector.test:4318/v1/traces HTTP/1.1\r\n"),
        "{:?}",
        proxy.heads()
    );
}

#[cfg(feature = "grpc")]
#[test]
fn grpc_goes_through_a_tunnel() {
    let _turn = turn();
    let receiver = Faulty::start(true, Mood::Up, false);
    let proxy = Proxy::to(receiver.address);
    let config = config(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector.test:4317".into()),
        ("https_proxy", format!("http://ann:hunter2@{}", proxy.address)),
        ("NO_PROXY", "other.test".into()),
    ]);
    let expected = format!("http://collector.test:4317 by grpc through http://[secret]@{}", proxy.address);
    assert_eq!(config.destinations(Signal::Traces), [expected]);
    export(config);
    let [head] = &proxy.heads()[..] else { panic!("{:?}", proxy.heads()) };
    assert!(head.starts_with("CONNECT collector.test:4317 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("Basic YW5uOmh1bnRlcjI="), "{head}");
}

#[test]
fn loopback_is_reached_without_the_proxy() {
    let _turn = turn();
    let receiver = Receiver::start();
    let proxy = Proxy::to(receiver.address);
    export(config(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("http://{}/v1/traces", receiver.address)),
        ("HTTP_PROXY", proxy.address.to_string()),
    ]));
    assert_eq!((receiver.at("/v1/traces").len(), proxy.heads().len()), (1, 0));
}

#[test]
fn a_token_is_read_again_when_its_file_changes() {
    let _turn = turn();
    let (receiver, folder) = (Receiver::start(), Folder::new("rotated"));
    let file = folder.0.join("token");
    std::fs::write(&file, "first\n").unwrap();
    let telemetry = config(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("http://{}/v1/traces", receiver.address)),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=store".into()),
        ("TC_OTLP_HEADER_FILES", format!("authorization={}", file.display())),
    ])
    .init()
    .unwrap();
    for token in ["first", "second"] {
        std::fs::write(folder.0.join("next"), token).unwrap();
        std::fs::rename(folder.0.join("next"), &file).unwrap();
        load();
        assert!(telemetry.flush(LONG).complete);
        let requests = receiver.at("/v1/traces");
        let last = requests.last().unwrap();
        assert_eq!(
            (last.header("authorization"), last.header("x-team")),
            (format!("bearer {token}").as_str(), "store")
        );
    }
    assert!(telemetry.shutdown(LONG).complete);
}

#[test]
fn a_callback_gives_each_request_its_token() {
    let _turn = turn();
    let receiver = Receiver::start();
    let count = std::sync::atomic::AtomicUsize::new(0);
    let token = move || Some(Secret::new(format!("t{}", count.fetch_add(1, std::sync::atomic::Ordering::SeqCst))));
    let config = Config::new()
        .with_signal_endpoint(Signal::Traces, format!("http://{}/v1/traces", receiver.address).parse().unwrap())
        .with_header_from("x-token", token);
    let telemetry = config.init().unwrap();
    for token in ["t0", "t1"] {
        load();
        assert!(telemetry.flush(LONG).complete);
        assert_eq!(receiver.at("/v1/traces").last().unwrap().header("x-token"), token);
    }
    assert!(telemetry.shutdown(LONG).complete);
}
