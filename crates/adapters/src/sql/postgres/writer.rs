//! The writer of the hot commands: it takes whatever is waiting and runs it as one batch.
//!
//! It has a thread, a runtime and connections of its own, so that neither busy web handlers nor
//! slow reports stand in its way.

use super::batch::{Answer, Batches, Command, Pending};
use super::pools::Pool;
use crate::sql::DatabaseRole;
use crate::sql::tx::{Guard, Work};
use app::ports::clock::Chance;
use app::{Error, Result};
use futures::channel::oneshot;
use futures::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};

/// Most commands in one batch: bounds how long the first of them waits for the rest.
const COMMANDS_PER_BATCH_MAX: usize = 96;

/// Waiting commands beyond this are turned away: by then the answer would come too late anyway.
const COMMANDS_WAITING_MAX: usize = 20_000;

/// A batch smaller than this waits a moment for company while another one is under way: then a
/// crowd is on its way.
const COMPANY: usize = 32;
const MOMENT: Duration = Duration::from_millis(1);

/// Batches under way at once: while one waits for the disk the others compute.
pub(super) const BATCHES_AT_ONCE: usize = 3;

pub(super) struct Writer {
    commands: Sender<Box<dyn Command>>,
}

impl Writer {
    /// `pool` is the writer's alone.
    pub(super) fn start(
        pool: Pool,
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
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
                    let batches = Batches::new(chance.clone(), off.clone());
                    write_until_closed(&pool, &waiting, &n_under_way, batches)
                });
                runtime.block_on(join_all(loops));
            })
            .map_err(|error| error.to_string())?;
        Ok(Writer { commands })
    }

    /// The result, or the command itself when it has to run in a transaction of its own.
    pub(super) async fn write<W: Work>(&self, work: W) -> Result<Answer<W>> {
        const { assert!(matches!(W::ROLE, DatabaseRole::Sales), "the writer is of sales") };
        let (send, receive) = oneshot::channel();
        self.commands.try_send(Pending::boxed(work, send)).map_err(|error| match error {
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
    waiting: &Mutex<Receiver<Box<dyn Command>>>,
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

/// What is waiting; nothing when nobody will ask again.
async fn next_batch(
    waiting: &Mutex<Receiver<Box<dyn Command>>>,
    n_under_way: &AtomicUsize,
) -> Vec<Box<dyn Command>> {
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
