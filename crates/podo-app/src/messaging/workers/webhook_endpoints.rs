//! Plans deliveries to organisers' webhook endpoints; a job sends them.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::envelope::encode;
use crate::messaging::port::messages::Message;
use crate::messaging::port::webhook_endpoints::ToTell;
use crate::messaging::workers::Worker;
use async_trait::async_trait;
use podo_domain::messaging::messages::{MessageKind, Topic};

pub struct WebhookWorker;

#[async_trait]
impl Worker for WebhookWorker {
    fn name(&self) -> &'static str {
        "organisers"
    }

    fn topics(&self) -> &'static [Topic] {
        &[Topic::BookingCompleted, Topic::SeatSync, Topic::Notification]
    }

    fn wants(&self, _kind: MessageKind) -> bool {
        true
    }

    /// Most installations have no endpoint.
    async fn is_idle(&self, context: &AppContext) -> Result<bool> {
        Ok(context.store.endpoints().await?.is_empty())
    }

    async fn consume(&self, context: &AppContext, messages: &[Message]) -> Result<()> {
        let to_tell: Result<Vec<ToTell>> = messages.iter().map(to_tell).collect();
        context.store.plan_deliveries(self.name(), to_tell?, context.now()).await?;
        Ok(())
    }
}

fn to_tell(message: &Message) -> Result<ToTell> {
    let body = String::from_utf8(encode(message)?.body).map_err(Error::broken)?;
    Ok(ToTell { message: message.id, kind: message.kind, body })
}
