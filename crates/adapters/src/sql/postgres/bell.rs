//! The bell between nodes (LISTEN/NOTIFY): a message was written, so a relay need not wait for its
//! next look.
//!
//! It is rung after the commit, not in the transaction that wrote the message: PostgreSQL lets only
//! one transaction that notifies commit at a time, in the whole server, and all sales would wait in
//! that line. A node that dies in between rings nothing; then the relay finds the message when it
//! looks.

use super::connection::Connection;
use super::settings::PostgresSettings;
use app::{Error, Result};
use futures::StreamExt;
use futures::future::{Either, select};
use futures::stream::poll_fn;
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::AsyncMessage;

/// How often the line is asked whether it is still there, and how soon it has to say so: a line
/// that is only listened to never fails by itself.
const ASK_EVERY: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

pub(super) async fn ring(connection: &Connection) -> Result<()> {
    Ok(connection.batch_execute("notify podo_outbox").await?)
}

/// Calls `heard` for every ring, and once when it begins to listen: there may have been some before.
/// Ends when the line is lost.
pub(super) async fn hear(
    settings: &PostgresSettings,
    heard: impl Fn() + Send + Sync,
) -> Result<()> {
    let target = settings.session().map_err(Error::Unavailable)?.named("podo bell");
    let (client, mut connection) = target.connect().await.map_err(Error::Unavailable)?;
    let mut messages = poll_fn(move |context| connection.poll_message(context));
    let listen = async {
        ask(&client, "listen podo_outbox").await?;
        heard();
        loop {
            tokio::time::sleep(ASK_EVERY).await;
            ask(&client, "").await?;
        }
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

async fn ask(client: &tokio_postgres::Client, sql: &str) -> Result<()> {
    let answer = tokio::time::timeout(ANSWER_WITHIN, client.batch_execute(sql)).await;
    answer.map_err(Error::unavailable)?.map_err(Error::unavailable)
}
