//! One person, one account: by CI, or by DI where there is no CI.

use crate::sql::tx::{Tx, work};
use crate::sql::value::{Row, params};
use app::Result;
use app::ports::accounts::ProveIdentity;
use domain::Refusal;
use domain::accounts::ERASED_AFTER;
use uuid::Uuid;

work!(User: ProveIdentity => prove, ());

async fn prove(tx: &mut dyn Tx, command: &ProveIdentity) -> Result<()> {
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
        // The account has been somebody else's since their verification.
        _ => Err(Refusal::IdentityTaken.into()),
    }
}

/// Two accounts that prove to be the same person do so one after the other.
async fn lock_person(tx: &mut dyn Tx, command: &ProveIdentity) -> Result<()> {
    for hash in [command.ci_hash, command.di_hash].into_iter().flatten() {
        let half = hash.first_chunk::<16>().expect("32 bytes have 16");
        tx.lock(Uuid::from_bytes(*half)).await?;
    }
    Ok(())
}

/// Whoever withdrew may come back when the old account has been erased: until then its seats and
/// refunds are still theirs.
fn why_not(other: &Row) -> Result<Refusal> {
    let (status, deleted_at): (String, Option<domain::Timestamp>) = (other.get(0)?, other.get(1)?);
    Ok(match (status.as_str(), deleted_at) {
        ("DELETED", Some(at)) => Refusal::IdentityRests { until: at.plus(ERASED_AFTER) },
        _ => Refusal::IdentityTaken,
    })
}
