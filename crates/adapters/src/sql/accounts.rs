//! Accounts and log-ins.

mod identity;
mod profile;
mod retention;
mod second_factor;
mod sessions;
mod sign_ups;
mod social;

use super::outbox::{self, Outgoing};
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::paging::PageAsk;
use app::ports::accounts::{
    Accounts, AskSignUp, ChangePassword, ChangeProfile, ChangeRole, ChangeTotp, ConfirmSignUp,
    CreateSocialUser, CreateUser, LinkSocial, LinkedView, LoginAttempt, LoginView, LoginsKept,
    ProveEmail, ProveIdentity, RotateRefresh, Rotation, SealedTotp, SessionView, SignUpRecord,
    SocialAccount, StartSession, UserRecord,
};
use async_trait::async_trait;
use domain::accounts::{Failures, SocialProvider};
use domain::messages::MessageKind;
use domain::{Refusal, SessionId, Timestamp, UserId};
use profile::{LoginsOf, RenewHash, Withdraw};
use retention::{Erase, EraseWithdrawn, ForgetLogins, KeepLoginMonths, MakeDormant, Withdrawn};
use serde_json::json;
use sessions::{EndSession, EndSessionOf, EndedSince, NoteProof, ProvenAt, SessionsOf};
use sign_ups::{FindSignUp, ForgetSignUps};
use social::{SocialOf, Unlink};
use uuid::Uuid;

struct CreateUsers(Vec<CreateUser>);
struct UserByEmail([u8; 32]);
struct UserById(UserId);
struct ProvenEmail(UserId);
struct FailedLogin(LoginAttempt);
struct KnowsNetwork {
    email_hash: [u8; 32],
    network: String,
    since: Timestamp,
}
struct FailuresOf {
    email_hash: [u8; 32],
    budget: Option<String>,
    since: Timestamp,
}

work!(User: CreateUser => create, ());
work!(User: CreateUsers => create_many, ());
work!(User: UserByEmail => by_email, Option<UserRecord>);
work!(User: UserById => by_id, Option<UserRecord>);
work!(User: ProvenEmail => proven_email, Option<[u8; 32]>);
work!(User: FailedLogin => record_failure, ());
work!(User: FailuresOf => failures, Failures);
work!(User: KnowsNetwork => knows_network, bool);

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

    async fn proven_email(&self, user: UserId) -> Result<Option<[u8; 32]>> {
        self.read(ProvenEmail(user)).await
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

    async fn failures(
        &self,
        email_hash: [u8; 32],
        budget: Option<String>,
        since: Timestamp,
    ) -> Result<Failures> {
        self.read(FailuresOf { email_hash, budget, since }).await
    }

    async fn knows_network(
        &self,
        email_hash: [u8; 32],
        network: String,
        since: Timestamp,
    ) -> Result<bool> {
        self.read(KnowsNetwork { email_hash, network, since }).await
    }

    async fn end_session_of(
        &self,
        user: UserId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(EndSessionOf { user, session, now }).await
    }

    async fn sessions_of(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionView>> {
        self.read(SessionsOf { user, now }).await
    }

    async fn sessions_ended_since(&self, since: Timestamp) -> Result<Vec<SessionId>> {
        self.read(EndedSince(since)).await
    }

    async fn logins_of(&self, user: UserId, page: PageAsk) -> Result<Vec<LoginView>> {
        self.read(LoginsOf { user, page }).await
    }

    async fn change_profile(&self, command: ChangeProfile) -> Result<()> {
        self.write(command).await
    }

    async fn change_password(&self, command: ChangePassword) -> Result<Vec<SessionId>> {
        self.write(command).await
    }

    async fn prove_identity(&self, command: ProveIdentity) -> Result<()> {
        self.write(command).await
    }

    async fn change_totp(&self, command: ChangeTotp) -> Result<Option<Vec<SessionId>>> {
        self.write(command).await
    }

    async fn change_role(&self, command: ChangeRole) -> Result<Vec<SessionId>> {
        self.write(command).await
    }

    async fn note_proof(&self, session: SessionId, now: Timestamp) -> Result<bool> {
        self.write(NoteProof { session, now }).await
    }

    async fn proven_at(&self, session: SessionId) -> Result<Option<Timestamp>> {
        self.read(ProvenAt(session)).await
    }

    async fn ask_sign_up(&self, command: AskSignUp) -> Result<()> {
        self.write(command).await
    }

    async fn confirm_sign_up(&self, command: ConfirmSignUp) -> Result<bool> {
        self.write(command).await
    }

    async fn prove_email(&self, command: ProveEmail) -> Result<bool> {
        self.write(command).await
    }

    async fn sign_up(&self, sign_up: UserId) -> Result<Option<SignUpRecord>> {
        self.read(FindSignUp(sign_up)).await
    }

    async fn forget_sign_ups(&self, before: Timestamp, limit: u32) -> Result<u64> {
        self.write(ForgetSignUps { before, limit }).await
    }

    async fn link_social(&self, command: LinkSocial) -> Result<()> {
        self.write(command).await
    }

    async fn social_of(&self, user: UserId) -> Result<Vec<LinkedView>> {
        self.read(SocialOf(user)).await
    }

    async fn unlink_social(&self, user: UserId, provider: SocialProvider) -> Result<bool> {
        self.write(Unlink { user, provider }).await
    }

    async fn user_by_social(&self, account: SocialAccount) -> Result<Option<UserRecord>> {
        self.read(account).await
    }

    async fn create_social_user(&self, command: CreateSocialUser) -> Result<()> {
        self.write(command).await
    }

    async fn renew_hash(
        &self,
        user: UserId,
        (known, new): (String, String),
        now: Timestamp,
    ) -> Result<()> {
        self.write(RenewHash { user, known, new, now }).await
    }

    async fn withdraw(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionId>> {
        self.write(Withdraw { user, now }).await
    }

    async fn erase_withdrawn(&self, before: Timestamp, limit: u32, now: Timestamp) -> Result<u64> {
        self.write(EraseWithdrawn { before, limit, now }).await
    }

    async fn withdrawn(
        &self,
        before: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<UserId>> {
        self.read(Withdrawn { before, limit, now }).await
    }

    async fn erase(&self, user: UserId, now: Timestamp) -> Result<()> {
        self.write(Erase { user, now }).await
    }

    async fn make_dormant(
        &self,
        unused_since: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<u64> {
        self.write(MakeDormant { unused_since, limit, now }).await
    }

    async fn keep_logins(
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

async fn create(tx: &mut dyn Tx, command: &CreateUser) -> Result<()> {
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
    let is_on = row.get::<Option<Timestamp>>(10)?.is_some();
    Ok(UserRecord {
        user: row.get(0)?,
        email: row.get(1)?,
        name: row.get(2)?,
        phone: row.get(3)?,
        password_hash: row.get(4)?,
        role: second_factor::read_role(&row.get::<String>(5)?, row.get(8)?)
            .ok_or_else(|| app::Error::Broken("a role that nobody knows".into()))?,
        created_at: row.get(6)?,
        is_verified: row.get::<Option<Timestamp>>(7)?.is_some(),
        is_email_proven: row.get::<Option<Timestamp>>(11)?.is_some(),
        totp: row.get::<Option<Vec<u8>>>(9)?.map(|secret| SealedTotp { secret, is_on }),
    })
}

async fn by_email(tx: &mut dyn Tx, question: &UserByEmail) -> Result<Option<UserRecord>> {
    tx.row(USER_BY_EMAIL, params![question.0]).await?.as_ref().map(read_user).transpose()
}

async fn by_id(tx: &mut dyn Tx, question: &UserById) -> Result<Option<UserRecord>> {
    tx.row(USER_BY_ID, params![question.0]).await?.as_ref().map(read_user).transpose()
}

async fn proven_email(tx: &mut dyn Tx, question: &ProvenEmail) -> Result<Option<[u8; 32]>> {
    let sql = "select email_hash from users
                where id = $1 and email_proven_at is not null and status <> 'DELETED'";
    let row = tx.row(sql, params![question.0]).await?;
    row.map(|row| Ok(row.get(0)?)).transpose()
}

async fn record_failure(tx: &mut dyn Tx, attempt: &FailedLogin) -> Result<()> {
    record_login(tx, &attempt.0, None).await
}

async fn record_login(
    tx: &mut dyn Tx,
    attempt: &LoginAttempt,
    session: Option<SessionId>,
) -> Result<()> {
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

/// Less than every id made since this moment: ids begin with the time of their making.
fn first_id_at(moment: Timestamp) -> Uuid {
    Uuid::from_u128(u128::try_from(moment.ms()).unwrap_or(0) << 80)
}

/// More failures than this change nothing any more.
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
        if row.get(0)? {
            break;
        }
        failures.n += 1;
        failures.last_at = failures.last_at.max(Some(row.get(1)?));
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
