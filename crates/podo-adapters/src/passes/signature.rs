//! The detached signature of a pass: CMS (RFC 5652) with the time of signing, as Apple requires.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use cms::cert::x509::Certificate;
use cms::cert::x509::attr::Attribute;
use cms::cert::x509::der::asn1::{
    Any, GeneralizedTime, Null, ObjectIdentifier, OctetString, SetOfVec, UtcTime,
};
use cms::cert::x509::der::oid::db::rfc4519;
use cms::cert::x509::der::oid::db::rfc5911;
use cms::cert::x509::der::oid::db::rfc5912;
use cms::cert::x509::der::{self, Decode, Encode};
use cms::cert::x509::name::Name;
use cms::cert::x509::spki::AlgorithmIdentifierOwned;
use cms::cert::x509::time::Time;
use cms::cert::{CertificateChoices, IssuerAndSerialNumber};
use cms::content_info::{CmsVersion, ContentInfo};
use cms::signed_data::{
    CertificateSet, EncapsulatedContentInfo, SignedData, SignerIdentifier, SignerInfo, SignerInfos,
};
use podo_domain::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::path::Path;
use std::time::Duration;

/// The certificate of a type of passes with its key, and the one of Apple that issued it.
pub(super) struct Signer {
    certificate: Certificate,
    issuer: Certificate,
    key: KeyPair,
}

impl Signer {
    pub(super) fn open(certificate: &Path, key: &Path, issuer: &Path) -> Result<Signer, String> {
        let signer = Signer {
            certificate: read_certificate("apple_pass_certificate", certificate)?,
            issuer: read_certificate("apple_wwdr_certificate", issuer)?,
            key: read_key(key)?,
        };
        let info = &signer.certificate.tbs_certificate;
        if info.subject_public_key_info.subject_public_key.raw_bytes()
            != signer.key.public_key().as_ref()
        {
            return Err("apple_pass_private_key: it is not the key of the certificate".to_owned());
        }
        if info.issuer != signer.issuer.tbs_certificate.subject {
            return Err("apple_wwdr_certificate: another one issued the certificate".to_owned());
        }
        Ok(signer)
    }

    /// The type of passes and the team that Apple wrote into the certificate.
    pub(super) fn names(&self) -> (Option<String>, Option<String>) {
        let subject = &self.certificate.tbs_certificate.subject;
        (part(subject, rfc4519::USER_ID), part(subject, rfc4519::OU))
    }

    /// When phones stop to accept new passes.
    pub(super) fn expires_at(&self) -> Timestamp {
        let of = |it: &Certificate| it.tbs_certificate.validity.not_after.to_unix_duration();
        let first = of(&self.certificate).min(of(&self.issuer));
        Timestamp::from_ms(i64::try_from(first.as_millis()).unwrap_or(i64::MAX))
    }

    /// The signature of a content that is not part of it, in DER.
    pub(super) fn sign(&self, content: &[u8], now: Timestamp) -> Result<Vec<u8>, String> {
        let hash = digest(&SHA256, content);
        let signed = signed_attributes(hash.as_ref(), now).map_err(|error| error.to_string())?;
        // The signature covers the attributes as a SET OF, whatever their tag in the structure.
        let text = signed.to_der().map_err(|error| error.to_string())?;
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), &text, &mut signature)
            .map_err(|_error| "the pass cannot be signed".to_owned())?;
        self.wrapped(signed, signature).map_err(|error| error.to_string())
    }

    fn wrapped(&self, signed: SetOfVec<Attribute>, signature: Vec<u8>) -> der::Result<Vec<u8>> {
        let sha256 = AlgorithmIdentifierOwned { oid: rfc5912::ID_SHA_256, parameters: None };
        let rsa = AlgorithmIdentifierOwned {
            oid: rfc5912::RSA_ENCRYPTION,
            parameters: Some(Any::encode_from(&Null)?),
        };
        let info = &self.certificate.tbs_certificate;
        let signer = SignerInfo {
            version: CmsVersion::V1,
            sid: SignerIdentifier::IssuerAndSerialNumber(IssuerAndSerialNumber {
                issuer: info.issuer.clone(),
                serial_number: info.serial_number.clone(),
            }),
            digest_alg: sha256.clone(),
            signed_attrs: Some(signed),
            signature_algorithm: rsa,
            signature: OctetString::new(signature)?,
            unsigned_attrs: None,
        };
        let chain = [&self.issuer, &self.certificate];
        let chain = chain.map(|it| CertificateChoices::Certificate(it.clone()));
        let data = SignedData {
            version: CmsVersion::V1,
            digest_algorithms: SetOfVec::try_from(vec![sha256])?,
            encap_content_info: EncapsulatedContentInfo {
                econtent_type: rfc5911::ID_DATA,
                econtent: None,
            },
            certificates: Some(CertificateSet(SetOfVec::try_from(chain.to_vec())?)),
            crls: None,
            signer_infos: SignerInfos(SetOfVec::try_from(vec![signer])?),
        };
        let content = Any::encode_from(&data)?;
        ContentInfo { content_type: rfc5911::ID_SIGNED_DATA, content }.to_der()
    }
}

fn signed_attributes(hash: &[u8], now: Timestamp) -> der::Result<SetOfVec<Attribute>> {
    let since = Duration::from_millis(u64::try_from(now.ms()).unwrap_or_default());
    // RFC 5280: the short form up to 2049.
    let time = match UtcTime::from_unix_duration(since) {
        Ok(time) => Time::UtcTime(time),
        Err(_later) => Time::GeneralTime(GeneralizedTime::from_unix_duration(since)?),
    };
    let attribute = |oid: ObjectIdentifier, value: Any| -> der::Result<Attribute> {
        Ok(Attribute { oid, values: SetOfVec::try_from(vec![value])? })
    };
    SetOfVec::try_from(vec![
        attribute(rfc5911::ID_CONTENT_TYPE, Any::encode_from(&rfc5911::ID_DATA)?)?,
        attribute(rfc5911::ID_SIGNING_TIME, Any::from_der(&time.to_der()?)?)?,
        attribute(rfc5911::ID_MESSAGE_DIGEST, Any::encode_from(&OctetString::new(hash)?)?)?,
    ])
}

/// A part of a distinguished name.
fn part(name: &Name, oid: ObjectIdentifier) -> Option<String> {
    let parts = name.0.iter().flat_map(|set| set.0.iter());
    let found = parts.into_iter().find(|it| it.oid == oid)?;
    String::from_utf8(found.value.value().to_vec()).ok()
}

fn read_certificate(setting: &str, path: &Path) -> Result<Certificate, String> {
    let pem = read(setting, path)?;
    let der = CertificateDer::from_pem_slice(&pem)
        .map_err(|error| format!("{setting}: {} is no PEM file: {error}", path.display()))?;
    Certificate::from_der(&der)
        .map_err(|error| format!("{setting}: {} is no certificate: {error}", path.display()))
}

fn read_key(path: &Path) -> Result<KeyPair, String> {
    const SETTING: &str = "apple_pass_private_key";
    let pem = read(SETTING, path)?;
    let der = PrivatePkcs8KeyDer::from_pem_slice(&pem).map_err(|error| {
        format!("{SETTING}: {} is no unencrypted PKCS#8 key: {error}", path.display())
    })?;
    KeyPair::from_pkcs8(der.secret_pkcs8_der())
        .map_err(|error| format!("{SETTING}: {} is no RSA key: {error}", path.display()))
}

fn read(setting: &str, path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path)
        .map_err(|error| format!("{setting}: cannot read {}: {error}", path.display()))
}
