//! The cache of halls: a layout never changes once its seats exist.

use crate::cache::Cache;
use crate::error::Result;
use crate::store::Store;
use podo_domain::catalog::hall::Hall;
use podo_domain::{Refusal, ScheduleId};
use std::sync::Arc;

/// Most seats cached, about 16 bytes each.
const SEATS_MAX: u64 = 4_000_000;

pub struct LayoutCache(Cache<ScheduleId, Arc<Hall>>);

impl Default for LayoutCache {
    fn default() -> LayoutCache {
        LayoutCache(Cache::weighing(SEATS_MAX, |hall| hall.places.len() as u64))
    }
}

impl LayoutCache {
    pub async fn get(&self, store: &dyn Store, schedule: ScheduleId) -> Result<Arc<Hall>> {
        let load = async {
            let template = store.template_of(schedule).await?.ok_or(Refusal::NotFound)?;
            Ok(Arc::new(Hall::of(&template.plan()?)))
        };
        self.0.get_or_load(&schedule, load).await
    }
}
