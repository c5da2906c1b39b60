//! Social log-in services.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::Timestamp;
use podo_domain::identity::SocialProvider;

/// What a service says about a person who logged in there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocialPerson {
    /// The service's id of the person; it never changes.
    pub subject: String,
    /// An address that the service vouches for.
    pub email: Option<String>,
    pub name: Option<String>,
}

/// The secrets of one log-in, created by us and kept by the browser that started it.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'f> {
    pub state: &'f str,
    /// Comes back inside the signed answer.
    pub nonce: &'f str,
    /// Proves to the service that the log-in's initiator requests the answer (PKCE).
    pub verifier: &'f str,
}

/// OpenID Connect: an authorization code with PKCE, and a signed answer.
#[async_trait]
pub trait SocialService: Send + Sync {
    fn provider(&self) -> SocialProvider;

    /// Where the browser goes to log in.
    async fn page(&self, flow: Flow<'_>) -> Result<String>;

    /// The person who logged in. Refusals: `SocialFailed` for an invalid answer.
    async fn person(&self, code: &str, flow: Flow<'_>, now: Timestamp) -> Result<SocialPerson>;
}
