//! Reads allocations and their seats.

use crate::sql::booking::allocations::{AllocatedSeats, AllocationsOf, ReleasesDue};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::booking::port::allocations::{AllocatedSeat, AllocationView, DueRelease};
use podo_domain::booking::allocations::AllocationKind;
use podo_domain::{AllocationId, Refusal, ScheduleId};

/// The start of every query that `read_view` reads.
macro_rules! allocations {
    () => {
        "select k.id, k.schedule_id, k.name, k.kind, k.note, k.release_at, k.released_at,
                (select count(*) from allocation_seats a
                   join seats s on s.schedule_id = a.schedule_id and s.seat_index = a.seat_index
                  where a.allocation_id = k.id and s.state = 'KEPT') as n_kept,
                (select count(*) from allocation_seats a
                  where a.allocation_id = k.id) as n_seats
           from allocations k"
    };
}

fn read_view(row: &Row) -> Result<AllocationView> {
    let (kept, n_seats): (u32, u32) = (row.get("n_kept")?, row.get("n_seats")?);
    Ok(AllocationView {
        id: row.get("id")?,
        schedule_id: row.get("schedule_id")?,
        name: row.get("name")?,
        kind: row.parse("kind", AllocationKind::parse)?,
        note: row.get("note")?,
        release_at: row.get("release_at")?,
        released_at: row.get("released_at")?,
        kept,
        issued: n_seats.saturating_sub(kept),
    })
}

/// An allocation of another date looks like a missing one.
pub(super) async fn one(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    allocation: AllocationId,
) -> Result<AllocationView> {
    let sql = concat!(allocations!(), " where k.id = $1 and k.schedule_id = $2");
    let row = tx.row(sql, params![allocation, schedule]).await?.ok_or(Refusal::NotFound)?;
    read_view(&row)
}

pub(super) async fn list(tx: &mut dyn Tx, question: &AllocationsOf) -> Result<Vec<AllocationView>> {
    let sql = concat!(allocations!(), " where k.schedule_id = $1 order by k.id");
    tx.query(sql, params![question.schedule]).await?.iter().map(read_view).collect()
}

pub(super) async fn seats(
    tx: &mut dyn Tx,
    question: &AllocatedSeats,
) -> Result<Vec<AllocatedSeat>> {
    let sql = "select a.seat_index, a.allocation_id, s.state <> 'KEPT' as is_issued
                 from allocation_seats a
                 join seats s on s.schedule_id = a.schedule_id and s.seat_index = a.seat_index
                where a.schedule_id = $1 order by a.seat_index";
    let read = |row: &Row| {
        Ok(AllocatedSeat {
            seat_id: question.schedule.seat(row.get("seat_index")?),
            allocation_id: row.get("allocation_id")?,
            issued: row.get("is_issued")?,
        })
    };
    tx.query(sql, params![question.schedule]).await?.iter().map(read).collect()
}

pub(super) async fn due(tx: &mut dyn Tx, question: &ReleasesDue) -> Result<Vec<DueRelease>> {
    let sql = "select id, schedule_id from allocations k
                where released_at is null and release_at is not null and release_at <= $1
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'release-kept' and f.item = k.id), $1) <= $1
                order by release_at limit $2";
    let read = |row: &Row| {
        Ok(DueRelease { allocation: row.get("id")?, schedule: row.get("schedule_id")? })
    };
    tx.query(sql, params![question.now, question.limit]).await?.iter().map(read).collect()
}
