//! Releases seats, by the fan or on expiry. Releases only holds; a payment in progress keeps its
//! seats.

use crate::sql::booking::reservations::{
    ExpireHold, ExpireHolds, HoldsOver, free_seats, load, store,
};
use crate::sql::catalog::promotions::return_use;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::payments::cancel_ready;
use podo_app::Result;
use podo_app::booking::port::reservations::{Freed, ReleaseSeats};
use podo_domain::booking::reservations::{Next, Reservation};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Refusal, ReservationId, Timestamp};

pub(super) async fn release(tx: &mut dyn Tx, command: &ReleaseSeats) -> Result<Option<Freed>> {
    let found = load(tx, command.reservation).await?;
    // Another fan's reservation looks like a missing one.
    let reservation = found.filter(|found| found.user == command.user).ok_or(Refusal::NotFound)?;
    match reservation.release()? {
        Next::Same => Ok(None),
        Next::To(next) => {
            give_back(tx, &next, MessageKind::ReservationReleased, command.now).await.map(Some)
        }
    }
}

pub(super) async fn expire_due(tx: &mut dyn Tx, command: &ExpireHolds) -> Result<Vec<Freed>> {
    let due = over(tx, command.now, command.limit).await?;
    let mut freed = Vec::with_capacity(due.len());
    for reservation in due {
        let command = ExpireHold { reservation, now: command.now };
        freed.extend(expire_one(tx, &command).await?);
    }
    Ok(freed)
}

pub(super) async fn holds_over(
    tx: &mut dyn Tx,
    question: &HoldsOver,
) -> Result<Vec<ReservationId>> {
    over(tx, question.now, question.limit).await
}

/// Expired holds, without those in back-off after a failed attempt.
async fn over(tx: &mut dyn Tx, now: Timestamp, limit: u32) -> Result<Vec<ReservationId>> {
    let sql = "select id from reservations r
                 where status = 'HELD' and hold_expires_at <= $1
                   and coalesce((select f.next_at from job_failures f
                                    where f.job = 'expire' and f.item = r.id), $1) <= $1
                 order by hold_expires_at limit $2";
    let rows = tx.query(sql, params![now, limit]).await?;
    rows.iter().map(|row| Ok(row.get("id")?)).collect()
}

pub(super) async fn expire_one(tx: &mut dyn Tx, command: &ExpireHold) -> Result<Option<Freed>> {
    let Some(reservation) = load(tx, command.reservation).await? else { return Ok(None) };
    expire(tx, &reservation, command.now).await
}

/// Ends a hold that has expired; does nothing to one that hasn't.
pub(crate) async fn expire(
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

/// Stores a reservation that ended without a ticket, frees its seats, cancels its prepared payment
/// and returns the use of its promotion code.
pub(crate) async fn give_back(
    tx: &mut dyn Tx,
    ended: &Reservation,
    kind: MessageKind,
    now: Timestamp,
) -> Result<Freed> {
    let seats = store(tx, ended, kind, now).await?;
    cancel_ready(tx, ended.id, now).await?;
    return_use(tx, ended.promotion, now).await?;
    free_seats(tx, ended, &seats).await
}
