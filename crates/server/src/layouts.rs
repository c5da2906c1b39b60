//! Layouts ready to send: made once per schedule, compressed once, named by their hash.

use crate::encodings::Encoded;
use app::catalog::{LayoutView, show_layout};
use app::{Error, Platform, Result};
use domain::ScheduleId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Most bytes kept; whoever walks through more starts anew.
const BYTES_KEPT_MAX: usize = 256 << 20;

/// A layout in every encoding that clients ask for.
pub struct LayoutBody {
    /// Names the content: the same hash is the same layout for ever.
    pub hash: String,
    pub(crate) body: Encoded,
}

type Slot = Arc<tokio::sync::OnceCell<Arc<LayoutBody>>>;

#[derive(Default)]
pub struct Layouts {
    kept: Mutex<HashMap<ScheduleId, Slot>>,
}

impl Layouts {
    /// The layout of a schedule that fans may see.
    pub async fn get(&self, platform: &Platform, schedule: ScheduleId) -> Result<Arc<LayoutBody>> {
        platform.schedules.get(&*platform.store, schedule, platform.now()).await?;
        let slot = self.lock().entry(schedule).or_default().clone();
        let body = slot.get_or_try_init(async || {
            let layout = show_layout(platform, schedule).await?;
            // Compressing a stadium takes a while: not on a thread that answers others.
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
        let mut kept = self.lock();
        let n_bytes: usize =
            kept.values().filter_map(|it| it.get()).map(|it| it.body.n_bytes()).sum();
        if n_bytes > BYTES_KEPT_MAX {
            kept.clear();
            kept.insert(newest, slot.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ScheduleId, Slot>> {
        self.kept.lock().expect("nothing panics under this lock")
    }
}

fn encode(layout: &LayoutView) -> Result<LayoutBody> {
    let plain = serde_json::to_vec(layout).map_err(Error::broken)?;
    let hash = app::seals::sha256(&plain);
    let hash = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let body = Encoded::of(plain).map_err(Error::broken)?;
    Ok(LayoutBody { hash, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    use app::catalog::view_layout;
    use domain::catalog::{GridTemplate, SeatTemplate};
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
