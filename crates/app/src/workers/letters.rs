//! The notification worker: turns messages into letters to fans, once per message. Letters go to the
//! mailbox, and leave the house over the channels that are set up and wanted.

use super::Worker;
use crate::accounts::field;
use crate::error::{Error, Result};
use crate::letters::{LetterText, is_worth_one, sign_up_code, write};
use crate::platform::Platform;
use crate::ports::messages::{Consume, Letter, Message};
use crate::ports::notifications::{ChannelKind, Notice, NotificationSettings};
use async_trait::async_trait;
use domain::UserId;
use domain::messages::{MessageKind, Topic};
use serde::Deserialize;

pub struct Letters;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Addressee {
    #[serde(default)]
    user_id: Option<UserId>,
    #[serde(default)]
    sign_up_id: Option<UserId>,
}

#[async_trait]
impl Worker for Letters {
    fn name(&self) -> &'static str {
        "notification"
    }

    fn topics(&self) -> &'static [Topic] {
        &[Topic::BookingCompleted, Topic::SeatSync, Topic::Notification]
    }

    fn wants(&self, kind: MessageKind) -> bool {
        is_worth_one(kind)
    }

    async fn consume(&self, platform: &Platform, messages: &[Message]) -> Result<()> {
        let addressed = messages.iter().map(addressee).collect::<Result<Vec<_>>>()?;
        let addressed: Vec<_> = addressed.into_iter().flatten().collect();
        // Asked for all of them at once: at an opening hundreds of letters are written together.
        let users: Vec<UserId> = addressed.iter().map(|addressed| addressed.user).collect();
        let settings = platform.store.notification_settings(&users).await?;
        let mut commands = Vec::new();
        for (addressed, settings) in addressed.iter().zip(settings) {
            commands.extend(letter_for(platform, addressed, settings).await?);
        }
        if !commands.is_empty() {
            platform.store.consume(commands).await?;
        }
        Ok(())
    }
}

/// A message that somebody gets a letter about.
struct Addressed<'m> {
    message: &'m Message,
    user: UserId,
    sign_up: Option<UserId>,
}

fn addressee(message: &Message) -> Result<Option<Addressed<'_>>> {
    let Addressee { user_id, sign_up_id } =
        serde_json::from_str(&message.payload).map_err(Error::broken)?;
    Ok(user_id.map(|user| Addressed { message, user, sign_up: sign_up_id }))
}

async fn letter_for(
    platform: &Platform,
    addressed: &Addressed<'_>,
    settings: NotificationSettings,
) -> Result<Option<Consume>> {
    let now = platform.now();
    let Addressed { message, user, sign_up } = *addressed;
    let text = match code_letter(platform, sign_up).await? {
        Some(text) => Some(text),
        None => write(message, settings.language)?,
    };
    let Some(text) = text else { return Ok(None) };
    let notices = notices(platform, message, user, settings, &text).await?;
    let LetterText { subject, body } = text;
    let letter = Letter { user: Some(user), subject, body, created_at: now };
    let consumer = Letters.name();
    Ok(Some(Consume { message: message.id, consumer, letters: vec![letter], notices, now }))
}

/// The letter to somebody whose address has no account yet.
async fn code_letter(platform: &Platform, sign_up: Option<UserId>) -> Result<Option<LetterText>> {
    let Some(id) = sign_up else { return Ok(None) };
    let found = platform.store.sign_up(id).await?;
    let Some(asked) = found.filter(|it| !it.is_taken) else { return Ok(None) };
    let code = platform.seals.open(&field("code", id), &asked.code)?;
    Ok(Some(sign_up_code(&code, asked.language)))
}

/// One for each channel that is set up and wanted, and for each device.
async fn notices(
    platform: &Platform,
    message: &Message,
    user: UserId,
    settings: NotificationSettings,
    text: &LetterText,
) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    for kind in platform.channels.kinds() {
        let recipients = match kind {
            ChannelKind::Email if settings.email => vec![user.uuid()],
            ChannelKind::Sms if settings.sms => vec![user.uuid()],
            ChannelKind::Push if settings.push => {
                let devices = platform.store.devices_of(user).await?;
                devices.into_iter().map(|it| it.device.uuid()).collect()
            }
            ChannelKind::Email | ChannelKind::Sms | ChannelKind::Push => Vec::new(),
        };
        notices.extend(recipients.into_iter().map(|recipient| Notice {
            message: message.id,
            channel: kind,
            recipient,
            user,
            subject: text.subject.clone(),
            body: text.body.clone(),
            attempts: 0,
        }));
    }
    Ok(notices)
}
