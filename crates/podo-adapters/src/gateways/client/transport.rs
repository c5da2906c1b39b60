//! Carries a call to another company and its reply back: HTTPS, or the simulation's faulty link.

use crate::gateways::protocol::{Call, Content, Reply};
use async_trait::async_trait;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Replies longer than this are rejected.
const ANSWER_MAX: usize = 1 << 20;

/// Why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The request didn't arrive.
    NotSent,
    /// The timeout expired, so a retry would take too long.
    TimedOut,
    /// The request may have arrived.
    Cut,
}

#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a call and waits for its reply, within its own timeout.
    async fn send(&self, call: &Call) -> Result<Reply, Failure>;

    /// Waits before a retry.
    async fn pause(&self, length: Duration);
}

pub(crate) struct Https(reqwest::Client);

impl Https {
    pub(crate) fn new(patience: Duration) -> Result<Https, String> {
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls()?)
            .connect_timeout(CONNECT_WITHIN)
            .timeout(patience)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Https(http))
    }
}

#[async_trait]
impl Transport for Https {
    async fn send(&self, call: &Call) -> Result<Reply, Failure> {
        let mut request = match &call.body {
            Content::None => self.0.get(&call.url),
            Content::Json(value) => self.0.post(&call.url).json(value),
            Content::Form(fields) => self.0.post(&call.url).form(fields),
        };
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        let mut response = request.send().await.map_err(|error| failure(&error))?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
            if bytes.len() + chunk.len() > ANSWER_MAX {
                return Err(Failure::Cut);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Reply { status, text: String::from_utf8_lossy(&bytes).into_owned() })
    }

    async fn pause(&self, length: Duration) {
        tokio::time::sleep(length).await;
    }
}

fn failure(error: &reqwest::Error) -> Failure {
    if error.is_connect() {
        Failure::NotSent
    } else if error.is_timeout() {
        Failure::TimedOut
    } else {
        Failure::Cut
    }
}

/// Trusts the system's CAs.
pub(crate) fn tls() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
