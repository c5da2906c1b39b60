//! The catalog cache: what thousands of waiting fans look at is read once.

use crate::cache::{Cache, Expiring};
use crate::catalog::EventView;
use crate::catalog::images::ImageView;
use crate::catalog::port::{EventFilter, ScheduleRecord};
use crate::context::AppContext;
use crate::error::Result;
use crate::payments::port::refunds::EventPolicy;
use crate::store::PageRequest;
use podo_domain::{EventId, Refusal, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// TTL of a list or an event without an invalidation.
const TTL: Duration = Duration::from_secs(5 * 60);

/// TTL around the opening of one of its sales.
const TTL_AT_OPENING: Duration = Duration::from_secs(60);

/// The period around an opening, before and after.
const OPENING: Duration = Duration::from_secs(10 * 60);

/// How often a node checks whether another one changed something.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Entries of each kind.
const CAPACITY: usize = 1_000;

/// An event with its dates, as stored.
pub(super) struct EventRecords {
    pub(super) event: EventView,
    pub(super) schedules: Vec<ScheduleRecord>,
    pub(super) refund_policy: EventPolicy,
    pub(super) gallery: Vec<ImageView>,
    pub(super) venue_address: String,
    /// Fans who want to be reminded of it.
    pub(super) interested: u64,
}

pub struct CatalogCache {
    lists: Cache<(EventFilter, PageRequest), Expiring<Arc<Vec<EventView>>>>,
    events: Cache<EventId, Expiring<Arc<EventRecords>>>,
    seen: AtomicU64,
    asked_at_ms: AtomicI64,
}

impl Default for CatalogCache {
    fn default() -> CatalogCache {
        CatalogCache {
            lists: Cache::of(CAPACITY),
            events: Cache::of(CAPACITY),
            seen: AtomicU64::default(),
            asked_at_ms: AtomicI64::default(),
        }
    }
}

impl CatalogCache {
    pub(super) async fn list(
        &self,
        context: &AppContext,
        filter: EventFilter,
        page: PageRequest,
    ) -> Result<Arc<Vec<EventView>>> {
        let now = context.now();
        self.check_version(context, now).await;
        let key = (filter.clone(), page);
        let load = async {
            let events = context.store.events(filter, page).await?;
            Ok(Expiring { value: Arc::new(events), until: now.plus(TTL) })
        };
        self.lists.get_fresh(&key, now, load).await
    }

    pub(super) async fn event(
        &self,
        context: &AppContext,
        event: EventId,
    ) -> Result<Arc<EventRecords>> {
        let now = context.now();
        self.check_version(context, now).await;
        let load = async {
            let found = context.store.event(event).await?.ok_or(Refusal::NotFound)?;
            let schedules = context.store.schedules_of(event).await?;
            let until = now.plus(length_for(&schedules, now));
            let refund_policy = context.store.refund_policy(event).await?;
            let records = EventRecords {
                event: found,
                schedules,
                refund_policy: refund_policy.ok_or(Refusal::NotFound)?,
                gallery: context.store.gallery(event).await?,
                venue_address: context.store.venue_address(event).await?.unwrap_or_default(),
                interested: context.store.interest_in(event).await?,
            };
            Ok(Expiring { value: Arc::new(records), until })
        };
        self.events.get_fresh(&event, now, load).await
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
        self.lists.clear();
        self.events.clear();
    }
}

fn length_for(schedules: &[ScheduleRecord], now: Timestamp) -> Duration {
    let opens_now = |schedule: &ScheduleRecord| {
        let opens_at = schedule.times.sale_starts_at;
        now < opens_at.plus(OPENING) && opens_at < now.plus(OPENING)
    };
    if schedules.iter().any(opens_now) { TTL_AT_OPENING } else { TTL }
}
