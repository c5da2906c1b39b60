//! What people see and change of their own account.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::{UserView, field, view_with_team};
use crate::identity::port::accounts::{
    ChangePassword, ChangeProfile, EncryptedPhone, LoginView, SessionView, UserRecord,
};
use crate::identity::port::passwords::Verdict;
use crate::identity::sessions::Caller;
use crate::store::{Page, PageRequest};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::catalog::text::Line;
use podo_domain::identity::{ACCESS_TOKEN_LENGTH, NewPassword, Phone};
use podo_domain::tickets::TicketStatus;
use podo_domain::{Refusal, SessionId, Timestamp, UserId, Won};
use std::time::Duration;

/// `None` leaves a field as it is.
#[derive(Clone, Debug, Default)]
pub struct ProfileChange {
    pub name: Option<Line<50>>,
    /// `Some(None)` removes the number.
    pub phone: Option<Option<Phone>>,
}

pub(crate) async fn user_of(context: &AppContext, caller: Caller) -> Result<UserRecord> {
    Ok(context.store.user(caller.user).await?.ok_or(Refusal::LoginRequired)?)
}

pub async fn me(context: &AppContext, caller: Caller) -> Result<UserView> {
    view_with_team(context, &user_of(context, caller).await?).await
}

pub async fn change_profile(
    context: &AppContext,
    caller: Caller,
    change: ProfileChange,
) -> Result<UserView> {
    let user = caller.user;
    let encrypt = |column: &str, value: &str| {
        context.keyring.encrypt(&field(column, user), value, &*context.rng)
    };
    let encrypted = |phone: Option<Phone>| EncryptedPhone {
        phone: phone.as_ref().map(|phone| encrypt("phone", phone.as_str())),
        phone_hash: phone.as_ref().map(|phone| context.keyring.lookup("phone", phone.as_str())),
    };
    let command = ChangeProfile {
        user,
        name: change.name.map(|name| encrypt("name", name.as_str())),
        phone: change.phone.map(encrypted),
        now: context.now(),
    };
    context.store.change_profile(command).await?;
    me(context, caller).await
}

/// Attempts at one's own password; far more than a person who knows it needs.
const PASSWORD_TRIES: u32 = 10;
const PASSWORD_TRIES_PER: Duration = Duration::from_secs(15 * 60);

/// Asks for the password again before an irreversible action.
pub(crate) async fn prove(
    context: &AppContext,
    caller: Caller,
    password: String,
) -> Result<UserRecord> {
    let key = format!("password:{}", caller.user);
    context.take(&key, PASSWORD_TRIES, PASSWORD_TRIES_PER).await?;
    let user = user_of(context, caller).await?;
    let Some(hash) = user.known_hash() else { return prove_recent(context, caller, user) };
    if password.is_empty() {
        return Err(Refusal::PasswordWrong.into());
    }
    match context.identity.passwords.verify(password, Some(hash)).await? {
        Verdict::Right | Verdict::RightButOld => Ok(user),
        Verdict::Wrong => Err(Refusal::PasswordWrong.into()),
    }
}

/// Accounts of other services have no password here, so a recent log-in serves as proof.
const RECENT: Duration = Duration::from_secs(10 * 60);

fn prove_recent(context: &AppContext, caller: Caller, user: UserRecord) -> Result<UserRecord> {
    let begun_at = caller.session.made_at();
    if context.now() < begun_at.plus(RECENT) {
        Ok(user)
    } else {
        Err(Refusal::PasswordWrong.into())
    }
}

/// All other sessions end, because the old password may be known to others.
pub async fn change_password(
    context: &AppContext,
    caller: Caller,
    current: String,
    new: NewPassword,
) -> Result<()> {
    let user = prove(context, caller, current).await?;
    let new_hash = context.identity.passwords.hash(new.as_str().to_owned()).await?;
    let now = context.now();
    let command = ChangePassword {
        user: caller.user,
        known_hash: user.password_hash,
        new_hash,
        keep: caller.session,
        now,
    };
    let ended = context.store.change_password(command).await?;
    revoke_all(context, &ended, now).await
}

/// Deletes the account. Money and tickets must be dealt with first, because they would be
/// inaccessible afterwards.
pub async fn withdraw(context: &AppContext, caller: Caller, password: String) -> Result<()> {
    prove(context, caller, password).await?;
    if context.store.balance(caller.user).await? > Won::ZERO {
        return Err(Refusal::WalletNotEmpty.into());
    }
    let now = context.now();
    let is_buying = has_open_reservation(context, caller.user).await?;
    if is_buying || has_tickets_to_come(context, caller.user, now).await? {
        return Err(Refusal::TicketsLeft.into());
    }
    let ended = context.store.withdraw(caller.user, now).await?;
    revoke_all(context, &ended, now).await?;
    context.identity.revocations.revoke(caller.session, now.plus(ACCESS_TOKEN_LENGTH)).await
}

/// Whether a purchase is in progress; its seats would have no owner.
async fn has_open_reservation(context: &AppContext, user: UserId) -> Result<bool> {
    let newest = PageRequest { limit: 100, after: None };
    let reservations = context.store.reservations_of(user, newest).await?;
    let is_open = |status| matches!(status, ReservationStatus::Held | ReservationStatus::Paying);
    Ok(reservations.iter().any(|reservation| is_open(reservation.status)))
}

async fn has_tickets_to_come(context: &AppContext, user: UserId, now: Timestamp) -> Result<bool> {
    let mut page = PageRequest { limit: 100, after: None };
    loop {
        let tickets = context.store.tickets_of(user, page).await?;
        if tickets.iter().any(|it| it.status == TicketStatus::Valid && now < it.starts_at) {
            return Ok(true);
        }
        match tickets.last() {
            Some(last) if tickets.len() > page.limit as usize => page.after = Some(last.id.uuid()),
            Some(_) | None => return Ok(false),
        }
    }
}

pub async fn sessions(context: &AppContext, caller: Caller) -> Result<Vec<SessionView>> {
    let mut sessions = context.store.sessions_of(caller.user, context.now()).await?;
    for session in &mut sessions {
        session.current = session.id == caller.session;
    }
    Ok(sessions)
}

/// Ends one of the caller's own sessions; another person's looks like a missing one.
pub async fn end_session(context: &AppContext, caller: Caller, session: SessionId) -> Result<()> {
    let now = context.now();
    if !context.store.end_session_of(caller.user, session, now).await? {
        return Err(Refusal::NotFound.into());
    }
    revoke_all(context, &[session], now).await
}

pub async fn logins(
    context: &AppContext,
    caller: Caller,
    page: PageRequest,
) -> Result<Page<LoginView>> {
    let rows = context.store.logins_of(caller.user, page).await?;
    Ok(Page::cut(rows, page.limit, |login| login.id.uuid()))
}

/// Revokes the access tokens of these sessions.
pub(crate) async fn revoke_all(
    context: &AppContext,
    ended: &[SessionId],
    now: Timestamp,
) -> Result<()> {
    for session in ended {
        context.identity.revocations.revoke(*session, now.plus(ACCESS_TOKEN_LENGTH)).await?;
    }
    Ok(())
}

/// Restores recently ended sessions into a live engine that may have lost them.
pub async fn recall_ended_sessions(context: &AppContext) -> Result<()> {
    let now = context.now();
    let ended = context.store.sessions_ended_since(now.minus(ACCESS_TOKEN_LENGTH)).await?;
    revoke_all(context, &ended, now).await
}
