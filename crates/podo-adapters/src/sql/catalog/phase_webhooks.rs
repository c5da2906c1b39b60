//! Organisers' servers that decide who is a member.

use crate::sql::catalog::phase_people::require_phase;
use crate::sql::catalog::phases::{RemoveWebhook, WebhookOf};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit::note;
use podo_app::Result;
use podo_app::catalog::phases::port::{MemberWebhook, SetMemberWebhook};
use podo_domain::Refusal;
use serde_json::json;

pub(super) async fn webhook_of(
    tx: &mut dyn Tx,
    question: &WebhookOf,
) -> Result<Option<MemberWebhook>> {
    let sql = "select id, url, secret, previous_secret from phase_webhooks where id = $1";
    tx.row(sql, params![question.phase]).await?.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<MemberWebhook> {
    Ok(MemberWebhook {
        phase: row.get("id")?,
        url: row.get("url")?,
        secret: row.get("secret")?,
        previous_secret: row.get("previous_secret")?,
    })
}

pub(super) async fn set(tx: &mut dyn Tx, command: &SetMemberWebhook) -> Result<()> {
    let SetMemberWebhook { actor, webhook, now } = command;
    require_phase(tx, webhook.phase).await?;
    let sql =
        "insert into phase_webhooks (id, url, secret, previous_secret, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $5)
               on conflict (id) do update
                  set url = excluded.url, secret = excluded.secret,
                      previous_secret = excluded.previous_secret,
                      updated_at = excluded.updated_at";
    let MemberWebhook { phase, url, secret, previous_secret } = webhook;
    let values = params![*phase, url, secret.as_slice(), previous_secret.clone(), *now];
    tx.execute(sql, values).await?;
    note(tx, *actor, "phase.webhook", *phase, json!({ "url": url }), *now).await
}

pub(super) async fn remove(tx: &mut dyn Tx, command: &RemoveWebhook) -> Result<()> {
    let RemoveWebhook { phase, actor, now } = *command;
    require_phase(tx, phase).await?;
    let sql = "delete from phase_webhooks where id = $1";
    if tx.execute(sql, params![phase]).await? == 0 {
        return Err(Refusal::NoMemberWebhook.into());
    }
    note(tx, actor, "phase.webhook", phase, json!({ "url": null }), now).await
}
