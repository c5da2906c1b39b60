//! The worker that plans deliveries to organisers' webhooks; a job sends them.

use super::Worker;
use crate::error::{Error, Result};
use crate::messages::wrap;
use crate::platform::Platform;
use crate::ports::messages::Message;
use crate::ports::organisers::ToTell;
use async_trait::async_trait;
use domain::messages::{MessageKind, Topic};

pub struct TellOrganisers;

#[async_trait]
impl Worker for TellOrganisers {
    fn name(&self) -> &'static str {
        "organisers"
    }

    fn topics(&self) -> &'static [Topic] {
        &[Topic::BookingCompleted, Topic::SeatSync, Topic::Notification]
    }

    fn wants(&self, _kind: MessageKind) -> bool {
        true
    }

    /// Most houses have no endpoint.
    async fn is_idle(&self, platform: &Platform) -> Result<bool> {
        Ok(platform.store.endpoints().await?.is_empty())
    }

    async fn consume(&self, platform: &Platform, messages: &[Message]) -> Result<()> {
        let to_tell: Result<Vec<ToTell>> = messages.iter().map(to_tell).collect();
        platform.store.plan_deliveries(self.name(), to_tell?, platform.now()).await?;
        Ok(())
    }
}

fn to_tell(message: &Message) -> Result<ToTell> {
    let body = String::from_utf8(wrap(message)?.body).map_err(Error::broken)?;
    Ok(ToTell { message: message.id, kind: message.kind, body })
}
