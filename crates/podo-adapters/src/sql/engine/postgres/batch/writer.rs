//! The writer of hot commands: takes everything in its queue and runs it as one batch.
//!
//! It has its own thread, runtime and connections, so that busy HTTP handlers and slow reports
//! can't delay it.

use crate::sql::DatabaseRole;
use crate::sql::engine::postgres::batch::{Batches, CommandReply, Pending, QueuedCommand};
use crate::sql::engine::postgres::connect::pools::Pool;
use crate::sql::engine::tx::{Command, StoreContext};
use futures::channel::oneshot;
use futures::future::join_all;
use podo_app::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};

/// The batch size limit bounds how long the first command waits for the rest.
const COMMANDS_PER_BATCH_MAX: usize = 96;

/// Queue limit. Beyond it, commands are refused, because their answers would come too late.
const COMMANDS_WAITING_MAX: usize = 20_000;

/// While another batch is in flight, a batch smaller than this waits a moment for more commands,
/// because load is high.
const COMPANY: usize = 32;
const MOMENT: Duration = Duration::from_millis(1);

/// Concurrent batches: while one waits for the disk, the others compute.
pub(crate) const BATCHES_AT_ONCE: usize = 3;

pub(crate) struct Writer {
    commands: Sender<Box<dyn QueuedCommand>>,
}

impl Writer {
    /// The writer has `pool` for itself.
    pub(crate) fn start(
        pool: Pool,
        context: Arc<StoreContext>,
    ) -> std::result::Result<Writer, String> {
        let (commands, waiting) = channel(COMMANDS_WAITING_MAX);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        thread::Builder::new()
            .name("podo-writer".into())
            .spawn(move || {
                let (waiting, n_under_way) = (Mutex::new(waiting), AtomicUsize::new(0));
                let loops = (0..BATCHES_AT_ONCE).map(|_| {
                    let batches = Batches::new(context.clone());
                    write_until_closed(&pool, &waiting, &n_under_way, batches)
                });
                runtime.block_on(join_all(loops));
            })
            .map_err(|error| error.to_string())?;
        Ok(Writer { commands })
    }

    /// The result, or the command itself if it must run in its own transaction.
    pub(crate) async fn write<W: Command>(&self, command: W) -> Result<CommandReply<W>> {
        const { assert!(matches!(W::ROLE, DatabaseRole::Sales), "the writer uses the sales role") };
        let (send, receive) = oneshot::channel();
        self.commands.try_send(Pending::boxed(command, send)).map_err(|error| match error {
            TrySendError::Full(_) => {
                Error::Unavailable("too many commands are waiting for the database".into())
            }
            TrySendError::Closed(_) => stopped(),
        })?;
        receive.await.map_err(|oneshot::Canceled| stopped())
    }
}

fn stopped() -> Error {
    Error::Unavailable("the database thread has stopped".into())
}

async fn write_until_closed(
    pool: &Pool,
    waiting: &Mutex<Receiver<Box<dyn QueuedCommand>>>,
    n_under_way: &AtomicUsize,
    mut batches: Batches,
) {
    loop {
        let commands = next_batch(waiting, n_under_way).await;
        if commands.is_empty() {
            return;
        }
        n_under_way.fetch_add(1, Ordering::Relaxed);
        match pool.get().await {
            Ok(mut connection) => batches.run(&mut connection, commands).await,
            Err(error) => {
                let why = error.to_string();
                commands.into_iter().for_each(|command| command.fail(why.clone()));
            }
        }
        n_under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The queued commands, or none once every sender is gone.
async fn next_batch(
    waiting: &Mutex<Receiver<Box<dyn QueuedCommand>>>,
    n_under_way: &AtomicUsize,
) -> Vec<Box<dyn QueuedCommand>> {
    let mut waiting = waiting.lock().await;
    let mut commands = Vec::new();
    waiting.recv_many(&mut commands, COMMANDS_PER_BATCH_MAX).await;
    if commands.len() < COMPANY && n_under_way.load(Ordering::Relaxed) > 0 {
        tokio::time::sleep(MOMENT).await;
        while commands.len() < COMMANDS_PER_BATCH_MAX
            && let Ok(command) = waiting.try_recv()
        {
            commands.push(command);
        }
    }
    commands
}
