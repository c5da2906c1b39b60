//! Bot signals.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit::note;
use podo_app::Result;
use podo_app::identity::port::bot_signals::{
    Appeal, BotSignals, DecideAppeal, NoteSignal, SignalQuery, SignalRecord,
};
use podo_domain::Refusal;
use podo_domain::identity::bot_signals::{AppealVerdict, SignalKind};
use serde_json::json;
use uuid::Uuid;

commands! {
    impl BotSignals for SqlStore {
        write note_signal(NoteSignal) -> () as Sales => keep;
        read signals(SignalQuery) -> Vec<SignalRecord> as Sales => list;
        write appeal(Appeal) -> () as Sales => appeal;
        write decide_appeal(DecideAppeal) -> () as Sales => decide;
    }
}

async fn keep(tx: &mut dyn Tx, it: &NoteSignal) -> Result<()> {
    let sql = "insert into bot_signals
                 (id, user_id, schedule_id, kind, reason, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, $6)
               on conflict (user_id, schedule_id, kind)
               do update set n_seen = bot_signals.n_seen + 1, updated_at = excluded.updated_at";
    let values = params![it.signal, it.user, it.schedule, it.kind.as_str(), &it.reason, it.now];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn list(tx: &mut dyn Tx, asked: &SignalQuery) -> Result<Vec<SignalRecord>> {
    let all = "select id, user_id, schedule_id, kind, reason, n_seen, appeal, appealed_at, verdict,
                      created_at, updated_at
                 from bot_signals where id < $1 order by id desc limit $2";
    let open =
        "select id, user_id, schedule_id, kind, reason, n_seen, appeal, appealed_at, verdict,
                       created_at, updated_at
                  from bot_signals
                 where id < $1 and appealed_at is not null and verdict is null
                 order by id desc limit $2";
    let of_fan =
        "select id, user_id, schedule_id, kind, reason, n_seen, appeal, appealed_at, verdict,
                         created_at, updated_at
                    from bot_signals where id < $1 and user_id = $3 order by id desc limit $2";
    let before = asked.page.after.unwrap_or(Uuid::max());
    let limit = asked.page.limit + 1;
    let rows = match (asked.user, asked.only_open) {
        (Some(user), _) => tx.query(of_fan, params![before, limit, user]).await?,
        (None, true) => tx.query(open, params![before, limit]).await?,
        (None, false) => tx.query(all, params![before, limit]).await?,
    };
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<SignalRecord> {
    let verdict: Option<String> = row.get("verdict")?;
    Ok(SignalRecord {
        signal: row.get("id")?,
        user: row.get("user_id")?,
        schedule: row.get("schedule_id")?,
        kind: row.parse("kind", SignalKind::parse)?,
        reason: row.get("reason")?,
        n_seen: row.get("n_seen")?,
        appeal: row.get("appeal")?,
        appealed_at: row.get("appealed_at")?,
        verdict: verdict.as_deref().and_then(AppealVerdict::parse),
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

async fn appeal(tx: &mut dyn Tx, it: &Appeal) -> Result<()> {
    let sql = "update bot_signals set appeal = $3, appealed_at = $4, updated_at = $4
                where id = $1 and user_id = $2 and verdict is null";
    let values = params![it.signal, it.user, it.text.as_slice(), it.now];
    match tx.execute(sql, values).await? {
        1 => Ok(()),
        _ => Err(Refusal::NotFound.into()),
    }
}

async fn decide(tx: &mut dyn Tx, it: &DecideAppeal) -> Result<()> {
    let sql = "update bot_signals set verdict = $2, updated_at = $3 where id = $1";
    if tx.execute(sql, params![it.signal, it.verdict.as_str(), it.now]).await? != 1 {
        return Err(Refusal::NotFound.into());
    }
    let details = json!({ "verdict": it.verdict.as_str() });
    note(tx, it.actor, "signal.verdict", it.signal, details, it.now).await
}
