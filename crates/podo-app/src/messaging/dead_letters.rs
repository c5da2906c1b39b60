//! Dead letters as organisers see them.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::identity::accounts::PersonHint;
use crate::messaging::port::dead_letters::{DeadLetter, DeadLetterStatus};
use crate::store::{Page, PageRequest};
use podo_domain::{DeadLetterId, Refusal};
use serde::Serialize;
use utoipa::ToSchema;

/// A dead letter with the person whom its message is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterLine {
    #[serde(flatten)]
    pub letter: DeadLetter,
    /// Absent if there is none, and if the account was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonHint>,
}

/// Newest first.
pub async fn list(
    context: &AppContext,
    status: Option<DeadLetterStatus>,
    page: PageRequest,
) -> Result<Page<DeadLetterLine>> {
    let rows = context.store.dead_letters(status, page).await?;
    let Page { items, next_cursor } = Page::cut(rows, page.limit, |dead| dead.id.uuid());
    Ok(Page { items: lines(context, items).await?, next_cursor })
}

/// Refusals: `NotFound`.
pub async fn show(context: &AppContext, id: DeadLetterId) -> Result<DeadLetterLine> {
    let letter = context.store.dead_letter(id).await?.ok_or(Refusal::NotFound)?;
    Ok(lines(context, vec![letter]).await?.pop().ok_or(Refusal::NotFound)?)
}

async fn lines(context: &AppContext, letters: Vec<DeadLetter>) -> Result<Vec<DeadLetterLine>> {
    let texts = letters.iter().flat_map(|it| [it.key.as_str(), it.body.as_str()]);
    let behind = accounts::people_behind(context, texts).await?;
    let line = |letter: DeadLetter| {
        let person = behind.of(&letter.body).or_else(|| behind.of(&letter.key));
        DeadLetterLine { letter, person }
    };
    Ok(letters.into_iter().map(line).collect())
}
