//! Holds seats, all or none. The database decides.

use crate::sql::booking::reservations::claim::{
    Claim, Claimed, changed_prices, read_claim, store_claimed,
};
use crate::sql::booking::reservations::load;
use crate::sql::booking::reservations::order::json_or_default;
use crate::sql::booking::reservations::phase::running_phase;
use crate::sql::booking::reservations::release::expire;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::idempotency;
use crate::sql::waiting_room::history;
use podo_app::booking::port::reservations::{Held, HoldSeats};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::{Error, Result};
use podo_domain::booking::issued::Channel;
use podo_domain::booking::order::options::{Fees, PriceOptions};
use podo_domain::booking::reservations::{
    CHURN_WINDOW, ReservationStatus, check_churn, check_order_size, check_seat_limit,
};
use podo_domain::booking::seats::SeatState;
use podo_domain::catalog::{EventStatus, SaleWindow, ScheduleStatus};
use podo_domain::id::SeatIndex;
use podo_domain::{Currency, PhaseId, Refusal, ReservationId, Timestamp, Won};
use std::collections::BTreeMap;
use uuid::Uuid;

pub(super) async fn hold(tx: &mut dyn Tx, command: &HoldSeats) -> Result<Idempotent<Held>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    // Serialise one fan's holds of a schedule, so that the seat limit counts all of them.
    let (fan, schedule) = (command.user.uuid(), command.pick.schedule().uuid());
    tx.lock(Uuid::from_u128(fan.as_u128() ^ schedule.as_u128())).await?;
    let terms = check_sale_and_limit(tx, command).await?;
    check_room(command, terms.phase)?;
    history::check_entry(tx, command).await?;
    let claimed = claim_seats(tx, command).await?;
    let held = store_claimed(tx, &claim_of(command, terms), claimed).await?;
    idempotency::store(tx, &command.key, None, &held, command.now).await?;
    Ok(Idempotent::Fresh(held))
}

/// An entry admits to the phase of its waiting room only, and not to a date whose phases changed.
fn check_room(command: &HoldSeats, phase: Option<PhaseId>) -> Result<()> {
    let room = phase.map_or(command.pick.schedule(), PhaseId::room);
    if command.room == room { Ok(()) } else { Err(Refusal::EntryRequired.into()) }
}

/// What the seats are sold under.
struct HoldTerms {
    /// The phase that sells them, on a date with phases.
    phase: Option<PhaseId>,
    fees: Fees,
    /// The prices in force, if they have changed.
    prices: Option<BTreeMap<String, Won>>,
    currency: Currency,
}

fn claim_of(command: &HoldSeats, terms: HoldTerms) -> Claim<'_> {
    Claim {
        reservation: command.reservation,
        user: command.user,
        channel: Channel::Fan,
        pick: &command.pick,
        phase: terms.phase,
        place: command.entry.number,
        until: command.until,
        fees: terms.fees,
        prices: terms.prices,
        currency: terms.currency,
        now: command.now,
    }
}

async fn check_sale_and_limit(tx: &mut dyn Tx, command: &HoldSeats) -> Result<HoldTerms> {
    let sql = "select s.sale_starts_at, s.sale_ends_at, s.status, e.status as event_status,
                      s.seats_per_person, s.stopped_at, s.last_phase, s.seats_per_order,
                      s.price_options, s.price_changes, e.currency
                 from event_schedules s join events e on e.id = s.event_id
                where s.id = $1";
    let schedule = command.pick.schedule();
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    let window =
        SaleWindow { starts_at: row.get("sale_starts_at")?, ends_at: row.get("sale_ends_at")? };
    row.parse("status", ScheduleStatus::parse)?
        .check_on_sale(row.parse("event_status", EventStatus::parse)?)?;
    window.check(command.now)?;
    if row.get::<Option<Timestamp>>("stopped_at")?.is_some() {
        return Err(Refusal::SaleStopped.into());
    }
    // A date that never had phases needs no further statement.
    let phase = match row.get::<u32>("last_phase")? {
        0 => None,
        _ => running_phase(tx, command).await?,
    };
    let past = past_of(tx, command).await?;
    if command.limits_churn {
        check_churn(past.n_unpaid, past.last_unpaid_at, command.now)?;
    }
    let n_more = u32::try_from(command.pick.indexes().len()).unwrap_or(u32::MAX);
    let of_phase = phase.as_ref().and_then(|phase| phase.terms.seats_per_order);
    check_order_size(n_more, of_phase.map_or_else(|| row.get("seats_per_order"), Ok)?)?;
    check_seat_limit(past.n_active, n_more, row.get("seats_per_person")?)?;
    let fees = json_or_default::<PriceOptions>(&row, "price_options")?.fees;
    let prices = changed_prices(&row, command.now)?;
    let currency = row.parse("currency", Currency::parse)?;
    let Some(phase) = phase else {
        return Ok(HoldTerms { phase: None, fees, prices, currency });
    };
    check_seat_limit(past.n_active_in(phase.id), n_more, phase.terms.seats_per_person)?;
    Ok(HoldTerms { phase: Some(phase.id), fees, prices, currency })
}

/// The fan's earlier activity on this schedule.
#[derive(Default)]
struct Past {
    /// Seats that the fan holds or has bought, without expired holds.
    n_active: u32,
    /// The same by phase.
    active: Vec<(Option<PhaseId>, u32)>,
    /// Holds of the last hour that were released or expired.
    n_unpaid: u32,
    last_unpaid_at: Option<Timestamp>,
}

impl Past {
    fn n_active_in(&self, phase: PhaseId) -> u32 {
        let theirs = self.active.iter().filter(|(other, _)| *other == Some(phase));
        theirs.map(|(_, n_seats)| n_seats).sum()
    }
}

async fn past_of(tx: &mut dyn Tx, command: &HoldSeats) -> Result<Past> {
    let sql = "select status, n_seats, hold_expires_at, updated_at, phase_id from reservations
                where schedule_id = $1 and user_id = $2 and channel = 'FAN'
                  and (status in ('HELD', 'PAYING', 'CONFIRMED')
                       or (status in ('EXPIRED', 'RELEASED') and updated_at > $3))";
    let since = command.now.minus(CHURN_WINDOW);
    let rows = tx.query(sql, params![command.pick.schedule(), command.user, since]).await?;
    let mut past = Past::default();
    for row in &rows {
        let hold_ends_at: Timestamp = row.get("hold_expires_at")?;
        let unpaid_at = match row.parse("status", ReservationStatus::parse)? {
            ReservationStatus::Held if hold_ends_at <= command.now => Some(hold_ends_at),
            ReservationStatus::Held | ReservationStatus::Paying | ReservationStatus::Confirmed => {
                let n_seats: u32 = row.get("n_seats")?;
                past.n_active += n_seats;
                past.active.push((row.get("phase_id")?, n_seats));
                None
            }
            ReservationStatus::Expired | ReservationStatus::Released => {
                Some(row.get("updated_at")?)
            }
            ReservationStatus::Canceled => None,
        };
        past.n_unpaid += u32::from(unpaid_at.is_some());
        past.last_unpaid_at = past.last_unpaid_at.max(unpaid_at);
    }
    Ok(past)
}

/// Claims every seat, or reports the seats that other fans have. Frees seats with an expired hold
/// first.
async fn claim_seats(tx: &mut dyn Tx, command: &HoldSeats) -> Result<Vec<Claimed>> {
    let indexes = command.pick.indexes();
    let mut claimed = Vec::with_capacity(indexes.len());
    let mut taken = Vec::new();
    for (index, claim) in indexes.iter().zip(compare_and_claim(tx, command, indexes).await?) {
        let claim = match claim {
            Some(claim) => Some(claim),
            None => take_over(tx, command, *index).await?,
        };
        match claim {
            Some(claim) => claimed.push(claim),
            None => taken.push(command.pick.schedule().seat(*index)),
        }
    }
    if taken.is_empty() { Ok(claimed) } else { Err(Refusal::seat_taken(taken).into()) }
}

async fn take_over(
    tx: &mut dyn Tx,
    command: &HoldSeats,
    index: SeatIndex,
) -> Result<Option<Claimed>> {
    match holder_of(tx, command, index).await? {
        Holder::PastTime(holder) => expire_holder(tx, holder, command.now).await?,
        // Another seat of the expired hold that this loop has already ended.
        Holder::Free => {}
        Holder::Other => return Ok(None),
    }
    Ok(compare_and_claim(tx, command, &[index]).await?.pop().flatten())
}

/// Claims a free seat by compare-and-set. A returned seat may still be withheld.
async fn compare_and_claim(
    tx: &mut dyn Tx,
    command: &HoldSeats,
    indexes: &[SeatIndex],
) -> Result<Vec<Option<Claimed>>> {
    let sql = "update seats
                  set state = 'HELD', claim = $3, expires_at = $4, fence = fence + 1
                where schedule_id = $1 and seat_index = $2 and state = 'FREE'
                  and (expires_at is null or expires_at <= $5)
               returning number, grade, price, fence";
    let schedule = command.pick.schedule();
    let set = |index: &SeatIndex| {
        params![schedule, *index, command.reservation, command.until, command.now].to_vec()
    };
    let found = tx.query_each(sql, indexes.iter().map(set).collect()).await?;
    let read = |(index, rows): (&SeatIndex, Vec<Row>)| {
        rows.first().map(|row| read_claim(schedule.seat(*index), row)).transpose()
    };
    indexes.iter().zip(found).map(read).collect()
}

/// The owner of a seat that couldn't be claimed.
enum Holder {
    Free,
    /// The hold has expired.
    PastTime(ReservationId),
    Other,
}

/// Refuses a seat that doesn't exist.
async fn holder_of(tx: &mut dyn Tx, command: &HoldSeats, index: SeatIndex) -> Result<Holder> {
    let sql =
        "select state, claim, expires_at from seats where schedule_id = $1 and seat_index = $2";
    let values = params![command.pick.schedule(), index];
    let row = tx.row(sql, values).await?.ok_or(Refusal::NotFound)?;
    let expires_at: Option<Timestamp> = row.get("expires_at")?;
    let is_past = expires_at.is_none_or(|until| until <= command.now);
    Ok(match row.parse("state", SeatState::parse)? {
        SeatState::Free => Holder::Free,
        SeatState::Held if is_past => Holder::PastTime(row.get("claim")?),
        SeatState::Held | SeatState::Paying | SeatState::Sold | SeatState::Kept => Holder::Other,
    })
}

async fn expire_holder(tx: &mut dyn Tx, holder: ReservationId, now: Timestamp) -> Result<()> {
    let reservation = load(tx, holder).await?;
    let reservation =
        reservation.ok_or_else(|| Error::Broken(format!("no reservation for claim {holder}")))?;
    expire(tx, &reservation, now).await?;
    Ok(())
}
