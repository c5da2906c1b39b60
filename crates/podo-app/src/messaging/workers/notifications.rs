//! The notification worker turns messages into notifications for fans, once per message. They go to
//! the mailbox and to the external channels that are configured and wanted.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::field;
use crate::messaging::notification_texts::{NotificationText, is_worth_one, sign_up_code, write};
use crate::messaging::port::messages::{Consume, Letter, Message};
use crate::messaging::port::notifications::{ChannelKind, Notice, NotificationSettings};
use crate::messaging::workers::Worker;
use async_trait::async_trait;
use podo_domain::UserId;
use podo_domain::messaging::messages::{MessageKind, Topic};
use serde::Deserialize;

pub struct NotificationWorker;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Addressee {
    #[serde(default)]
    user_id: Option<UserId>,
    #[serde(default)]
    sign_up_id: Option<UserId>,
}

#[async_trait]
impl Worker for NotificationWorker {
    fn name(&self) -> &'static str {
        "notification"
    }

    fn topics(&self) -> &'static [Topic] {
        &[Topic::BookingCompleted, Topic::SeatSync, Topic::Notification]
    }

    fn wants(&self, kind: MessageKind) -> bool {
        is_worth_one(kind)
    }

    async fn consume(&self, context: &AppContext, messages: &[Message]) -> Result<()> {
        let addressed = messages.iter().map(addressee).collect::<Result<Vec<_>>>()?;
        let addressed: Vec<_> = addressed.into_iter().flatten().collect();
        // Read for all of them at once: at an opening hundreds of notifications are written
        // together.
        let users: Vec<UserId> = addressed.iter().map(|addressed| addressed.user).collect();
        let settings = context.store.notification_settings(&users).await?;
        let mut commands = Vec::new();
        for (addressed, settings) in addressed.iter().zip(settings) {
            commands.extend(notification_for(context, addressed, settings).await?);
        }
        if !commands.is_empty() {
            context.store.consume(commands).await?;
        }
        Ok(())
    }
}

/// A message that causes a notification for a fan.
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

async fn notification_for(
    context: &AppContext,
    addressed: &Addressed<'_>,
    settings: NotificationSettings,
) -> Result<Option<Consume>> {
    let now = context.now();
    let Addressed { message, user, sign_up } = *addressed;
    let text = match code_notification(context, sign_up).await? {
        Some(text) => Some(text),
        None => write(message, settings.language)?,
    };
    let Some(text) = text else { return Ok(None) };
    let notices = notices(context, message, user, settings, &text).await?;
    let NotificationText { subject, body } = text;
    let letter = Letter { user: Some(user), subject, body, created_at: now };
    let consumer = NotificationWorker.name();
    Ok(Some(Consume { message: message.id, consumer, letters: vec![letter], notices, now }))
}

/// The notification to an address that has no account yet.
async fn code_notification(
    context: &AppContext,
    sign_up: Option<UserId>,
) -> Result<Option<NotificationText>> {
    let Some(id) = sign_up else { return Ok(None) };
    let found = context.store.sign_up(id).await?;
    let Some(asked) = found.filter(|it| !it.is_taken) else { return Ok(None) };
    let code = context.keyring.decrypt(&field("code", id), &asked.code)?;
    Ok(Some(sign_up_code(&code, asked.language)))
}

/// One for each configured and wanted channel, and for each device.
async fn notices(
    context: &AppContext,
    message: &Message,
    user: UserId,
    settings: NotificationSettings,
    text: &NotificationText,
) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    for kind in context.messaging.channels.kinds() {
        let recipients = match kind {
            ChannelKind::Email if settings.email => vec![user.uuid()],
            ChannelKind::Sms if settings.sms => vec![user.uuid()],
            ChannelKind::Push if settings.push => {
                let devices = context.store.devices_of(user).await?;
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
