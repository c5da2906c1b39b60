//! The phase that sells the seats of a hold, decided in the hold's own transaction.

use crate::sql::catalog::phases::{PHASE, read_phase};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_app::booking::port::reservations::HoldSeats;
use podo_domain::Refusal;
use podo_domain::catalog::phases::{Phase, PhaseAudience, phase_at};
use podo_domain::id::SeatIndex;

/// Refuses a fan who isn't eligible, and seats that the phase doesn't sell. `None` if all phases of the date were removed.
pub(super) async fn running_phase(tx: &mut dyn Tx, command: &HoldSeats) -> Result<Option<Phase>> {
    let schedule = command.pick.schedule();
    let rows = tx.query(PHASE, params![schedule]).await?;
    let phases = rows.iter().map(read_phase).collect::<Result<Vec<Phase>>>()?;
    if phases.is_empty() {
        return Ok(None);
    }
    let phase = phase_at(&phases, command.now).running()?;
    if phase.terms.audience == PhaseAudience::Drawn {
        return Err(Refusal::DrawOnly.into());
    }
    if phase.terms.audience.is_limited() {
        check_eligible(tx, command, phase).await?;
    }
    let is_foreign = |index: &&SeatIndex| !phase.sells(**index);
    let foreign: Vec<_> = command.pick.indexes().iter().filter(is_foreign).collect();
    if !foreign.is_empty() {
        let seats = foreign.into_iter().map(|index| schedule.seat(*index)).collect();
        return Err(Refusal::SeatNotInPhase { seats }.into());
    }
    Ok(Some(phase.clone()))
}

async fn check_eligible(tx: &mut dyn Tx, command: &HoldSeats, phase: &Phase) -> Result<()> {
    let sql = "select 1 as found from phase_eligibilities where phase_id = $1 and user_id = $2";
    if tx.row(sql, params![phase.id, command.user]).await?.is_none() {
        let audience = phase.terms.audience;
        return Err(Refusal::NotEligible { phase: phase.id, audience }.into());
    }
    Ok(())
}
