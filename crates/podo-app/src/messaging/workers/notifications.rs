//! The notification worker turns messages into notifications for fans, once per message. They go to
//! the mailbox and to the external channels that are configured and wanted.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::notifications::with_link;
use crate::messaging::port::messages::{Consume, Message, Notification};
use crate::messaging::port::notifications::{
    ChannelKind, Notice, NoticeContent, NotificationSettings,
};
use crate::messaging::templates::facts::LINK;
use crate::messaging::templates::{Values, render_short};
use crate::messaging::workers::Worker;
use crate::messaging::workers::drafts::{Draft, drafts_for, is_worth_one, worded};
use async_trait::async_trait;
use podo_domain::UserId;
use podo_domain::messaging::messages::{MessageKind, Topic};

pub struct NotificationWorker;

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
        let mut drafts = Vec::new();
        for message in messages {
            drafts.extend(drafts_for(context, message).await?);
        }
        // Read for all of them at once: at an opening hundreds of notifications are written
        // together.
        let users: Vec<UserId> = drafts.iter().map(|draft| draft.user).collect();
        let settings = context.store.notification_settings(&users).await?;
        let worded = worded(context, drafts, &settings).await?;
        let mut commands: Vec<Consume> = Vec::new();
        for (draft, settings) in worded.iter().zip(settings) {
            add(context, &mut commands, draft, settings).await?;
        }
        if !commands.is_empty() {
            context.store.consume(commands).await?;
        }
        Ok(())
    }
}

/// Adds a recipient to the command of the message, so that all of them are notified or none.
async fn add(
    context: &AppContext,
    commands: &mut Vec<Consume>,
    draft: &Draft<'_>,
    settings: NotificationSettings,
) -> Result<()> {
    let now = context.now();
    if draft.is_for_issuer {
        return Ok(());
    }
    if draft.template.is_reminder() && !settings.reminders {
        return Ok(());
    }
    let (subject, body, content) = from_template(context, draft, settings)?;
    let reservation = draft.facts.booking.as_ref().map(|booking| booking.reservation_id);
    let notice = Notice {
        message: draft.message.id,
        channel: ChannelKind::Email,
        recipient: draft.user.uuid(),
        user: draft.user,
        reservation,
        subject: subject.clone(),
        body: body.clone(),
        attempts: 0,
        content: Some(content),
    };
    let notices = notices(context, &notice, settings).await?;
    let body = for_mailbox(context, draft.user, body).await?;
    let user = Some(draft.user);
    let notification = Notification { user, reservation, subject, body, created_at: now };
    let message = draft.message.id;
    match commands.iter_mut().find(|command| command.message == message) {
        Some(command) => {
            command.notifications.push(notification);
            command.notices.extend(notices);
        }
        None => commands.push(Consume {
            message,
            consumer: NotificationWorker.name(),
            notifications: vec![notification],
            notices,
            now,
        }),
    }
    Ok(())
}

fn from_template(
    context: &AppContext,
    draft: &Draft<'_>,
    settings: NotificationSettings,
) -> Result<(String, String, NoticeContent)> {
    let language = draft.language.unwrap_or(settings.language);
    let values = Values { facts: &draft.facts, brand: &context.rules.brand, unsubscribe: "" };
    let (subject, body) = render_short(draft.template, language, values)?;
    let content = NoticeContent {
        template: draft.template.as_str().to_owned(),
        language,
        facts: serde_json::to_string(&draft.facts).map_err(Error::broken)?,
    };
    Ok((subject, body, content))
}

/// The mailbox gets the link only while no e-mail is sent: a stored link would let readers of the
/// mailbox use it.
async fn for_mailbox(context: &AppContext, pending: UserId, body: String) -> Result<String> {
    let sends_email = context.messaging.channels.get(ChannelKind::Email).is_some();
    match !sends_email && body.contains(LINK) {
        true => with_link(context, pending, &body).await,
        false => Ok(body),
    }
}

/// One for each configured and wanted channel, and for each device.
async fn notices(
    context: &AppContext,
    notice: &Notice,
    settings: NotificationSettings,
) -> Result<Vec<Notice>> {
    let user = notice.user;
    let mut notices = Vec::new();
    for channel in context.messaging.channels.kinds() {
        let recipients = match channel {
            ChannelKind::Email if settings.email => vec![user.uuid()],
            ChannelKind::Sms if settings.sms => vec![user.uuid()],
            ChannelKind::Push if settings.push => {
                let devices = context.store.devices_of(user).await?;
                devices.into_iter().map(|it| it.device.uuid()).collect()
            }
            ChannelKind::Email | ChannelKind::Sms | ChannelKind::Push => Vec::new(),
        };
        let to = |recipient| Notice { channel, recipient, ..notice.clone() };
        notices.extend(recipients.into_iter().map(to));
    }
    Ok(notices)
}
