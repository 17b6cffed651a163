//! TLS with certificates from files, which are read again when they change.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::error::TargetError;
use super::failure::innermost;
use super::files::{Stamp, shown, stamp};
use super::stream::Stream;
use crate::base::secret::Masked;
use crate::config::TlsFiles;

/// The trusted authorities and the client certificate. The last valid files stay in use while new ones are invalid.
pub(super) struct Tls {
    files: TlsFiles,
    protocol: &'static [u8],
    loaded: Option<Arc<ClientConfig>>,
    /// The stamps at the last attempt to read the files.
    stamps: Vec<Stamp>,
    /// The reason why the present files are not in use.
    problem: Option<String>,
}

impl Tls {
    /// Creates the settings for a protocol over TLS. `_what` names the user of TLS, for the error of builds without
    /// TLS.
    pub(super) fn new(_what: &'static str, files: &TlsFiles, protocol: &'static [u8]) -> Result<Self, TargetError> {
        Ok(Tls { files: files.clone(), protocol, loaded: None, stamps: Vec::new(), problem: None })
    }

    /// True if a file has changed since it was read.
    pub(super) fn changed(&self) -> bool {
        self.loaded.is_some() && self.stamps() != self.stamps
    }

    pub(super) fn problem(&self) -> Option<String> {
        self.problem.as_ref().map(|problem| format!("{problem}; using the previous certificates"))
    }

    /// Returns the configuration of connections. Reads the files the first time, and again if one has changed.
    pub(super) fn config(&mut self) -> Result<Arc<ClientConfig>, String> {
        let stamps = self.stamps();
        if let Some(config) = self.loaded.as_ref().filter(|_| stamps == self.stamps) {
            return Ok(config.clone());
        }
        // Taken before reading: a file that changes meanwhile is read again.
        self.stamps = stamps;
        match (self.read(), &self.loaded) {
            (Ok(config), _) => {
                self.problem = None;
                Ok(self.loaded.insert(Arc::new(config)).clone())
            }
            // A certificate and its key are rarely replaced in one step, so the previous ones stay in use meanwhile.
            (Err(error), Some(before)) => {
                self.problem = Some(error);
                Ok(before.clone())
            }
            (Err(error), None) => Err(error),
        }
    }

    fn stamps(&self) -> Vec<Stamp> {
        let TlsFiles { ca, client_certificate, client_key } = &self.files;
        [ca, client_certificate, client_key]
            .into_iter()
            .map(|file| file.as_ref().and_then(|file| stamp(file)))
            .collect()
    }

    fn read(&self) -> Result<ClientConfig, String> {
        let roots = match &self.files.ca {
            Some(file) => roots_of(file)?,
            None => system_roots()?,
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS is not available: {error}"))?
            .with_root_certificates(roots);
        let mut config = match (&self.files.client_certificate, &self.files.client_key) {
            (Some(certificate), Some(key)) => {
                builder.with_client_auth_cert(certificates(certificate)?, private_key(key)?).map_err(|error| {
                    format!("client certificate `{}` does not match its key: {error}", shown(certificate))
                })?
            }
            _ => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![self.protocol.to_vec()];
        Ok(config)
    }
}

/// Does the TLS handshake on a connection.
pub(super) async fn handshake(config: Arc<ClientConfig>, host: &str, stream: Stream) -> Result<Stream, String> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| "TLS: the host name is not valid in a certificate".to_owned())?;
    match TlsConnector::from(config).connect(name, stream).await {
        Ok(stream) => Ok(Box::new(stream)),
        Err(error) => Err(format!("TLS: {}", innermost(&error))),
    }
}

fn roots_of(file: &Masked<PathBuf>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| format!("CA file `{}`: {error}", shown(file)))?;
    }
    Ok(roots)
}

fn system_roots() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    // Invalid certificates in the system's store are ignored.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("the system has no root certificates; set a CA file".to_owned());
    }
    Ok(roots)
}

fn certificates(file: &Masked<PathBuf>) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error| format!("certificate file `{}` cannot be read: {error}; expected PEM", shown(file));
    let certificates: Vec<_> =
        CertificateDer::pem_file_iter(file.as_path()).map_err(wrong)?.collect::<Result<_, _>>().map_err(wrong)?;
    if certificates.is_empty() {
        return Err(format!("certificate file `{}` contains no certificate; expected PEM", shown(file)));
    }
    Ok(certificates)
}

fn private_key(file: &Masked<PathBuf>) -> Result<PrivateKeyDer<'static>, String> {
    // The error is not shown, because it could contain text of the key file.
    PrivateKeyDer::from_pem_file(file.as_path())
        .map_err(|_| format!("key file `{}` cannot be read as a private key; expected PEM", shown(file)))
}
