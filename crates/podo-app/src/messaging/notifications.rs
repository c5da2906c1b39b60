//! Notification settings, devices, and the sending of one notification.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::mailed_links::link_of;
use crate::messaging::announcements::unsubscribe_token;
use crate::messaging::port::channels::{Attachment, Mail, RichMail, Sent};
use crate::messaging::port::notifications::{
    ChannelKind, Device, Notice, NoticeOutcome, NotificationSettings,
};
use crate::messaging::templates::facts::{Facts, LINK};
use crate::messaging::templates::{Rendered, Template, Values, render, samples};
use crate::tickets::claims;
use crate::tickets::documents::attachments;
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::messaging::messages::Language;
use podo_domain::{ClaimId, DeviceId, Refusal, Timestamp, UserId};
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

/// Stores the language in which a fan logged in, once. Notifications are best effort, so a log-in
/// doesn't fail with this.
pub async fn note_language(context: &AppContext, user: UserId, language: Language) {
    let noted = context.store.remember_language(user, language, false, context.now()).await;
    if let Err(error) = noted {
        tracing::warn!(%error, "could not store a fan's language; the next log-in tries again");
    }
}

/// Stores the language that a fan chose.
pub async fn choose_language(context: &AppContext, user: UserId, language: Language) -> Result<()> {
    context.store.remember_language(user, language, true, context.now()).await
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
    let mail = compose(context, notice, to).await?;
    let sent = channel.send(&mail, now).await;
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

/// Puts the link of a pending row into its text. The token is computed, not read from the store.
pub(crate) async fn with_link(context: &AppContext, id: UserId, body: &str) -> Result<String> {
    Ok(body.replace(LINK, &link_for(context, id).await?))
}

/// Empty if the row was used or has expired meanwhile.
async fn link_for(context: &AppContext, id: UserId) -> Result<String> {
    if let Some(pending) = context.store.sign_up(id).await? {
        return Ok(link_of(context, pending.purpose, id));
    }
    let claim = ClaimId::new(id.uuid());
    let found = context.store.ticket_claim(claim).await?;
    Ok(found.map(|_open| claims::link_of(context, claim)).unwrap_or_default())
}

/// The notification as its channel sends it.
async fn compose(context: &AppContext, notice: &Notice, to: String) -> Result<Mail> {
    let Notice { message, subject, body, .. } = notice.clone();
    let body = match body.contains(LINK) {
        true => with_link(context, notice.user, &body).await?,
        false => body,
    };
    let id = format!("{message}.{}", notice.recipient);
    let plain = Mail { id, to, subject, body, ..Mail::default() };
    // A template of a later version, after a downgrade, leaves the plain text.
    let content = notice.content.as_ref();
    let template = content.and_then(|content| Template::parse(&content.template));
    let (Some(content), Some(template)) = (content, template) else { return Ok(plain) };
    let facts: Facts = serde_json::from_str(&content.facts).map_err(Error::broken)?;
    let fields = fields(&facts);
    if notice.channel != ChannelKind::Email {
        return Ok(Mail { template: Some(template), fields, ..plain });
    }
    let attachments = attached(context, notice, template, content.language, &facts).await?;
    let rich = rich(context, template, content.language, &facts, notice.user)?;
    let rich = match rich.text.contains(LINK) {
        true => {
            let link = link_for(context, notice.user).await?;
            let (html, text) = (rich.html.replace(LINK, &link), rich.text.replace(LINK, &link));
            RichMail { html, text, ..rich }
        }
        false => rich,
    };
    let rich = RichMail { attachments, ..rich };
    let subject = mail_subject(&plain.subject, &facts);
    Ok(Mail { template: Some(template), fields, rich: Some(rich), subject, ..plain })
}

/// A mail program lists mails of many senders, so the subject names the show.
fn mail_subject(subject: &str, facts: &Facts) -> String {
    match &facts.show {
        Some(show) => {
            let title: String = show.title.chars().filter(|it| !it.is_control()).collect();
            format!("{subject} · {title}")
        }
        None => subject.to_owned(),
    }
}

/// An e-mail without attachments, also for the organiser's test.
pub(crate) fn rich(
    context: &AppContext,
    template: Template,
    language: Language,
    facts: &Facts,
    user: UserId,
) -> Result<RichMail> {
    let brand = &context.rules.brand;
    let can_end = template.is_reminder() && !brand.home.is_empty();
    let link = |path: &str| match can_end {
        true => format!("{}{path}{}", brand.home, unsubscribe_token(context, user)),
        false => String::new(),
    };
    let page = link("/#/unsubscribe/");
    let rendered = render(template, language, Values { facts, brand, unsubscribe: &page })?;
    Ok(RichMail {
        html: rendered.html,
        text: rendered.text,
        reply_to: brand.reply_to.clone(),
        unsubscribe_url: link("/api/users/unsubscribe?token="),
        attachments: Vec::new(),
    })
}

/// The tickets of a booking. A mail without them is better than none, unless the store is away.
async fn attached(
    context: &AppContext,
    notice: &Notice,
    template: Template,
    language: Language,
    facts: &Facts,
) -> Result<Vec<Attachment>> {
    let (Some(booking), true) = (&facts.booking, template.has_tickets()) else {
        return Ok(Vec::new());
    };
    match attachments(context, notice.user, booking.reservation_id, language).await {
        Err(Error::Broken(error)) => {
            tracing::error!(message.id = %notice.message, %error, "Could not attach the tickets");
            Ok(Vec::new())
        }
        done => done,
    }
}

/// What a provider's own template can say.
fn fields(facts: &Facts) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    if let Some(show) = &facts.show {
        fields.push(("title", show.title.clone()));
        fields.push(("when", show.when.clone()));
        fields.push(("opens", show.opens.clone()));
        fields.push(("venue", show.venue.clone()));
    }
    if let Some(phase) = &facts.phase {
        fields.push(("phase", phase.name.clone()));
        // The phase's opening in place of the date's.
        fields.retain(|(name, _)| *name != "opens");
        fields.push(("opens", phase.opens.clone()));
    }
    if let Some(booking) = &facts.booking {
        let seats: Vec<&str> = booking.seats.iter().map(|seat| seat.number.as_str()).collect();
        fields.push(("seats", seats.join(", ")));
        fields.push(("number", booking.number.clone().unwrap_or_default()));
    }
    let others = [
        ("amount", &facts.amount),
        ("code", &facts.code),
        ("until", &facts.until),
        ("seat", &facts.seat),
        ("at", &facts.at),
    ];
    fields.extend(others.into_iter().filter_map(|(name, it)| Some((name, it.clone()?))));
    fields
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
        return match (notice.channel, asked) {
            (ChannelKind::Email, Some(it)) => open("email", &it.email).map(Some),
            (ChannelKind::Email, None) => claimed_address(context, notice.user).await,
            (ChannelKind::Sms | ChannelKind::Push, _) => Ok(None),
        };
    };
    match notice.channel {
        ChannelKind::Email => open("email", &user.email).map(Some),
        ChannelKind::Sms => user.phone.map(|phone| open("phone", &phone)).transpose(),
        ChannelKind::Push => Err(Error::broken("push devices are looked up separately")),
    }
}

/// The address that a ticket is offered to, while it is.
async fn claimed_address(context: &AppContext, id: UserId) -> Result<Option<String>> {
    let id = ClaimId::new(id.uuid());
    let claim = context.store.ticket_claim(id).await?;
    claim.map(|claim| claims::email_of(context, id, &claim)).transpose()
}

/// A template with invented facts, as a mail would look.
pub fn preview(context: &AppContext, template: Template, language: Language) -> Result<Rendered> {
    let facts = samples::facts(template, language);
    let brand = &context.rules.brand;
    let unsubscribe = if template.is_reminder() { "https://podo.example/" } else { "" };
    render(template, language, Values { facts: &facts, brand, unsubscribe })
}

/// Sends a template with invented facts to the organiser's own address. Refusals: `NotFound` if
/// the organiser has no address, or e-mail isn't configured.
pub async fn send_test(
    context: &AppContext,
    organiser: UserId,
    template: Template,
    language: Language,
) -> Result<Sent> {
    let now = context.now();
    let channel = context.messaging.channels.get(ChannelKind::Email).ok_or(Refusal::NotFound)?;
    let user = context.store.user(organiser).await?.ok_or(Refusal::NotFound)?;
    let place = crate::identity::accounts::field("email", organiser);
    let to = context.keyring.decrypt(&place, &user.email)?;
    let facts = samples::facts(template, language);
    let rendered = preview(context, template, language)?;
    let mail = Mail {
        id: format!("test.{}", context.rng.id(now)),
        to,
        subject: format!("[TEST] {}", mail_subject(&rendered.subject, &facts)),
        body: rendered.short,
        template: Some(template),
        rich: Some(rich(context, template, language, &facts, organiser)?),
        ..Mail::default()
    };
    Ok(channel.send(&mail, now).await)
}
