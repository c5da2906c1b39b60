//! The index of names and addresses: keyed hashes of their prefixes.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::support::{IndexNames, UnindexedNames};
use podo_app::Result;
use podo_app::identity::support::port::{IndexName, UnindexedName};

pub(super) async fn unindexed(
    tx: &mut dyn Tx,
    question: &UnindexedNames,
) -> Result<Vec<UnindexedName>> {
    let names = "select u.id, u.name, u.email from users u
                  where not u.name_indexed and u.status <> 'DELETED'
                    and coalesce((select f.next_at from job_failures f
                                     where f.job = 'names' and f.item = u.id), $1) <= $1
                  order by u.id limit $2";
    // Accounts whose name was indexed before addresses were, and changed addresses.
    let emails = "select u.id, u.name, u.email from users u
                   where u.name_indexed and not u.email_indexed and u.status <> 'DELETED'
                     and coalesce((select f.next_at from job_failures f
                                      where f.job = 'names' and f.item = u.id), $1) <= $1
                   order by u.id limit $2";
    tx.follow_indexes().await?;
    let mut rows = tx.query(names, params![question.now, question.limit]).await?;
    let n_left = question.limit.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
    if n_left > 0 {
        rows.extend(tx.query(emails, params![question.now, n_left]).await?);
    }
    let read = |row: &Row| {
        Ok(UnindexedName { user: row.get("id")?, name: row.get("name")?, email: row.get("email")? })
    };
    rows.iter().map(read).collect()
}

/// A name or an address that changed since it was read stays due.
pub(super) async fn index(tx: &mut dyn Tx, command: &IndexNames) -> Result<()> {
    let take = "update users set name_indexed = true, email_indexed = true
                 where id = $1 and name = $2 and email = $3
                   and not (name_indexed and email_indexed) and status <> 'DELETED'";
    let forget = "delete from name_prefixes where user_id = $1";
    let insert = "insert into name_prefixes (hash, user_id) values ($1, $2)";
    for IndexName { known, hashes } in &command.names {
        let UnindexedName { user, name, email } = known;
        let values = params![*user, name.as_slice(), email.as_slice()];
        if tx.execute(take, values).await? == 0 {
            continue;
        }
        tx.execute(forget, params![*user]).await?;
        let row = |hash: &[u8; 32]| params![*hash, *user].to_vec();
        tx.add(insert, hashes.iter().map(row).collect()).await?;
    }
    Ok(())
}
