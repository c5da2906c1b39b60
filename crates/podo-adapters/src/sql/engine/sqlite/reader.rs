//! The reader threads.

use crate::sql::engine::sqlite::connection::{ConstraintNames, SqliteTx, open};
use crate::sql::engine::sqlite::stopped;
use crate::sql::engine::sqlite::syncer::DurableWatermark;
use crate::sql::engine::sqlite::writer::run_now;
use crate::sql::engine::tx::{Command, StoreContext};
use crossbeam_channel::{Receiver, Sender};
use futures::channel::oneshot;
use podo_app::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use std::thread;

type Question = Box<dyn FnOnce(&mut SqliteTx<'_>) + Send>;

pub(crate) struct Readers {
    questions: Sender<Question>,
    watermark: Arc<DurableWatermark>,
}

impl Readers {
    pub(crate) fn start(
        path: &Path,
        context: &Arc<StoreContext>,
        watermark: Arc<DurableWatermark>,
        n_threads: usize,
    ) -> std::result::Result<Readers, String> {
        let (questions, waiting) = crossbeam_channel::unbounded();
        for index in 0..n_threads {
            let connection = open(path, true)?;
            let names = ConstraintNames::load(&connection)?;
            let (waiting, context): (Receiver<Question>, _) = (waiting.clone(), context.clone());
            thread::Builder::new()
                .name(format!("podo-reader-{index}"))
                .spawn(move || {
                    let mut tx = SqliteTx::on(&connection, &names, &context);
                    while let Ok(question) = waiting.recv() {
                        question(&mut tx);
                    }
                })
                .map_err(|error| error.to_string())?;
        }
        Ok(Readers { questions, watermark })
    }

    pub(crate) fn submit<W: Command>(
        &self,
        command: W,
        send: oneshot::Sender<Result<W::Output>>,
    ) -> Result<()> {
        let watermark = self.watermark.clone();
        let question: Question = Box::new(move |tx| {
            // The caller has gone: skip the query.
            if send.is_canceled() {
                return;
            }
            let answer = read_in_one_view(tx, &command);
            watermark.answer_reader(move || {
                let _ = send.send(answer);
            });
        });
        self.questions.send(question).map_err(|_closed| stopped())
    }
}

/// All statements of one query see the same snapshot.
fn read_in_one_view<W: Command>(tx: &mut SqliteTx<'_>, command: &W) -> Result<W::Output> {
    tx.step("begin").map_err(Error::Unavailable)?;
    let result = run_now(tx, command);
    tx.step("commit").map_err(Error::Unavailable)?;
    result
}
