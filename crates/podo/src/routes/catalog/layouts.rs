//! Encoded layouts: built and compressed once per schedule, and named by their hash.

use crate::http::respond::encodings::Encoded;
use podo_app::cache::Cache;
use podo_app::catalog::{LayoutView, show_layout};
use podo_app::{AppContext, Error, Result};
use podo_domain::ScheduleId;
use std::sync::Arc;

/// Most bytes cached.
const BYTES_MAX: u64 = 256 << 20;

/// A layout in every supported encoding.
pub struct LayoutBody {
    /// The hash of the content, so a layout with this name never changes.
    pub hash: String,
    pub(crate) body: Encoded,
}

pub struct EncodedLayouts(Cache<ScheduleId, Arc<LayoutBody>>);

impl Default for EncodedLayouts {
    fn default() -> EncodedLayouts {
        EncodedLayouts(Cache::weighing(BYTES_MAX, |layout| layout.body.n_bytes() as u64))
    }
}

impl EncodedLayouts {
    /// The layout of a published schedule.
    pub async fn get(&self, context: &AppContext, schedule: ScheduleId) -> Result<Arc<LayoutBody>> {
        context.catalog.schedules.get(&*context.store, schedule, context.now()).await?;
        let load = async {
            let layout = show_layout(context, schedule).await?;
            // Compressing a stadium takes a while, so this doesn't block the runtime.
            let encoding = tokio::task::spawn_blocking(move || encode(&layout));
            encoding.await.map_err(Error::broken)?.map(Arc::new)
        };
        self.0.get_or_load(&schedule, load).await
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
