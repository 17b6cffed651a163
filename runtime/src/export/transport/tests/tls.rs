//! Tests of certificates: the receiver's, the client's, invalid ones, and new ones.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::server::{Reply, Script, Server};
use super::*;
use crate::base::secret::Masked;

/// An authority, with a folder for its files.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Authority {
    pub(super) fn new() -> Authority {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("tracecast-tls-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let authority = Authority { issuer, folder };
        authority.write("ca.pem", &authority.issuer.pem());
        authority
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.join(name);
        fs::write(&file, text).unwrap();
        file
    }

    fn issue(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        (CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// Writes a client certificate and its key.
    fn client_files(&self) -> (Option<Masked<PathBuf>>, Option<Masked<PathBuf>>) {
        let (certificate, key) = self.issue("client");
        let write = |name: &str, text: &str| Some(self.write(name, text).into());
        (write("client.pem", &certificate.pem()), write("client.key", &key.serialize_pem()))
    }

    pub(super) fn files(&self) -> TlsFiles {
        TlsFiles::default().with_ca(self.folder.join("ca.pem"))
    }

    /// Serves the protocol with a certificate for `name`, to clients with a certificate of this authority or to all.
    pub(super) async fn serve(&self, protocol: Protocol, name: &str, clients: bool) -> Server {
        let acceptor = self.acceptor(protocol, name, clients);
        Server::start(move |_, stream| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                Script::new(Reply::success(protocol)).serve(protocol, stream).await;
            }
        })
        .await
    }

    pub(super) fn acceptor(&self, protocol: Protocol, name: &str, clients: bool) -> TlsAcceptor {
        let (certificate, key) = self.issue(name);
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        let builder = if clients { builder.with_client_cert_verifier(verifier) } else { builder.with_no_client_auth() };
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        let protocols: &[u8] = if protocol == Protocol::Grpc { b"h2" } else { b"http/1.1" };
        config.alpn_protocols = vec![protocols.to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn secure(protocol: Protocol, server: &Server, tls: TlsFiles) -> Otlp {
    Otlp { tls, ..target(protocol, format!("https://127.0.0.1:{}/v1/traces", server.port)) }
}

async fn send(target: &Otlp) -> String {
    printed(&transport(target).send(b"spans".to_vec()).await)
}

#[tokio::test]
async fn a_certificate_of_the_named_authority_is_trusted() {
    let ours = Authority::new();
    for protocol in PROTOCOLS {
        let server = ours.serve(protocol, "127.0.0.1", false).await;
        assert_eq!(send(&secure(protocol, &server, ours.files())).await, "accepted, 0 rejected, None");
    }
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_not() {
    let (ours, other) = (Authority::new(), Authority::new());
    for protocol in PROTOCOLS {
        let server = other.serve(protocol, "127.0.0.1", false).await;
        let sent = send(&secure(protocol, &server, ours.files())).await;
        assert!(sent.starts_with("retry after None: TLS: invalid peer certificate: "), "{sent}");
        let server = ours.serve(protocol, "localhost", false).await;
        let sent = send(&secure(protocol, &server, ours.files())).await;
        assert!(sent.starts_with("retry after None: TLS: invalid peer certificate: "), "{sent}");
    }
}

#[tokio::test]
async fn a_client_shows_its_certificate() {
    let ours = Authority::new();
    let (client_certificate, client_key) = ours.client_files();
    for protocol in PROTOCOLS {
        let server = ours.serve(protocol, "127.0.0.1", true).await;
        let files =
            TlsFiles { client_certificate: client_certificate.clone(), client_key: client_key.clone(), ..ours.files() };
        assert_eq!(send(&secure(protocol, &server, files)).await, "accepted, 0 rejected, None");
        let sent = send(&secure(protocol, &server, ours.files())).await;
        assert!(sent.starts_with("retry after None: "), "{sent}");
    }
}

#[tokio::test]
async fn a_receiver_without_tls_is_tried_again_later() {
    let ours = Authority::new();
    let server = Server::start(|_, stream| Script::new(Reply::http(200)).http1(stream)).await;
    let sent = send(&secure(Protocol::HttpProtobuf, &server, ours.files())).await;
    assert!(sent.starts_with("retry after None: TLS: "), "{sent}");
}

#[tokio::test]
async fn a_file_that_changed_is_read_again() {
    let (ours, other) = (Authority::new(), Authority::new());
    for protocol in PROTOCOLS {
        other.write("ca.pem", &other.issuer.pem());
        let server = ours.serve(protocol, "127.0.0.1", false).await;
        let mut transport = transport(&secure(protocol, &server, other.files()));
        assert!(matches!(transport.send(b"spans".to_vec()).await, Sent::Retry { .. }));
        // Where the clock is coarse the times of two files can be equal; their lengths differ.
        other.write("ca.pem", &format!("new\n{}", ours.issuer.pem()));
        assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        assert_eq!(server.connections(), 2);
        // A connection made with the old files is not used any more.
        other.write("ca.pem", &format!("newer\n{}", ours.issuer.pem()));
        assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        assert_eq!(server.connections(), 3);
        // Invalid files leave the last valid ones in use.
        assert_eq!(transport.files_problem(), None);
        other.write("ca.pem", "torn");
        assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        assert!(transport.files_problem().unwrap().contains("ca.pem` contains no certificate"));
        other.write("ca.pem", &ours.issuer.pem());
        assert_eq!(transport.send(b"spans".to_vec()).await, accepted());
        assert_eq!(transport.files_problem(), None);
    }
}

#[test]
fn a_wrong_file_is_named() {
    let ours = Authority::new();
    let check = |files: TlsFiles, expected: &str| {
        let target = Otlp { tls: files, ..target(Protocol::Grpc, "https://localhost".to_owned()) };
        let found = match Transport::new(&target, Signal::Logs) {
            Ok(mut transport) => transport.check_files().unwrap_err(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{found}");
        assert!(!found.contains("sesame"), "{found}");
    };
    let (client_certificate, client_key) = ours.client_files();
    let (_, other_key) = Authority::new().issue("client");
    let other_key = Some(ours.write("other.key", &other_key.serialize_pem()).into());
    let missing: Option<Masked<PathBuf>> = Some(ours.folder.join("missing.pem").into());
    let text: Option<Masked<PathBuf>> = Some(ours.write("text.pem", "sesame").into());
    let with = |ca: &Option<Masked<PathBuf>>| TlsFiles { ca: ca.clone(), ..TlsFiles::default() };
    check(with(&missing), "missing.pem` cannot be read: ");
    let hidden = missing.clone().map(|file| Masked::new(file.into_inner(), true));
    check(with(&hidden), "certificate file `[secret]` cannot be read: ");
    check(with(&text), "text.pem` contains no certificate; expected PEM");
    check(TlsFiles { client_certificate: client_certificate.clone(), ..ours.files() }, "requires its key");
    check(TlsFiles { client_key: client_key.clone(), ..ours.files() }, "set both files or neither");
    let pair = |key| TlsFiles { client_certificate: client_certificate.clone(), client_key: key, ..ours.files() };
    check(pair(text.clone()), "text.pem` cannot be read as a private key; expected PEM");
    check(pair(other_key), "client.pem` does not match its key: ");
    let target = Otlp { tls: pair(client_key), ..target(Protocol::Grpc, "https://localhost".to_owned()) };
    assert_eq!(transport(&target).check_files(), Ok(()));
}
