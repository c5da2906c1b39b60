//! Reservations: load them, store what a rule decided, free their seats.

mod claim;
mod hold;
mod order;
mod phase;
mod read;
mod release;

pub(crate) use claim::{
    Claim, Claimed, changed_prices, charge_current_prices, read_claim, store_claimed,
    take_free_seats,
};
pub(crate) use order::{json_or_default, repriced};
pub(crate) use release::{expire, give_back};

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use podo_app::Result;
use podo_app::booking::port::reservations::{
    ChooseOrder, Freed, Held, HoldSeats, ReleaseSeats, ReservationView, Reservations, ReservedSeat,
    SeatParts,
};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::sales::GradeShare;
use podo_app::store::PageRequest;
use podo_domain::booking::issued::Channel;
use podo_domain::booking::reservations::{Reservation, ReservationStatus};
use podo_domain::booking::seats::SeatState;
use podo_domain::booking::standby::KEPT_FOR;
use podo_domain::catalog::{ResaleDelay, ScheduleStatus};
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::OfferedMethods;
use podo_domain::{
    AllocationId, Currency, EventId, PaymentId, ReservationId, ScheduleId, Timestamp, UserId, Won,
};
use serde::Serialize;

commands! {
    impl Reservations for SqlStore {
        write_in_batch hold_seats(HoldSeats) -> Idempotent<Held> as Sales => hold::hold;
        write choose_order(ChooseOrder) -> ReservationView as Sales => order::choose;
        write release_seats(ReleaseSeats) -> Option<Freed> as Sales => release::release;
        write expire_holds(ExpireHolds { now: Timestamp, limit: u32 })
            -> Vec<Freed> as Worker => release::expire_due;
        read holds_over(HoldsOver { now: Timestamp, limit: u32 })
            -> Vec<ReservationId> as Worker => release::holds_over;
        write expire_hold(ExpireHold { reservation: ReservationId, now: Timestamp })
            -> Option<Freed> as Worker => release::expire_one;
        read reservations_of(ReservationsOf { user: UserId, page: PageRequest })
            -> Vec<ReservationView> as Sales or_replica => read::list;
        read reservation(ReservationOf { reservation: ReservationId, user: UserId })
            -> Option<ReservationView> as Sales or_replica => read::one;
        read seats_held_by(SeatsHeldBy { user: UserId, schedule: ScheduleId })
            -> Vec<SeatIndex> as Sales => read::seats_held;
    }
}

/// The payload of a reservation's message.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReservationPayload<'p> {
    reservation_id: ReservationId,
    user_id: UserId,
    event_schedule_id: ScheduleId,
    status: ReservationStatus,
    seat_ids: Vec<podo_domain::SeatId>,
    /// The same seats by grade, with their prices.
    grades: Vec<GradeShare>,
    total_amount: Won,
    /// Of all amounts.
    currency: Currency,
    at: Timestamp,
    /// Absent for a fan's own order.
    #[serde(skip_serializing_if = "Channel::is_fan")]
    channel: Channel,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    booking: Option<BookingPayload<'p>>,
}

/// The extra fields of a completed booking, named as in the topic `booking-completed`.
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

/// The booking that a paid reservation becomes.
pub(crate) struct Booking<'b> {
    pub(crate) number: &'b str,
    pub(crate) payment: PaymentId,
    pub(crate) event: EventId,
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

pub(crate) async fn load(tx: &mut dyn Tx, id: ReservationId) -> Result<Option<Reservation>> {
    let sql = "select id, user_id, schedule_id, status, hold_expires_at, amount, version,
                      payment_window_given, retry_window_given, place_number, phase_id, order_fee,
                      promotion_id, channel, currency
                 from reservations where id = $1";
    tx.row(sql, params![id]).await?.as_ref().map(read_reservation).transpose()
}

/// A reservation with its event and the status of its date.
pub(crate) struct ReservationOnDate {
    pub(crate) reservation: Reservation,
    pub(crate) date: ScheduleStatus,
    pub(crate) event: EventId,
    /// How its event may be paid.
    pub(crate) offers: OfferedMethods,
}

pub(crate) async fn load_with_date(
    tx: &mut dyn Tx,
    id: ReservationId,
) -> Result<Option<ReservationOnDate>> {
    let sql = "select r.id, r.user_id, r.schedule_id, r.status, r.hold_expires_at, r.amount,
                      r.version, r.payment_window_given, r.retry_window_given, r.place_number,
                      r.phase_id, r.order_fee, r.promotion_id, r.channel, r.currency,
                      s.status as schedule_status,
                      s.event_id, e.payment_methods
                 from reservations r join event_schedules s on s.id = r.schedule_id
                 join events e on e.id = s.event_id
                where r.id = $1";
    let Some(row) = tx.row(sql, params![id]).await? else { return Ok(None) };
    Ok(Some(ReservationOnDate {
        reservation: read_reservation(&row)?,
        date: row.parse("schedule_status", ScheduleStatus::parse)?,
        event: row.get("event_id")?,
        offers: row.parse("payment_methods", OfferedMethods::parse)?,
    }))
}

pub(crate) fn read_reservation(row: &Row) -> Result<Reservation> {
    Ok(Reservation {
        id: row.get("id")?,
        user: row.get("user_id")?,
        channel: row.parse("channel", Channel::parse)?,
        schedule: row.get("schedule_id")?,
        status: row.parse("status", ReservationStatus::parse)?,
        hold_expires_at: row.get("hold_expires_at")?,
        amount: row.get("amount")?,
        order_fee: row.get("order_fee")?,
        currency: row.parse("currency", Currency::parse)?,
        promotion: row.get("promotion_id")?,
        version: row.get("version")?,
        payment_window_given: row.get("payment_window_given")?,
        retry_window_given: row.get("retry_window_given")?,
        phase: row.get("phase_id")?,
        place: row.get("place_number")?,
    })
}

/// The reservation's seats in layout order; for one that ended, the seats it had.
pub(crate) async fn seats_of(
    tx: &mut dyn Tx,
    reservation: ReservationId,
    schedule: ScheduleId,
) -> Result<Vec<ReservedSeat>> {
    let sql =
        "select seat_index, number, grade, price, active, list_price, type_off, code_off, fee,
                      ticket_type
                 from reservation_seats
                where reservation_id = $1 order by seat_index";
    let mut rows = tx.query(sql, params![reservation]).await?;
    if rows.iter().any(is_active) {
        rows.retain(is_active);
    }
    rows.iter().map(|row| read_seat(schedule, row)).collect()
}

/// All seats that were paid for, also those canceled since.
pub(crate) async fn bought_seats(
    tx: &mut dyn Tx,
    reservation: ReservationId,
    schedule: ScheduleId,
) -> Result<Vec<ReservedSeat>> {
    let sql = "select seat_index, number, grade, price, list_price, type_off, code_off, fee,
                      ticket_type
                 from reservation_seats
                where reservation_id = $1 order by seat_index";
    let rows = tx.query(sql, params![reservation]).await?;
    rows.iter().map(|row| read_seat(schedule, row)).collect()
}

fn is_active(row: &Row) -> bool {
    row.get("active").unwrap_or(false)
}

fn read_seat(schedule: ScheduleId, row: &Row) -> Result<ReservedSeat> {
    Ok(ReservedSeat {
        id: schedule.seat(row.get("seat_index")?),
        number: row.get("number")?,
        grade: row.get("grade")?,
        price: row.get("price")?,
        parts: read_parts(row)?,
    })
}

/// What the price of a seat consists of, if it isn't the price of its grade.
pub(crate) fn read_parts(row: &Row) -> Result<Option<SeatParts>> {
    let Some(list_price) = row.get("list_price")? else { return Ok(None) };
    let ticket_type: Option<String> = row.get("ticket_type")?;
    Ok(Some(SeatParts {
        list_price,
        type_discount: row.get("type_off")?,
        code_discount: row.get("code_off")?,
        booking_fee: row.get("fee")?,
        ticket_type: ticket_type.map(|_| row.json("ticket_type")).transpose()?,
    }))
}

/// A JSON column of something that may be absent.
pub(crate) fn json_or_null(value: Option<&impl Serialize>) -> Result<Value> {
    let text = value.map(serde_json::to_string).transpose().map_err(podo_app::Error::broken)?;
    Ok(text.map_or(Value::Null, Value::Json))
}

/// Stores what a rule decided: the state, its history row and its message. Returns the
/// reservation's seats. A concurrent change is a conflict.
pub(crate) async fn store(
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

/// Like `store`, for a paid reservation: assigns its booking number.
pub(crate) async fn store_paid(
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

/// The latest version of a reservation, as written to its history row and its message.
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
    tx.add(sql, vec![values.to_vec()]).await?;
    let payload = ReservationPayload {
        reservation_id: id,
        user_id: reservation.user,
        event_schedule_id: reservation.schedule,
        status: reservation.status,
        seat_ids: seats.iter().map(|seat| seat.id).collect(),
        grades: shares(seats),
        total_amount: reservation.amount,
        currency: reservation.currency,
        at: now,
        channel: reservation.channel,
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

/// Sets the state of a reservation's seats. Each seat must still belong to the reservation.
pub(crate) async fn set_seats(
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

/// When the reservation's seats go back on general sale. Seats of a canceled booking may have a
/// resale delay, and others are withheld briefly for the standby list. Without `now`, counts from
/// the moment at which the reservation was stored.
pub(crate) async fn back_at(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    now: Option<Timestamp>,
) -> Result<Option<Timestamp>> {
    let sql = "select r.updated_at, s.resale_min_seconds, s.resale_max_seconds,
                      exists (select 1 from standbys w
                               where w.schedule_id = r.schedule_id and w.state = 'WAITING')
                        as has_standbys
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id = $1";
    let Some(row) = tx.row(sql, params![reservation.id]).await? else { return Ok(None) };
    let now = now.map_or_else(|| row.get("updated_at"), Ok)?;
    let rests_until = match reservation.status {
        // Confirmed: single seats of a continuing booking were canceled.
        ReservationStatus::Canceled | ReservationStatus::Confirmed => {
            let delay = ResaleDelay {
                min_seconds: row.get("resale_min_seconds")?,
                max_seconds: row.get("resale_max_seconds")?,
            };
            delay.back_at(now, tx.rng().number())
        }
        ReservationStatus::Held
        | ReservationStatus::Paying
        | ReservationStatus::Expired
        | ReservationStatus::Released => None,
    };
    let kept_until = row.get::<bool>("has_standbys")?.then(|| now.plus(KEPT_FOR));
    Ok(rests_until.max(kept_until))
}

/// Returns the seats to general sale.
pub(crate) async fn free_seats(
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
    tx.execute_each(free, seats.iter().map(set).collect()).await?;
    let done = "update reservation_seats set active = $2 where reservation_id = $1 and active";
    tx.execute(done, params![reservation.id, false]).await?;
    let freed = freed(reservation, seats);
    // Orders of the box office end by cancellation only.
    if reservation.status == ReservationStatus::Canceled {
        keep_again_of(tx, reservation, &freed.seats).await?;
    }
    Ok(freed)
}

/// Seats that an order gave back: a fan's order had none of an allocation, so nothing is asked.
pub(crate) async fn keep_again_of(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    seats: &[SeatIndex],
) -> Result<()> {
    match reservation.channel.may_have_kept_seats() {
        true => keep_again(tx, reservation.schedule, seats).await,
        false => Ok(()),
    }
}

/// Free seats of an allocation that isn't released go back to it instead of on sale.
pub(crate) async fn keep_again(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    seats: &[SeatIndex],
) -> Result<()> {
    let find = "select allocation_id from allocation_seats
                 where schedule_id = $1 and seat_index = $2";
    // The row of the allocation is locked first: a release that runs now has ended then.
    let lock = "update allocations set updated_at = updated_at
                 where id = $1 and released_at is null";
    let keep = "update seats set state = 'KEPT', claim = $3, expires_at = null
                 where schedule_id = $1 and seat_index = $2 and state = 'FREE'
                   and exists (select 1 from allocation_seats a
                                where a.schedule_id = $1 and a.seat_index = $2
                                  and a.allocation_id = $3)";
    for seat in seats {
        let Some(row) = tx.row(find, params![schedule, *seat]).await? else { continue };
        let allocation: AllocationId = row.get("allocation_id")?;
        if tx.execute(lock, params![allocation]).await? == 1 {
            tx.execute(keep, params![schedule, *seat, allocation]).await?;
        }
    }
    Ok(())
}

/// The update that the live engines get for a reservation's seats.
pub(crate) fn freed(reservation: &Reservation, seats: &[ReservedSeat]) -> Freed {
    Freed {
        user: reservation.user,
        schedule: reservation.schedule,
        seats: seats.iter().map(|seat| seat.id.index()).collect(),
    }
}
