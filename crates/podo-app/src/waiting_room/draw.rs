//! The lobby's draw, for verification by anyone.

use crate::context::AppContext;
use crate::error::Result;
use crate::waiting_room::rooms::named_room;
use podo_domain::waiting_room::draw;
use podo_domain::{ScheduleId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// How the order of the lobby is drawn, so that anyone can verify it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrawView {
    pub opens_at: Timestamp,
    /// SHA-256 of the seed, published before the opening.
    pub seed_hash: String,
    /// The seed itself, after the opening.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// How many lobby indexes the draw covered: the fans who gathered, and more if the live engine
    /// had lost some of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u64>,
    pub recipe: &'static str,
}

const RECIPE: &str = "Shuffle 0..drawn by Fisher–Yates with 64-bit numbers from \
    SHA-256(seed || counter); `podo verify-draw` and docs/draw.md show every step.";

pub async fn show_draw(context: &AppContext, schedule: ScheduleId) -> Result<DrawView> {
    let now = context.now();
    let record = named_room(context, schedule, now).await?;
    let is_over = record.times.sale_starts_at <= now;
    let counts = context.waiting_room.queue.counts(record.schedule, now).await?;
    Ok(DrawView {
        opens_at: record.times.sale_starts_at,
        seed_hash: hex(&draw::commitment(&record.draw_seed)),
        seed: is_over.then(|| hex(&record.draw_seed)),
        drawn: is_over.then_some(counts.drawn),
        recipe: RECIPE,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
