//! I24: the audit log's hash chain shows any change.

use crate::sql::engine::tx::Tx;
use crate::sql::operations::audit::chain;
use podo_app::Result;
use podo_app::operations::port::invariants::Finding;
use podo_domain::{Timestamp, UserId};

pub(crate) async fn check(tx: &mut dyn Tx) -> Result<Finding> {
    let sql = "select seq, actor_id, action, subject, details, created_at, hash
                 from audit_log order by seq";
    let rows = tx.query(sql, &[]).await?;
    let mut previous = Vec::new();
    let mut examples = Vec::new();
    for (expected, row) in (1..).zip(&rows) {
        let seq: i64 = row.get("seq")?;
        let actor: UserId = row.get("actor_id")?;
        let (action, subject, details): (String, String, String) =
            (row.get("action")?, row.get("subject")?, row.get("details")?);
        let (now, hash): (Timestamp, Vec<u8>) = (row.get("created_at")?, row.get("hash")?);
        let facts = [&*actor.to_string(), &*action, &*subject, &*details];
        if seq != expected || hash != chain(&previous, seq, &facts, now) {
            examples.push(format!("entry {seq}"));
        }
        previous = hash;
    }
    Ok(Finding {
        id: "I24",
        rule: "the audit log is an unbroken chain",
        n_checked: rows.len() as u64,
        n_broken: examples.len() as u64,
        examples,
        stops: Vec::new(),
    })
}
