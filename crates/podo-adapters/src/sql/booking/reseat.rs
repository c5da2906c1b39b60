//! Moves a confirmed booking to other seats: tickets, seats and claims in one transaction. A gate
//! that scans the old code at the same time either comes first, or finds another code.

use crate::sql::booking::issued::end_expired_hold;
use crate::sql::booking::reservations;
use crate::sql::booking::reservations::{
    Claimed, back_at, changed_prices, keep_again_of, load_with_date, read_claim,
};
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::operations::audit::note;
use crate::sql::operations::idempotency;
use crate::sql::tickets::gate::why_not_valid;
use podo_app::booking::port::reseat::{ReseatBooking, Reseated, Reseats, SeatsMoved};
use podo_app::booking::port::reservations::ReservedSeat;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::{Error, Result};
use podo_domain::booking::reservations::{Reservation, SeatMove, check_move_price, check_moves};
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Refusal, TicketId};
use serde_json::json;

commands! {
    impl Reseats for SqlStore {
        write reseat_booking(ReseatBooking)
            -> Idempotent<(Reseated, SeatsMoved)> as Sales => reseat;
    }
}

async fn reseat(
    tx: &mut dyn Tx,
    command: &ReseatBooking,
) -> Result<Idempotent<(Reseated, SeatsMoved)>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let found = load_with_date(tx, command.reservation).await?.ok_or(Refusal::NotFound)?;
    found.date.refuse_canceled()?;
    let next = found.reservation.reseat()?;
    let schedule = next.schedule;
    let seats = reservations::seats_of(tx, next.id, schedule).await?;
    check_moves(schedule, &command.moves)?;
    // In the order of the new seats, so that two requests can't deadlock.
    let mut moves = command.moves.clone();
    moves.sort_unstable_by_key(|it| it.to);
    let mut taken = Vec::new();
    let mut steps = Vec::new();
    for it in &moves {
        let old = seats.iter().find(|seat| seat.id == it.from).ok_or(Refusal::ForeignSeat)?;
        match claim(tx, command, &next, it.to.index()).await? {
            Some(new) => steps.push(Step { old, new }),
            None => taken.push(it.to),
        }
    }
    if !taken.is_empty() {
        return Err(Refusal::seat_taken(taken).into());
    }
    let sql = "select price_changes from event_schedules where id = $1";
    let date = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    let prices = changed_prices(&date, command.now)?.unwrap_or_default();
    let mut waived = 0;
    for step in &steps {
        let new = &step.new.seat;
        if new.grade != step.old.grade {
            let price = prices.get(&new.grade).copied().unwrap_or(new.price);
            let paid_for = step.old.parts().list;
            check_move_price(paid_for, price, command.waives_difference)?;
            waived += price.get() - paid_for.get();
        }
        move_ticket(tx, command, &next, step).await?;
        move_seat(tx, &next, step).await?;
    }
    free_old(tx, command, &next, &moves).await?;
    let kind = MessageKind::ReservationReseated;
    let now_has = reservations::store(tx, &next, kind, command.now).await?;
    let from = steps.iter().map(|step| step.old.number.as_str()).collect::<Vec<_>>().join(", ");
    let to = steps.iter().map(|step| step.new.seat.number.as_str()).collect::<Vec<_>>().join(", ");
    let moved = Moved { seats: now_has, words: format!("{from} → {to}"), waived };
    finish(tx, command, &next, moved).await
}

/// A seat of the booking, and the one that replaces it.
struct Step<'s> {
    old: &'s ReservedSeat,
    new: Claimed,
}

/// Claims a free seat, also a resting one; ends an expired hold first.
async fn claim(
    tx: &mut dyn Tx,
    command: &ReseatBooking,
    booking: &Reservation,
    index: SeatIndex,
) -> Result<Option<Claimed>> {
    if let Some(claimed) = compare_and_sell(tx, booking, index).await? {
        return Ok(Some(claimed));
    }
    match end_expired_hold(tx, booking.schedule, index, command.now).await? {
        true => compare_and_sell(tx, booking, index).await,
        false => Ok(None),
    }
}

async fn compare_and_sell(
    tx: &mut dyn Tx,
    booking: &Reservation,
    index: SeatIndex,
) -> Result<Option<Claimed>> {
    let sql = "update seats
                  set state = 'SOLD', claim = $3, expires_at = null, fence = fence + 1
                where schedule_id = $1 and seat_index = $2 and state = 'FREE'
               returning number, grade, price, fence";
    let schedule = booking.schedule;
    let row = tx.row(sql, params![schedule, index, booking.id]).await?;
    row.map(|row| read_claim(schedule.seat(index), &row)).transpose()
}

/// The ticket gets the new seat and another code; an offer of it ends. A used one stays.
async fn move_ticket(
    tx: &mut dyn Tx,
    command: &ReseatBooking,
    booking: &Reservation,
    step: &Step<'_>,
) -> Result<()> {
    let find = "select id, code from tickets
                 where reservation_id = $1 and seat_index = $2 and status <> 'VOID'";
    let row = tx.row(find, params![booking.id, step.old.id.index()]).await?;
    let row = row.ok_or(Refusal::TicketVoid)?;
    let (ticket, old_code): (TicketId, Vec<u8>) = (row.get("id")?, row.get("code")?);
    let mut code = [0_u8; 16];
    tx.rng().fill(&mut code);
    let sql = "update tickets
                  set seat_index = $3, seat_number = $4, grade = $5, code = $6, updated_at = $7,
                      offered_to = null, offered_until = null
                where id = $1 and code = $2 and status = 'VALID'";
    let new = &step.new.seat;
    let values = params![
        ticket,
        old_code,
        new.id.index(),
        &new.number,
        &new.grade,
        code.as_slice(),
        command.now
    ];
    if tx.execute(sql, values).await? != 1 {
        return Err(why_not_valid(tx, ticket).await?.into());
    }
    tx.execute("delete from ticket_claims where ticket_id = $1", params![ticket]).await?;
    let sql = "update resales set state = 'WITHDRAWN', updated_at = $2
                where ticket_id = $1 and state in ('LISTED', 'OFFERED')";
    tx.execute(sql, params![ticket, command.now]).await?;
    // The purchase of a resold ticket follows its seat (I26).
    let sql = "update resales set seat_index = $3 where sold_as = $1 and seat_index = $2";
    let values = params![booking.id, step.old.id.index(), new.id.index()];
    tx.execute(sql, values).await?;
    Ok(())
}

/// The row of the booking moves; what the fan paid stays.
async fn move_seat(tx: &mut dyn Tx, booking: &Reservation, step: &Step<'_>) -> Result<()> {
    let sql = "update reservation_seats set seat_index = $3, number = $4, grade = $5, fence = $6
                where reservation_id = $1 and seat_index = $2 and active
                  and not exists (select 1 from reservation_seats o
                                   where o.reservation_id = $1 and o.seat_index = $3)";
    let new = &step.new.seat;
    let (from, to) = (step.old.id.index(), new.id.index());
    let values = params![booking.id, from, to, &new.number, &new.grade, step.new.fence];
    match tx.execute(sql, values).await? {
        1 => Ok(()),
        // The booking had that seat before and canceled it: its record keeps the place.
        _ => Err(Refusal::seat_taken(vec![new.id]).into()),
    }
}

async fn free_old(
    tx: &mut dyn Tx,
    command: &ReseatBooking,
    booking: &Reservation,
    moves: &[SeatMove],
) -> Result<()> {
    let sql = "update seats set state = 'FREE', claim = null, expires_at = $4, fence = fence + 1
                where schedule_id = $1 and seat_index = $2 and claim = $3";
    let back_at = back_at(tx, booking, Some(command.now)).await?;
    let mut indexes: Vec<SeatIndex> = moves.iter().map(|it| it.from.index()).collect();
    indexes.sort_unstable();
    for index in &indexes {
        tx.execute(sql, params![booking.schedule, *index, booking.id, back_at]).await?;
    }
    keep_again_of(tx, booking, &indexes).await
}

struct Moved {
    /// The seats of the booking now.
    seats: Vec<ReservedSeat>,
    /// For example A-1 → A-6.
    words: String,
    /// By how much the new seats cost more than the old ones.
    waived: i64,
}

async fn finish(
    tx: &mut dyn Tx,
    command: &ReseatBooking,
    booking: &Reservation,
    moved: Moved,
) -> Result<Idempotent<(Reseated, SeatsMoved)>> {
    let Moved { seats, words: moved, waived } = moved;
    let sql = "select booking_number from reservations where id = $1";
    let row = tx.row(sql, params![booking.id]).await?;
    let row = row.ok_or_else(|| Error::broken("a reservation disappeared"))?;
    let details = json!({
        "moves": command.moves.iter().map(|it| json!({ "from": it.from, "to": it.to }))
            .collect::<Vec<_>>(),
        "reason": command.reason,
        "waived": waived,
    });
    note(tx, command.actor, "booking.reseat", booking.id, details, command.now).await?;
    let sql = "insert into reseats
                 (id, reservation_id, version, moved, reason, actor_id, created_at, schedule_id, waived)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let id = tx.rng().id(command.now);
    let (actor, reason) = (command.actor, &command.reason);
    let waived = command.waives_difference.then_some(waived);
    let values = params![
        id,
        booking.id,
        booking.version,
        moved,
        reason,
        actor,
        command.now,
        booking.schedule,
        waived
    ];
    tx.execute(sql, values).await?;
    let reseated =
        Reseated { reservation_id: booking.id, booking_number: row.get("booking_number")?, seats };
    idempotency::store(tx, &command.key, None, &reseated, command.now).await?;
    let moved = SeatsMoved {
        user: booking.user,
        schedule: booking.schedule,
        from: command.moves.iter().map(|it| it.from.index()).collect(),
        to: command.moves.iter().map(|it| it.to.index()).collect(),
    };
    Ok(Idempotent::Fresh((reseated, moved)))
}
