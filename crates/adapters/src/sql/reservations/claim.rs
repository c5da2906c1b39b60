//! A claim on seats becomes a reservation: by a fan who chose them, or for one who stood by.

use super::super::tx::Tx;
use super::super::value::{Row, params};
use super::{Change, tell};
use app::ports::reservations::{Held, ReservedSeat};
use app::{Error, Result};
use domain::id::SeatIndex;
use domain::messages::MessageKind;
use domain::queue::PlaceNumber;
use domain::reservations::{Reservation, ReservationStatus};
use domain::seats::SeatPick;
use domain::{Refusal, ReservationId, SeatId, Timestamp, UserId, Won};

/// Who gets which seats, and by what right.
pub(in super::super) struct Claim<'a> {
    pub(in super::super) reservation: ReservationId,
    pub(in super::super) user: UserId,
    pub(in super::super) pick: &'a SeatPick,
    /// The place in the queue whose entry allows it.
    pub(in super::super) place: PlaceNumber,
    pub(in super::super) until: Timestamp,
    pub(in super::super) now: Timestamp,
}

pub(in super::super) struct Claimed {
    pub(super) seat: ReservedSeat,
    pub(super) fence: i64,
}

pub(super) fn read_claim(id: SeatId, row: &Row) -> Result<Claimed> {
    let seat = ReservedSeat { id, number: row.get(0)?, grade: row.get(1)?, price: row.get(2)? };
    Ok(Claimed { seat, fence: row.get(3)? })
}

/// Claims seats for somebody who stood by: they need not wait while a seat rests.
pub(in super::super) async fn take_free_seats(
    tx: &mut dyn Tx,
    claim: &Claim<'_>,
) -> Result<Vec<Claimed>> {
    let sql = "update seats
                  set state = 'HELD', claim = $3, expires_at = $4, fence = fence + 1
                where schedule_id = $1 and seat_index = $2 and state = 'FREE'
               returning number, grade, price, fence";
    let schedule = claim.pick.schedule();
    let set =
        |index: &SeatIndex| params![schedule, *index, claim.reservation, claim.until].to_vec();
    let indexes = claim.pick.indexes();
    let found = tx.query_each(sql, indexes.iter().map(set).collect()).await?;
    let mut claimed = Vec::with_capacity(indexes.len());
    for (index, rows) in indexes.iter().zip(found) {
        let seat = schedule.seat(*index);
        let row = rows.first().ok_or_else(|| Refusal::seat_taken(vec![seat]))?;
        claimed.push(read_claim(seat, row)?);
    }
    Ok(claimed)
}

/// Stores the reservation of seats that were just claimed, with its history and its message.
pub(in super::super) async fn store_claimed(
    tx: &mut dyn Tx,
    command: &Claim<'_>,
    claimed: Vec<Claimed>,
) -> Result<Held> {
    let amount = Won::sum(claimed.iter().map(|claim| claim.seat.price))
        .filter(|amount| *amount <= Won::PER_PAYMENT_MAX)
        .ok_or_else(|| Error::broken("the seats cost more than one payment may move"))?;
    let reservation = Reservation {
        id: command.reservation,
        user: command.user,
        schedule: command.pick.schedule(),
        place: command.place,
        status: ReservationStatus::Held,
        hold_expires_at: command.until,
        amount,
        version: 1,
        payment_window_given: false,
        retry_window_given: false,
    };
    insert(tx, &reservation, claimed.len(), command.now).await?;
    insert_seats(tx, &reservation, &claimed).await?;
    let seats: Vec<ReservedSeat> = claimed.into_iter().map(|claim| claim.seat).collect();
    let kind = MessageKind::ReservationHeld;
    let change = Change { reservation: &reservation, seats: &seats, booking: None, kind };
    tell(tx, change, command.now).await?;
    Ok(Held {
        reservation_id: reservation.id,
        status: reservation.status,
        seats,
        amount,
        hold_expires_at: reservation.hold_expires_at,
    })
}

async fn insert(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    n_seats: usize,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into reservations
                 (id, user_id, schedule_id, status, amount, n_seats, hold_expires_at, place_number,
                  version, created_at, updated_at)
               values ($1, $2, $3, 'HELD', $4, $5, $6, $7, 1, $8, $8)";
    let values = params![
        reservation.id,
        reservation.user,
        reservation.schedule,
        reservation.amount,
        n_seats,
        reservation.hold_expires_at,
        reservation.place,
        now
    ];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}

async fn insert_seats(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    claimed: &[Claimed],
) -> Result<()> {
    let sql = "insert into reservation_seats
                 (reservation_id, schedule_id, seat_index, number, grade, price, fence, active)
               values ($1, $2, $3, $4, $5, $6, $7, $8)";
    let set = |claim: &Claimed| {
        let seat = &claim.seat;
        params![
            reservation.id,
            reservation.schedule,
            seat.id.index(),
            &seat.number,
            &seat.grade,
            seat.price,
            claim.fence,
            true
        ]
        .to_vec()
    };
    tx.add(sql, claimed.iter().map(set).collect()).await.map_err(|error| {
        // The last barrier: it holds even when everything above it lied.
        if error.is_constraint("reservation_seats_one_claim") {
            let taken = claimed.iter().map(|claim| claim.seat.id).collect();
            Error::from(Refusal::seat_taken(taken))
        } else {
            error.into()
        }
    })?;
    Ok(())
}
