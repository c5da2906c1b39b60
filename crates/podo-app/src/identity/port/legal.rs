//! The organiser's legal pages and people's consents in the store.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::identity::consents::{Consent, PageKind};
use podo_domain::{Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// A new version of a page, in Markdown.
#[derive(Clone, Debug)]
pub struct PublishPage {
    pub kind: PageKind,
    pub ko: String,
    pub en: String,
    pub actor: UserId,
    pub now: Timestamp,
}

/// A version of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LegalPage {
    pub kind: PageKind,
    pub version: u32,
    /// Markdown.
    pub ko: String,
    /// Markdown.
    pub en: String,
    pub published_at: Timestamp,
}

/// A consent of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentView {
    #[serde(flatten)]
    pub consent: Consent,
    pub given_at: Timestamp,
}

#[async_trait]
pub trait Legal: Send + Sync {
    /// Returns the new version; writes an audit entry.
    async fn publish_page(&self, command: PublishPage) -> Result<u32>;

    /// A version of a page, or the latest.
    async fn legal_page(&self, kind: PageKind, version: Option<u32>) -> Result<Option<LegalPage>>;

    /// The latest version of each published page.
    async fn page_versions(&self) -> Result<Vec<(PageKind, u32)>>;

    /// What an account agreed to, oldest first.
    async fn consents_of(&self, user: UserId) -> Result<Vec<ConsentView>>;
}
