//! The audit log: every change by an organiser and every access to personal data, hash-chained so
//! that tampering shows.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use aws_lc_rs::digest::{SHA256, digest};
use podo_app::Result;
use podo_app::operations::port::audit::{AuditLog, AuditNote, AuditQuery, AuditView};
use podo_app::store::Order;
use podo_domain::{Timestamp, UserId};
use serde::Serialize;
use std::time::Duration;
use uuid::Uuid;

commands! {
    impl AuditLog for SqlStore {
        write note(AuditNote) -> () as Sales => keep;
        read audit_entries(AuditQuery) -> Vec<AuditView> as ReadOnly or_replica => list;
    }
}

async fn keep(tx: &mut dyn Tx, it: &AuditNote) -> Result<()> {
    note(tx, it.actor, it.action, &it.subject, it.details.clone(), it.now).await
}

async fn list(tx: &mut dyn Tx, asked: &AuditQuery) -> Result<Vec<AuditView>> {
    macro_rules! select {
        ($order:literal) => {
            concat!(
                "select seq, actor_id, action, subject, details, created_at from audit_log
                  where seq > $8 and seq < $1 and $2 <= created_at and created_at < $3
                    and (cast($4 as uuid) is null or actor_id = $4)
                    and (cast($5 as text) is null or action = $5 or action like $5 || '.%')
                    and (cast($6 as text) is null or subject = $6)
                  order by seq ",
                $order,
                " limit $7"
            )
        };
    }
    let (mut above, mut below) = bounds(tx, asked).await?;
    let sql = match asked.order {
        Order::Newest => {
            below = below.min(asked.cursor.unwrap_or(i64::MAX));
            select!("desc")
        }
        Order::Oldest => {
            above = above.max(asked.cursor.unwrap_or(0));
            select!("asc")
        }
    };
    let values = params![
        below,
        asked.from,
        asked.to,
        asked.actor,
        asked.action.clone(),
        asked.subject.clone(),
        asked.limit,
        above
    ];
    tx.query(sql, values).await?.iter().map(read).collect()
}

/// Entries are in the order of their times, but for the difference of the nodes' clocks.
const CLOCKS_APART: Duration = Duration::from_secs(60);

/// The numbers that the period lies between, so that an old one isn't reached by reading the whole
/// log.
async fn bounds(tx: &mut dyn Tx, asked: &AuditQuery) -> Result<(i64, i64)> {
    let first = "select seq from audit_log where created_at >= $1 order by created_at limit 1";
    let last = "select seq from audit_log where created_at < $1 order by created_at desc limit 1";
    let (mut above, mut below) = (0, i64::MAX);
    if asked.from > Timestamp::from_ms(0) {
        let row = tx.row(first, params![asked.from.minus(CLOCKS_APART)]).await?;
        above = row.map_or(Ok(i64::MAX), |row| row.get::<i64>("seq").map(|seq| seq - 1))?;
    }
    if asked.to < Timestamp::FAR_FUTURE {
        let row = tx.row(last, params![asked.to.plus(CLOCKS_APART)]).await?;
        below = row.map_or(Ok(0), |row| row.get::<i64>("seq").map(|seq| seq + 1))?;
    }
    Ok((above, below))
}

fn read(row: &Row) -> Result<AuditView> {
    Ok(AuditView {
        seq: row.get("seq")?,
        actor_id: row.get("actor_id")?,
        actor_key: None,
        actor: None,
        about: None,
        action: row.get("action")?,
        subject: row.get("subject")?,
        details: row.json("details")?,
        at: row.get("created_at")?,
    })
}

pub(crate) struct AuditEntry<'e, D> {
    pub(crate) actor: UserId,
    pub(crate) action: &'e str,
    pub(crate) subject: String,
    pub(crate) details: &'e D,
}

/// The lock that serialises writers of the chain.
const CHAIN: Uuid = Uuid::from_u128(0x0a0d_17c4);

/// Records an action on a subject.
pub(crate) async fn note(
    tx: &mut dyn Tx,
    actor: UserId,
    action: &str,
    subject: impl std::fmt::Display,
    details: serde_json::Value,
    now: Timestamp,
) -> Result<()> {
    let entry = AuditEntry { actor, action, subject: subject.to_string(), details: &details };
    append(tx, entry, now).await
}

pub(crate) async fn append<D: Serialize + Sync>(
    tx: &mut dyn Tx,
    entry: AuditEntry<'_, D>,
    now: Timestamp,
) -> Result<()> {
    // Each entry hashes the previous one, so writers take turns.
    tx.lock(CHAIN).await?;
    let last = tx.row("select seq, hash from audit_log order by seq desc limit 1", &[]).await?;
    let (seq, previous) = match last {
        Some(row) => (row.get::<i64>("seq")? + 1, row.get::<Vec<u8>>("hash")?),
        None => (1, Vec::new()),
    };
    let details = serde_json::to_string(entry.details).map_err(podo_app::Error::broken)?;
    let facts = [&entry.actor.to_string(), entry.action, &entry.subject, &details];
    let hash = chain(&previous, seq, &facts, now);
    let sql = "insert into audit_log (seq, actor_id, action, subject, details, created_at, hash)
               values ($1, $2, $3, $4, $5, $6, $7)";
    let values = params![seq, entry.actor, entry.action, entry.subject, details, now, hash];
    tx.execute(sql, values).await?;
    Ok(())
}

/// The hash of a row: over the previous hash and every field with its length, so that different
/// rows never have the same input.
pub(crate) fn chain(previous: &[u8], seq: i64, facts: &[&str; 4], now: Timestamp) -> Vec<u8> {
    let mut bytes = previous.to_vec();
    bytes.extend(seq.to_be_bytes());
    bytes.extend(now.ms().to_be_bytes());
    for fact in facts {
        bytes.extend((fact.len() as u64).to_be_bytes());
        bytes.extend(fact.as_bytes());
    }
    digest(&SHA256, &bytes).as_ref().to_vec()
}
