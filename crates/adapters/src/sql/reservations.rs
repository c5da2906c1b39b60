//! Reservations: loading them, storing what a rule decided, and freeing their seats.

mod claim;
mod hold;
mod read;
mod release;

pub(super) use claim::{Claim, store_claimed, take_free_seats};
pub(super) use release::give_back;

use super::outbox::{self, Outgoing};
use super::tx::{Guard, Tx};
use super::value::{Row, params};
use app::Result;
use app::ports::reservations::{Freed, ReservedSeat};
use app::ports::sales::GradeShare;
use domain::catalog::{ResaleDelay, ScheduleStatus};
use domain::messages::MessageKind;
use domain::reservations::{Reservation, ReservationStatus};
use domain::seats::SeatState;
use domain::standby::KEPT_FOR;
use domain::{EventId, PaymentId, ReservationId, ScheduleId, Timestamp, Won};
use serde::Serialize;

/// What the world is told about a reservation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReservationPayload<'p> {
    reservation_id: ReservationId,
    user_id: domain::UserId,
    event_schedule_id: ScheduleId,
    status: ReservationStatus,
    seat_ids: Vec<domain::SeatId>,
    /// The same seats by grade, with their prices.
    grades: Vec<GradeShare>,
    total_amount: Won,
    at: Timestamp,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    booking: Option<BookingPayload<'p>>,
}

/// What a completed booking adds, in the words of the topic `booking-completed`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BookingPayload<'p> {
    booking_id: &'p str,
    payment_id: PaymentId,
    event_id: EventId,
    seats: &'p [ReservedSeat],
    amount: Won,
    created_at: Timestamp,
}

/// What a paid reservation becomes.
pub(super) struct Booking<'b> {
    pub(super) number: &'b str,
    pub(super) payment: PaymentId,
    pub(super) event: EventId,
}

fn shares(seats: &[ReservedSeat]) -> Vec<GradeShare> {
    let mut shares: Vec<GradeShare> = Vec::new();
    for seat in seats {
        match shares.iter_mut().find(|share| share.grade == seat.grade) {
            Some(share) => {
                share.seats += 1;
                share.amount = share.amount.checked_add(seat.price).unwrap_or(Won::MAX);
            }
            None => {
                shares.push(GradeShare { grade: seat.grade.clone(), seats: 1, amount: seat.price });
            }
        }
    }
    shares
}

pub(super) async fn load(tx: &mut dyn Tx, id: ReservationId) -> Result<Option<Reservation>> {
    let sql = "select id, user_id, schedule_id, status, hold_expires_at, amount, version,
                      payment_window_given, retry_window_given, place_number
                 from reservations where id = $1";
    tx.row(sql, params![id]).await?.as_ref().map(read_reservation).transpose()
}

/// The same with what became of its date.
pub(super) async fn load_with_date(
    tx: &mut dyn Tx,
    id: ReservationId,
) -> Result<Option<(Reservation, ScheduleStatus)>> {
    let sql = "select r.id, r.user_id, r.schedule_id, r.status, r.hold_expires_at, r.amount,
                      r.version, r.payment_window_given, r.retry_window_given, r.place_number,
                      s.status
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id = $1";
    let Some(row) = tx.row(sql, params![id]).await? else { return Ok(None) };
    Ok(Some((read_reservation(&row)?, row.parse(10, ScheduleStatus::parse)?)))
}

pub(super) fn read_reservation(row: &Row) -> Result<Reservation> {
    Ok(Reservation {
        id: row.get(0)?,
        user: row.get(1)?,
        schedule: row.get(2)?,
        status: row.parse(3, ReservationStatus::parse)?,
        hold_expires_at: row.get(4)?,
        amount: row.get(5)?,
        version: row.get(6)?,
        payment_window_given: row.get(7)?,
        retry_window_given: row.get(8)?,
        place: row.get(9)?,
    })
}

/// The seats of a reservation, in layout order: those that it still has or, when it is over, had.
pub(super) async fn seats_of(
    tx: &mut dyn Tx,
    reservation: ReservationId,
    schedule: ScheduleId,
) -> Result<Vec<ReservedSeat>> {
    let sql = "select seat_index, number, grade, price, active from reservation_seats
                where reservation_id = $1 order by seat_index";
    let mut rows = tx.query(sql, params![reservation]).await?;
    if rows.iter().any(is_active) {
        rows.retain(is_active);
    }
    rows.iter().map(|row| read_seat(schedule, row)).collect()
}

fn is_active(row: &Row) -> bool {
    row.get(4).unwrap_or(false)
}

fn read_seat(schedule: ScheduleId, row: &Row) -> Result<ReservedSeat> {
    Ok(ReservedSeat {
        id: schedule.seat(row.get(0)?),
        number: row.get(1)?,
        grade: row.get(2)?,
        price: row.get(3)?,
    })
}

/// Stores what a rule decided, if nobody was faster: the state, its history and its message. Gives
/// the seats of the reservation.
pub(super) async fn store(
    tx: &mut dyn Tx,
    next: &Reservation,
    kind: MessageKind,
    now: Timestamp,
) -> Result<Vec<ReservedSeat>> {
    update(tx, next, None, now).await?;
    let seats = seats_of(tx, next.id, next.schedule).await?;
    let change = Change { reservation: next, seats: &seats, booking: None, kind };
    tell(tx, change, now).await?;
    Ok(seats)
}

/// The same for a reservation that was paid: it gets its booking number.
pub(super) async fn store_paid(
    tx: &mut dyn Tx,
    next: &Reservation,
    booking: &Booking<'_>,
    now: Timestamp,
) -> Result<Vec<ReservedSeat>> {
    update(tx, next, Some(booking.number), now).await?;
    let seats = seats_of(tx, next.id, next.schedule).await?;
    let kind = MessageKind::ReservationConfirmed;
    let change = Change { reservation: next, seats: &seats, booking: Some(booking), kind };
    tell(tx, change, now).await?;
    Ok(seats)
}

async fn update(
    tx: &mut dyn Tx,
    next: &Reservation,
    booking_number: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let sql = "update reservations
                  set status = $3, hold_expires_at = $4, payment_window_given = $5,
                      retry_window_given = $6, version = $2, updated_at = $7,
                      booking_number = coalesce($8, booking_number)
                where id = $1 and version = $2 - 1";
    let values = params![
        next.id,
        next.version,
        next.status.as_str(),
        next.hold_expires_at,
        next.payment_window_given,
        next.retry_window_given,
        now,
        booking_number
    ];
    Ok(tx.change(sql, vec![values.to_vec()]).await?)
}

/// The latest version of a reservation, as its history and its message tell it.
struct Change<'c> {
    reservation: &'c Reservation,
    seats: &'c [ReservedSeat],
    booking: Option<&'c Booking<'c>>,
    kind: MessageKind,
}

async fn tell(tx: &mut dyn Tx, change: Change<'_>, now: Timestamp) -> Result<()> {
    let Change { reservation, seats, booking, kind } = change;
    let sql = "insert into reservation_history (reservation_id, version, status, created_at)
               values ($1, $2, $3, $4)";
    let (id, version) = (reservation.id, reservation.version);
    let values = params![id, version, reservation.status.as_str(), now];
    if tx.has(Guard::HistoryIsWritten) {
        tx.add(sql, vec![values.to_vec()]).await?;
    }
    let payload = ReservationPayload {
        reservation_id: id,
        user_id: reservation.user,
        event_schedule_id: reservation.schedule,
        status: reservation.status,
        seat_ids: seats.iter().map(|seat| seat.id).collect(),
        grades: shares(seats),
        total_amount: reservation.amount,
        at: now,
        booking: booking.map(|booking| BookingPayload {
            booking_id: booking.number,
            payment_id: booking.payment,
            event_id: booking.event,
            seats,
            amount: reservation.amount,
            created_at: now,
        }),
    };
    let message = Outgoing {
        kind,
        aggregate: id.uuid(),
        seq: version,
        key: reservation.schedule.uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, now).await
}

/// Sets the state of a reservation's seats: each must still be its own.
pub(super) async fn set_seats(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    seats: &[ReservedSeat],
    state: SeatState,
    expires_at: Option<Timestamp>,
) -> Result<()> {
    let sql = "update seats set state = $4, expires_at = $5
                where schedule_id = $1 and seat_index = $2 and claim = $3";
    let (schedule, id) = (reservation.schedule, reservation.id);
    let set = |seat: &ReservedSeat| {
        params![schedule, seat.id.index(), id, state.as_str(), expires_at].to_vec()
    };
    Ok(tx.change(sql, seats.iter().map(set).collect()).await?)
}

/// When everybody may take the seats of a reservation again: those of a canceled booking may have
/// to rest, and others are kept for a moment for those who stand by. Without `now` it is the moment
/// at which the reservation was stored.
pub(super) async fn back_at(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    now: Option<Timestamp>,
) -> Result<Option<Timestamp>> {
    let sql = "select r.updated_at, s.resale_min_seconds, s.resale_max_seconds,
                      exists (select 1 from standbys w
                               where w.schedule_id = r.schedule_id and w.state = 'WAITING')
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id = $1";
    let Some(row) = tx.row(sql, params![reservation.id]).await? else { return Ok(None) };
    let now = now.map_or_else(|| row.get(0), Ok)?;
    let rests_until = match reservation.status {
        // Of a booking that goes on, single seats were canceled.
        ReservationStatus::Canceled | ReservationStatus::Confirmed => {
            let delay = ResaleDelay { min_seconds: row.get(1)?, max_seconds: row.get(2)? };
            delay.back_at(now, tx.chance().number())
        }
        ReservationStatus::Held
        | ReservationStatus::Paying
        | ReservationStatus::Expired
        | ReservationStatus::Released => None,
    };
    let kept_until = row.get::<bool>(3)?.then(|| now.plus(KEPT_FOR));
    Ok(rests_until.max(kept_until))
}

/// Gives the seats back to everybody.
pub(super) async fn free_seats(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    seats: &[ReservedSeat],
) -> Result<Freed> {
    let free = "update seats set state = 'FREE', claim = null, expires_at = $4, fence = fence + 1
                 where schedule_id = $1 and seat_index = $2 and claim = $3";
    let back_at = back_at(tx, reservation, None).await?;
    let set = |seat: &ReservedSeat| {
        params![reservation.schedule, seat.id.index(), reservation.id, back_at].to_vec()
    };
    if tx.has(Guard::SeatsAreFreed) {
        tx.execute_each(free, seats.iter().map(set).collect()).await?;
    }
    let done = "update reservation_seats set active = $2 where reservation_id = $1 and active";
    tx.execute(done, params![reservation.id, false]).await?;
    Ok(freed(reservation, seats))
}

/// What the live engines are told of a reservation's seats.
pub(super) fn freed(reservation: &Reservation, seats: &[ReservedSeat]) -> Freed {
    Freed {
        user: reservation.user,
        schedule: reservation.schedule,
        seats: seats.iter().map(|seat| seat.id.index()).collect(),
    }
}
