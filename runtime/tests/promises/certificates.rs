//! Certificates that variables name: the receiver's is checked, ours is shown, and files that change are read again.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use tracecast::config::Config;
use tracecast::prelude::*;
use tracecast_receiver::read_request;

use crate::turn::turn;

#[tc_span("Store/Load")]
fn load() {}

const LONG: Duration = Duration::from_secs(20);

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Issuer {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn issue(authority: &Issuer, name: &str) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    (CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, authority).unwrap(), key)
}

/// The files that variables name; they go away with the test.
struct Files(PathBuf);

impl Files {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("tracecast-certificates-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Files(folder)
    }

    /// Whom to trust, and who we are.
    fn write(&self, authority: &Issuer) {
        let (certificate, key) = issue(authority, "client");
        std::fs::write(self.0.join("ca.pem"), authority.pem()).unwrap();
        std::fs::write(self.0.join("client.pem"), certificate.pem()).unwrap();
        std::fs::write(self.0.join("client.key"), key.serialize_pem()).unwrap();
    }

    fn config(&self, address: SocketAddr) -> Config {
        let file = |name: &str| Some(self.0.join(name).to_str().unwrap().to_owned());
        Config::from_variables(|name| match name {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" => Some(format!("https://{address}/v1/traces")),
            "OTEL_EXPORTER_OTLP_CERTIFICATE" => file("ca.pem"),
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE" => file("client.pem"),
            "OTEL_EXPORTER_OTLP_CLIENT_KEY" => file("client.key"),
            _ => None,
        })
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Who answers, as long as nobody puts another in its place: certificate and clients are of this authority.
type Answering = Arc<Mutex<Arc<ServerConfig>>>;

fn server(authority: &Issuer) -> Arc<ServerConfig> {
    let (certificate, key) = issue(authority, "127.0.0.1");
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let builder = builder.with_client_cert_verifier(clients);
    Arc::new(builder.with_single_cert(vec![certificate.der().clone()], key).unwrap())
}

/// Answers one request on each connection. Gives for each how many certificates the client showed.
fn listen(answering: Answering) -> (SocketAddr, Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (send, received) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = answering.lock().unwrap().clone();
            let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
            if answered(&mut stream).is_some() {
                let _ = send.send(stream.conn.peer_certificates().map_or(0, <[_]>::len));
            }
        }
    });
    (address, received)
}

fn answered(stream: &mut (impl Read + Write)) -> Option<()> {
    read_request(&mut BufReader::new(&mut *stream))?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").ok()?;
    stream.flush().ok()
}

#[test]
fn files_that_variables_name_are_used_and_read_again_when_they_change() {
    let _turn = turn();
    let (first, second, files) = (authority(), authority(), Files::new("changed"));
    let answering: Answering = Arc::new(Mutex::new(server(&first)));
    let (address, received) = listen(answering.clone());
    files.write(&first);
    let telemetry = files.config(address).init().unwrap();
    load();
    let report = telemetry.flush(LONG);
    assert_eq!((report.spans_exported, report.complete), (1, true), "{report}");
    assert_eq!(received.recv_timeout(LONG), Ok(1), "the client showed its certificate");

    // Another authority, as when certificates are rotated: the receiver first, then the files.
    *answering.lock().unwrap() = server(&second);
    load();
    let report = telemetry.flush(Duration::from_millis(500));
    assert_eq!((report.spans_exported, report.spans_pending), (1, 1), "the old files are no good any more: {report}");
    files.write(&second);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_exported, report.spans_dropped, report.complete), (2, 0, true), "{report}");
    assert_eq!(received.recv_timeout(LONG), Ok(1));
}

#[test]
fn a_receiver_that_nobody_trusts_gets_nothing() {
    let _turn = turn();
    let files = Files::new("untrusted");
    let (address, received) = listen(Arc::new(Mutex::new(server(&authority()))));
    files.write(&authority());
    let telemetry = files.config(address).init().unwrap();
    load();
    let report = telemetry.shutdown(Duration::from_millis(500));
    assert_eq!((report.spans_exported, report.spans_pending), (0, 1), "{report}");
    assert!(received.try_recv().is_err());
}

/// Files that are wrong at the start, and files that are torn by a rotation, in a process whose lines can be read.
#[test]
fn wrong_files_are_reported() {
    let Some(role) = crate::child::role() else {
        let output = crate::child::Child::new(module_path!(), "wrong_files_are_reported", "start").run();
        let lines = output.text.lines().filter(|line| line.contains("certificate file")).count();
        assert!(output.succeeded && lines == 1, "a mistake shows before the first span: {}", output.text);
        let output = crate::child::Child::new(module_path!(), "wrong_files_are_reported", "rotation").run();
        let expected = "ca.pem` contains no certificate; expected PEM; using the previous certificates";
        assert!(output.succeeded && output.text.contains(expected), "{}", output.text);
        return;
    };
    let (authority, files) = (authority(), Files::new(&role));
    let (address, _received) = listen(Arc::new(Mutex::new(server(&authority))));
    files.write(&authority);
    let tear = || std::fs::write(files.0.join("ca.pem"), "torn").unwrap();
    if role == "start" {
        tear();
        let telemetry = files.config(address).init().unwrap();
        assert!(telemetry.shutdown(LONG).complete);
    } else {
        let telemetry = files.config(address).init().unwrap();
        load();
        assert_eq!(telemetry.flush(LONG).spans_exported, 1);
        tear();
        load();
        assert_eq!(telemetry.shutdown(LONG).spans_exported, 2);
    }
}
