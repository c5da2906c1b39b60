//! Allocations: groups of seats that aren't for sale. A kept seat is in the state `KEPT`, and its
//! claim is the allocation; `allocation_seats` lists the seats of every group that isn't released.

mod keep;
mod list;
mod release;

use crate::sql::catalog::announce_change;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::{SqlError, Tx};
use crate::sql::engine::value::params;
use podo_app::booking::port::allocations::{
    AllocatedSeat, AllocationChange, AllocationView, Allocations, ChangeAllocation,
    CreateAllocation, DueRelease, KeepSeats, ReleaseKept,
};
use podo_app::{Error, Result};
use podo_domain::booking::allocations::AllocationTerms;
use podo_domain::{AllocationId, Refusal, ScheduleId, Timestamp, UserId};
use serde_json::json;

commands! {
    impl Allocations for SqlStore {
        write create_allocation(CreateAllocation) -> AllocationChange as Sales => create;
        write change_allocation(ChangeAllocation) -> AllocationView as Sales => change;
        write keep_seats(KeepSeats) -> AllocationChange as Sales => keep::keep;
        write release_kept(ReleaseKept) -> AllocationChange as Sales => release::release;
        read allocations_of(AllocationsOf { schedule: ScheduleId })
            -> Vec<AllocationView> as Event => list::list;
        read allocated_seats(AllocatedSeats { schedule: ScheduleId })
            -> Vec<AllocatedSeat> as Event => list::seats;
        read releases_due(ReleasesDue { now: Timestamp, limit: u32 })
            -> Vec<DueRelease> as Worker => list::due;
    }
}

/// The actor of a release at a time.
const PLATFORM: UserId = UserId::new(uuid::Uuid::nil());

async fn sale_end(tx: &mut dyn Tx, schedule: ScheduleId) -> Result<Timestamp> {
    let sql = "select sale_ends_at from event_schedules where id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    Ok(row.get("sale_ends_at")?)
}

async fn create(tx: &mut dyn Tx, command: &CreateAllocation) -> Result<AllocationChange> {
    let CreateAllocation { actor, schedule, allocation, terms, seats, now } = command;
    terms.check(None, sale_end(tx, *schedule).await?, *now)?;
    let sql = "insert into allocations
                 (id, schedule_id, name, kind, note, release_at, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, $7, $7)";
    let values = params![
        *allocation,
        *schedule,
        &terms.name,
        terms.kind.as_str(),
        terms.note.clone(),
        terms.release_at,
        *now
    ];
    tx.execute(sql, values).await.map_err(name_taken)?;
    announce(tx, *actor, "allocation.create", *schedule, details(*allocation, terms), *now).await?;
    if let Some(seats) = seats {
        let (actor, allocation, now) = (*actor, *allocation, *now);
        return keep::keep(tx, &KeepSeats { actor, allocation, seats: seats.clone(), now }).await;
    }
    let view = list::one(tx, *schedule, *allocation).await?;
    Ok(AllocationChange { view, seats: Vec::new(), freed: Vec::new() })
}

async fn change(tx: &mut dyn Tx, command: &ChangeAllocation) -> Result<AllocationView> {
    let ChangeAllocation { actor, schedule, allocation, terms, now } = command;
    let before = list::one(tx, *schedule, *allocation).await?;
    terms.check(before.release_at, sale_end(tx, *schedule).await?, *now)?;
    let sql = "update allocations
                  set name = $3, kind = $4, note = $5, release_at = $6, updated_at = $7
                where id = $1 and schedule_id = $2 and released_at is null";
    let values = params![
        *allocation,
        *schedule,
        &terms.name,
        terms.kind.as_str(),
        terms.note.clone(),
        terms.release_at,
        *now
    ];
    if tx.execute(sql, values).await.map_err(name_taken)? == 0 {
        return Err(Refusal::AllocationReleased.into());
    }
    announce(tx, *actor, "allocation.change", *schedule, details(*allocation, terms), *now).await?;
    list::one(tx, *schedule, *allocation).await
}

fn name_taken(error: SqlError) -> Error {
    match error.is_constraint("allocations_name") {
        true => Refusal::AllocationExists.into(),
        false => error.into(),
    }
}

fn details(allocation: AllocationId, terms: &AllocationTerms) -> serde_json::Value {
    json!({
        "allocationId": allocation, "name": terms.name, "kind": terms.kind,
        "releaseAt": terms.release_at,
    })
}

/// An audit entry, and a message by which the nodes read the seats of the date again.
async fn announce(
    tx: &mut dyn Tx,
    actor: UserId,
    action: &str,
    schedule: ScheduleId,
    details: serde_json::Value,
    now: Timestamp,
) -> Result<()> {
    announce_change(tx, actor, action, schedule.uuid(), details, now).await
}

/// Locks the row of an allocation that isn't released, so that its commands follow one another.
async fn lock(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    allocation: AllocationId,
    now: Timestamp,
) -> Result<()> {
    let sql = "update allocations set updated_at = $3
                where id = $1 and schedule_id = $2 and released_at is null";
    if tx.execute(sql, params![allocation, schedule, now]).await? == 1 {
        return Ok(());
    }
    list::one(tx, schedule, allocation).await?;
    Err(Refusal::AllocationReleased.into())
}
