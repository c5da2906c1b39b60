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

work!(Sales: ReleaseSeats => release, Option<Freed>);
work!(Worker: ExpireHolds => expire_due, Vec<Freed>);

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
    let held = "select id from reservations
                 where status = 'HELD' and hold_expires_at <= $1
                 order by hold_expires_at limit $2";
    let any = "select id from reservations
                where status in ('HELD', 'PAYING') and hold_expires_at <= $1
                order by hold_expires_at limit $2";
    let spares_paying = tx.has(Guard::SweepSparesPaying);
    let sql = if spares_paying { held } else { any };
    let due = tx.query(sql, params![command.now, command.limit]).await?;
    let mut freed = Vec::with_capacity(due.len());
    for row in due {
        let id: ReservationId = row.get(0)?;
        if let Some(mut reservation) = load(tx, id).await? {
            if !spares_paying {
                reservation.status = ReservationStatus::Held;
            }
            freed.extend(expire(tx, &reservation, command.now).await?);
        }
    }
    Ok(freed)
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
