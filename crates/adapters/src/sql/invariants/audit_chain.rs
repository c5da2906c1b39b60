//! I24: the audit log is a chain that shows any change.

use super::super::audit::chain;
use super::super::tx::Tx;
use app::Result;
use app::ports::invariants::Finding;
use domain::{Timestamp, UserId};

pub(super) async fn check(tx: &mut dyn Tx) -> Result<Finding> {
    let sql = "select seq, actor_id, action, subject, details, created_at, hash
                 from audit_log order by seq";
    let rows = tx.query(sql, &[]).await?;
    let mut previous = Vec::new();
    let mut examples = Vec::new();
    for (expected, row) in (1..).zip(&rows) {
        let seq: i64 = row.get(0)?;
        let actor: UserId = row.get(1)?;
        let (action, subject, details): (String, String, String) =
            (row.get(2)?, row.get(3)?, row.get(4)?);
        let (now, hash): (Timestamp, Vec<u8>) = (row.get(5)?, row.get(6)?);
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
