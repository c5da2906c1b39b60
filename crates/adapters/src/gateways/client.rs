//! The only one that talks to gateways: time limits, careful repeats, and rest for the broken.

use super::breaker::Breaker;
use super::wire::{Call, Content, Reply};
use app::ports::clock::Chance;
use domain::Timestamp;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const TRIES_MAX: u32 = 3;

/// Pause before the first repeat; the next is four times as long.
const PAUSE_MS: u64 = 200;

/// Longer answers than this are not ours.
const ANSWER_MAX: usize = 1 << 20;

/// How a call went.
pub(crate) enum Sent {
    Answered(Reply),
    /// It may have arrived.
    Lost,
    /// It certainly did not arrive.
    Nowhere,
}

pub(crate) struct Client {
    http: reqwest::Client,
    breaker: Breaker,
    chance: Arc<dyn Chance>,
    name: &'static str,
}

enum Failure {
    NotSent,
    /// Waited for as long as we may: no use in waiting again.
    TimedOut,
    Cut,
}

impl Client {
    pub(crate) fn new(
        name: &'static str,
        patience: Duration,
        chance: Arc<dyn Chance>,
    ) -> Result<Client, String> {
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls()?)
            .connect_timeout(CONNECT_WITHIN)
            .timeout(patience)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Client { http, breaker: Breaker::default(), chance, name })
    }

    /// Whether the gateway is being left alone.
    pub(super) fn is_resting(&self, now: Timestamp) -> bool {
        !self.breaker.lets_through(now)
    }

    pub(crate) async fn send(&self, call: &Call, now: Timestamp) -> Sent {
        if self.is_resting(now) {
            return Sent::Nowhere;
        }
        let n_tries = if call.may_repeat { TRIES_MAX } else { 1 };
        let mut may_have_arrived = false;
        for n_try in 1..=n_tries {
            let is_last = n_try == n_tries;
            match self.send_once(call).await {
                Ok(reply) if is_last || !is_passing(&reply) => {
                    self.breaker.note(reply.status < 500, now);
                    return Sent::Answered(reply);
                }
                Ok(_) | Err(Failure::Cut) => may_have_arrived = true,
                Err(Failure::NotSent) => {}
                Err(Failure::TimedOut) => {
                    may_have_arrived = true;
                    break;
                }
            }
            if !is_last {
                self.pause(n_try).await;
            }
        }
        self.breaker.note(false, now);
        tracing::warn!(gateway = self.name, "A gateway did not answer");
        if may_have_arrived { Sent::Lost } else { Sent::Nowhere }
    }

    async fn send_once(&self, call: &Call) -> Result<Reply, Failure> {
        let mut request = match &call.body {
            Content::None => self.http.get(&call.url),
            Content::Json(value) => self.http.post(&call.url).json(value),
            Content::Form(fields) => self.http.post(&call.url).form(fields),
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

    async fn pause(&self, n_try: u32) {
        let base = PAUSE_MS * 4_u64.pow(n_try - 1);
        let jitter = self.chance.number() % base;
        tokio::time::sleep(Duration::from_millis(base + jitter)).await;
    }
}

/// Worth asking again for: a fault of theirs, or the first try of ours still running there.
fn is_passing(reply: &Reply) -> bool {
    reply.status >= 500 || (reply.status == 409 && reply.text.contains("IDEMPOTEN"))
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

/// Trusts whom the system trusts.
pub(crate) fn tls() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
