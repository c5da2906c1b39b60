//! The standby list: who waits for which seats, and the holds that are made for them.

use super::outbox::{self, Outgoing};
use super::reservations::{Claim, store_claimed, take_free_seats};
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::ports::standby::{OfferSeats, Place, StandBy, Standbys};
use app::{Error, Result};
use async_trait::async_trait;
use domain::catalog::{EventStatus, SaleWindow, ScheduleStatus};
use domain::id::SeatIndex;
use domain::messages::MessageKind;
use domain::reservations::check_seat_limit;
use domain::standby::{PLACE_OF_OFFER, Standby, StandbyState};
use domain::{Refusal, ScheduleId, StandbyId, Timestamp, UserId};
use serde_json::json;
use uuid::Uuid;

struct StandbyOf(UserId, ScheduleId);
struct Leave(UserId, ScheduleId, Timestamp);
struct Waiting(Timestamp, u32);
struct FreeSeatsOf(ScheduleId);
struct Settle(Timestamp, u32);
struct Lapse(StandbyId, Timestamp);

work!(Sales: StandBy => stand_by, Place);
work!(Sales: StandbyOf => standby_of, Option<Place>);
work!(Sales: Leave => leave, ());
work!(Sales: OfferSeats => offer, ());
work!(Worker: Waiting => waiting, Vec<Standby>);
work!(Worker: FreeSeatsOf => free_seats_of, Vec<SeatIndex>);
work!(Worker: Settle => settle, u64);
work!(Worker: Lapse => lapse, ());

#[async_trait]
impl Standbys for SqlStore {
    async fn stand_by(&self, command: StandBy) -> Result<Place> {
        self.write(command).await
    }

    async fn standby_of(&self, user: UserId, schedule: ScheduleId) -> Result<Option<Place>> {
        self.read(StandbyOf(user, schedule)).await
    }

    async fn leave_standby(
        &self,
        user: UserId,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<()> {
        self.write(Leave(user, schedule, now)).await
    }

    async fn waiting_standbys(&self, now: Timestamp, limit: u32) -> Result<Vec<Standby>> {
        self.read(Waiting(now, limit)).await
    }

    async fn free_seats_of(&self, schedule: ScheduleId) -> Result<Vec<SeatIndex>> {
        self.read(FreeSeatsOf(schedule)).await
    }

    async fn offer_seats(&self, command: OfferSeats) -> Result<()> {
        self.write(command).await
    }

    async fn settle_standbys(&self, now: Timestamp, limit: u32) -> Result<u64> {
        self.write(Settle(now, limit)).await
    }

    async fn lapse_standby(&self, standby: StandbyId, now: Timestamp) -> Result<()> {
        self.write(Lapse(standby, now)).await
    }
}

async fn check_sale(tx: &mut dyn Tx, schedule: ScheduleId, now: Timestamp) -> Result<u32> {
    let sql = "select s.sale_starts_at, s.sale_ends_at, s.status, e.status, s.seats_per_person,
                      s.stopped_at
                 from event_schedules s join events e on e.id = s.event_id
                where s.id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    row.parse(2, ScheduleStatus::parse)?.check_on_sale(row.parse(3, EventStatus::parse)?)?;
    SaleWindow { starts_at: row.get(0)?, ends_at: row.get(1)? }.check(now)?;
    if row.get::<Option<Timestamp>>(5)?.is_some() {
        return Err(Refusal::SaleStopped.into());
    }
    Ok(row.get(4)?)
}

async fn stand_by(tx: &mut dyn Tx, command: &StandBy) -> Result<Place> {
    let (user, schedule) = (command.user, command.schedule);
    tx.lock(Uuid::from_u128(user.uuid().as_u128() ^ schedule.uuid().as_u128())).await?;
    check_sale(tx, schedule, command.now).await?;
    let known = standby_of(tx, &StandbyOf(user, schedule)).await?;
    if let Some(known) = known.filter(|known| known.standby.state.is_open()) {
        return Ok(known);
    }
    let sql = "insert into standbys
                 (id, user_id, schedule_id, grade, n_seats, state, created_at, updated_at)
               values ($1, $2, $3, $4, $5, 'WAITING', $6, $6)";
    let values =
        params![command.standby, user, schedule, &command.grade, command.count, command.now];
    tx.execute(sql, values).await?;
    let found = standby_of(tx, &StandbyOf(user, schedule)).await?;
    found.ok_or_else(|| Error::broken("a standby is gone within its transaction"))
}

async fn standby_of(tx: &mut dyn Tx, question: &StandbyOf) -> Result<Option<Place>> {
    let sql = "select id, user_id, schedule_id, grade, n_seats, state, reservation_id, created_at
                 from standbys where user_id = $1 and schedule_id = $2 order by id desc limit 1";
    let Some(row) = tx.row(sql, params![question.0, question.1]).await? else { return Ok(None) };
    let standby = read(&row)?;
    let sql = "select count(*) from standbys
                where schedule_id = $1 and state = 'WAITING' and grade = $2 and n_seats = $3
                  and id < $4";
    let values = params![standby.schedule, &standby.grade, standby.count, standby.id];
    let ahead = tx.row(sql, values).await?.map(|row| row.get(0)).transpose()?;
    Ok(Some(Place { standby, ahead: ahead.unwrap_or(0) }))
}

fn read(row: &Row) -> Result<Standby> {
    Ok(Standby {
        id: row.get(0)?,
        user: row.get(1)?,
        schedule: row.get(2)?,
        grade: row.get(3)?,
        count: row.get(4)?,
        state: row.parse(5, StandbyState::parse)?,
        reservation: row.get(6)?,
        created_at: row.get(7)?,
    })
}

async fn leave(tx: &mut dyn Tx, command: &Leave) -> Result<()> {
    let known = standby_of(tx, &StandbyOf(command.0, command.1)).await?;
    let standby = known.ok_or(Refusal::NotFound)?.standby;
    let next = standby.state.leave()?;
    let sql = "update standbys set state = $2, updated_at = $3 where id = $1 and state = 'WAITING'";
    tx.execute(sql, params![standby.id, next.as_str(), command.2]).await?;
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
    tx.query(sql, params![question.0, question.1]).await?.iter().map(read).collect()
}

async fn free_seats_of(tx: &mut dyn Tx, question: &FreeSeatsOf) -> Result<Vec<SeatIndex>> {
    let sql = "select seat_index from seats where schedule_id = $1 and state = 'FREE'";
    let rows = tx.query(sql, params![question.0]).await?;
    rows.iter().map(|row| Ok(row.get(0)?)).collect()
}

async fn offer(tx: &mut dyn Tx, command: &OfferSeats) -> Result<()> {
    let schedule = command.pick.schedule();
    let lock = command.user.uuid().as_u128() ^ schedule.uuid().as_u128();
    tx.lock(Uuid::from_u128(lock)).await?;
    let max = check_sale(tx, schedule, command.now).await?;
    let n_more = u32::try_from(command.pick.indexes().len()).unwrap_or(u32::MAX);
    check_seat_limit(n_active(tx, command).await?, n_more, max)?;
    let sql = "update standbys set state = 'OFFERED', reservation_id = $2, updated_at = $3
                where id = $1 and state = 'WAITING'";
    let values = params![command.standby, command.reservation, command.now];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let claim = Claim {
        reservation: command.reservation,
        user: command.user,
        pick: &command.pick,
        place: PLACE_OF_OFFER,
        until: command.until,
        now: command.now,
    };
    let claimed = take_free_seats(tx, &claim).await?;
    store_claimed(tx, &claim, claimed).await?;
    tell(tx, command).await
}

async fn n_active(tx: &mut dyn Tx, command: &OfferSeats) -> Result<u32> {
    let sql = "select cast(coalesce(sum(n_seats), 0) as bigint) from reservations
                where schedule_id = $1 and user_id = $2
                  and status in ('HELD', 'PAYING', 'CONFIRMED')
                  and not (status = 'HELD' and hold_expires_at <= $3)";
    let values = params![command.pick.schedule(), command.user, command.now];
    let row = tx.row(sql, values).await?;
    Ok(row.map(|row| row.get(0)).transpose()?.unwrap_or(0))
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
    Ok(tx.execute(sql, params![command.0, command.1]).await?)
}

async fn lapse(tx: &mut dyn Tx, command: &Lapse) -> Result<()> {
    let sql =
        "update standbys set state = 'LAPSED', updated_at = $2 where id = $1 and state = 'WAITING'";
    tx.execute(sql, params![command.0, command.1]).await?;
    Ok(())
}
