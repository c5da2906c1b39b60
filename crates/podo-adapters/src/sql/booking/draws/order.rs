//! The end of the window, and the drawn order.

use crate::sql::booking::draws::{CloseDraw, DrawsDue, load};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::catalog::phases::draws_port::{DrawRecord, StorePlaces};
use podo_domain::{PhaseId, Refusal};

pub(super) async fn due(tx: &mut dyn Tx, question: &DrawsDue) -> Result<Vec<PhaseId>> {
    let sql = "select d.phase_id from draws d
                where d.drawn_at is null and d.apply_until <= $1
                  and coalesce((select f.next_at from job_failures f
                                 where f.job = 'draw' and f.item = d.phase_id), $1) <= $1
                order by d.apply_until limit $2";
    let rows = tx.query(sql, params![question.now, question.limit]).await?;
    rows.iter().map(|row: &Row| Ok(row.get("phase_id")?)).collect()
}

/// An organiser may have made the window longer meanwhile: then it stays open.
pub(super) async fn close(tx: &mut dyn Tx, command: &CloseDraw) -> Result<DrawRecord> {
    let sql = "update draws set closed_at = $2, updated_at = $2
                where phase_id = $1 and closed_at is null and apply_until <= $2";
    tx.execute(sql, params![command.phase, command.now]).await?;
    Ok(load(tx, command.phase).await?.ok_or(Refusal::NotFound)?)
}

pub(super) async fn store_places(tx: &mut dyn Tx, command: &StorePlaces) -> Result<()> {
    let StorePlaces { phase, from, places, list_hash, now } = command;
    let draw = load(tx, *phase).await?.ok_or(Refusal::NotFound)?;
    let n_ranked = from + u32::try_from(places.len()).unwrap_or(u32::MAX);
    let drawn_at = (n_ranked == draw.n_applied).then_some(*now);
    let advance = "update draws set n_ranked = $3, list_hash = $4, drawn_at = $5, updated_at = $6
                    where phase_id = $1 and n_ranked = $2 and closed_at is not null
                      and drawn_at is null";
    let values = params![*phase, *from, n_ranked, *list_hash, drawn_at, *now];
    if tx.execute(advance, values).await? == 0 {
        // Another node stored these places, which are the same.
        return Ok(());
    }
    let sql = "update draw_applications
                  set place = $3, wins = $4,
                      state = case when state = 'APPLIED' then 'DRAWN' else state end
                where phase_id = $1 and idx = $2";
    let set = |(index, placed): (u32, &podo_app::catalog::phases::draws_port::Placed)| {
        params![*phase, index, placed.place, placed.wins].to_vec()
    };
    Ok(tx.change(sql, (*from..).zip(places).map(set).collect()).await?)
}
