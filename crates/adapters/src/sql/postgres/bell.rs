//! The bell between nodes (LISTEN/NOTIFY): a message was written, so a relay need not wait for its
//! next look.
//!
//! It is rung after the commit, not in the transaction that wrote the message: PostgreSQL lets only
//! one transaction that notifies commit at a time, in the whole server, and all sales would wait in
//! that line. A node that dies in between rings nothing; then the relay finds the message when it
//! looks.

use super::settings::PostgresSettings;
use app::{Error, Result};
use deadpool_postgres::Client;
use futures::StreamExt;
use futures::future::{Either, select};
use futures::stream::poll_fn;
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::AsyncMessage;

/// A line that nobody answers on is given up after about this long.
const SILENCE_MAX: Duration = Duration::from_secs(10);

pub(super) async fn ring(client: &Client) -> Result<()> {
    client.batch_execute("notify podo_outbox").await.map_err(Error::unavailable)
}

/// Calls `heard` for every ring, and once when it begins to listen: there may have been some before.
/// Ends when the line is lost.
pub(super) async fn hear(
    settings: &PostgresSettings,
    heard: impl Fn() + Send + Sync,
) -> Result<()> {
    let target = settings.connect(&settings.url, None).map_err(Error::Unavailable)?;
    let mut config = target.config;
    config.application_name("podo bell").keepalives_idle(SILENCE_MAX / 2);
    config.tcp_user_timeout(SILENCE_MAX);
    let connected = config.connect(target.tls).await;
    let (client, mut connection) = connected.map_err(Error::unavailable)?;
    let mut messages = poll_fn(move |context| connection.poll_message(context));
    let listen = async {
        client.batch_execute("listen podo_outbox").await.map_err(Error::unavailable)?;
        heard();
        // The client must stay: the connection ends with it.
        std::future::pending().await
    };
    let receive = async {
        while let Some(message) = messages.next().await {
            if matches!(message.map_err(Error::unavailable)?, AsyncMessage::Notification(_)) {
                heard();
            }
        }
        Err(Error::unavailable("the database closed the line"))
    };
    match select(pin!(listen), pin!(receive)).await {
        Either::Left((ended, _)) | Either::Right((ended, _)) => ended,
    }
}
