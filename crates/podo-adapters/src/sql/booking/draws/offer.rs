//! Offers in the drawn order: one application after another, until the quantity of a grade is out.

use crate::sql::booking::draws::{
    DrawsRunning, NextToOffer, PassOver, SettleDrawn, applications, draws, load, notices,
    read_application, read_draw,
};
use crate::sql::booking::reservations::{Claim, store_claimed, take_free_seats};
use crate::sql::booking::standby::check_sale;
use crate::sql::catalog::phases::phases_of;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_app::catalog::phases::draws_port::{
    ApplicationRecord, DrawRecord, NextApplication, OfferDrawn,
};
use podo_domain::booking::draws::ApplicationState;
use podo_domain::booking::issued::Channel;
use podo_domain::booking::reservations::{ReservationStatus, check_seat_limit};
use podo_domain::booking::standby::PLACE_OF_OFFER;
use podo_domain::catalog::phases::{Phase, phase_at};
use podo_domain::{PhaseId, Refusal, UserId};
use uuid::Uuid;

pub(super) async fn running(tx: &mut dyn Tx, question: &DrawsRunning) -> Result<Vec<DrawRecord>> {
    let sql = concat!(
        draws!(),
        " join event_schedules s on s.id = p.schedule_id
          where d.drawn_at is not null and d.forgotten_at is null
            and p.starts_at <= $1 and $1 < p.ends_at and s.status <> 'CANCELLED'
            and (d.told_at is null
                 or exists (select 1 from draw_applications a
                             where a.phase_id = d.phase_id and a.state = 'DRAWN'))
            and coalesce((select f.next_at from job_failures f
                           where f.job = 'offer-drawn' and f.item = d.phase_id), $1) <= $1
          order by d.phase_id limit $2"
    );
    let rows = tx.query(sql, params![question.now, question.limit]).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        found.push(read_draw(tx, row).await?);
    }
    Ok(found)
}

pub(super) async fn next(
    tx: &mut dyn Tx,
    question: &NextToOffer,
) -> Result<Option<NextApplication>> {
    let sql = concat!(
        applications!(),
        " where a.phase_id = $1 and a.grade = $2 and a.state = 'DRAWN' order by a.place limit 1"
    );
    let Some(row) = tx.row(sql, params![question.phase, &question.grade]).await? else {
        return Ok(None);
    };
    let application = read_application(&row)?;
    let sql = "select g.quantity - g.n_out as n_left,
                      exists (select 1 from draw_applications a
                               where a.phase_id = g.phase_id and a.grade = g.grade
                                 and a.state = 'OFFERED') as has_open
                 from draw_grades g where g.phase_id = $1 and g.grade = $2";
    let row = tx.row(sql, params![question.phase, &question.grade]).await?;
    let row = row.ok_or(Refusal::NotFound)?;
    let (left, has_open) = (row.get("n_left")?, row.get("has_open")?);
    Ok(Some(NextApplication { application, left, has_open }))
}

/// The application's turn, the quantity and the seats are all decided here, by compare-and-set.
pub(super) async fn offer(tx: &mut dyn Tx, command: &OfferDrawn) -> Result<()> {
    let OfferDrawn { phase, user, reservation, pick, until, now } = command;
    let schedule = pick.schedule();
    tx.lock(Uuid::from_u128(user.uuid().as_u128() ^ schedule.uuid().as_u128())).await?;
    let terms = check_sale(tx, schedule, *now).await?;
    let running = running_phase(tx, command).await?;
    let n_more = u32::try_from(pick.indexes().len()).unwrap_or(u32::MAX);
    let active = seats_of(tx, command).await?;
    let in_phase = active.iter().filter(|(phase, _)| *phase == Some(running.id));
    check_seat_limit(in_phase.map(|(_, n)| n).sum(), n_more, running.terms.seats_per_person)?;
    check_seat_limit(active.iter().map(|(_, n)| n).sum(), n_more, terms.seats_per_person)?;
    let application = claim_turn(tx, command, n_more).await?;
    take_quantity(tx, &application).await?;
    let claim = Claim {
        reservation: *reservation,
        user: *user,
        channel: Channel::Fan,
        pick,
        phase: Some(*phase),
        place: PLACE_OF_OFFER,
        until: *until,
        fees: terms.fees,
        prices: terms.prices,
        currency: terms.currency,
        now: *now,
    };
    let claimed = take_free_seats(tx, &claim).await?;
    store_claimed(tx, &claim, claimed).await?;
    let sql = "insert into phase_eligibilities (phase_id, user_id, source, created_at)
               values ($1, $2, 'DRAWN', $3) on conflict (phase_id, user_id) do nothing";
    tx.execute(sql, params![*phase, *user, *now]).await?;
    let draw = load(tx, *phase).await?.ok_or(Refusal::NotFound)?;
    notices::tell_won(tx, &draw, &running, command).await
}

/// Refuses an offer outside the phase, and seats that it doesn't sell.
async fn running_phase(tx: &mut dyn Tx, command: &OfferDrawn) -> Result<Phase> {
    let phases = phases_of(tx, command.pick.schedule()).await?;
    let running = phase_at(&phases, command.now).running()?;
    if running.id != command.phase {
        return Err(Refusal::SaleClosed.into());
    }
    let is_foreign = |index: &&u32| !running.sells(**index);
    let foreign: Vec<_> = command.pick.indexes().iter().filter(is_foreign).collect();
    if !foreign.is_empty() {
        let seats = foreign.into_iter().map(|index| command.pick.schedule().seat(*index)).collect();
        return Err(Refusal::SeatNotInPhase { seats }.into());
    }
    Ok(running.clone())
}

/// The seats that the fan holds or has bought, by phase; not what they sold at the desk.
async fn seats_of(tx: &mut dyn Tx, command: &OfferDrawn) -> Result<Vec<(Option<PhaseId>, u32)>> {
    let sql = "select phase_id, n_seats from reservations
                where schedule_id = $1 and user_id = $2 and channel = 'FAN'
                  and status in ('HELD', 'PAYING', 'CONFIRMED')
                  and not (status = 'HELD' and hold_expires_at <= $3)";
    let rows = tx.query(sql, params![command.pick.schedule(), command.user, command.now]).await?;
    rows.iter().map(|row| Ok((row.get("phase_id")?, row.get("n_seats")?))).collect()
}

/// Only the first of its grade in the drawn order gets an offer.
async fn claim_turn(
    tx: &mut dyn Tx,
    command: &OfferDrawn,
    n_seats: u32,
) -> Result<ApplicationRecord> {
    let sql = "update draw_applications
                  set state = 'OFFERED', reservation_id = $3, updated_at = $5
                where phase_id = $1 and user_id = $2 and state = 'DRAWN' and n_seats = $4
                  and not exists (select 1 from draw_applications e
                                   where e.phase_id = $1 and e.grade = draw_applications.grade
                                     and e.state = 'DRAWN' and e.place < draw_applications.place)
               returning phase_id, user_id, idx, grade, n_seats, state, place, wins,
                         reservation_id, created_at";
    let OfferDrawn { phase, user, reservation, now, .. } = *command;
    let row = tx.row(sql, params![phase, user, reservation, n_seats, now]).await?;
    read_application(&row.ok_or(Refusal::NotFound)?)
}

async fn take_quantity(tx: &mut dyn Tx, application: &ApplicationRecord) -> Result<()> {
    let sql = "update draw_grades set n_out = n_out + $3
                where phase_id = $1 and grade = $2 and n_out + $3 <= quantity";
    let values = params![application.phase, &application.grade, application.count];
    match tx.execute(sql, values).await? {
        1 => Ok(()),
        _ => Err(Refusal::DrawClosed.into()),
    }
}

pub(super) async fn pass_over(tx: &mut dyn Tx, command: &PassOver) -> Result<()> {
    let sql = "update draw_applications set state = 'PASSED', updated_at = $3
                where phase_id = $1 and user_id = $2 and state = 'DRAWN'";
    tx.execute(sql, params![command.phase, command.user, command.now]).await?;
    Ok(())
}

/// Seats of an offer that wasn't taken go back to the quantity, for the next in the order.
pub(super) async fn settle(tx: &mut dyn Tx, command: &SettleDrawn) -> Result<u64> {
    let sql = "select a.phase_id, a.user_id, a.grade, a.n_seats, r.status
                 from draw_applications a join reservations r on r.id = a.reservation_id
                where a.state = 'OFFERED' and r.status not in ('HELD', 'PAYING')
                limit $1";
    let rows = tx.query(sql, params![command.limit]).await?;
    for row in &rows {
        let (phase, user): (PhaseId, UserId) = (row.get("phase_id")?, row.get("user_id")?);
        let next = match row.parse("status", ReservationStatus::parse)? {
            ReservationStatus::Confirmed | ReservationStatus::Canceled => ApplicationState::Taken,
            ReservationStatus::Held
            | ReservationStatus::Paying
            | ReservationStatus::Expired
            | ReservationStatus::Released => ApplicationState::Lapsed,
        };
        let close = "update draw_applications set state = $3, updated_at = $4
                      where phase_id = $1 and user_id = $2 and state = 'OFFERED'";
        let values = params![phase, user, next.as_str(), command.now];
        if tx.execute(close, values).await? == 1 && next == ApplicationState::Lapsed {
            let (grade, n_seats): (String, u32) = (row.get("grade")?, row.get("n_seats")?);
            let free = "update draw_grades set n_out = n_out - $3
                         where phase_id = $1 and grade = $2";
            tx.execute(free, params![phase, grade, n_seats]).await?;
        }
    }
    Ok(rows.len() as u64)
}
