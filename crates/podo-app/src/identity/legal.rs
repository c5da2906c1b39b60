//! The organiser's legal pages, and consent to them.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::port::legal::{ConsentView, LegalPage, PublishPage};
use podo_domain::catalog::text::Prose;
use podo_domain::identity::consents::{Consent, Consents, PageKind, agreed};
use podo_domain::{Refusal, UserId};

/// The text of a page in both languages.
pub struct PageText {
    pub ko: Prose<50_000>,
    pub en: Prose<50_000>,
}

/// Publishes a new version of a page. Earlier versions stay, because people agreed to them.
pub async fn publish(
    context: &AppContext,
    actor: UserId,
    kind: PageKind,
    text: PageText,
) -> Result<u32> {
    let (ko, en) = (text.ko.into(), text.en.into());
    let command = PublishPage { kind, ko, en, actor, now: context.now() };
    context.store.publish_page(command).await
}

pub async fn page(context: &AppContext, kind: PageKind, version: Option<u32>) -> Result<LegalPage> {
    Ok(context.store.legal_page(kind, version).await?.ok_or(Refusal::NotFound)?)
}

/// The published pages with their latest versions.
pub async fn published(context: &AppContext) -> Result<Vec<(PageKind, u32)>> {
    context.store.page_versions().await
}

/// What a person who signs up agrees to. Refusals: `ConsentRequired`.
pub(crate) async fn require_consents(
    context: &AppContext,
    given: Consents,
) -> Result<Vec<Consent>> {
    let published = context.store.page_versions().await?;
    Ok(agreed(given, &published).ok_or(Refusal::ConsentRequired)?)
}

pub async fn consents(context: &AppContext, user: UserId) -> Result<Vec<ConsentView>> {
    context.store.consents_of(user).await
}
