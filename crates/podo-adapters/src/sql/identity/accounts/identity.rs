//! One person, one account: by CI, or by DI where there is no CI.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::accounts::ProvenCi;
use podo_app::Result;
use podo_app::identity::port::accounts::ProveIdentity;
use podo_domain::Refusal;
use podo_domain::identity::ERASED_AFTER;
use uuid::Uuid;

pub(super) async fn prove(tx: &mut dyn Tx, command: &ProveIdentity) -> Result<()> {
    lock_person(tx, command).await?;
    let others = "select status, deleted_at from users
                   where id <> $1 and erased_at is null and (ci_hash = $2 or di_hash = $3)";
    let values = params![command.user, command.ci_hash, command.di_hash];
    if let Some(other) = tx.row(others, values).await? {
        return Err(why_not(&other)?.into());
    }
    let sql = "update users set ci = $2, ci_hash = $3, di = $4, di_hash = $5, verified_at = $6,
                      updated_at = $6
                where id = $1 and status <> 'DELETED'
                  and (verified_at is null or ci_hash = $3 or di_hash = $5)";
    let values = params![
        command.user,
        command.ci.clone(),
        command.ci_hash,
        command.di.clone(),
        command.di_hash,
        command.now
    ];
    match tx.execute(sql, values).await? {
        1 => Ok(()),
        // Another person has verified the account since.
        _ => Err(Refusal::IdentityTaken.into()),
    }
}

pub(super) async fn proven_ci(tx: &mut dyn Tx, question: &ProvenCi) -> Result<Option<Vec<u8>>> {
    let sql = "select ci from users where id = $1 and verified_at is not null";
    Ok(tx.row(sql, params![question.user]).await?.map_or(Ok(None), |row| row.get("ci"))?)
}

/// Serialises two accounts that prove to be the same person.
async fn lock_person(tx: &mut dyn Tx, command: &ProveIdentity) -> Result<()> {
    for hash in [command.ci_hash, command.di_hash].into_iter().flatten() {
        let half = hash.first_chunk::<16>().expect("a hash has 32 bytes");
        tx.lock(Uuid::from_bytes(*half)).await?;
    }
    Ok(())
}

/// A person who withdrew can come back once the old account is erased; until then it still owns its
/// seats and refunds.
fn why_not(other: &Row) -> Result<Refusal> {
    let (status, deleted_at): (String, Option<podo_domain::Timestamp>) =
        (other.get("status")?, other.get("deleted_at")?);
    Ok(match (status.as_str(), deleted_at) {
        ("DELETED", Some(at)) => Refusal::IdentityRests { until: at.plus(ERASED_AFTER) },
        _ => Refusal::IdentityTaken,
    })
}
