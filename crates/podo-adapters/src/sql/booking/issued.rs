//! Orders of the box office: free or kept seats become a paid reservation with tickets, in one
//! transaction.

mod cash_up;
mod list;

use crate::sql::booking::reservations::{
    Claim, Claimed, changed_prices, charge_current_prices, expire, json_or_default, load,
    load_with_date, read_claim, repriced, store_claimed,
};
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::operations::audit::note;
use crate::sql::operations::idempotency;
use crate::sql::payments::confirm::pay_at_desk;
use podo_app::booking::port::issued::{
    CashUpQuery, IssueOrder, IssuedOrder, IssuedOrders, IssuedRow, TenderTotal,
};
use podo_app::booking::port::reservations::Freed;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::store::PageRequest;
use podo_app::{Error, Result};
use podo_domain::booking::issued::{Issue, Tender};
use podo_domain::booking::order::options::{Fees, PriceOptions, choose_types};
use podo_domain::booking::order::{ChosenSeat, SeatPrice, price};
use podo_domain::booking::seats::SeatState;
use podo_domain::booking::standby::PLACE_OF_OFFER;
use podo_domain::catalog::{EventStatus, ScheduleStatus};
use podo_domain::id::SeatIndex;
use podo_domain::{Currency, EventId, Refusal, ReservationId, ScheduleId, SeatId, Timestamp, Won};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

commands! {
    impl IssuedOrders for SqlStore {
        write issue_order(IssueOrder) -> Idempotent<(IssuedOrder, Freed)> as Sales => issue;
        read issued_orders(OrdersOf { schedule: ScheduleId, page: PageRequest })
            -> Vec<IssuedRow> as Sales => list::of_schedule;
        read issued_among(OrdersAmong { reservations: Vec<ReservationId> })
            -> Vec<IssuedRow> as Sales => list::among;
        read issued_to(OrdersTo { hash: [u8; 32], limit: u32 })
            -> Vec<IssuedRow> as Sales => list::to;
        read cash_up(CashUpQuery) -> Vec<TenderTotal> as Sales => cash_up::cash_up;
    }
}

/// The hold exists only inside the transaction.
const HOLD: Duration = Duration::from_secs(60);

async fn issue(tx: &mut dyn Tx, command: &IssueOrder) -> Result<Idempotent<(IssuedOrder, Freed)>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let DeskTerms { options, prices, currency } = check_date(tx, command).await?;
    let mut claimed = claim_seats(tx, command).await?;
    if let Some(prices) = &prices {
        charge_current_prices(prices, &mut claimed);
    }
    set_prices(command, &options, currency, &mut claimed)?;
    let claim = Claim {
        reservation: command.reservation,
        user: command.actor,
        channel: command.issue.channel(),
        pick: &command.pick,
        phase: None,
        place: PLACE_OF_OFFER,
        until: command.now.plus(HOLD),
        fees: Fees::default(),
        // In the seats already, with the discounts of their types.
        prices: None,
        currency,
        now: command.now,
    };
    let held = store_claimed(tx, &claim, claimed).await?;
    let found = load_with_date(tx, command.reservation).await?;
    let found = found.ok_or_else(|| Error::broken("a reservation disappeared"))?;
    let sold = pay_at_desk(tx, &found, command.payment, command.now).await?;
    let issued = IssuedOrder {
        reservation_id: command.reservation,
        booking_number: sold.confirmed.reservation.booking_number,
        channel: command.issue.channel(),
        tender: command.issue.tender(),
        payment_id: command.payment,
        amount: held.amount,
        currency,
        seats: held.seats,
        tickets: sold.confirmed.tickets,
    };
    record(tx, command, &issued).await?;
    idempotency::store(tx, &command.key, Some(command.payment.uuid()), &issued, command.now)
        .await?;
    Ok(Idempotent::Fresh((issued, sold.seats)))
}

/// What the desk sells the seats under.
struct DeskTerms {
    options: PriceOptions,
    /// The prices in force, if they have changed.
    prices: Option<BTreeMap<String, Won>>,
    currency: Currency,
}

/// The desk sells before, during and after the sale to fans, until the show is over.
async fn check_date(tx: &mut dyn Tx, command: &IssueOrder) -> Result<DeskTerms> {
    let event = "select event_id from event_schedules where id = $1";
    let row = tx.row(event, params![command.pick.schedule()]).await?.ok_or(Refusal::NotFound)?;
    // The sale to fans may not have begun: an organiser who changes the event's currency waits.
    tx.lock(row.get::<EventId>("event_id")?.uuid()).await?;
    let sql = "select s.status, e.status as event_status, s.ends_at, s.stopped_at, s.price_options,
                      s.price_changes, e.currency
                 from event_schedules s join events e on e.id = s.event_id
                where s.id = $1";
    let row = tx.row(sql, params![command.pick.schedule()]).await?.ok_or(Refusal::NotFound)?;
    row.parse("status", ScheduleStatus::parse)?
        .check_on_sale(row.parse("event_status", EventStatus::parse)?)?;
    if row.get::<Option<Timestamp>>("stopped_at")?.is_some() {
        return Err(Refusal::SaleStopped.into());
    }
    if row.get::<Timestamp>("ends_at")? <= command.now {
        return Err(Refusal::SaleClosed.into());
    }
    Ok(DeskTerms {
        options: json_or_default(&row, "price_options")?,
        prices: changed_prices(&row, command.now)?,
        currency: row.parse("currency", Currency::parse)?,
    })
}

/// Claims every seat, or reports those that others have. Ends expired holds first.
async fn claim_seats(tx: &mut dyn Tx, command: &IssueOrder) -> Result<Vec<Claimed>> {
    let schedule = command.pick.schedule();
    let (mut claimed, mut taken) = (Vec::new(), Vec::new());
    for index in command.pick.indexes() {
        let claim = match compare_and_claim(tx, command, *index).await? {
            Some(claim) => Some(claim),
            None if end_expired_hold(tx, schedule, *index, command.now).await? => {
                compare_and_claim(tx, command, *index).await?
            }
            None => None,
        };
        match claim {
            Some(claim) => claimed.push(claim),
            None => taken.push(schedule.seat(*index)),
        }
    }
    if taken.is_empty() { Ok(claimed) } else { Err(Refusal::seat_taken(taken).into()) }
}

/// Claims a free seat, also a resting one, or a kept one that may be sold.
async fn compare_and_claim(
    tx: &mut dyn Tx,
    command: &IssueOrder,
    index: SeatIndex,
) -> Result<Option<Claimed>> {
    let sql = "update seats
                  set state = 'HELD', claim = $3, expires_at = $4, fence = fence + 1
                where schedule_id = $1 and seat_index = $2
                  and (state = 'FREE'
                       or (state = 'KEPT'
                           and not exists (select 1 from allocations k
                                            where k.id = seats.claim and k.kind = 'NEVER')))
               returning number, grade, price, fence";
    let schedule = command.pick.schedule();
    let values = params![schedule, index, command.reservation, command.now.plus(HOLD)];
    let row = tx.row(sql, values).await?;
    row.map(|row| read_claim(schedule.seat(index), &row)).transpose()
}

/// Whether the seat had an expired hold, which has ended now. Refuses a seat that doesn't exist.
pub(super) async fn end_expired_hold(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    index: SeatIndex,
    now: Timestamp,
) -> Result<bool> {
    let sql =
        "select state, claim, expires_at from seats where schedule_id = $1 and seat_index = $2";
    let row = tx.row(sql, params![schedule, index]).await?;
    let row = row.ok_or(Refusal::NotFound)?;
    let expires_at: Option<Timestamp> = row.get("expires_at")?;
    let is_past = expires_at.is_none_or(|until| until <= now);
    // Another seat of an expired hold that this loop has already ended is free.
    let state = row.parse("state", SeatState::parse)?;
    if state != SeatState::Held || !is_past {
        return Ok(state == SeatState::Free);
    }
    let reservation = load(tx, row.get("claim")?).await?;
    let reservation = reservation.ok_or_else(|| Error::broken("a claim has a reservation"))?;
    Ok(expire(tx, &reservation, now).await?.is_some())
}

/// Complimentary tickets cost nothing; a sale costs what the ticket types say. The desk charges no
/// fee.
fn set_prices(
    command: &IssueOrder,
    options: &PriceOptions,
    currency: Currency,
    claimed: &mut [Claimed],
) -> Result<()> {
    if command.issue == Issue::Complimentary {
        for claim in claimed {
            let list = claim.seat.price;
            let free = SeatPrice { list, type_off: list, ..SeatPrice::default() };
            claim.seat = repriced(&claim.seat, free, None);
        }
        return Ok(());
    }
    // In the order of the request, so that a refusal names the field.
    for (at, (id, _)) in command.types.iter().enumerate() {
        if command.types[..at].iter().any(|(other, _)| other == id) {
            return Err(Refusal::SeatRepeated.into());
        }
    }
    let position = |id: SeatId| claimed.iter().position(|claim| claim.seat.id == id);
    let order = command.types.iter().map(|(id, _)| position(*id).ok_or(Refusal::ForeignSeat));
    let order = order.collect::<std::result::Result<Vec<usize>, Refusal>>()?;
    let grades: Vec<String> = order.iter().map(|at| claimed[*at].seat.grade.clone()).collect();
    let asked: Vec<(&str, Option<u32>)> =
        grades.iter().zip(&command.types).map(|(grade, (_, it))| (grade.as_str(), *it)).collect();
    let types = choose_types(options, &asked)?;
    let chosen: Vec<ChosenSeat<'_>> = order
        .iter()
        .zip(grades.iter().zip(&types))
        .map(|(at, (grade, it))| ChosenSeat {
            grade,
            list: claimed[*at].seat.price,
            ticket_type: *it,
        })
        .collect();
    let prices = price(&chosen, None, &Fees::default(), currency)?.seats;
    for ((at, price), it) in order.iter().zip(prices).zip(&types) {
        let seat = repriced(&claimed[*at].seat, price, it.map(|it| it.mark()));
        claimed[*at].seat = seat;
    }
    Ok(())
}

async fn record(tx: &mut dyn Tx, command: &IssueOrder, issued: &IssuedOrder) -> Result<()> {
    let sql = "insert into issued_orders
                 (id, schedule_id, actor_id, tender, name, phone, note, created_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values = params![
        command.reservation,
        command.pick.schedule(),
        command.actor,
        issued.tender.map(Tender::as_str),
        command.name.clone(),
        command.phone.clone(),
        command.note.clone(),
        command.now
    ];
    tx.execute(sql, values).await?;
    let sql = "insert into issued_lookups (hash, reservation_id) values ($1, $2)";
    let row = |hash: &[u8; 32]| params![*hash, command.reservation].to_vec();
    tx.add(sql, command.lookups.iter().map(row).collect()).await?;
    let details = json!({
        "channel": issued.channel, "tender": issued.tender, "amount": issued.amount,
        "currency": issued.currency,
        "bookingNumber": issued.booking_number,
        "seatIds": issued.seats.iter().map(|seat| seat.id).collect::<Vec<_>>(),
    });
    note(tx, command.actor, "order.issue", command.reservation, details, command.now).await
}
