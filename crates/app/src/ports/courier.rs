//! Who carries messages to organisers' own servers.

use async_trait::async_trait;
use domain::Refusal;

#[derive(Clone, Debug)]
pub struct Post {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    Answered(u16),
    Failed(String),
}

/// Calls only addresses on the public internet, whatever a name stands for at that moment: an
/// organiser's address must not open a way into our own network.
#[async_trait]
pub trait Courier: Send + Sync {
    /// Refusals: `WebhookUrlRefused`.
    fn check(&self, url: &str) -> Result<(), Refusal>;

    async fn post(&self, post: &Post) -> Posted;
}
