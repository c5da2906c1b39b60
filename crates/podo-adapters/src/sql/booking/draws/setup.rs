//! What organisers set up, and how far a phase with a draw may change.

use crate::sql::booking::draws::load;
use crate::sql::catalog::announce::announce_change;
use crate::sql::catalog::phases::phases_of;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::catalog::phases::draws_port::{DrawRecord, SetDraw};
use podo_app::{Error, Result};
use podo_domain::booking::draws::{DrawTerms, DrawnPhase};
use podo_domain::catalog::phases::Phase;
use podo_domain::catalog::{SeatPlan, SeatTemplate};
use podo_domain::{PhaseId, Refusal, Timestamp};
use serde_json::json;

pub(super) async fn set(tx: &mut dyn Tx, command: &SetDraw) -> Result<DrawRecord> {
    let SetDraw { actor, phase: id, terms, now } = command;
    // Serialise it with a change of the date's phases.
    tx.lock(id.schedule().uuid()).await?;
    let sql = "select seat_template, seats_per_order from event_schedules where id = $1";
    let row = tx.row(sql, params![id.schedule()]).await?.ok_or(Refusal::NotFound)?;
    let plan = row.json::<SeatTemplate>("seat_template")?.plan()?;
    let phases = phases_of(tx, id.schedule()).await?;
    let phase = phases.iter().find(|phase| phase.id == *id).ok_or(Refusal::NotFound)?;
    let seats_per_order = row.get("seats_per_order")?;
    terms.check(&DrawnPhase { phase, seats_per_order, plan: &plan })?;
    match load(tx, *id).await? {
        Some(known) => {
            known.terms.check_change(terms, known.closed_at.is_some(), *now)?;
            update(tx, *id, terms, *now).await?;
        }
        None if terms.apply_until <= *now => {
            return Err(Refusal::InvalidDraw { field: "applyUntil".to_owned() }.into());
        }
        None => insert(tx, *id, terms, *now).await?,
    }
    store_quantities(tx, *id, terms).await?;
    let details = json!({
        "applyFrom": terms.apply_from, "applyUntil": terms.apply_until,
        "seatsMax": terms.seats_max, "offerMinutes": terms.offer_minutes,
        "quantities": terms.quantities,
    });
    announce_change(tx, *actor, "phase.draw", id.uuid(), details, *now).await?;
    let stored = load(tx, *id).await?;
    stored.ok_or_else(|| Error::broken("a draw disappeared in its transaction"))
}

async fn insert(tx: &mut dyn Tx, id: PhaseId, terms: &DrawTerms, now: Timestamp) -> Result<()> {
    let sql = "insert into draws
                 (phase_id, apply_from, apply_until, seats_max, offer_minutes, created_at,
                  updated_at)
               values ($1, $2, $3, $4, $5, $6, $6)";
    let DrawTerms { apply_from, apply_until, seats_max, offer_minutes, .. } = terms;
    let values = params![id, *apply_from, *apply_until, *seats_max, *offer_minutes, now];
    tx.execute(sql, values).await?;
    Ok(())
}

/// An application that changes the row meanwhile conflicts with this.
async fn update(tx: &mut dyn Tx, id: PhaseId, terms: &DrawTerms, now: Timestamp) -> Result<()> {
    let sql = "update draws
                  set apply_from = $2, apply_until = $3, seats_max = $4, offer_minutes = $5,
                      updated_at = $6
                where phase_id = $1 and closed_at is null";
    let DrawTerms { apply_from, apply_until, seats_max, offer_minutes, .. } = terms;
    let values = params![id, *apply_from, *apply_until, *seats_max, *offer_minutes, now];
    match tx.execute(sql, values).await? {
        1 => Ok(()),
        _ => Err(Refusal::DrawBegun.into()),
    }
}

/// Grades disappear only before the first application.
async fn store_quantities(tx: &mut dyn Tx, id: PhaseId, terms: &DrawTerms) -> Result<()> {
    let sql = "select grade from draw_grades where phase_id = $1";
    for row in tx.query(sql, params![id]).await? {
        let grade: String = row.get("grade")?;
        if !terms.quantities.contains_key(&grade) {
            let sql = "delete from draw_grades where phase_id = $1 and grade = $2";
            tx.execute(sql, params![id, grade]).await?;
        }
    }
    let sql = "insert into draw_grades (phase_id, grade, quantity) values ($1, $2, $3)
               on conflict (phase_id, grade) do update set quantity = excluded.quantity";
    for (grade, quantity) in &terms.quantities {
        tx.execute(sql, params![id, grade, *quantity]).await?;
    }
    Ok(())
}

/// Refuses a change of a phase that fans have applied for. Before the first application, a phase
/// with another audience loses its draw.
pub(crate) async fn check_phase(
    tx: &mut dyn Tx,
    before: &Phase,
    next: &Phase,
    plan: &SeatPlan,
    now: Timestamp,
) -> Result<()> {
    let Some(draw) = load(tx, before.id).await? else { return Ok(()) };
    if next.terms.audience != before.terms.audience && now < draw.terms.apply_from {
        return remove_draw(tx, before.id, now).await;
    }
    let sql = "select seats_per_order from event_schedules where id = $1";
    let row = tx.row(sql, params![before.id.schedule()]).await?.ok_or(Refusal::NotFound)?;
    let seats_per_order = row.get("seats_per_order")?;
    let next = DrawnPhase { phase: next, seats_per_order, plan };
    Ok(draw.terms.check_phase(before, &next, now)?)
}

/// Refuses to remove a draw that fans can apply for or have applied for.
pub(crate) async fn remove_draw(tx: &mut dyn Tx, phase: PhaseId, now: Timestamp) -> Result<()> {
    let sql = "delete from draws where phase_id = $1 and n_applied = 0 and $2 < apply_from";
    tx.execute(sql, params![phase, now]).await?;
    if load(tx, phase).await?.is_some() {
        return Err(Refusal::DrawBegun.into());
    }
    tx.execute("delete from draw_grades where phase_id = $1", params![phase]).await?;
    Ok(())
}
