//! Which waiting room a request means, and the opening of a lost one. When thousands of requests
//! find a room closed, one opens it.

use crate::cache::Cache;
use crate::catalog::port::ScheduleRecord;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::waiting_room::Asker;
use crate::waiting_room::port::queue::Survey;
use podo_domain::waiting_room::QueueRules;
use podo_domain::{Refusal, ScheduleId, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Evicting one costs at most one redundant opening.
const SCHEDULES_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Opening {
    n_opened: AtomicU64,
    opening: tokio::sync::Mutex<()>,
}

impl Opening {
    pub(crate) fn n_opened(&self) -> u64 {
        self.n_opened.load(Ordering::Acquire)
    }

    /// Runs `open`, unless another caller has done so since `n_seen`, which the caller read before
    /// it found the room closed.
    pub(crate) async fn once<E>(
        &self,
        n_seen: u64,
        open: impl Future<Output = std::result::Result<(), E>>,
    ) -> std::result::Result<(), E> {
        let _guard = self.opening.lock().await;
        if self.n_opened() == n_seen {
            open.await?;
            self.n_opened.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }
}

pub struct Openings(Cache<ScheduleId, Arc<Opening>>);

impl Default for Openings {
    fn default() -> Openings {
        Openings(Cache::of(SCHEDULES_MAX))
    }
}

impl Openings {
    pub(crate) fn of(&self, schedule: ScheduleId) -> Arc<Opening> {
        self.0.get_or_default(&schedule)
    }
}

/// The waiting room that the fan means: the one that their token names, or that of the running or
/// next phase. A place of a phase that is over doesn't carry over to the next.
pub(super) async fn room_of(
    context: &AppContext,
    asker: Asker,
    now: Timestamp,
) -> Result<(Arc<ScheduleRecord>, Asker)> {
    let schedules = &context.catalog.schedules;
    let meant = schedules.room(&*context.store, asker.room, now).await?;
    if let Some(room) = meant
        && !room.phase().is_some_and(|phase| phase.is_over(now))
    {
        return Ok((room, asker));
    }
    let current = current_room(context, asker.room.date(), now).await?;
    let (room, proof) = (current.schedule, asker.proof.filter(|_| current.schedule == asker.room));
    Ok((current, Asker { room, proof, ..asker }))
}

/// The waiting room of the running or next phase; of the date, if it has no phases.
pub(super) async fn current_room(
    context: &AppContext,
    schedule: ScheduleId,
    now: Timestamp,
) -> Result<Arc<ScheduleRecord>> {
    let schedules = &context.catalog.schedules;
    let date = schedules.get(&*context.store, schedule, now).await?;
    if date.phases.is_empty() {
        return Ok(date);
    }
    let room = schedules.room(&*context.store, date.room_at(now), now).await?;
    Ok(room.ok_or(Refusal::NotFound)?)
}

/// The room of a date or of a phase, by either's id.
pub(super) async fn named_room(
    context: &AppContext,
    id: ScheduleId,
    now: Timestamp,
) -> Result<Arc<ScheduleRecord>> {
    if id == id.date() {
        return current_room(context, id, now).await;
    }
    let room = context.catalog.schedules.room(&*context.store, id, now).await?;
    Ok(room.ok_or(Refusal::NotFound)?)
}

/// Attempts to open a lost room before the engine counts as unavailable.
const OPENINGS_MAX: u32 = 2;

/// Opens a room that is new, or lost in full or in its last writes, with the store's admissions.
pub(crate) async fn open_room(
    context: &AppContext,
    rules: &QueueRules,
    now: Timestamp,
) -> Result<()> {
    let Survey { epoch, survivors } =
        context.waiting_room.queue.survey(rules.schedule, now).await?;
    let mut remembered = context.store.remembered(rules.schedule, survivors, now).await?;
    remembered.epoch = Some(epoch);
    context.waiting_room.queue.restore(rules, &remembered, now).await
}

/// Runs a step that needs an open room, and opens the room first if the step finds it closed.
pub(super) async fn in_open_room<T, F: Future<Output = Result<Option<T>>>>(
    context: &AppContext,
    rules: &QueueRules,
    now: Timestamp,
    step: impl Fn() -> F,
) -> Result<T> {
    let opening = context.waiting_room.openings.of(rules.schedule);
    for _ in 0..=OPENINGS_MAX {
        let n_seen = opening.n_opened();
        if let Some(answer) = step().await? {
            return Ok(answer);
        }
        opening.once(n_seen, open_room(context, rules, now)).await?;
    }
    Err(Error::unavailable("the live engine keeps losing the waiting room"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;
    use futures::future::join_all;
    use std::convert::Infallible;

    #[test]
    fn of_many_who_find_a_room_closed_one_opens_it() {
        let (opening, n_calls) = (Opening::default(), AtomicU64::new(0));
        let open = async || {
            n_calls.fetch_add(1, Ordering::SeqCst);
            Ok::<(), Infallible>(())
        };
        let n_seen = opening.n_opened();
        block_on(join_all((0..100).map(|_| opening.once(n_seen, open())))).len();
        assert_eq!(n_calls.load(Ordering::SeqCst), 1);
        block_on(opening.once(opening.n_opened(), open())).ok();
        assert_eq!(n_calls.load(Ordering::SeqCst), 2, "it was lost again");
    }
}
