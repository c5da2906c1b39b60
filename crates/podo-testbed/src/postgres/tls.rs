//! A private CA and the server's certificate from it.

use crate::engine;
use crate::postgres::Postgres;
use std::io::Result;
use std::path::PathBuf;
use std::process::Command;

/// The only name that the certificate is valid for.
const NAME: &str = "localhost";

impl Postgres {
    /// The certificate of the authority that signed the server's.
    pub fn ca_path(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    pub(super) fn tls_settings(&self) -> Vec<String> {
        let file = |name: &str| self.folder.path().join(name).display().to_string();
        let certificate = format!("ssl_cert_file={}", file("server.crt"));
        let key = format!("ssl_key_file={}", file("server.key"));
        let settings = ["ssl=on".to_owned(), certificate, key];
        settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect()
    }

    /// Elliptic curve keys: an RSA key would take longer than the server's start.
    pub(super) fn make_certificates(&self) -> Result<()> {
        let subject = |name: &str| format!("/CN={name}");
        self.openssl(&["-keyout", "ca.key", "-out", "ca.crt", "-subj", &subject("podo tests")])?;
        let name = format!("subjectAltName=DNS:{NAME}");
        let signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-addext", &name];
        let leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
        let files = ["-keyout", "server.key", "-out", "server.crt", "-subj", &subject(NAME)];
        self.openssl(&[&signed[..], &leaf, &files].concat())?;
        for file in ["server.key", "server.crt"] {
            self.programs.own(&self.folder.path().join(file))?;
        }
        Ok(())
    }

    fn openssl(&self, arguments: &[&str]) -> Result<()> {
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-x509", "-days", "2", "-nodes", "-newkey", "ec"]);
        openssl.args(["-pkeyopt", "ec_paramgen_curve:prime256v1"]).args(arguments);
        engine::run(openssl.current_dir(self.folder.path())).map(drop)
    }
}
