//! The catalog kept at hand: what thousands look at while they wait is read once.

use crate::error::Result;
use crate::paging::PageAsk;
use crate::platform::Platform;
use crate::ports::catalog::{EventFilter, EventRecord, ScheduleRecord};
use domain::refunds::RefundPolicy;
use domain::{EventId, Refusal, ScheduleId, Timestamp};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use uuid::Uuid;

/// How long a list or an event counts when nobody says that it changed.
const KEPT_FOR: Duration = Duration::from_secs(5 * 60);

/// The same around the opening of one of its sales.
const KEPT_AT_OPENING_FOR: Duration = Duration::from_secs(60);

/// What counts as around the opening, before and after.
const OPENING: Duration = Duration::from_secs(10 * 60);

/// How often a node asks whether another one changed something.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Answers of each kind kept; whoever asks for more different ones starts anew.
const KEPT_MAX: usize = 1_000;

/// Under this name the nodes tell each other that the catalog changed.
const SIGNAL: ScheduleId = ScheduleId::new(Uuid::nil());

/// An event with its dates, as the store knows them.
pub(super) struct EventRecords {
    pub(super) event: EventRecord,
    pub(super) schedules: Vec<ScheduleRecord>,
    pub(super) refund_policy: RefundPolicy,
}

#[derive(Default)]
pub struct Shelf {
    lists: Kept<(EventFilter, PageAsk), Vec<EventRecord>>,
    events: Kept<EventId, EventRecords>,
    seen: AtomicU64,
    asked_at_ms: AtomicI64,
}

impl Shelf {
    pub(super) async fn list(
        &self,
        platform: &Platform,
        filter: EventFilter,
        page: PageAsk,
    ) -> Result<Arc<Vec<EventRecord>>> {
        let now = platform.now();
        self.hear(platform, now).await;
        let key = (filter.clone(), page);
        let load = async || {
            let events = platform.store.events(filter, page).await?;
            Ok((events, now.plus(KEPT_FOR)))
        };
        self.lists.get(key, now, load).await
    }

    pub(super) async fn event(
        &self,
        platform: &Platform,
        event: EventId,
    ) -> Result<Arc<EventRecords>> {
        let now = platform.now();
        self.hear(platform, now).await;
        let load = async || {
            let found = platform.store.event(event).await?.ok_or(Refusal::NotFound)?;
            let schedules = platform.store.schedules_of(event).await?;
            let policy = platform.store.refund_policy(event).await?;
            let until = now.plus(length_for(&schedules, now));
            let refund_policy = policy.unwrap_or_default();
            Ok((EventRecords { event: found, schedules, refund_policy }, until))
        };
        self.events.get(event, now, load).await
    }

    /// Something changed: this node forgets at once, the others within a second.
    pub(crate) async fn tell(&self, platform: &Platform) {
        if let Err(error) = platform.seat_versions.bump(SIGNAL, &[]).await {
            tracing::warn!(%error, "Other nodes did not hear that the catalog changed");
        }
        self.clear();
    }

    /// One caller asks now and then; the others go on with what is there.
    async fn hear(&self, platform: &Platform, now: Timestamp) {
        let asked_at = self.asked_at_ms.load(Ordering::Relaxed);
        if now < Timestamp::from_ms(asked_at).plus(ASK_EVERY) {
            return;
        }
        let is_ours = self.asked_at_ms.compare_exchange(
            asked_at,
            now.ms(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        if is_ours.is_err() {
            return;
        }
        if let Ok(version) = platform.seat_versions.version(SIGNAL).await
            && self.seen.swap(version, Ordering::Relaxed) != version
        {
            self.clear();
        }
    }

    /// Everything is asked for again.
    pub(crate) fn clear(&self) {
        self.lists.lock().clear();
        self.events.lock().clear();
    }
}

fn length_for(schedules: &[ScheduleRecord], now: Timestamp) -> Duration {
    let opens_now = |schedule: &ScheduleRecord| {
        let opens_at = schedule.times.sale_starts_at;
        now < opens_at.plus(OPENING) && opens_at < now.plus(OPENING)
    };
    if schedules.iter().any(opens_now) { KEPT_AT_OPENING_FOR } else { KEPT_FOR }
}

/// One answer. Whoever finds none asks the store while the others wait for that.
type Slot<V> = Arc<tokio::sync::Mutex<Option<(Arc<V>, Timestamp)>>>;

struct Kept<K, V> {
    slots: Mutex<HashMap<K, Slot<V>>>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Kept<K, V> {
        Kept { slots: Mutex::default() }
    }
}

impl<K: Hash + Eq, V> Kept<K, V> {
    async fn get(
        &self,
        key: K,
        now: Timestamp,
        load: impl AsyncFnOnce() -> Result<(V, Timestamp)>,
    ) -> Result<Arc<V>> {
        let slot = self.slot(key);
        let mut kept = slot.lock().await;
        if let Some((value, _)) = kept.as_ref().filter(|(_, until)| now < *until) {
            return Ok(value.clone());
        }
        let (value, until) = load().await?;
        let value = Arc::new(value);
        *kept = Some((value.clone(), until));
        Ok(value)
    }

    fn slot(&self, key: K) -> Slot<V> {
        let mut slots = self.lock();
        if slots.len() >= KEPT_MAX && !slots.contains_key(&key) {
            slots.clear();
        }
        slots.entry(key).or_default().clone()
    }
}

impl<K, V> Kept<K, V> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Slot<V>>> {
        self.slots.lock().expect("nothing panics under this lock")
    }
}
