//! LISTEN/NOTIFY between nodes: announces a new message, so a relay needn't wait for its next poll.
//!
//! The notification is sent after the commit and not in the transaction that wrote the message,
//! because PostgreSQL serialises the commits of notifying transactions across the whole server, and
//! all sales would queue there. If a node dies in between, no notification is sent, and the relay
//! finds the message at its next poll.

use crate::sql::engine::postgres::connect::connection::Connection;
use crate::sql::engine::postgres::connect::settings::PostgresSettings;
use futures::StreamExt;
use futures::future::{Either, select};
use futures::stream::poll_fn;
use podo_app::{Error, Result};
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::AsyncMessage;

/// Interval and timeout of the liveness check: a connection that only listens never fails by
/// itself.
const ASK_EVERY: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

pub(crate) async fn notify(connection: &Connection) -> Result<()> {
    Ok(connection.batch_execute("notify podo_outbox").await?)
}

/// Calls `on_notification` for every notification, and once at the start for those missed before. Returns
/// when the connection is lost.
pub(crate) async fn listen(
    settings: &PostgresSettings,
    on_notification: impl Fn() + Send + Sync,
) -> Result<()> {
    let target = settings.session().map_err(Error::Unavailable)?.named("podo listener");
    let (client, mut connection) = target.connect().await.map_err(Error::Unavailable)?;
    let mut messages = poll_fn(move |context| connection.poll_message(context));
    let keep_alive = async {
        ask(&client, "listen podo_outbox").await?;
        on_notification();
        loop {
            tokio::time::sleep(ASK_EVERY).await;
            ask(&client, "").await?;
        }
    };
    let receive = async {
        while let Some(message) = messages.next().await {
            if matches!(message.map_err(Error::unavailable)?, AsyncMessage::Notification(_)) {
                on_notification();
            }
        }
        Err(Error::unavailable("the database closed the listening connection"))
    };
    match select(pin!(keep_alive), pin!(receive)).await {
        Either::Left((ended, _)) | Either::Right((ended, _)) => ended,
    }
}

async fn ask(client: &tokio_postgres::Client, sql: &str) -> Result<()> {
    let answer = tokio::time::timeout(ANSWER_WITHIN, client.batch_execute(sql)).await;
    answer.map_err(Error::unavailable)?.map_err(Error::unavailable)
}
