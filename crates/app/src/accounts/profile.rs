//! What people see and change of their own account.

use super::{UserView, field, view};
use crate::error::Result;
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::accounts::{
    ChangePassword, ChangeProfile, LoginView, SealedPhone, SessionView, UserRecord,
};
use crate::ports::passwords::Verdict;
use crate::sessions::Caller;
use domain::accounts::{ACCESS_TOKEN_LENGTH, NewPassword, Phone};
use domain::reservations::ReservationStatus;
use domain::text::Line;
use domain::tickets::TicketStatus;
use domain::{Refusal, SessionId, Timestamp, UserId, Won};
use std::time::Duration;

/// What is `None` stays as it is.
#[derive(Clone, Debug, Default)]
pub struct ProfileChange {
    pub name: Option<Line<50>>,
    /// `Some(None)` takes the number away.
    pub phone: Option<Option<Phone>>,
}

pub(super) async fn user_of(platform: &Platform, caller: Caller) -> Result<UserRecord> {
    Ok(platform.store.user(caller.user).await?.ok_or(Refusal::LoginRequired)?)
}

pub async fn me(platform: &Platform, caller: Caller) -> Result<UserView> {
    view(platform, &user_of(platform, caller).await?)
}

pub async fn change_profile(
    platform: &Platform,
    caller: Caller,
    change: ProfileChange,
) -> Result<UserView> {
    let user = caller.user;
    let seal = |column: &str, value: &str| {
        platform.seals.seal(&field(column, user), value, &*platform.chance)
    };
    let sealed = |phone: Option<Phone>| SealedPhone {
        phone: phone.as_ref().map(|phone| seal("phone", phone.as_str())),
        phone_hash: phone.as_ref().map(|phone| platform.seals.lookup("phone", phone.as_str())),
    };
    let command = ChangeProfile {
        user,
        name: change.name.map(|name| seal("name", name.as_str())),
        phone: change.phone.map(sealed),
        now: platform.now(),
    };
    platform.store.change_profile(command).await?;
    me(platform, caller).await
}

/// Tries of one's own password; more than anybody needs who knows it.
const PASSWORD_TRIES: u32 = 10;
const PASSWORD_TRIES_PER: Duration = Duration::from_secs(15 * 60);

/// Asks for the password once more before something that cannot be undone.
pub(super) async fn prove(
    platform: &Platform,
    caller: Caller,
    password: String,
) -> Result<UserRecord> {
    let key = format!("password:{}", caller.user);
    platform.take(&key, PASSWORD_TRIES, PASSWORD_TRIES_PER).await?;
    let user = user_of(platform, caller).await?;
    let Some(hash) = user.known_hash() else { return prove_recent(platform, caller, user) };
    if password.is_empty() {
        return Err(Refusal::PasswordWrong.into());
    }
    match platform.passwords.verify(password, Some(hash)).await? {
        Verdict::Right | Verdict::RightButOld => Ok(user),
        Verdict::Wrong => Err(Refusal::PasswordWrong.into()),
    }
}

/// Whoever logs in through another service has no password here: a log-in of a moment ago proves it.
const RECENT: Duration = Duration::from_secs(10 * 60);

fn prove_recent(platform: &Platform, caller: Caller, user: UserRecord) -> Result<UserRecord> {
    let begun_at = caller.session.made_at();
    if platform.now() < begun_at.plus(RECENT) {
        Ok(user)
    } else {
        Err(Refusal::PasswordWrong.into())
    }
}

/// All other sessions end: whoever knew the old password is out.
pub async fn change_password(
    platform: &Platform,
    caller: Caller,
    current: String,
    new: NewPassword,
) -> Result<()> {
    let user = prove(platform, caller, current).await?;
    let new_hash = platform.passwords.hash(new.as_str().to_owned()).await?;
    let now = platform.now();
    let command = ChangePassword {
        user: caller.user,
        known_hash: user.password_hash,
        new_hash,
        keep: caller.session,
        now,
    };
    let ended = platform.store.change_password(command).await?;
    revoke_all(platform, &ended, now).await
}

/// Gives the account up. Money and tickets must be dealt with first: nobody could get at them
/// afterwards.
pub async fn withdraw(platform: &Platform, caller: Caller, password: String) -> Result<()> {
    prove(platform, caller, password).await?;
    if platform.store.balance(caller.user).await? > Won::ZERO {
        return Err(Refusal::WalletNotEmpty.into());
    }
    let now = platform.now();
    let is_buying = has_open_reservation(platform, caller.user).await?;
    if is_buying || has_tickets_to_come(platform, caller.user, now).await? {
        return Err(Refusal::TicketsLeft.into());
    }
    let ended = platform.store.withdraw(caller.user, now).await?;
    revoke_all(platform, &ended, now).await?;
    platform.revocations.revoke(caller.session, now.plus(ACCESS_TOKEN_LENGTH)).await
}

/// Whether a purchase is under way: its seats would be nobody's.
async fn has_open_reservation(platform: &Platform, user: UserId) -> Result<bool> {
    let newest = PageAsk { limit: 100, after: None };
    let reservations = platform.store.reservations_of(user, newest).await?;
    let is_open = |status| matches!(status, ReservationStatus::Held | ReservationStatus::Paying);
    Ok(reservations.iter().any(|reservation| is_open(reservation.status)))
}

async fn has_tickets_to_come(platform: &Platform, user: UserId, now: Timestamp) -> Result<bool> {
    let mut page = PageAsk { limit: 100, after: None };
    loop {
        let tickets = platform.store.tickets_of(user, page).await?;
        if tickets.iter().any(|it| it.status == TicketStatus::Valid && now < it.starts_at) {
            return Ok(true);
        }
        match tickets.last() {
            Some(last) if tickets.len() > page.limit as usize => page.after = Some(last.id.uuid()),
            Some(_) | None => return Ok(false),
        }
    }
}

pub async fn sessions(platform: &Platform, caller: Caller) -> Result<Vec<SessionView>> {
    let mut sessions = platform.store.sessions_of(caller.user, platform.now()).await?;
    for session in &mut sessions {
        session.current = session.id == caller.session;
    }
    Ok(sessions)
}

/// Ends one of the caller's own sessions; somebody else's looks like none.
pub async fn end_session(platform: &Platform, caller: Caller, session: SessionId) -> Result<()> {
    let now = platform.now();
    if !platform.store.end_session_of(caller.user, session, now).await? {
        return Err(Refusal::NotFound.into());
    }
    revoke_all(platform, &[session], now).await
}

pub async fn logins(platform: &Platform, caller: Caller, page: PageAsk) -> Result<Page<LoginView>> {
    let rows = platform.store.logins_of(caller.user, page).await?;
    Ok(Page::cut(rows, page.limit, |login| login.id.uuid()))
}

/// Access tokens of these sessions are refused from now on.
pub(super) async fn revoke_all(
    platform: &Platform,
    ended: &[SessionId],
    now: Timestamp,
) -> Result<()> {
    for session in ended {
        platform.revocations.revoke(*session, now.plus(ACCESS_TOKEN_LENGTH)).await?;
    }
    Ok(())
}

/// Tells a live engine that may have forgotten them which sessions ended lately.
pub async fn recall_ended_sessions(platform: &Platform) -> Result<()> {
    let now = platform.now();
    let ended = platform.store.sessions_ended_since(now.minus(ACCESS_TOKEN_LENGTH)).await?;
    revoke_all(platform, &ended, now).await
}
