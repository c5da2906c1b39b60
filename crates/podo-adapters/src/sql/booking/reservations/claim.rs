//! Turns a claim on seats into a reservation, for a fan who chose them or for a standby entry.

use crate::sql::booking::reservations::order::{json_or_default, priced, repriced};
use crate::sql::booking::reservations::{Change, json_or_null, tell};
use crate::sql::engine::tx::{SqlError, Tx};
use crate::sql::engine::value::{Row, params};
use podo_app::booking::port::reservations::{Held, ReservedSeat, lines_of};
use podo_app::{Error, Result};
use podo_domain::booking::issued::Channel;
use podo_domain::booking::order::options::Fees;
use podo_domain::booking::order::price_changes::PriceChanges;
use podo_domain::booking::order::{ChosenSeat, price};
use podo_domain::booking::reservations::{Reservation, ReservationStatus};
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::waiting_room::PlaceNumber;
use podo_domain::{Currency, PhaseId, Refusal, ReservationId, SeatId, Timestamp, UserId, Won};
use std::collections::BTreeMap;

/// Who claims which seats, and on which entry.
pub(crate) struct Claim<'a> {
    pub(crate) reservation: ReservationId,
    pub(crate) user: UserId,
    pub(crate) channel: Channel,
    pub(crate) pick: &'a SeatPick,
    /// The phase that sells the seats; none for a date without phases or a standby offer.
    pub(crate) phase: Option<PhaseId>,
    /// The place number whose entry permits the claim.
    pub(crate) place: PlaceNumber,
    pub(crate) until: Timestamp,
    /// Charged in addition to what the seats cost.
    pub(crate) fees: Fees,
    /// What the grades cost now, if that has changed since the seats were created.
    pub(crate) prices: Option<BTreeMap<String, Won>>,
    /// The event's.
    pub(crate) currency: Currency,
    pub(crate) now: Timestamp,
}

pub(crate) struct Claimed {
    pub(crate) seat: ReservedSeat,
    pub(crate) fence: i64,
}

pub(crate) fn read_claim(id: SeatId, row: &Row) -> Result<Claimed> {
    let seat = ReservedSeat {
        id,
        number: row.get("number")?,
        grade: row.get("grade")?,
        price: row.get("price")?,
        parts: None,
    };
    Ok(Claimed { seat, fence: row.get("fence")? })
}

/// Claims seats for a standby entry, from which they aren't withheld.
pub(crate) async fn take_free_seats(tx: &mut dyn Tx, claim: &Claim<'_>) -> Result<Vec<Claimed>> {
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

/// Stores the reservation of newly claimed seats, with its history row and its message.
pub(crate) async fn store_claimed(
    tx: &mut dyn Tx,
    command: &Claim<'_>,
    mut claimed: Vec<Claimed>,
) -> Result<Held> {
    if let Some(prices) = &command.prices {
        charge_current_prices(prices, &mut claimed);
    }
    let (amount, order_fee) = charge(command, &mut claimed)?;
    let reservation = Reservation {
        id: command.reservation,
        user: command.user,
        channel: command.channel,
        schedule: command.pick.schedule(),
        phase: command.phase,
        place: command.place,
        status: ReservationStatus::Held,
        hold_expires_at: command.until,
        amount,
        order_fee,
        currency: command.currency,
        promotion: None,
        version: 1,
        payment_window_given: false,
        retry_window_given: false,
    };
    insert(tx, &reservation, command.fees, claimed.len(), command.now).await?;
    insert_seats(tx, &reservation, &claimed).await?;
    let seats: Vec<ReservedSeat> = claimed.into_iter().map(|claim| claim.seat).collect();
    let kind = MessageKind::ReservationHeld;
    let change = Change { reservation: &reservation, seats: &seats, booking: None, kind };
    tell(tx, change, command.now).await?;
    let lines = match command.fees.is_none() {
        true => Vec::new(),
        false => lines_of(&seats, None, order_fee),
    };
    Ok(Held {
        reservation_id: reservation.id,
        status: reservation.status,
        lines,
        seats,
        amount,
        currency: command.currency,
        hold_expires_at: reservation.hold_expires_at,
    })
}

/// A seat costs what its grade costs at the moment of the claim, and its order keeps that price.
pub(crate) fn charge_current_prices(prices: &BTreeMap<String, Won>, claimed: &mut [Claimed]) {
    for seat in claimed.iter_mut().map(|claim| &mut claim.seat) {
        seat.price = prices.get(&seat.grade).copied().unwrap_or(seat.price);
    }
}

/// The prices in force, if they have changed.
pub(crate) fn changed_prices(row: &Row, now: Timestamp) -> Result<Option<BTreeMap<String, Won>>> {
    let changes: PriceChanges = json_or_default(row, "price_changes")?;
    Ok(changes.current(now).map(|change| change.prices.clone()))
}

/// Adds the fees to the seats. Returns the amount of the order and its own fee.
fn charge(command: &Claim<'_>, claimed: &mut [Claimed]) -> Result<(Won, Won)> {
    if command.fees.is_none() {
        let paid = claimed.iter().map(|claim| claim.seat.paid());
        let max = command.currency.per_payment_max();
        let amount = Won::sum(paid.flat_map(|paid| [paid.price, paid.fee]))
            .filter(|amount| *amount <= max)
            .ok_or(Refusal::OrderTooExpensive { max })?;
        return Ok((amount, Won::ZERO));
    }
    let chosen = |claim: &'_ Claimed| (claim.seat.grade.clone(), claim.seat.price);
    let chosen: Vec<(String, Won)> = claimed.iter().map(chosen).collect();
    let seats: Vec<ChosenSeat<'_>> = chosen
        .iter()
        .map(|(grade, list)| ChosenSeat { grade, list: *list, ticket_type: None })
        .collect();
    let order = price(&seats, None, &command.fees, command.currency)?;
    for (claim, price) in claimed.iter_mut().zip(&order.seats) {
        claim.seat = repriced(&claim.seat, *price, None);
    }
    Ok((order.total().unwrap_or(Won::MAX), order.order_fee))
}

async fn insert(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    fees: Fees,
    n_seats: usize,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into reservations
                 (id, user_id, schedule_id, status, amount, n_seats, hold_expires_at, place_number,
                  version, created_at, updated_at, phase_id, order_fee, fees, channel,
                  currency)
               values ($1, $2, $3, 'HELD', $4, $5, $6, $7, 1, $8, $8, $9, $10, $11, $12, $13)";
    let values = params![
        reservation.id,
        reservation.user,
        reservation.schedule,
        reservation.amount,
        n_seats,
        reservation.hold_expires_at,
        reservation.place,
        now,
        reservation.phase,
        reservation.order_fee,
        json_or_null((!fees.is_none()).then_some(&fees))?,
        reservation.channel.as_str(),
        reservation.currency.as_str()
    ];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}

async fn insert_seats(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    claimed: &[Claimed],
) -> Result<()> {
    if claimed.iter().any(|claim| claim.seat.parts.is_some()) {
        return insert_priced_seats(tx, reservation, claimed).await;
    }
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
    let sets = claimed.iter().map(set).collect();
    tx.add(sql, sets).await.map_err(|error| why_not_inserted(error, claimed))
}

/// The same for seats with fees, or with the discounts of the ticket that they replace.
async fn insert_priced_seats(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    claimed: &[Claimed],
) -> Result<()> {
    let sql = "insert into reservation_seats
                 (reservation_id, schedule_id, seat_index, number, grade, fence, active, price,
                  list_price, type_off, code_off, fee, ticket_type)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    let set = |claim: &Claimed| {
        let seat = &claim.seat;
        let (id, schedule) = (reservation.id, reservation.schedule);
        let (number, grade, fence) = (&seat.number, &seat.grade, claim.fence);
        let mut values =
            params![id, schedule, seat.id.index(), number, grade, fence, true].to_vec();
        values.extend(priced(seat)?);
        Ok(values)
    };
    let sets = claimed.iter().map(set).collect::<Result<Vec<_>>>()?;
    tx.add(sql, sets).await.map_err(|error| why_not_inserted(error, claimed))
}

fn why_not_inserted(error: SqlError, claimed: &[Claimed]) -> Error {
    // The last line of defence: the unique index holds even if every check above fails.
    if error.is_constraint("reservation_seats_one_claim") {
        let taken = claimed.iter().map(|claim| claim.seat.id).collect();
        Error::from(Refusal::seat_taken(taken))
    } else {
        error.into()
    }
}
