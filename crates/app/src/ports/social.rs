//! Services where people have an account already.

use crate::error::Result;
use async_trait::async_trait;
use domain::Timestamp;
use domain::accounts::SocialProvider;

/// What a service says of somebody who logged in there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocialPerson {
    /// The service's name for them; it never changes.
    pub subject: String,
    /// An address that the service vouches for.
    pub email: Option<String>,
    pub name: Option<String>,
}

/// The secrets of one log-in, made by us and kept by the browser that began it.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'f> {
    pub state: &'f str,
    /// Comes back inside the signed answer.
    pub nonce: &'f str,
    /// Proves to the service that who asks for the answer is who began.
    pub verifier: &'f str,
}

/// OpenID Connect: an authorization code with PKCE, and a signed answer.
#[async_trait]
pub trait SocialService: Send + Sync {
    fn provider(&self) -> SocialProvider;

    /// Where the browser goes to log in.
    async fn page(&self, flow: Flow<'_>) -> Result<String>;

    /// Who logged in. Refusals: `SocialFailed` for an answer that does not hold.
    async fn person(&self, code: &str, flow: Flow<'_>, now: Timestamp) -> Result<SocialPerson>;
}
