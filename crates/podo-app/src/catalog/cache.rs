//! The catalog cache: what thousands of waiting fans look at is read once.

use crate::catalog::port::{EventFilter, EventRecord, ScheduleRecord};
use crate::context::AppContext;
use crate::error::Result;
use crate::store::PageAsk;
use podo_domain::payments::refunds::RefundPolicy;
use podo_domain::{EventId, Refusal, Timestamp};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// TTL of a list or an event without an invalidation.
const TTL: Duration = Duration::from_secs(5 * 60);

/// TTL around the opening of one of its sales.
const TTL_AT_OPENING: Duration = Duration::from_secs(60);

/// The period around an opening, before and after.
const OPENING: Duration = Duration::from_secs(10 * 60);

/// How often a node checks whether another one changed something.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Entries of each kind; when there are more, the cache is cleared.
const CAPACITY: usize = 1_000;

/// An event with its dates, as stored.
pub(super) struct EventRecords {
    pub(super) event: EventRecord,
    pub(super) schedules: Vec<ScheduleRecord>,
    pub(super) refund_policy: RefundPolicy,
}

#[derive(Default)]
pub struct CatalogCache {
    lists: Cache<(EventFilter, PageAsk), Vec<EventRecord>>,
    events: Cache<EventId, EventRecords>,
    seen: AtomicU64,
    asked_at_ms: AtomicI64,
}

impl CatalogCache {
    pub(super) async fn list(
        &self,
        context: &AppContext,
        filter: EventFilter,
        page: PageAsk,
    ) -> Result<Arc<Vec<EventRecord>>> {
        let now = context.now();
        self.check_version(context, now).await;
        let key = (filter.clone(), page);
        let load = async || {
            let events = context.store.events(filter, page).await?;
            Ok((events, now.plus(TTL)))
        };
        self.lists.get(key, now, load).await
    }

    pub(super) async fn event(
        &self,
        context: &AppContext,
        event: EventId,
    ) -> Result<Arc<EventRecords>> {
        let now = context.now();
        self.check_version(context, now).await;
        let load = async || {
            let found = context.store.event(event).await?.ok_or(Refusal::NotFound)?;
            let schedules = context.store.schedules_of(event).await?;
            let policy = context.store.refund_policy(event).await?;
            let until = now.plus(length_for(&schedules, now));
            let refund_policy = policy.unwrap_or_default();
            Ok((EventRecords { event: found, schedules, refund_policy }, until))
        };
        self.events.get(event, now, load).await
    }

    /// Invalidates this node's cache at once, and the others' within a second.
    pub(crate) async fn invalidate(&self, context: &AppContext) {
        if let Err(error) = context.catalog.invalidation.invalidate().await {
            tracing::warn!(%error, "Could not invalidate the catalog cache of other nodes");
        }
        self.clear();
    }

    /// One caller checks now and then; the others use the cache.
    async fn check_version(&self, context: &AppContext, now: Timestamp) {
        let asked_at = self.asked_at_ms.load(Ordering::Relaxed);
        if now < Timestamp::from_ms(asked_at).plus(CHECK_EVERY) {
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
        if let Ok(version) = context.catalog.invalidation.version().await
            && self.seen.swap(version, Ordering::Relaxed) != version
        {
            self.clear();
        }
    }

    /// Clears the cache.
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
    if schedules.iter().any(opens_now) { TTL_AT_OPENING } else { TTL }
}

/// One entry. The first caller to find it empty reads the store while the others wait.
type Slot<V> = Arc<tokio::sync::Mutex<Option<(Arc<V>, Timestamp)>>>;

struct Cache<K, V> {
    slots: Mutex<HashMap<K, Slot<V>>>,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Cache<K, V> {
        Cache { slots: Mutex::default() }
    }
}

impl<K: Hash + Eq, V> Cache<K, V> {
    async fn get(
        &self,
        key: K,
        now: Timestamp,
        load: impl AsyncFnOnce() -> Result<(V, Timestamp)>,
    ) -> Result<Arc<V>> {
        let slot = self.slot(key);
        let mut cached = slot.lock().await;
        if let Some((value, _)) = cached.as_ref().filter(|(_, until)| now < *until) {
            return Ok(value.clone());
        }
        let (value, until) = load().await?;
        let value = Arc::new(value);
        *cached = Some((value.clone(), until));
        Ok(value)
    }

    fn slot(&self, key: K) -> Slot<V> {
        let mut slots = self.lock();
        if slots.len() >= CAPACITY && !slots.contains_key(&key) {
            slots.clear();
        }
        slots.entry(key).or_default().clone()
    }
}

impl<K, V> Cache<K, V> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Slot<V>>> {
        self.slots.lock().expect("the lock is never poisoned")
    }
}
