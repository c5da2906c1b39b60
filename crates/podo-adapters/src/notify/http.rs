//! One call to a provider, and whether it may have arrived if there is no answer.

use crate::gateways::tls;
use podo_app::messaging::port::channels::Sent;
use reqwest::{Client, RequestBuilder};
use std::time::Duration;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// Answers longer than this are rejected.
const ANSWER_MAX: usize = 1 << 20;

pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) text: String,
}

pub(crate) fn client() -> Result<Client, String> {
    Client::builder()
        .tls_backend_preconfigured(tls()?)
        .connect_timeout(CONNECT_WITHIN)
        .timeout(ANSWER_WITHIN)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .map_err(|error| error.to_string())
}

/// The answer, or what its absence means.
pub(super) async fn call(request: RequestBuilder) -> Result<Reply, Sent> {
    let mut response = request.send().await.map_err(|error| lost(&error))?;
    let status = response.status().as_u16();
    let retry_after = response
        .headers()
        .get("retry-after")
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .map(Duration::from_secs);
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
        if bytes.len() + chunk.len() > ANSWER_MAX {
            return Err(Sent::Unknown { error: "the answer is too long".to_owned() });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Reply { status, retry_after, text: String::from_utf8_lossy(&bytes).into_owned() })
}

fn lost(error: &reqwest::Error) -> Sent {
    // The URL may contain a secret.
    let error_text = || error.to_string().split(" for url").next().unwrap_or_default().to_owned();
    match error.is_connect() || error.is_builder() {
        true => Sent::NotNow { error: error_text(), after: None },
        false => Sent::Unknown { error: error_text() },
    }
}

/// The beginning of an answer, for the log.
pub(super) fn short(text: &str) -> String {
    text.chars().take(300).collect()
}
