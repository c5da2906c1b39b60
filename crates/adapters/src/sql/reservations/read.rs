//! Reservations as their owners see them.

use super::super::store::SqlStore;
use super::super::tx::{Tx, work};
use super::super::value::{Row, params};
use super::release::{ExpireHold, ExpireHolds, HoldsOver};
use super::seats_of;
use app::Result;
use app::paging::PageAsk;
use app::ports::keys::Once;
use app::ports::reservations::{
    Freed, Held, HoldSeats, ReleaseSeats, ReservationView, Reservations,
};
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::reservations::ReservationStatus;
use domain::{ReservationId, ScheduleId, Timestamp, UserId};
use uuid::Uuid;

struct ReservationsOf {
    user: UserId,
    page: PageAsk,
}

struct ReservationOf {
    reservation: ReservationId,
    user: UserId,
}

struct SeatsHeldBy {
    user: UserId,
    schedule: ScheduleId,
}

work!(Sales or_replica: ReservationsOf => list, Vec<ReservationView>);
work!(Sales or_replica: ReservationOf => one, Option<ReservationView>);
work!(Sales: SeatsHeldBy => seats_held, Vec<SeatIndex>);

#[async_trait]
impl Reservations for SqlStore {
    async fn hold_seats(&self, command: HoldSeats) -> Result<Once<Held>> {
        self.hold(command).await
    }

    async fn release_seats(&self, command: ReleaseSeats) -> Result<Option<Freed>> {
        self.write(command).await
    }

    async fn expire_holds(&self, now: Timestamp, limit: u32) -> Result<Vec<Freed>> {
        self.write(ExpireHolds { now, limit }).await
    }

    async fn holds_over(&self, now: Timestamp, limit: u32) -> Result<Vec<ReservationId>> {
        self.read(HoldsOver { now, limit }).await
    }

    async fn expire_hold(
        &self,
        reservation: ReservationId,
        now: Timestamp,
    ) -> Result<Option<Freed>> {
        self.write(ExpireHold { reservation, now }).await
    }

    async fn reservations_of(&self, user: UserId, page: PageAsk) -> Result<Vec<ReservationView>> {
        self.read(ReservationsOf { user, page }).await
    }

    async fn reservation(
        &self,
        reservation: ReservationId,
        user: UserId,
    ) -> Result<Option<ReservationView>> {
        self.read(ReservationOf { reservation, user }).await
    }

    async fn seats_held_by(&self, user: UserId, schedule: ScheduleId) -> Result<Vec<SeatIndex>> {
        self.read(SeatsHeldBy { user, schedule }).await
    }
}

async fn list(tx: &mut dyn Tx, question: &ReservationsOf) -> Result<Vec<ReservationView>> {
    let sql = "select id, schedule_id, status, amount, hold_expires_at, booking_number, created_at
                 from reservations where user_id = $1 and id < $2 order by id desc limit $3";
    let before = question.page.after.unwrap_or(Uuid::max());
    let values = params![question.user, before, question.page.limit + 1];
    let rows = tx.query(sql, values).await?;
    let mut views = Vec::with_capacity(rows.len());
    for row in &rows {
        views.push(view(tx, row).await?);
    }
    Ok(views)
}

async fn one(tx: &mut dyn Tx, question: &ReservationOf) -> Result<Option<ReservationView>> {
    let sql = "select id, schedule_id, status, amount, hold_expires_at, booking_number, created_at
                 from reservations where id = $1 and user_id = $2";
    match tx.row(sql, params![question.reservation, question.user]).await? {
        Some(row) => view(tx, &row).await.map(Some),
        None => Ok(None),
    }
}

async fn view(tx: &mut dyn Tx, row: &Row) -> Result<ReservationView> {
    let (id, schedule): (ReservationId, ScheduleId) = (row.get(0)?, row.get(1)?);
    Ok(ReservationView {
        id,
        schedule_id: schedule,
        status: row.parse(2, ReservationStatus::parse)?,
        seats: seats_of(tx, id, schedule).await?,
        amount: row.get(3)?,
        hold_expires_at: row.get(4)?,
        booking_number: row.get(5)?,
        created_at: row.get(6)?,
    })
}

async fn seats_held(tx: &mut dyn Tx, question: &SeatsHeldBy) -> Result<Vec<SeatIndex>> {
    let sql = "select s.seat_index
                 from reservations r join reservation_seats s on s.reservation_id = r.id
                where r.schedule_id = $1 and r.user_id = $2
                  and r.status in ('HELD', 'PAYING', 'CONFIRMED')";
    let rows = tx.query(sql, params![question.schedule, question.user]).await?;
    rows.iter().map(|row| Ok(row.get(0)?)).collect()
}
