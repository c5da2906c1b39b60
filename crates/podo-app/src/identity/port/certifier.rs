//! Identity certification services.

use crate::error::Result;
use async_trait::async_trait;
use serde::Serialize;
use utoipa::ToSchema;

/// A certifier's identifiers of a person: CI is the same everywhere, DI is specific to this site.
/// Either may be missing. Neither is ever shown, logged or published.
#[derive(Clone)]
pub struct Person {
    pub ci: Option<String>,
    pub di: Option<String>,
}

/// What a browser needs to open the certifier's window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    pub script_url: String,
    pub store_id: String,
    pub channel_key: String,
}

#[async_trait]
pub trait Certifier: Send + Sync {
    fn window(&self) -> Window;

    /// The person who passed the verification with this id. Refusals: `IdentityUnproven`.
    async fn person(&self, id: &str) -> Result<Person>;
}
