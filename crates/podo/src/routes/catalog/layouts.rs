//! Encoded layouts: built and compressed once per schedule, and named by their hash.

use crate::http::respond::encodings::Encoded;
use podo_app::catalog::{LayoutView, show_layout};
use podo_app::{AppContext, Error, Result};
use podo_domain::ScheduleId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Most bytes cached; beyond that, the cache starts over.
const BYTES_KEPT_MAX: usize = 256 << 20;

/// A layout in every supported encoding.
pub struct LayoutBody {
    /// The hash of the content, so a layout with this name never changes.
    pub hash: String,
    pub(crate) body: Encoded,
}

type Slot = Arc<tokio::sync::OnceCell<Arc<LayoutBody>>>;

#[derive(Default)]
pub struct EncodedLayouts {
    cached: Mutex<HashMap<ScheduleId, Slot>>,
}

impl EncodedLayouts {
    /// The layout of a published schedule.
    pub async fn get(&self, context: &AppContext, schedule: ScheduleId) -> Result<Arc<LayoutBody>> {
        context.catalog.schedules.get(&*context.store, schedule, context.now()).await?;
        let slot = self.lock().entry(schedule).or_default().clone();
        let body = slot.get_or_try_init(async || {
            let layout = show_layout(context, schedule).await?;
            // Compressing a stadium takes a while, so this doesn't block the runtime.
            let encoding = tokio::task::spawn_blocking(move || encode(&layout));
            encoding.await.map_err(Error::broken)?.map(Arc::new)
        });
        match body.await {
            Ok(body) => {
                self.make_room(schedule, &slot);
                Ok(body.clone())
            }
            Err(error) => {
                self.lock().remove(&schedule);
                Err(error)
            }
        }
    }

    fn make_room(&self, newest: ScheduleId, slot: &Slot) {
        let mut cached = self.lock();
        let n_bytes: usize =
            cached.values().filter_map(|it| it.get()).map(|it| it.body.n_bytes()).sum();
        if n_bytes > BYTES_KEPT_MAX {
            cached.clear();
            cached.insert(newest, slot.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ScheduleId, Slot>> {
        self.cached.lock().expect("the lock is never poisoned")
    }
}

fn encode(layout: &LayoutView) -> Result<LayoutBody> {
    let plain = serde_json::to_vec(layout).map_err(Error::broken)?;
    let hash = podo_app::identity::keyring::sha256(&plain);
    let hash = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let body = Encoded::of(plain).map_err(Error::broken)?;
    Ok(LayoutBody { hash, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    use podo_app::catalog::view_layout;
    use podo_domain::catalog::{GridTemplate, SeatTemplate};
    use uuid::Uuid;

    #[test]
    fn fifty_thousand_seats_fit_into_four_hundred_kilobytes() {
        let rows: Vec<String> = (1..=250).map(|row| row.to_string()).collect();
        let template = SeatTemplate::Grid(GridTemplate {
            grade_mapping: rows.iter().map(|row| (row.clone(), "R".to_owned())).collect(),
            rows,
            seats_per_row: 200,
        });
        let schedule = ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 100));
        let body = encode(&view_layout(schedule, template.plan().unwrap())).unwrap();
        let body = body.body;
        let sizes = (body.plain.len(), body.gzip.len(), body.brotli.len());
        assert!(sizes.1 <= 400 * 1024 && sizes.2 <= 400 * 1024, "{sizes:?}");
    }
}
