//! Notification settings, devices, and the sending of one notification.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::port::channels::{Mail, Sent};
use crate::messaging::port::notifications::{
    ChannelKind, Device, Notice, NoticeOutcome, NotificationSettings,
};
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::{DeviceId, Refusal, Timestamp, UserId};
use std::time::Duration;

/// After this many attempts a notification stays in the mailbox only.
const TRIES_MAX: u32 = 8;

/// Push services don't specify the length of a device token; this is a generous limit.
pub type PushToken = Line<4096>;

/// Most devices of one fan.
const DEVICES_MAX: usize = 20;

pub async fn settings(context: &AppContext, user: UserId) -> Result<NotificationSettings> {
    let known = context.store.notification_settings(&[user]).await?;
    Ok(known.into_iter().next().unwrap_or_default())
}

pub async fn set_settings(
    context: &AppContext,
    user: UserId,
    settings: NotificationSettings,
) -> Result<()> {
    context.store.set_notification_settings(user, settings, context.now()).await
}

/// Adding a known device again keeps its id, even if the fan has reached the limit.
pub async fn add_device(context: &AppContext, user: UserId, token: &PushToken) -> Result<DeviceId> {
    let now = context.now();
    let token_hash = context.keyring.lookup("push token", token.as_str());
    let known = context.store.devices_of(user).await?;
    if let Some(same) = known.iter().find(|device| device.token_hash == token_hash) {
        return Ok(same.device);
    }
    if known.len() >= DEVICES_MAX {
        let problem = FieldError::OutOfRange { min: 0, max: DEVICES_MAX as i64 };
        return Err(Refusal::Invalid { field: "token", problem }.into());
    }
    let device = DeviceId::new(context.rng.id(now));
    let encrypted = context.keyring.encrypt(&place(device), token.as_str(), &*context.rng);
    context.store.add_device(Device { device, user, token: encrypted, token_hash }, now).await?;
    Ok(device)
}

pub async fn remove_device(context: &AppContext, user: UserId, device: DeviceId) -> Result<()> {
    match context.store.remove_device(user, device).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}

fn place(device: DeviceId) -> String {
    format!("devices.token.{device}")
}

/// Sends a claimed notification and returns the outcome.
pub(crate) async fn send(context: &AppContext, notice: &Notice) -> Result<NoticeOutcome> {
    let now = context.now();
    let failed = |error: &str| NoticeOutcome::Failed { error: error.to_owned() };
    let Some(channel) = context.messaging.channels.get(notice.channel) else {
        return Ok(failed("this channel is no longer configured"));
    };
    let Some(to) = address_of(context, notice).await? else {
        return Ok(failed("the fan has no such address"));
    };
    let Notice { message, subject, body, .. } = notice.clone();
    let id = format!("{message}.{}", notice.recipient);
    let sent = channel.send(&Mail { id, to, subject, body }, now).await;
    Ok(match sent {
        Sent::Accepted => NoticeOutcome::Sent,
        Sent::NotNow { error, .. } if notice.attempts >= TRIES_MAX => {
            NoticeOutcome::Failed { error }
        }
        Sent::NotNow { error, after } => {
            NoticeOutcome::Later { at: next_at(context, notice.attempts, after, now), error }
        }
        Sent::Refused { error } => NoticeOutcome::Failed { error },
        Sent::Gone { error } => {
            if notice.channel == ChannelKind::Push {
                let device = DeviceId::new(notice.recipient);
                context.store.remove_device(notice.user, device).await?;
            }
            NoticeOutcome::Failed { error }
        }
        Sent::Unknown { error } => NoticeOutcome::Unknown { error },
    })
}

/// The outcome of a notification that couldn't be handed to its channel, such as one whose address
/// can't be decrypted.
pub(crate) fn not_sent(context: &AppContext, notice: &Notice, error: &Error) -> NoticeOutcome {
    tracing::warn!(message.id = %notice.message, %error, "Could not send a notification");
    let error = error.to_string();
    if notice.attempts >= TRIES_MAX {
        return NoticeOutcome::Failed { error };
    }
    let at = next_at(context, notice.attempts, None, context.now());
    NoticeOutcome::Later { at, error }
}

/// Doubles from two seconds up to ten minutes, unless the channel specifies a delay.
fn next_at(
    context: &AppContext,
    attempts: u32,
    after: Option<Duration>,
    now: Timestamp,
) -> Timestamp {
    let doubled = Duration::from_secs(2_u64 << attempts.min(9)).min(Duration::from_secs(600));
    let jitter = Duration::from_millis(context.rng.number() % 1_000);
    now.plus(after.unwrap_or(doubled) + jitter)
}

/// Addresses are decrypted only here: queued notifications contain none.
async fn address_of(context: &AppContext, notice: &Notice) -> Result<Option<String>> {
    let open = |column: &str, encrypted: &[u8]| {
        context.keyring.decrypt(&crate::identity::accounts::field(column, notice.user), encrypted)
    };
    if notice.channel == ChannelKind::Push {
        let devices = context.store.devices_of(notice.user).await?;
        let device = devices.into_iter().find(|it| it.device.uuid() == notice.recipient);
        let opened = device.map(|it| context.keyring.decrypt(&place(it.device), &it.token));
        return opened.transpose();
    }
    let Some(user) = context.store.user(notice.user).await? else {
        // The account is created only when its address has been confirmed.
        let asked = context.store.sign_up(notice.user).await?;
        let asked = asked.filter(|_| notice.channel == ChannelKind::Email);
        return asked.map(|it| open("email", &it.email)).transpose();
    };
    match notice.channel {
        ChannelKind::Email => open("email", &user.email).map(Some),
        ChannelKind::Sms => user.phone.map(|phone| open("phone", &phone)).transpose(),
        ChannelKind::Push => Err(Error::broken("push devices are looked up separately")),
    }
}
