//! TLS to PostgreSQL: encrypts if the server can, verifies if the settings require it.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The verification that the URL and the setting `store_ca` require together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// No verification, as with libpq's `prefer` and `require`.
    None,
    /// The certificate must be valid and match the host name.
    Full,
}

/// The URL without `verify-full`, which the driver doesn't know, and the verification to apply.
pub(crate) fn read_mode(url: &str, has_ca: bool) -> Result<(String, Proof), String> {
    if url.contains("sslmode=verify-ca") {
        return Err("sslmode=verify-ca is not supported, use verify-full".into());
    }
    let is_full = has_ca || url.contains("sslmode=verify-full");
    let proof = if is_full { Proof::Full } else { Proof::None };
    Ok((url.replace("sslmode=verify-full", "sslmode=require"), proof))
}

/// Verification requires TLS: the connection must not fall back to plain text.
pub(crate) fn insist(config: &mut tokio_postgres::Config, proof: Proof) -> Result<(), String> {
    match (proof, config.get_ssl_mode()) {
        (Proof::None, _) => {}
        (Proof::Full, SslMode::Disable) => {
            return Err("store_ca is set, but the URL says sslmode=disable".into());
        }
        (Proof::Full, _) => {
            config.ssl_mode(SslMode::Require);
        }
    }
    Ok(())
}

pub(crate) fn connector(proof: Proof, ca: Option<&Path>) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match proof {
        Proof::Full => builder.with_root_certificates(roots(ca)?).with_no_client_auth(),
        Proof::None => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

/// The CAs of the file, or the system's.
fn roots(ca: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let Some(ca) = ca else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    let unreadable = |error: &dyn std::fmt::Display| format!("store_ca {}: {error}", ca.display());
    for certificate in CertificateDer::pem_file_iter(ca).map_err(|error| unreadable(&error))? {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate).map_err(|error| unreadable(&error))?;
    }
    match roots.is_empty() {
        true => Err(unreadable(&"there is no certificate in it")),
        false => Ok(roots),
    }
}

/// Accepts any certificate: the connection is encrypted, but the peer isn't authenticated.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_asked_for_by_the_url_or_by_an_authority() {
        let mode = |url: &str, has_ca| read_mode(url, has_ca).unwrap();
        assert_eq!(mode("postgres://db/podo", false).1, Proof::None);
        assert_eq!(mode("postgres://db/podo?sslmode=require", false).1, Proof::None);
        assert_eq!(mode("postgres://db/podo", true).1, Proof::Full);
        let (url, proof) = mode("postgres://db/podo?sslmode=verify-full", false);
        assert_eq!((url.as_str(), proof), ("postgres://db/podo?sslmode=require", Proof::Full));
        assert!(read_mode("postgres://db/podo?sslmode=verify-ca", false).is_err());
    }

    #[test]
    fn a_proof_never_falls_back_to_plain_text() {
        let mut config = tokio_postgres::Config::new();
        insist(&mut config, Proof::Full).unwrap();
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
        config.ssl_mode(SslMode::Disable);
        assert!(insist(&mut config, Proof::Full).is_err());
    }

    #[test]
    fn a_file_without_an_authority_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = connector(Proof::Full, Some(file.path())).err().unwrap();
        assert!(refused.contains("store_ca"), "{refused}");
        assert!(connector(Proof::Full, Some(Path::new("/none"))).is_err());
    }
}
