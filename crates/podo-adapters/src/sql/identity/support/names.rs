//! The index of names: keyed hashes of their prefixes.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::support::{IndexNames, UnindexedNames};
use podo_app::Result;
use podo_app::identity::support::port::{IndexName, UnindexedName};

pub(super) async fn unindexed(
    tx: &mut dyn Tx,
    question: &UnindexedNames,
) -> Result<Vec<UnindexedName>> {
    let sql = "select u.id, u.name from users u
                where not u.name_indexed and u.status <> 'DELETED'
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'names' and f.item = u.id), $1) <= $1
                order by u.id limit $2";
    tx.follow_indexes().await?;
    let read = |row: &Row| Ok(UnindexedName { user: row.get("id")?, name: row.get("name")? });
    tx.query(sql, params![question.now, question.limit]).await?.iter().map(read).collect()
}

/// A name that changed since it was read stays due.
pub(super) async fn index(tx: &mut dyn Tx, command: &IndexNames) -> Result<()> {
    let take = "update users set name_indexed = true
                 where id = $1 and name = $2 and not name_indexed and status <> 'DELETED'";
    let forget = "delete from name_prefixes where user_id = $1";
    let insert = "insert into name_prefixes (hash, user_id) values ($1, $2)";
    for IndexName { known, hashes } in &command.names {
        let UnindexedName { user, name } = known;
        if tx.execute(take, params![*user, name.as_slice()]).await? == 0 {
            continue;
        }
        tx.execute(forget, params![*user]).await?;
        let row = |hash: &[u8; 32]| params![*hash, *user].to_vec();
        tx.add(insert, hashes.iter().map(row).collect()).await?;
    }
    Ok(())
}
