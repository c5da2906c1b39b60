//! The HTTP client for organisers' webhook endpoints.

use async_trait::async_trait;
use podo_domain::Refusal;
use std::time::Duration;

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

/// The response to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// With the status and the body.
    With(u16, Vec<u8>),
    /// There was none in time, it was too long, or too many questions are open.
    Not(String),
}

/// How long an answer may take and be.
#[derive(Clone, Copy, Debug)]
pub struct AnswerLimits {
    pub within: Duration,
    pub bytes_max: usize,
}

/// Connects only to public addresses, whatever a name resolves to at that moment, so that an
/// organiser's URL can't reach our own network.
#[async_trait]
pub trait WebhookClient: Send + Sync {
    /// Refusals: `WebhookUrlRefused`.
    fn check(&self, url: &str) -> Result<(), Refusal>;

    async fn post(&self, post: &Post) -> Posted;

    /// Posts, and reads the response while a fan waits for it.
    async fn ask(&self, post: &Post, limits: AnswerLimits) -> Answered;
}
