//! The bus: carries messages from the outbox to their consumers.

use super::messages::Message;
use crate::error::Result;
use async_trait::async_trait;

/// Every engine keeps these rules:
/// - messages with one key arrive in the order they were published;
/// - a message that `publish` accepted arrives at least once.
#[async_trait]
pub trait Bus: Send + Sync {
    async fn publish(&self, message: &Message) -> Result<()>;
}

/// Does something about a message; harmless to repeat.
#[async_trait]
pub trait Consumer: Send + Sync {
    fn name(&self) -> &'static str;

    async fn consume(&self, message: &Message) -> Result<()>;
}
