//! Text messages: Alimtalk for Korean numbers if it is configured, SNS for the others.

use crate::notify::alimtalk::Alimtalk;
use crate::notify::sns::Sns;
use async_trait::async_trait;
use podo_app::messaging::port::channels::{Channel, Mail, Sent};
use podo_app::messaging::port::notifications::ChannelKind;
use podo_domain::Timestamp;

pub(super) struct Sms {
    pub(super) alimtalk: Option<Alimtalk>,
    pub(super) sns: Option<Sns>,
}

#[async_trait]
impl Channel for Sms {
    fn kind(&self) -> ChannelKind {
        ChannelKind::Sms
    }

    async fn send(&self, mail: &Mail, now: Timestamp) -> Sent {
        match (&self.alimtalk, &self.sns) {
            (Some(alimtalk), _) if alimtalk.may_send(mail) => alimtalk.send(mail).await,
            (_, Some(sns)) => sns.send(mail, now).await,
            (_, None) => Sent::Refused { error: "no provider for this number".to_owned() },
        }
    }
}
