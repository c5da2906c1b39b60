//! What looked like a robot.

use super::audit::note;
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::ports::signals::{Appeal, DecideAppeal, NoteSignal, SignalRecord, Signals, SignalsAsk};
use async_trait::async_trait;
use domain::Refusal;
use domain::signals::{AppealVerdict, SignalKind};
use serde_json::json;
use uuid::Uuid;

work!(Sales: NoteSignal => keep, ());
work!(Sales: SignalsAsk => list, Vec<SignalRecord>);
work!(Sales: Appeal => appeal, ());
work!(Sales: DecideAppeal => decide, ());

#[async_trait]
impl Signals for SqlStore {
    async fn note_signal(&self, note: NoteSignal) -> Result<()> {
        self.write(note).await
    }

    async fn signals(&self, asked: SignalsAsk) -> Result<Vec<SignalRecord>> {
        self.read(asked).await
    }

    async fn appeal(&self, appeal: Appeal) -> Result<()> {
        self.write(appeal).await
    }

    async fn decide_appeal(&self, command: DecideAppeal) -> Result<()> {
        self.write(command).await
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

async fn list(tx: &mut dyn Tx, asked: &SignalsAsk) -> Result<Vec<SignalRecord>> {
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
    let verdict: Option<String> = row.get(8)?;
    Ok(SignalRecord {
        signal: row.get(0)?,
        user: row.get(1)?,
        schedule: row.get(2)?,
        kind: row.parse(3, SignalKind::parse)?,
        reason: row.get(4)?,
        n_seen: row.get(5)?,
        appeal: row.get(6)?,
        appealed_at: row.get(7)?,
        verdict: verdict.as_deref().and_then(AppealVerdict::parse),
        created_at: row.get(9)?,
        updated_at: row.get(10)?,
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
    note(tx, (it.actor, "signal.verdict"), it.signal, details, it.now).await
}
