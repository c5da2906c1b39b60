//! The HTTP client for organisers' webhook endpoints.

use async_trait::async_trait;
use podo_domain::Refusal;

#[derive(Clone, Debug)]
pub struct Post {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    Answered(u16),
    Failed(String),
}

/// Connects only to public addresses, whatever a name resolves to at that moment, so that an
/// organiser's URL can't reach our own network.
#[async_trait]
pub trait WebhookClient: Send + Sync {
    /// Refusals: `WebhookUrlRefused`.
    fn check(&self, url: &str) -> Result<(), Refusal>;

    async fn post(&self, post: &Post) -> Posted;
}
