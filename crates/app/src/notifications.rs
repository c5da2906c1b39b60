//! What fans want to get and where, and the sending of one letter.

use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::channels::{Mail, Sent};
use crate::ports::notifications::{
    ChannelKind, Device, Notice, NoticeOutcome, NotificationSettings,
};
use domain::text::{FieldError, Line};
use domain::{DeviceId, Refusal, Timestamp, UserId};
use std::time::Duration;

/// After this many tries a letter is only in the mailbox.
const TRIES_MAX: u32 = 8;

/// A device's token is as long as its maker likes, within reason.
pub type PushToken = Line<4096>;

/// Most devices of one fan.
const DEVICES_MAX: usize = 20;

pub async fn settings(platform: &Platform, user: UserId) -> Result<NotificationSettings> {
    let known = platform.store.notification_settings(&[user]).await?;
    Ok(known.into_iter().next().unwrap_or_default())
}

pub async fn set_settings(
    platform: &Platform,
    user: UserId,
    settings: NotificationSettings,
) -> Result<()> {
    platform.store.set_notification_settings(user, settings, platform.now()).await
}

/// The same device again is the same one: it keeps its id, also when the fan has as many as she may.
pub async fn add_device(platform: &Platform, user: UserId, token: &PushToken) -> Result<DeviceId> {
    let now = platform.now();
    let token_hash = platform.seals.lookup("push token", token.as_str());
    let known = platform.store.devices_of(user).await?;
    if let Some(same) = known.iter().find(|device| device.token_hash == token_hash) {
        return Ok(same.device);
    }
    if known.len() >= DEVICES_MAX {
        let problem = FieldError::OutOfRange { min: 0, max: DEVICES_MAX as i64 };
        return Err(Refusal::Invalid { field: "token", problem }.into());
    }
    let device = DeviceId::new(platform.chance.id(now));
    let sealed = platform.seals.seal(&place(device), token.as_str(), &*platform.chance);
    platform.store.add_device(Device { device, user, token: sealed, token_hash }, now).await?;
    Ok(device)
}

pub async fn remove_device(platform: &Platform, user: UserId, device: DeviceId) -> Result<()> {
    match platform.store.remove_device(user, device).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}

fn place(device: DeviceId) -> String {
    format!("devices.token.{device}")
}

/// Sends a letter that this hand alone has taken, and says what became of it.
pub(crate) async fn send(platform: &Platform, notice: &Notice) -> Result<NoticeOutcome> {
    let now = platform.now();
    let failed = |error: &str| NoticeOutcome::Failed { error: error.to_owned() };
    let Some(channel) = platform.channels.get(notice.channel) else {
        return Ok(failed("this channel is not set up any more"));
    };
    let Some(to) = address_of(platform, notice).await? else {
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
            NoticeOutcome::Later { at: next_at(platform, notice.attempts, after, now), error }
        }
        Sent::Refused { error } => NoticeOutcome::Failed { error },
        Sent::Gone { error } => {
            if notice.channel == ChannelKind::Push {
                let device = DeviceId::new(notice.recipient);
                platform.store.remove_device(notice.user, device).await?;
            }
            NoticeOutcome::Failed { error }
        }
        Sent::Unknown { error } => NoticeOutcome::Unknown { error },
    })
}

/// A letter that could not even be handed to its channel, as with an address that no key opens.
pub(crate) fn not_sent(platform: &Platform, notice: &Notice, error: &Error) -> NoticeOutcome {
    tracing::warn!(message.id = %notice.message, %error, "A letter cannot be sent");
    let error = error.to_string();
    if notice.attempts >= TRIES_MAX {
        return NoticeOutcome::Failed { error };
    }
    let at = next_at(platform, notice.attempts, None, platform.now());
    NoticeOutcome::Later { at, error }
}

/// Doubling from two seconds, at most ten minutes, unless the channel says how long.
fn next_at(
    platform: &Platform,
    attempts: u32,
    after: Option<Duration>,
    now: Timestamp,
) -> Timestamp {
    let doubled = Duration::from_secs(2_u64 << attempts.min(9)).min(Duration::from_secs(600));
    let jitter = Duration::from_millis(platform.chance.number() % 1_000);
    now.plus(after.unwrap_or(doubled) + jitter)
}

/// Opened here and nowhere before: what waits to be sent holds no address.
async fn address_of(platform: &Platform, notice: &Notice) -> Result<Option<String>> {
    let open = |column: &str, sealed: &[u8]| {
        platform.seals.open(&crate::accounts::field(column, notice.user), sealed)
    };
    if notice.channel == ChannelKind::Push {
        let devices = platform.store.devices_of(notice.user).await?;
        let device = devices.into_iter().find(|it| it.device.uuid() == notice.recipient);
        let opened = device.map(|it| platform.seals.open(&place(it.device), &it.token));
        return opened.transpose();
    }
    let Some(user) = platform.store.user(notice.user).await? else {
        // The account is made when its address was confirmed.
        let asked = platform.store.sign_up(notice.user).await?;
        let asked = asked.filter(|_| notice.channel == ChannelKind::Email);
        return asked.map(|it| open("email", &it.email)).transpose();
    };
    match notice.channel {
        ChannelKind::Email => open("email", &user.email).map(Some),
        ChannelKind::Sms => user.phone.map(|phone| open("phone", &phone)).transpose(),
        ChannelKind::Push => Err(Error::broken("devices are looked up by themselves")),
    }
}
