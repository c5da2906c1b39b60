//! Accounts and log-ins.

mod identity;
mod profile;
mod retention;
mod second_factor;
pub(crate) mod sessions;
pub(crate) mod sign_ups;
mod social;

pub(crate) use second_factor::read_role;

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::legal;
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::{Outgoing, security_changed};
use podo_app::Result;
use podo_app::identity::port::accounts::{
    Accounts, ChangePassword, ChangeProfile, ChangeTotp, ConfirmSignUp, CreateSocialUser,
    CreateUser, EncryptedTotp, LinkSocial, LinkedView, LoginAttempt, LoginView, LoginsKept,
    ProveEmail, ProveIdentity, RenewHash, RequestSignUp, RotateRefresh, Rotation, SessionView,
    SignUpRecord, SocialAccount, StartSession, UserRecord,
};
use podo_app::store::PageRequest;
use podo_domain::identity::{Failures, SocialProvider};
use podo_domain::messaging::announcements::SecurityChange;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Refusal, SessionId, Timestamp, UserId};
use serde_json::json;
use uuid::Uuid;

commands! {
    impl Accounts for SqlStore {
        write create_user(CreateUser) -> () as User => create;
        write create_users(CreateUsers { commands: Vec<CreateUser> }) -> () as User => create_many;
        read user_by_email(UserByEmail { email_hash: [u8; 32] })
            -> Option<UserRecord> as User => by_email;
        read user(UserById { user: UserId }) -> Option<UserRecord> as User => by_id;
        read users(UsersById { users: Vec<UserId> }) -> Vec<UserRecord> as User => by_ids;
        read proven_email(ProvenEmail { user: UserId }) -> Option<[u8; 32]> as User => proven_email;
        write record_failed_login(FailedLogin { attempt: LoginAttempt })
            -> () as User => record_failure;
        write start_session(StartSession) -> () as User => sessions::start_session;
        write rotate_refresh(RotateRefresh) -> Rotation as User => sessions::rotate;
        write end_session(EndSession { session: SessionId, now: Timestamp })
            -> () as User => sessions::end;
        read failures(FailuresOf { email_hash: [u8; 32], budget: Option<String>, since: Timestamp })
            -> Failures as User => failures;
        read knows_network(KnowsNetwork { email_hash: [u8; 32], network: String, since: Timestamp })
            -> bool as User => knows_network;
        write end_session_of(EndSessionOf { user: UserId, session: SessionId, now: Timestamp })
            -> bool as User => sessions::end_of;
        read sessions_of(SessionsOf { user: UserId, now: Timestamp })
            -> Vec<SessionView> as User => sessions::list;
        read sessions_ended_since(EndedSince { since: Timestamp })
            -> Vec<SessionId> as User => sessions::ended_since;
        read logins_of(LoginsOf { user: UserId, page: PageRequest })
            -> Vec<LoginView> as User => profile::logins;
        write change_profile(ChangeProfile) -> () as User => profile::change;
        write change_password(ChangePassword) -> Vec<SessionId> as User => profile::change_password;
        read proven_ci(ProvenCi { user: UserId }) -> Option<Vec<u8>> as User => identity::proven_ci;
        write prove_identity(ProveIdentity) -> () as User => identity::prove;
        write change_totp(ChangeTotp) -> Option<Vec<SessionId>> as User => second_factor::change;
        write note_proof(NoteProof { session: SessionId, now: Timestamp })
            -> bool as User => sessions::note_proof;
        read proven_at(ProvenAt { session: SessionId })
            -> Option<Timestamp> as User => sessions::proven_at;
        write ask_sign_up(RequestSignUp) -> () as User => sign_ups::ask;
        write confirm_sign_up(ConfirmSignUp) -> bool as User => sign_ups::confirm;
        write prove_email(ProveEmail) -> bool as User => sign_ups::prove;
        write mark_email_proven(MarkEmailProven {
            user: UserId, email_hash: [u8; 32], now: Timestamp,
        }) -> bool as User => mark_email_proven;
        read sign_up(FindSignUp { sign_up: UserId })
            -> Option<SignUpRecord> as User => sign_ups::find;
        write forget_sign_ups(ForgetSignUps { before: Timestamp, limit: u32 })
            -> u64 as User => sign_ups::forget;
        write link_social(LinkSocial) -> () as User => social::link;
        read social_of(SocialOf { user: UserId }) -> Vec<LinkedView> as User => social::list;
        write unlink_social(Unlink { user: UserId, provider: SocialProvider })
            -> bool as User => social::unlink;
        read user_by_social(SocialAccount) -> Option<UserRecord> as User => social::find;
        write create_social_user(CreateSocialUser) -> () as User => social::create_user;
        write withdraw(Withdraw { user: UserId, now: Timestamp })
            -> Vec<SessionId> as User => profile::withdraw;
        write erase_withdrawn(EraseWithdrawn { before: Timestamp, limit: u32, now: Timestamp })
            -> u64 as User => retention::erase_all;
        read withdrawn(Withdrawn { before: Timestamp, limit: u32, now: Timestamp })
            -> Vec<UserId> as User => retention::withdrawn;
        write erase(Erase { user: UserId, now: Timestamp }) -> () as User => retention::erase;
        write make_dormant(MakeDormant { unused_since: Timestamp, limit: u32, now: Timestamp })
            -> u64 as User => retention::make_dormant;

        write renew_hash(RenewHash) -> () as User => profile::renew_hash;

        command ForgetLogins { before: Timestamp, limit: u32 }
            -> LoginsKept as User => retention::forget_logins;
        // The same for log-ins in monthly partitions.
        command KeepLoginMonths { before: Timestamp, limit: u32, now: Timestamp }
            -> LoginsKept as Worker => retention::keep_login_months;

        async fn apply_login_retention(
            &self,
            before: Timestamp,
            limit: u32,
            now: Timestamp,
        ) -> Result<LoginsKept> {
            match self.has_partitions() {
                true => self.write(KeepLoginMonths { before, limit, now }).await,
                false => self.write(ForgetLogins { before, limit }).await,
            }
        }
    }
}

pub(crate) async fn create(tx: &mut dyn Tx, command: &CreateUser) -> Result<()> {
    let sql = "insert into users (id, email, email_hash, password_hash, name, phone, phone_hash,
                                  role, reads_only, status, last_login_at, created_at, updated_at,
                                  email_proven_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $10, 'ACTIVE', $9, $9, $9, $11)";
    let (role, reads_only) = second_factor::stored(command.role);
    let values = params![
        command.user,
        command.email.as_slice(),
        command.email_hash,
        &command.password_hash,
        command.name.as_slice(),
        command.phone.clone(),
        command.phone_hash,
        role,
        command.now,
        reads_only,
        command.is_email_proven.then_some(command.now)
    ];
    tx.execute(sql, values).await.map_err(|error| {
        if error.is_constraint("users_email_live") {
            podo_app::Error::from(Refusal::EmailTaken)
        } else {
            error.into()
        }
    })?;
    legal::record(tx, command.user, &command.consents, command.now).await?;
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
    for command in &commands.commands {
        let taken = "select 1 from users where email_hash = $1 and status <> 'DELETED'";
        if tx.row(taken, params![command.email_hash]).await?.is_none() {
            create(tx, command).await?;
        }
    }
    Ok(())
}

const USER_BY_EMAIL: &str =
    "select id, email, name, phone, password_hash, role, created_at, verified_at,
            reads_only, totp_secret, totp_since, email_proven_at
       from users
      where email_hash = $1 and status <> 'DELETED'";

const USER_BY_ID: &str =
    "select id, email, name, phone, password_hash, role, created_at, verified_at,
            reads_only, totp_secret, totp_since, email_proven_at
       from users
      where id = $1 and status <> 'DELETED'";

fn read_user(row: &Row) -> Result<UserRecord> {
    let is_on = row.get::<Option<Timestamp>>("totp_since")?.is_some();
    Ok(UserRecord {
        user: row.get("id")?,
        email: row.get("email")?,
        name: row.get("name")?,
        phone: row.get("phone")?,
        password_hash: row.get("password_hash")?,
        role: second_factor::read_role(&row.get::<String>("role")?, row.get("reads_only")?)
            .ok_or_else(|| podo_app::Error::Broken("an unknown role".into()))?,
        created_at: row.get("created_at")?,
        is_verified: row.get::<Option<Timestamp>>("verified_at")?.is_some(),
        is_email_proven: row.get::<Option<Timestamp>>("email_proven_at")?.is_some(),
        totp: row
            .get::<Option<Vec<u8>>>("totp_secret")?
            .map(|secret| EncryptedTotp { secret, is_on }),
    })
}

async fn by_email(tx: &mut dyn Tx, question: &UserByEmail) -> Result<Option<UserRecord>> {
    tx.row(USER_BY_EMAIL, params![question.email_hash]).await?.as_ref().map(read_user).transpose()
}

async fn by_id(tx: &mut dyn Tx, question: &UserById) -> Result<Option<UserRecord>> {
    tx.row(USER_BY_ID, params![question.user]).await?.as_ref().map(read_user).transpose()
}

async fn by_ids(tx: &mut dyn Tx, question: &UsersById) -> Result<Vec<UserRecord>> {
    let sets = question.users.iter().map(|user| params![*user].to_vec()).collect();
    let found = tx.query_each(USER_BY_ID, sets).await?;
    found.iter().flatten().map(read_user).collect()
}

async fn mark_email_proven(tx: &mut dyn Tx, command: &MarkEmailProven) -> Result<bool> {
    let sql = "update users set email_proven_at = coalesce(email_proven_at, $3), updated_at = $3
                where id = $1 and email_hash = $2 and status <> 'DELETED'";
    let values = params![command.user, command.email_hash, command.now];
    Ok(tx.execute(sql, values).await? == 1)
}

async fn proven_email(tx: &mut dyn Tx, question: &ProvenEmail) -> Result<Option<[u8; 32]>> {
    let sql = "select email_hash from users
                where id = $1 and email_proven_at is not null and status <> 'DELETED'";
    let row = tx.row(sql, params![question.user]).await?;
    row.map(|row| Ok(row.get("email_hash")?)).transpose()
}

async fn record_failure(tx: &mut dyn Tx, attempt: &FailedLogin) -> Result<()> {
    record_login(tx, &attempt.attempt, None).await
}

async fn record_login(
    tx: &mut dyn Tx,
    attempt: &LoginAttempt,
    session: Option<SessionId>,
) -> Result<()> {
    if let (Some(user), true) = (attempt.user, attempt.success) {
        notify_of_new_device(tx, user, attempt).await?;
    }
    let sql = "insert into login_history
                 (id, user_id, session_id, email_hash, ip, agent, method, success, reason,
                  created_at, network, budget)
               values ($1, $2, $3, $4, $5, $6, $10, $7, $8, $9, $11, $12)";
    let values = params![
        attempt.login,
        attempt.user,
        session,
        attempt.email_hash,
        attempt.ip.clone(),
        attempt.agent.clone(),
        attempt.success,
        attempt.reason,
        attempt.now,
        attempt.method,
        attempt.network.clone(),
        attempt.budget.clone()
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Earlier log-ins that are compared with a new one.
const KNOWN_DEVICES_MAX: i64 = 20;

/// The first log-in needs no notice: the account was just created.
async fn notify_of_new_device(tx: &mut dyn Tx, user: UserId, attempt: &LoginAttempt) -> Result<()> {
    // The upper bound spares PostgreSQL the empty partitions of the coming months.
    let sql = "select agent from login_history where user_id = $1 and id < $2 and success
                order by id desc limit $3";
    let rows = tx.query(sql, params![user, attempt.login, KNOWN_DEVICES_MAX]).await?;
    let is_same =
        |row: &Row| row.get::<Option<String>>("agent").is_ok_and(|it| it == attempt.agent);
    if rows.is_empty() || rows.iter().any(is_same) {
        return Ok(());
    }
    security_changed(tx, user, SecurityChange::NewLogin, attempt.now).await
}

/// Below every id created since this moment, because ids begin with their creation time.
fn first_id_at(moment: Timestamp) -> Uuid {
    Uuid::from_u128(u128::try_from(moment.ms()).unwrap_or(0) << 80)
}

/// Failures beyond this number change nothing.
const FAILURES_MAX: i64 = 40;

async fn failures(tx: &mut dyn Tx, question: &FailuresOf) -> Result<Failures> {
    let sql = "select success, created_at from login_history
                where email_hash = $1 and $2 < id and coalesce(budget, '') = $4
                order by id desc limit $3";
    let budget = question.budget.clone().unwrap_or_default();
    let since = first_id_at(question.since);
    let values = params![question.email_hash, since, FAILURES_MAX, budget];
    let rows = tx.query(sql, values).await?;
    let mut failures = Failures::default();
    for row in &rows {
        if row.get("success")? {
            break;
        }
        failures.n += 1;
        failures.last_at = failures.last_at.max(Some(row.get("created_at")?));
    }
    Ok(failures)
}

async fn knows_network(tx: &mut dyn Tx, question: &KnowsNetwork) -> Result<bool> {
    let sql = "select 1 from login_history
                where email_hash = $1 and network = $2 and success and $3 < id limit 1";
    let KnowsNetwork { email_hash, network, since } = question;
    let values = params![*email_hash, network.clone(), first_id_at(*since)];
    Ok(tx.row(sql, values).await?.is_some())
}
