//! Accounts, sessions and log-ins.

use super::outbox::{self, Outgoing};
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::ports::accounts::{
    Accounts, CreateUser, LoginAttempt, RotateRefresh, Rotation, StartSession, UserRecord,
};
use async_trait::async_trait;
use domain::accounts::{REFRESH_GRACE, Role};
use domain::messages::MessageKind;
use domain::{Refusal, SessionId, Timestamp, UserId};
use serde_json::json;

struct CreateUsers(Vec<CreateUser>);
struct UserByEmail([u8; 32]);
struct UserById(UserId);
struct FailedLogin(LoginAttempt);
struct EndSession {
    session: SessionId,
    now: Timestamp,
}

work!(User: CreateUser => create, ());
work!(User: CreateUsers => create_many, ());
work!(User: UserByEmail => by_email, Option<UserRecord>);
work!(User: UserById => by_id, Option<UserRecord>);
work!(User: FailedLogin => record_failure, ());
work!(User: StartSession => start_session, ());
work!(User: RotateRefresh => rotate, Rotation);
work!(User: EndSession => end, ());

#[async_trait]
impl Accounts for SqlStore {
    async fn create_user(&self, command: CreateUser) -> Result<()> {
        self.write(command).await
    }

    async fn create_users(&self, commands: Vec<CreateUser>) -> Result<()> {
        self.write(CreateUsers(commands)).await
    }

    async fn user_by_email(&self, email_hash: [u8; 32]) -> Result<Option<UserRecord>> {
        self.read(UserByEmail(email_hash)).await
    }

    async fn user(&self, user: UserId) -> Result<Option<UserRecord>> {
        self.read(UserById(user)).await
    }

    async fn record_failed_login(&self, attempt: LoginAttempt) -> Result<()> {
        self.write(FailedLogin(attempt)).await
    }

    async fn start_session(&self, command: StartSession) -> Result<()> {
        self.write(command).await
    }

    async fn rotate_refresh(&self, command: RotateRefresh) -> Result<Rotation> {
        self.write(command).await
    }

    async fn end_session(&self, session: SessionId, now: Timestamp) -> Result<()> {
        self.write(EndSession { session, now }).await
    }
}

async fn create(tx: &mut dyn Tx, command: &CreateUser) -> Result<()> {
    let sql = "insert into users (id, email, email_hash, password_hash, name, phone, phone_hash,
                                  role, status, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, 'ACTIVE', $9, $9)";
    let values = params![
        command.user,
        command.email.as_slice(),
        command.email_hash,
        &command.password_hash,
        command.name.as_slice(),
        command.phone.clone(),
        command.phone_hash,
        command.role.as_str(),
        command.now
    ];
    tx.execute(sql, values).await.map_err(|error| {
        if error.is_constraint("users_email_live") {
            app::Error::from(Refusal::EmailTaken)
        } else {
            error.into()
        }
    })?;
    let message = Outgoing {
        kind: MessageKind::UserSignedUp,
        aggregate: command.user.uuid(),
        seq: 1,
        key: command.user.uuid(),
        payload: &json!({ "userId": command.user }),
    };
    outbox::push(tx, message, command.now).await
}

async fn create_many(tx: &mut dyn Tx, commands: &CreateUsers) -> Result<()> {
    for command in &commands.0 {
        let taken = "select 1 from users where email_hash = $1 and status <> 'DELETED'";
        if tx.row(taken, params![command.email_hash]).await?.is_none() {
            create(tx, command).await?;
        }
    }
    Ok(())
}

const USER_BY_EMAIL: &str =
    "select id, email, name, phone, password_hash, role, created_at from users
      where email_hash = $1 and status <> 'DELETED'";

const USER_BY_ID: &str = "select id, email, name, phone, password_hash, role, created_at from users
      where id = $1 and status <> 'DELETED'";

fn read_user(row: &Row) -> Result<UserRecord> {
    Ok(UserRecord {
        user: row.get(0)?,
        email: row.get(1)?,
        name: row.get(2)?,
        phone: row.get(3)?,
        password_hash: row.get(4)?,
        role: row.parse(5, Role::parse)?,
        created_at: row.get(6)?,
    })
}

async fn by_email(tx: &mut dyn Tx, question: &UserByEmail) -> Result<Option<UserRecord>> {
    tx.row(USER_BY_EMAIL, params![question.0]).await?.as_ref().map(read_user).transpose()
}

async fn by_id(tx: &mut dyn Tx, question: &UserById) -> Result<Option<UserRecord>> {
    tx.row(USER_BY_ID, params![question.0]).await?.as_ref().map(read_user).transpose()
}

async fn record_failure(tx: &mut dyn Tx, attempt: &FailedLogin) -> Result<()> {
    record_login(tx, &attempt.0).await
}

async fn record_login(tx: &mut dyn Tx, attempt: &LoginAttempt) -> Result<()> {
    let sql = "insert into login_history
                 (id, user_id, email_hash, ip, agent, method, success, reason, created_at)
               values ($1, $2, $3, $4, $5, 'EMAIL', $6, $7, $8)";
    let values = params![
        attempt.login,
        attempt.user,
        attempt.email_hash,
        attempt.ip.clone(),
        attempt.agent.clone(),
        attempt.success,
        attempt.reason,
        attempt.now
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn start_session(tx: &mut dyn Tx, command: &StartSession) -> Result<()> {
    let now = command.attempt.now;
    record_login(tx, &command.attempt).await?;
    let seen = "update users set last_login_at = $2, updated_at = $2 where id = $1";
    tx.execute(seen, params![command.user, now]).await?;
    let token = NewToken {
        user: command.user,
        session: command.session,
        hash: command.refresh_hash,
        expires_at: command.expires_at,
    };
    issue(tx, &token, now).await
}

/// The next refresh token of a family.
struct NewToken {
    user: UserId,
    session: SessionId,
    hash: [u8; 32],
    expires_at: Timestamp,
}

async fn issue(tx: &mut dyn Tx, token: &NewToken, now: Timestamp) -> Result<()> {
    let sql = "insert into auth_tokens
                 (id, user_id, session_id, refresh_hash, issued_at, expires_at)
               values ($1, $2, $3, $4, $5, $6)";
    let id = tx.chance().id(now);
    let values = params![id, token.user, token.session, token.hash, now, token.expires_at];
    tx.execute(sql, values).await?;
    Ok(())
}

/// One compare-and-set spends the token; whoever comes second finds it spent.
async fn rotate(tx: &mut dyn Tx, command: &RotateRefresh) -> Result<Rotation> {
    let spend = "update auth_tokens set spent_at = $2
                  where refresh_hash = $1 and spent_at is null and revoked_at is null
                    and $2 < expires_at
                 returning user_id, session_id";
    let spent = tx.row(spend, params![command.spent_hash, command.now]).await?;
    let Some(row) = spent else { return explain_spent(tx, command).await };
    let (user, session) = (row.get(0)?, row.get(1)?);
    let found = tx.row(USER_BY_ID, params![user]).await?;
    let Some(found) = found else { return Ok(Rotation::Invalid) };
    let (hash, expires_at) = (command.next_hash, command.expires_at);
    issue(tx, &NewToken { user, session, hash, expires_at }, command.now).await?;
    Ok(Rotation::Rotated { user: Box::new(read_user(&found)?), session })
}

/// Why a token could not be spent. One that was spent long ago has been copied: the whole family
/// ends.
async fn explain_spent(tx: &mut dyn Tx, command: &RotateRefresh) -> Result<Rotation> {
    let sql = "select session_id, spent_at, revoked_at from auth_tokens where refresh_hash = $1";
    let Some(row) = tx.row(sql, params![command.spent_hash]).await? else {
        return Ok(Rotation::Invalid);
    };
    let session: SessionId = row.get(0)?;
    let (spent_at, revoked_at): (Option<Timestamp>, Option<Timestamp>) = (row.get(1)?, row.get(2)?);
    match (spent_at, revoked_at) {
        (_, Some(_)) | (None, None) => Ok(Rotation::Invalid),
        (Some(spent_at), None) if command.now < spent_at.plus(REFRESH_GRACE) => Ok(Rotation::Retry),
        (Some(_), None) => {
            end(tx, &EndSession { session, now: command.now }).await?;
            Ok(Rotation::Reused { session })
        }
    }
}

async fn end(tx: &mut dyn Tx, command: &EndSession) -> Result<()> {
    let sql = "update auth_tokens set revoked_at = $2
                where session_id = $1 and revoked_at is null";
    tx.execute(sql, params![command.session, command.now]).await?;
    Ok(())
}
