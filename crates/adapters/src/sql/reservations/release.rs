//! Giving seats back: by the fan, or because the time is up. Only a hold is ever given back here;
//! a payment under way keeps its seats.

use super::super::payments::cancel_ready;
use super::super::tx::{Guard, Tx, work};
use super::super::value::params;
use super::{free_seats, load, store};
use app::Result;
use app::ports::reservations::{Freed, ReleaseSeats};
use domain::messages::MessageKind;
use domain::reservations::{Next, Reservation, ReservationStatus};
use domain::{Refusal, ReservationId, Timestamp};

pub(super) struct ExpireHolds {
    pub(super) now: Timestamp,
    pub(super) limit: u32,
}

pub(super) struct HoldsOver {
    pub(super) now: Timestamp,
    pub(super) limit: u32,
}

pub(super) struct ExpireHold {
    pub(super) reservation: ReservationId,
    pub(super) now: Timestamp,
}

work!(Sales: ReleaseSeats => release, Option<Freed>);
work!(Worker: ExpireHolds => expire_due, Vec<Freed>);
work!(Worker: HoldsOver => holds_over, Vec<ReservationId>);
work!(Worker: ExpireHold => expire_one, Option<Freed>);

async fn release(tx: &mut dyn Tx, command: &ReleaseSeats) -> Result<Option<Freed>> {
    let found = load(tx, command.reservation).await?;
    // Somebody else's reservation looks like none.
    let reservation = found.filter(|found| found.user == command.user).ok_or(Refusal::NotFound)?;
    match reservation.release()? {
        Next::Same => Ok(None),
        Next::To(next) => {
            give_back(tx, &next, MessageKind::ReservationReleased, command.now).await.map(Some)
        }
    }
}

async fn expire_due(tx: &mut dyn Tx, command: &ExpireHolds) -> Result<Vec<Freed>> {
    let due = over(tx, (command.now, command.limit)).await?;
    let mut freed = Vec::with_capacity(due.len());
    for reservation in due {
        let command = ExpireHold { reservation, now: command.now };
        freed.extend(expire_one(tx, &command).await?);
    }
    Ok(freed)
}

async fn holds_over(tx: &mut dyn Tx, question: &HoldsOver) -> Result<Vec<ReservationId>> {
    over(tx, (question.now, question.limit)).await
}

/// Holds past their time; those that could not be ended wait for their next try.
async fn over(tx: &mut dyn Tx, (now, limit): (Timestamp, u32)) -> Result<Vec<ReservationId>> {
    let held = "select id from reservations r
                 where status = 'HELD' and hold_expires_at <= $1
                   and coalesce((select f.next_at from job_failures f
                                    where f.job = 'expire' and f.item = r.id), $1) <= $1
                 order by hold_expires_at limit $2";
    let any = "select id from reservations
                where status in ('HELD', 'PAYING') and hold_expires_at <= $1
                order by hold_expires_at limit $2";
    let sql = if tx.has(Guard::SweepSparesPaying) { held } else { any };
    let rows = tx.query(sql, params![now, limit]).await?;
    rows.iter().map(|row| Ok(row.get(0)?)).collect()
}

async fn expire_one(tx: &mut dyn Tx, command: &ExpireHold) -> Result<Option<Freed>> {
    let Some(mut reservation) = load(tx, command.reservation).await? else { return Ok(None) };
    if !tx.has(Guard::SweepSparesPaying) {
        reservation.status = ReservationStatus::Held;
    }
    expire(tx, &reservation, command.now).await
}

/// Ends a hold whose time is up; nothing when it is not.
pub(in super::super) async fn expire(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    now: Timestamp,
) -> Result<Option<Freed>> {
    match reservation.expire(now) {
        Next::Same => Ok(None),
        Next::To(next) => {
            give_back(tx, &next, MessageKind::ReservationExpired, now).await.map(Some)
        }
    }
}

/// Stores a reservation that ended without a ticket and frees its seats; a payment that was only
/// prepared ends with it.
pub(in super::super) async fn give_back(
    tx: &mut dyn Tx,
    ended: &Reservation,
    kind: MessageKind,
    now: Timestamp,
) -> Result<Freed> {
    let seats = store(tx, ended, kind, now).await?;
    cancel_ready(tx, ended.id, now).await?;
    free_seats(tx, ended, &seats).await
}
