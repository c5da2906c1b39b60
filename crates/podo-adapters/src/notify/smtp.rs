//! E-mail by SMTP.

use async_trait::async_trait;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::Error;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use podo_app::messaging::port::channels::{Channel, Mail, Sent};
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
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(&mail.subject)
            // The same id for a notification that is sent again, so that mail programs show it
            // once.
            .message_id(Some(format!("<{}@{domain}>", mail.id)))
            .header(ContentType::TEXT_PLAIN)
            .body(mail.body.clone())
            .map_err(|error| error.to_string())
    }
}

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
