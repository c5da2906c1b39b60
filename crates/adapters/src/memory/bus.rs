//! The bus in the process: a published message goes to every consumer at once.

use app::Result;
use app::ports::bus::{Bus as BusPort, Consumer};
use app::ports::messages::Message;
use async_trait::async_trait;
use std::sync::Arc;

pub struct Bus {
    consumers: Vec<Arc<dyn Consumer>>,
}

impl Bus {
    pub fn new(consumers: Vec<Arc<dyn Consumer>>) -> Bus {
        Bus { consumers }
    }
}

#[async_trait]
impl BusPort for Bus {
    /// Accepted when every consumer is done with it. If one fails the message is published again,
    /// so consumers must not mind a repeat.
    async fn publish(&self, message: &Message) -> Result<()> {
        for consumer in &self.consumers {
            consumer.consume(message).await?;
        }
        Ok(())
    }
}
