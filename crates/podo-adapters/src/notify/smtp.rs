//! E-mail by SMTP.

use async_trait::async_trait;
use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, Message, MultiPart};
use lettre::transport::smtp::Error;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use podo_app::messaging::port::channels::{Channel, Mail, RichMail, Sent};
use podo_app::messaging::port::notifications::ChannelKind;
use podo_domain::Timestamp;
use std::time::Duration;

const ANSWER_WITHIN: Duration = Duration::from_secs(20);

pub struct SmtpSettings {
    /// Includes the password.
    pub url: String,
    pub from: String,
}

pub(super) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Smtp {
    pub(super) fn open(settings: SmtpSettings) -> Result<Smtp, String> {
        let from = settings.from.parse().map_err(|error| format!("smtp_from: {error}"))?;
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(&settings.url)
            .map_err(|error| format!("smtp_url: {error}"))?
            .timeout(Some(ANSWER_WITHIN))
            .build();
        Ok(Smtp { transport, from })
    }

    fn write(&self, mail: &Mail) -> Result<Message, String> {
        let to = mail.to.parse().map_err(|_error| "no such address can exist".to_owned())?;
        let domain = self.from.email.domain();
        let builder = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(&mail.subject)
            // The same id for a notification that is sent again, so that mail programs show it
            // once.
            .message_id(Some(format!("<{}@{domain}>", mail.id)))
            // Out-of-office replies to a program help no one (RFC 3834).
            .header(AutoSubmitted);
        let Some(rich) = &mail.rich else {
            let plain = builder.header(ContentType::TEXT_PLAIN).body(mail.body.clone());
            return plain.map_err(|error| error.to_string());
        };
        let builder = match rich.reply_to.parse::<Mailbox>() {
            Ok(reply_to) => builder.reply_to(reply_to),
            Err(_none) => builder,
        };
        let builder = match rich.unsubscribe_url.is_empty() {
            true => builder,
            false => builder
                .header(ListUnsubscribe(format!("<{}>", rich.unsubscribe_url)))
                .header(ListUnsubscribePost),
        };
        builder.multipart(parts(rich)?).map_err(|error| error.to_string())
    }
}

/// Text and HTML as alternatives, and attachments beside them.
fn parts(rich: &RichMail) -> Result<MultiPart, String> {
    let words = MultiPart::alternative_plain_html(rich.text.clone(), rich.html.clone());
    if rich.attachments.is_empty() {
        return Ok(words);
    }
    let mut mixed = MultiPart::mixed().multipart(words);
    for file in &rich.attachments {
        let kind = ContentType::parse(file.media_type).map_err(|error| error.to_string())?;
        let file = Attachment::new(file.name.clone()).body(file.bytes.clone(), kind);
        mixed = mixed.singlepart(file);
    }
    Ok(mixed)
}

/// A header with a fixed name.
macro_rules! header {
    ($type:ident, $name:literal, $value:expr) => {
        impl Header for $type {
            fn name() -> HeaderName {
                HeaderName::new_from_ascii_str($name)
            }

            fn parse(_text: &str) -> Result<$type, Box<dyn std::error::Error + Send + Sync>> {
                Err("only written, never read".into())
            }

            fn display(&self) -> HeaderValue {
                let value: fn(&$type) -> String = $value;
                HeaderValue::new(HeaderName::new_from_ascii_str($name), value(self))
            }
        }
    };
}

#[derive(Clone)]
struct AutoSubmitted;

#[derive(Clone)]
struct ListUnsubscribe(String);

/// One POST ends the subscription, without a page (RFC 8058).
#[derive(Clone)]
struct ListUnsubscribePost;

header!(AutoSubmitted, "Auto-Submitted", |_| "auto-generated".to_owned());
header!(ListUnsubscribe, "List-Unsubscribe", |it| it.0.clone());
header!(ListUnsubscribePost, "List-Unsubscribe-Post", |_| "List-Unsubscribe=One-Click".to_owned());

#[async_trait]
impl Channel for Smtp {
    fn kind(&self) -> ChannelKind {
        ChannelKind::Email
    }

    async fn send(&self, mail: &Mail, _now: Timestamp) -> Sent {
        let message = match self.write(mail) {
            Ok(message) => message,
            Err(error) => return Sent::Refused { error },
        };
        match self.transport.send(message).await {
            Ok(_taken) => Sent::Accepted,
            Err(error) => meaning(&error),
        }
    }
}

/// Only an answer proves that a mail wasn't accepted: a connection may break between the mail and
/// the answer.
fn meaning(error: &Error) -> Sent {
    let text = error.to_string();
    let was_not_sent = text.starts_with("Connection error") || error.is_tls();
    if error.is_permanent() || error.is_client() {
        Sent::Refused { error: text }
    } else if error.is_transient() || was_not_sent {
        Sent::NotNow { error: text, after: None }
    } else {
        Sent::Unknown { error: text }
    }
}
