//! A self-signed certificate for `localhost`, in the form that Java expects.

use std::io::{Error, Result};
use std::path::Path;
use std::process::Command;

/// It protects nothing: the file is deleted with the broker.
const PASSWORD: &str = "sour grapes";

/// A port and the one this far above it are free together: see `engine/port.rs`.
const ABOVE: u16 = 10_000;

/// The certificate and its key, as PEM.
pub(super) struct Tls {
    pub(super) certificate: String,
    key: String,
}

pub(super) fn port(plain: u16) -> u16 {
    plain + ABOVE
}

impl Tls {
    pub(super) fn make() -> Result<Tls> {
        let failed = |error: rcgen::Error| Error::other(error.to_string());
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).map_err(failed)?;
        Ok(Tls { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() })
    }

    /// Settings of a broker that lives in `folder` and listens on both ports.
    pub(super) fn settings(&self, folder: &Path, plain: u16) -> Result<String> {
        let store = folder.join("keystore.p12");
        self.save(folder, &store)?;
        let places = format!("PLAINTEXT://127.0.0.1:{plain},SSL://localhost:{}", port(plain));
        Ok(format!(
            "listeners={places}\nadvertised.listeners={places}\nssl.client.auth=none\n\
             ssl.keystore.type=PKCS12\nssl.keystore.location={}\n\
             ssl.keystore.password={PASSWORD}\nssl.key.password={PASSWORD}\n\
             ssl.enabled.protocols=TLSv1.2",
            store.display()
        ))
    }

    fn save(&self, folder: &Path, store: &Path) -> Result<()> {
        let both = folder.join("certificate-and-key.pem");
        std::fs::write(&both, format!("{}{}", self.certificate, self.key))?;
        let mut openssl = Command::new("openssl");
        openssl.args(["pkcs12", "-export", "-name", "broker", "-passout"]);
        openssl.arg(format!("pass:{PASSWORD}")).arg("-in").arg(both).arg("-out").arg(store);
        let output = openssl.output()?;
        match output.status.success() {
            true => Ok(()),
            false => Err(Error::other(String::from_utf8_lossy(&output.stderr))),
        }
    }
}
