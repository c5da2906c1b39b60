//! What fans are told: that they applied, that seats are held for them, that they weren't drawn.

use crate::sql::booking::draws::{TellNotDrawn, load};
use crate::sql::catalog::phases::phases_of;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use podo_app::catalog::phases::draws_port::{ApplicationRecord, DrawRecord, OfferDrawn};
use podo_app::{Error, Result};
use podo_domain::catalog::phases::Phase;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{PhaseId, Refusal, Timestamp, UserId};
use serde_json::{Value, json};

fn phase_json(phase: &Phase) -> Value {
    let terms = &phase.terms;
    json!({
        "name": terms.name, "nameEn": terms.name_en, "startsAt": terms.window.starts_at,
        "endsAt": terms.window.ends_at, "seatsPerPerson": terms.seats_per_person,
    })
}

async fn phase_of(tx: &mut dyn Tx, id: PhaseId) -> Result<Phase> {
    let phases = phases_of(tx, id.schedule()).await?;
    Ok(phases.into_iter().find(|phase| phase.id == id).ok_or(Refusal::NotFound)?)
}

async fn push(
    tx: &mut dyn Tx,
    kind: MessageKind,
    user: UserId,
    payload: &Value,
    now: Timestamp,
) -> Result<()> {
    let aggregate = tx.rng().id(now);
    let message = Outgoing { kind, aggregate, seq: 1, key: user.uuid(), payload };
    outbox::push(tx, message, now).await
}

pub(super) async fn tell_applied(
    tx: &mut dyn Tx,
    draw: &DrawRecord,
    application: &ApplicationRecord,
    now: Timestamp,
) -> Result<()> {
    let phase = phase_of(tx, draw.phase).await?;
    let payload = json!({
        "userId": application.user, "eventScheduleId": draw.phase.schedule(),
        "phaseId": draw.phase, "phase": phase_json(&phase),
        "application": {
            "index": application.index, "grade": application.grade, "count": application.count,
            "applyUntil": draw.terms.apply_until,
        },
    });
    push(tx, MessageKind::DrawApplied, application.user, &payload, now).await
}

pub(super) async fn tell_won(
    tx: &mut dyn Tx,
    draw: &DrawRecord,
    phase: &Phase,
    command: &OfferDrawn,
) -> Result<()> {
    let seats: Vec<_> = command.pick.seats().collect();
    let payload = json!({
        "userId": command.user, "eventScheduleId": draw.phase.schedule(),
        "phaseId": draw.phase, "phase": phase_json(phase),
        "reservationId": command.reservation, "seatIds": seats, "until": command.until,
    });
    push(tx, MessageKind::DrawWon, command.user, &payload, command.now).await
}

/// The position after a page is a compare-and-set, so two nodes can't tell the same fans.
pub(super) async fn tell_not_drawn(tx: &mut dyn Tx, command: &TellNotDrawn) -> Result<u64> {
    let TellNotDrawn { phase, limit, now } = *command;
    let Some(draw) = load(tx, phase).await?.filter(|draw| draw.drawn_at.is_some()) else {
        return Ok(0);
    };
    let sql = "select n_told from draws where phase_id = $1 and told_at is null";
    let Some(row) = tx.row(sql, params![phase]).await? else { return Ok(0) };
    let from: u32 = row.get("n_told")?;
    let to = from.saturating_add(limit).min(draw.n_applied);
    let advance = "update draws set n_told = $3, told_at = $4
                    where phase_id = $1 and n_told = $2 and told_at is null";
    let told_at = (to == draw.n_applied).then_some(now);
    if tx.execute(advance, params![phase, from, to, told_at]).await? != 1 {
        return Err(Error::Conflict("another node tells the fans of this draw".into()));
    }
    let shown = phase_json(&phase_of(tx, phase).await?);
    let sql = "select user_id from draw_applications
                where phase_id = $1 and idx >= $2 and idx < $3 and not wins and state = 'DRAWN'
                order by idx";
    for row in tx.query(sql, params![phase, from, to]).await? {
        let user: UserId = row.get("user_id")?;
        let payload = json!({
            "userId": user, "eventScheduleId": phase.schedule(), "phaseId": phase,
            "phase": shown,
        });
        push(tx, MessageKind::DrawLost, user, &payload, now).await?;
    }
    Ok(u64::from(to - from))
}
