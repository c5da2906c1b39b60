//! The threads that answer questions.

use super::connection::{ConstraintNames, SqliteTx, open};
use super::stopped;
use super::syncer::Horizon;
use super::writer::run_now;
use crate::sql::tx::Work;
use app::ports::clock::Chance;
use app::{Error, Result};
use crossbeam_channel::{Receiver, Sender};
use futures::channel::oneshot;
use std::path::Path;
use std::sync::Arc;
use std::thread;

type Question = Box<dyn FnOnce(&mut SqliteTx<'_>) + Send>;

pub(super) struct Readers {
    questions: Sender<Question>,
    horizon: Arc<Horizon>,
}

impl Readers {
    pub(super) fn start(
        path: &Path,
        chance: &Arc<dyn Chance>,
        horizon: Arc<Horizon>,
        n_threads: usize,
    ) -> std::result::Result<Readers, String> {
        let (questions, waiting) = crossbeam_channel::unbounded();
        for index in 0..n_threads {
            let connection = open(path, true)?;
            let names = ConstraintNames::load(&connection)?;
            let (waiting, chance): (Receiver<Question>, _) = (waiting.clone(), chance.clone());
            thread::Builder::new()
                .name(format!("podo-reader-{index}"))
                .spawn(move || {
                    let mut tx = SqliteTx::on(&connection, &names, &*chance, &[]);
                    while let Ok(question) = waiting.recv() {
                        question(&mut tx);
                    }
                })
                .map_err(|error| error.to_string())?;
        }
        Ok(Readers { questions, horizon })
    }

    pub(super) fn submit<W: Work>(
        &self,
        work: W,
        send: oneshot::Sender<Result<W::Output>>,
    ) -> Result<()> {
        let horizon = self.horizon.clone();
        let question: Question = Box::new(move |tx| {
            // Nobody is waiting any more: do not spend a reader on it.
            if send.is_canceled() {
                return;
            }
            let answer = read_in_one_view(tx, &work);
            horizon.answer_reader(move || {
                let _ = send.send(answer);
            });
        });
        self.questions.send(question).map_err(|_closed| stopped())
    }
}

/// Several statements of one question see the same moment.
fn read_in_one_view<W: Work>(tx: &mut SqliteTx<'_>, work: &W) -> Result<W::Output> {
    tx.step("begin").map_err(Error::Unavailable)?;
    let result = run_now(tx, work);
    tx.step("commit").map_err(Error::Unavailable)?;
    result
}
