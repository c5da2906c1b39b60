//! Sessions: a family of refresh tokens that started with one log-in.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::accounts::{
    EndSession, EndSessionOf, EndedSince, NoteProof, ProvenAt, SessionsOf, USER_BY_ID, read_user,
    record_login,
};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use podo_app::Result;
use podo_app::identity::port::accounts::{RotateRefresh, Rotation, SessionView, StartSession};
use podo_domain::identity::REFRESH_GRACE;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{SessionId, Timestamp, UserId};
use serde_json::json;
use std::collections::BTreeSet;

pub(super) async fn start_session(tx: &mut dyn Tx, command: &StartSession) -> Result<()> {
    let now = command.attempt.now;
    record_login(tx, &command.attempt, Some(command.session)).await?;
    let seen = "update users set last_login_at = $2, status = 'ACTIVE', updated_at = $2
                 where id = $1 and status <> 'DELETED'";
    tx.execute(seen, params![command.user, now]).await?;
    let token = NewToken {
        user: command.user,
        session: command.session,
        hash: command.refresh_hash,
        expires_at: command.expires_at,
        proven_at: Some(now),
    };
    issue(tx, &token, now).await
}

/// The next refresh token of a family.
struct NewToken {
    user: UserId,
    session: SessionId,
    hash: [u8; 32],
    expires_at: Timestamp,
    proven_at: Option<Timestamp>,
}

async fn issue(tx: &mut dyn Tx, token: &NewToken, now: Timestamp) -> Result<()> {
    let sql = "insert into auth_tokens
                 (id, user_id, session_id, refresh_hash, issued_at, expires_at, proven_at)
               values ($1, $2, $3, $4, $5, $6, $7)";
    let id = tx.rng().id(now);
    let values =
        params![id, token.user, token.session, token.hash, now, token.expires_at, token.proven_at];
    tx.execute(sql, values).await?;
    Ok(())
}

/// One compare-and-set spends the token; a second attempt finds it spent.
pub(super) async fn rotate(tx: &mut dyn Tx, command: &RotateRefresh) -> Result<Rotation> {
    let spend = "update auth_tokens set spent_at = $2
                  where refresh_hash = $1 and spent_at is null and revoked_at is null
                    and $2 < expires_at
                 returning user_id, session_id, issued_at, proven_at";
    let spent = tx.row(spend, params![command.spent_hash, command.now]).await?;
    let Some(row) = spent else { return explain_spent(tx, command).await };
    let (user, session) = (row.get("user_id")?, row.get("session_id")?);
    let found = tx.row(USER_BY_ID, params![user]).await?;
    let Some(found) = found else { return Ok(Rotation::Invalid) };
    let owner = read_user(&found)?;
    let idle_max = command.organisers_idle_max.filter(|_| owner.role.is_organiser());
    let issued_at: Timestamp = row.get("issued_at")?;
    if idle_max.is_some_and(|max| issued_at.plus(max) <= command.now) {
        end(tx, &EndSession { session, now: command.now }).await?;
        return Ok(Rotation::Idle { session });
    }
    let (hash, expires_at) = (command.next_hash, command.expires_at);
    let next = NewToken { user, session, hash, expires_at, proven_at: row.get("proven_at")? };
    issue(tx, &next, command.now).await?;
    Ok(Rotation::Rotated { user: Box::new(owner), session })
}

/// Why a token couldn't be spent. A token spent long ago has been copied, so the whole family ends.
async fn explain_spent(tx: &mut dyn Tx, command: &RotateRefresh) -> Result<Rotation> {
    let sql = "select session_id, spent_at, revoked_at, user_id from auth_tokens
                where refresh_hash = $1";
    let Some(row) = tx.row(sql, params![command.spent_hash]).await? else {
        return Ok(Rotation::Invalid);
    };
    let session: SessionId = row.get("session_id")?;
    let (spent_at, revoked_at): (Option<Timestamp>, Option<Timestamp>) =
        (row.get("spent_at")?, row.get("revoked_at")?);
    match (spent_at, revoked_at) {
        (_, Some(_)) | (None, None) => Ok(Rotation::Invalid),
        (Some(spent_at), None) if command.now < spent_at.plus(REFRESH_GRACE) => Ok(Rotation::Retry),
        (Some(_), None) => {
            end(tx, &EndSession { session, now: command.now }).await?;
            tell_copied(tx, row.get("user_id")?, session, command.now).await?;
            Ok(Rotation::Reused { session })
        }
    }
}

async fn tell_copied(
    tx: &mut dyn Tx,
    user: UserId,
    session: SessionId,
    now: Timestamp,
) -> Result<()> {
    let message = Outgoing {
        kind: MessageKind::SessionCopied,
        aggregate: session.uuid(),
        seq: 1,
        key: user.uuid(),
        payload: &json!({ "userId": user, "sessionId": session }),
    };
    outbox::push(tx, message, now).await
}

pub(super) async fn end(tx: &mut dyn Tx, command: &EndSession) -> Result<()> {
    let sql = "update auth_tokens set revoked_at = $2
                where session_id = $1 and revoked_at is null";
    tx.execute(sql, params![command.session, command.now]).await?;
    Ok(())
}

pub(super) async fn end_of(tx: &mut dyn Tx, command: &EndSessionOf) -> Result<bool> {
    let sql = "update auth_tokens set revoked_at = $3
                where session_id = $1 and user_id = $2 and revoked_at is null";
    let values = params![command.session, command.user, command.now];
    Ok(tx.execute(sql, values).await? > 0)
}

pub(super) async fn note_proof(tx: &mut dyn Tx, command: &NoteProof) -> Result<bool> {
    let sql = "update auth_tokens set proven_at = $2
                where session_id = $1 and spent_at is null and revoked_at is null";
    Ok(tx.execute(sql, params![command.session, command.now]).await? == 1)
}

pub(super) async fn proven_at(tx: &mut dyn Tx, question: &ProvenAt) -> Result<Option<Timestamp>> {
    let sql = "select proven_at from auth_tokens
                where session_id = $1 and spent_at is null and revoked_at is null";
    let row = tx.row(sql, params![question.session]).await?;
    Ok(row.map(|row| row.get::<Option<Timestamp>>("proven_at")).transpose()?.flatten())
}

/// Ends all sessions of a user except one.
pub(crate) async fn end_all(
    tx: &mut dyn Tx,
    user: UserId,
    keep: Option<SessionId>,
    now: Timestamp,
) -> Result<Vec<SessionId>> {
    let sql = "update auth_tokens set revoked_at = $2
                where user_id = $1 and revoked_at is null and session_id <> $3
               returning session_id";
    let keep = keep.map_or(uuid::Uuid::nil(), |session| session.uuid());
    let rows = tx.query(sql, params![user, now, keep]).await?;
    let mut ended = rows.iter().map(session_in).collect::<Result<Vec<SessionId>>>()?;
    ended.sort_unstable();
    ended.dedup();
    Ok(ended)
}

pub(super) async fn list(tx: &mut dyn Tx, question: &SessionsOf) -> Result<Vec<SessionView>> {
    let sql = "select t.session_id, l.created_at, t.issued_at, l.ip, l.agent
                 from auth_tokens t
                 left join login_history l
                   on l.user_id = t.user_id and l.session_id = t.session_id
                where t.user_id = $1 and t.spent_at is null and t.revoked_at is null
                  and $2 < t.expires_at
                order by t.issued_at desc";
    let read = |row: &Row| {
        let last_used_at: Timestamp = row.get("issued_at")?;
        let started_at: Option<Timestamp> = row.get("created_at")?;
        Ok(SessionView {
            id: row.get("session_id")?,
            started_at: started_at.unwrap_or(last_used_at),
            last_used_at,
            ip: row.get("ip")?,
            agent: row.get("agent")?,
            current: false,
        })
    };
    tx.query(sql, params![question.user, question.now]).await?.iter().map(read).collect()
}

fn session_in(row: &Row) -> Result<SessionId> {
    Ok(row.get("session_id")?)
}

pub(super) async fn ended_since(tx: &mut dyn Tx, question: &EndedSince) -> Result<Vec<SessionId>> {
    // Not `distinct`: SQLite would read all tokens in the order of their sessions.
    let sql = "select session_id from auth_tokens where revoked_at >= $1";
    let rows = tx.query(sql, params![question.since]).await?;
    let ended: BTreeSet<SessionId> = rows.iter().map(session_in).collect::<Result<_>>()?;
    Ok(ended.into_iter().collect())
}
