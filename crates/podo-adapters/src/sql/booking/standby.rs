//! The standby list: who waits for which seats, and the holds made for them.

use crate::sql::booking::reservations::{
    Claim, changed_prices, json_or_default, store_claimed, take_free_seats,
};
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use podo_app::booking::port::standby::{OfferSeats, StandBy, StandbyPlace, Standbys};
use podo_app::{Error, Result};
use podo_domain::booking::issued::Channel;
use podo_domain::booking::order::options::{Fees, PriceOptions};
use podo_domain::booking::reservations::check_seat_limit;
use podo_domain::booking::standby::{PLACE_OF_OFFER, Standby, StandbyState};
use podo_domain::catalog::{EventStatus, SaleWindow, ScheduleStatus};
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Currency, Refusal, ScheduleId, StandbyId, Timestamp, UserId, Won};
use serde_json::json;
use std::collections::BTreeMap;
use uuid::Uuid;

commands! {
    impl Standbys for SqlStore {
        write stand_by(StandBy) -> StandbyPlace as Sales => stand_by;
        read standby_of(StandbyOf { user: UserId, schedule: ScheduleId })
            -> Option<StandbyPlace> as Sales => standby_of;
        write leave_standby(Leave { user: UserId, schedule: ScheduleId, now: Timestamp })
            -> () as Sales => leave;
        read waiting_standbys(Waiting { now: Timestamp, limit: u32 })
            -> Vec<Standby> as Worker => waiting;
        read free_seats_of(FreeSeatsOf { schedule: ScheduleId })
            -> Vec<SeatIndex> as Worker => free_seats_of;
        write offer_seats(OfferSeats) -> () as Sales => offer;
        write settle_standbys(Settle { now: Timestamp, limit: u32 }) -> u64 as Worker => settle;
        write lapse_standby(Lapse { standby: StandbyId, now: Timestamp }) -> () as Worker => lapse;
    }
}

/// What an open sale permits and charges.
pub(crate) struct SaleTerms {
    pub(crate) seats_per_person: u32,
    pub(crate) fees: Fees,
    /// The prices in force, if they have changed.
    pub(crate) prices: Option<BTreeMap<String, Won>>,
    pub(crate) currency: Currency,
}

/// Whether seats of the date can be bought now.
pub(crate) async fn check_sale(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    now: Timestamp,
) -> Result<SaleTerms> {
    let sql = "select s.sale_starts_at, s.sale_ends_at, s.status, e.status as event_status,
                      s.seats_per_person, s.stopped_at, s.price_options,
                      s.price_changes, e.currency
                 from event_schedules s join events e on e.id = s.event_id
                where s.id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    row.parse("status", ScheduleStatus::parse)?
        .check_on_sale(row.parse("event_status", EventStatus::parse)?)?;
    SaleWindow { starts_at: row.get("sale_starts_at")?, ends_at: row.get("sale_ends_at")? }
        .check(now)?;
    if row.get::<Option<Timestamp>>("stopped_at")?.is_some() {
        return Err(Refusal::SaleStopped.into());
    }
    Ok(SaleTerms {
        seats_per_person: row.get("seats_per_person")?,
        fees: json_or_default::<PriceOptions>(&row, "price_options")?.fees,
        prices: changed_prices(&row, now)?,
        currency: row.parse("currency", Currency::parse)?,
    })
}

async fn stand_by(tx: &mut dyn Tx, command: &StandBy) -> Result<StandbyPlace> {
    let (user, schedule) = (command.user, command.schedule);
    tx.lock(Uuid::from_u128(user.uuid().as_u128() ^ schedule.uuid().as_u128())).await?;
    check_sale(tx, schedule, command.now).await?;
    let known = standby_of(tx, &StandbyOf { user, schedule }).await?;
    if let Some(known) = known.filter(|known| known.standby.state.is_open()) {
        return Ok(known);
    }
    let sql = "insert into standbys
                 (id, user_id, schedule_id, grade, n_seats, state, created_at, updated_at)
               values ($1, $2, $3, $4, $5, 'WAITING', $6, $6)";
    let values =
        params![command.standby, user, schedule, &command.grade, command.count, command.now];
    tx.execute(sql, values).await?;
    let found = standby_of(tx, &StandbyOf { user, schedule }).await?;
    found.ok_or_else(|| Error::broken("a standby entry disappeared within its transaction"))
}

async fn standby_of(tx: &mut dyn Tx, question: &StandbyOf) -> Result<Option<StandbyPlace>> {
    let sql = "select id, user_id, schedule_id, grade, n_seats, state, reservation_id, created_at
                 from standbys where user_id = $1 and schedule_id = $2 order by id desc limit 1";
    let Some(row) = tx.row(sql, params![question.user, question.schedule]).await? else {
        return Ok(None);
    };
    let standby = read(&row)?;
    let sql = "select count(*) as n_ahead from standbys
                where schedule_id = $1 and state = 'WAITING' and grade = $2 and n_seats = $3
                  and id < $4";
    let values = params![standby.schedule, &standby.grade, standby.count, standby.id];
    let ahead = tx.row(sql, values).await?.map(|row| row.get("n_ahead")).transpose()?;
    Ok(Some(StandbyPlace { standby, ahead: ahead.unwrap_or(0) }))
}

fn read(row: &Row) -> Result<Standby> {
    Ok(Standby {
        id: row.get("id")?,
        user: row.get("user_id")?,
        schedule: row.get("schedule_id")?,
        grade: row.get("grade")?,
        count: row.get("n_seats")?,
        state: row.parse("state", StandbyState::parse)?,
        reservation: row.get("reservation_id")?,
        created_at: row.get("created_at")?,
    })
}

async fn leave(tx: &mut dyn Tx, command: &Leave) -> Result<()> {
    let known =
        standby_of(tx, &StandbyOf { user: command.user, schedule: command.schedule }).await?;
    let standby = known.ok_or(Refusal::NotFound)?.standby;
    let next = standby.state.leave()?;
    let sql = "update standbys set state = $2, updated_at = $3 where id = $1 and state = 'WAITING'";
    tx.execute(sql, params![standby.id, next.as_str(), command.now]).await?;
    Ok(())
}

async fn waiting(tx: &mut dyn Tx, question: &Waiting) -> Result<Vec<Standby>> {
    let sql = "select w.id, w.user_id, w.schedule_id, w.grade, w.n_seats, w.state,
                      w.reservation_id, w.created_at
                 from standbys w join event_schedules s on s.id = w.schedule_id
                where w.state = 'WAITING' and s.sale_ends_at > $1 and s.status <> 'CANCELLED'
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'offer' and f.item = w.id), $1) <= $1
                order by w.id limit $2";
    tx.query(sql, params![question.now, question.limit]).await?.iter().map(read).collect()
}

async fn free_seats_of(tx: &mut dyn Tx, question: &FreeSeatsOf) -> Result<Vec<SeatIndex>> {
    let sql = "select seat_index from seats where schedule_id = $1 and state = 'FREE'";
    let rows = tx.query(sql, params![question.schedule]).await?;
    rows.iter().map(|row| Ok(row.get("seat_index")?)).collect()
}

async fn offer(tx: &mut dyn Tx, command: &OfferSeats) -> Result<()> {
    let schedule = command.pick.schedule();
    let lock = command.user.uuid().as_u128() ^ schedule.uuid().as_u128();
    tx.lock(Uuid::from_u128(lock)).await?;
    let terms = check_sale(tx, schedule, command.now).await?;
    let n_more = u32::try_from(command.pick.indexes().len()).unwrap_or(u32::MAX);
    check_seat_limit(n_active(tx, command).await?, n_more, terms.seats_per_person)?;
    let sql = "update standbys set state = 'OFFERED', reservation_id = $2, updated_at = $3
                where id = $1 and state = 'WAITING'";
    let values = params![command.standby, command.reservation, command.now];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let claim = Claim {
        reservation: command.reservation,
        user: command.user,
        channel: Channel::Fan,
        pick: &command.pick,
        phase: None,
        place: PLACE_OF_OFFER,
        until: command.until,
        fees: terms.fees,
        prices: terms.prices,
        currency: terms.currency,
        now: command.now,
    };
    let claimed = take_free_seats(tx, &claim).await?;
    store_claimed(tx, &claim, claimed).await?;
    tell(tx, command).await
}

async fn n_active(tx: &mut dyn Tx, command: &OfferSeats) -> Result<u32> {
    let sql = "select cast(coalesce(sum(n_seats), 0) as bigint) as n_active from reservations
                where schedule_id = $1 and user_id = $2 and channel = 'FAN'
                  and status in ('HELD', 'PAYING', 'CONFIRMED')
                  and not (status = 'HELD' and hold_expires_at <= $3)";
    let values = params![command.pick.schedule(), command.user, command.now];
    let row = tx.row(sql, values).await?;
    Ok(row.map(|row| row.get("n_active")).transpose()?.unwrap_or(0))
}

async fn tell(tx: &mut dyn Tx, command: &OfferSeats) -> Result<()> {
    let seats: Vec<_> = command.pick.seats().collect();
    let payload = json!({
        "standbyId": command.standby, "userId": command.user,
        "eventScheduleId": command.pick.schedule(), "reservationId": command.reservation,
        "seatIds": seats, "until": command.until,
    });
    let message = Outgoing {
        kind: MessageKind::StandbyOffered,
        aggregate: command.standby.uuid(),
        seq: 1,
        key: command.pick.schedule().uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, command.now).await
}

async fn settle(tx: &mut dyn Tx, command: &Settle) -> Result<u64> {
    let sql = "update standbys
                  set updated_at = $1,
                      state = case when reservation_id in (
                                select id from reservations
                                 where id = standbys.reservation_id
                                   and status in ('CONFIRMED', 'CANCELED'))
                              then 'TAKEN' else 'LAPSED' end
                where state = 'OFFERED' and id in (
                        select w.id
                          from standbys w join reservations r on r.id = w.reservation_id
                         where w.state = 'OFFERED' and r.status not in ('HELD', 'PAYING')
                         limit $2)";
    Ok(tx.execute(sql, params![command.now, command.limit]).await?)
}

async fn lapse(tx: &mut dyn Tx, command: &Lapse) -> Result<()> {
    let sql =
        "update standbys set state = 'LAPSED', updated_at = $2 where id = $1 and state = 'WAITING'";
    tx.execute(sql, params![command.standby, command.now]).await?;
    Ok(())
}
