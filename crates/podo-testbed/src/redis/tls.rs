//! A self-signed certificate for 127.0.0.1, and how a server and its client use it.

use std::fmt::Display;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// The certificate and its key, as PEM.
#[derive(Clone)]
pub(super) struct Tls {
    pub(super) certificate: String,
    key: String,
}

impl Tls {
    pub(super) fn make() -> Result<Tls> {
        let failed = |error: rcgen::Error| Error::other(error.to_string());
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).map_err(failed)?;
        Ok(Tls { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() })
    }

    /// Writes the files where the server in `folder` finds them.
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        std::fs::write(certificate_in(folder), &self.certificate)?;
        std::fs::write(key_in(folder), &self.key)
    }
}

/// Settings of a server that speaks only TLS, also to the other servers of a cluster.
pub(super) fn server_settings(folder: &Path, port: impl Display) -> Vec<String> {
    let [certificate, key] = [certificate_in(folder), key_in(folder)].map(text);
    let settings = [
        ["--port", "0"],
        ["--tls-port", &port.to_string()],
        ["--tls-cert-file", &certificate],
        ["--tls-key-file", &key],
        ["--tls-ca-cert-file", &certificate],
        ["--tls-auth-clients", "no"],
        ["--tls-replication", "yes"],
        ["--tls-cluster", "yes"],
    ];
    settings.concat().into_iter().map(str::to_owned).collect()
}

/// A client's options to trust that server.
pub(super) fn client_settings(folder: &Path) -> [String; 3] {
    ["--tls".to_owned(), "--cacert".to_owned(), text(certificate_in(folder))]
}

fn certificate_in(folder: &Path) -> PathBuf {
    folder.join("certificate.pem")
}

fn key_in(folder: &Path) -> PathBuf {
    folder.join("key.pem")
}

fn text(path: PathBuf) -> String {
    path.display().to_string()
}
