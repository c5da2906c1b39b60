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
        let mut commands = Vec::new();
        for message in messages {
            commands.extend(letter_for(platform, message).await?);
        }
        if !commands.is_empty() {
            platform.store.consume(commands).await?;
        }
        Ok(())
    }
}

async fn letter_for(platform: &Platform, message: &Message) -> Result<Option<Consume>> {
    let now = platform.now();
    let Addressee { user_id, sign_up_id } =
        serde_json::from_str(&message.payload).map_err(Error::broken)?;
    let Some(user) = user_id else { return Ok(None) };
    let settings = platform.store.notification_settings(user).await?;
    let text = match code_letter(platform, sign_up_id).await? {
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
