//! The links of offers. A ticket has at most one, which ends with its offer.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::tickets::{ForgetClaims, TicketClaim};
use podo_app::Result;
use podo_app::tickets::port::{ClaimRecord, NewClaim};
use podo_domain::messaging::messages::Language;
use podo_domain::{TicketId, Timestamp};

/// A new offer ends the link of the previous one.
pub(super) async fn replace(
    tx: &mut dyn Tx,
    ticket: TicketId,
    claim: &NewClaim,
    expires_at: Timestamp,
    now: Timestamp,
) -> Result<()> {
    end(tx, ticket).await?;
    let sql = "insert into ticket_claims (id, ticket_id, email, token_hash, language, expires_at,
                                          created_at)
               values ($1, $2, $3, $4, $5, $6, $7)";
    let NewClaim { id, email, token_hash, language } = claim;
    let values =
        params![*id, ticket, email.as_slice(), *token_hash, language.as_str(), expires_at, now];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Accepted, withdrawn or replaced.
pub(super) async fn end(tx: &mut dyn Tx, ticket: TicketId) -> Result<()> {
    tx.execute("delete from ticket_claims where ticket_id = $1", params![ticket]).await?;
    Ok(())
}

pub(super) async fn find(tx: &mut dyn Tx, question: &TicketClaim) -> Result<Option<ClaimRecord>> {
    let sql = "select ticket_id, email, token_hash, language, expires_at from ticket_claims
                where id = $1";
    let read = |row: &Row| {
        Ok(ClaimRecord {
            ticket: row.get("ticket_id")?,
            email: row.get("email")?,
            token_hash: row.get("token_hash")?,
            language: row.parse("language", Language::parse)?,
            expires_at: row.get("expires_at")?,
        })
    };
    tx.row(sql, params![question.claim]).await?.as_ref().map(read).transpose()
}

pub(super) async fn forget(tx: &mut dyn Tx, command: &ForgetClaims) -> Result<u64> {
    let sql = "delete from ticket_claims where id in
                 (select id from ticket_claims where expires_at < $1 limit $2)";
    Ok(tx.execute(sql, params![command.before, command.limit]).await?)
}
