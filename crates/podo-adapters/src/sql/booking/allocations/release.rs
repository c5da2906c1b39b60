//! Puts kept seats on sale: some of them, or all when the allocation ends.

use crate::sql::booking::allocations::{PLATFORM, announce, list, lock};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_app::booking::port::allocations::{AllocationChange, ReleaseKept};
use podo_domain::booking::allocations::KeepPick;
use podo_domain::booking::standby::KEPT_FOR;
use podo_domain::id::SeatIndex;
use podo_domain::{AllocationId, Refusal, ScheduleId, Timestamp};
use serde_json::json;

pub(super) async fn release(tx: &mut dyn Tx, command: &ReleaseKept) -> Result<AllocationChange> {
    let (schedule, allocation, now) = (command.schedule, command.allocation, command.now);
    lock(tx, schedule, allocation, now).await?;
    let seats = match &command.seats {
        Some(pick) => {
            let freed = free_kept(tx, command, pick.indexes()).await?;
            refuse_others(tx, allocation, pick, &freed).await?;
            forget_some(tx, schedule, &freed).await?;
            freed
        }
        None => {
            let kept = seats_of(tx, allocation).await?;
            let freed = free_kept(tx, command, &kept).await?;
            end(tx, allocation, now).await?;
            freed
        }
    };
    let details = json!({
        "allocationId": allocation, "seats": seats, "isWhole": command.seats.is_none(),
    });
    let actor = command.actor.unwrap_or(PLATFORM);
    announce(tx, actor, "allocation.release", schedule, details, now).await?;
    let view = list::one(tx, schedule, allocation).await?;
    Ok(AllocationChange { view, seats, freed: Vec::new() })
}

/// Frees the seats that the allocation keeps; returns them. The standby list gets them first, as
/// other seats that come back.
async fn free_kept(
    tx: &mut dyn Tx,
    command: &ReleaseKept,
    indexes: &[SeatIndex],
) -> Result<Vec<SeatIndex>> {
    let sql =
        "select 1 as found from standbys where schedule_id = $1 and state = 'WAITING' limit 1";
    let (schedule, allocation) = (command.schedule, command.allocation);
    let has_standbys = tx.row(sql, params![schedule]).await?.is_some();
    let back_at = has_standbys.then(|| command.now.plus(KEPT_FOR));
    let sql = "update seats set state = 'FREE', claim = null, expires_at = $4, fence = fence + 1
                where schedule_id = $1 and seat_index = $2 and claim = $3 and state = 'KEPT'
               returning seat_index";
    let set = |index: &SeatIndex| params![schedule, *index, allocation, back_at].to_vec();
    let found = tx.query_each(sql, indexes.iter().map(set).collect()).await?;
    let freed = indexes.iter().zip(&found).filter(|(_, rows)| !rows.is_empty());
    Ok(freed.map(|(index, _)| *index).collect())
}

/// Refuses seats of the request that weren't kept: sold ones, and those that never belonged to it.
async fn refuse_others(
    tx: &mut dyn Tx,
    allocation: AllocationId,
    pick: &KeepPick,
    freed: &[SeatIndex],
) -> Result<()> {
    let ours = seats_of(tx, allocation).await?;
    let left = pick.indexes().iter().filter(|index| freed.binary_search(index).is_err());
    let (sold, foreign): (Vec<SeatIndex>, Vec<SeatIndex>) =
        left.partition(|index| ours.binary_search(index).is_ok());
    let ids = |seats: Vec<SeatIndex>| seats.iter().map(|it| pick.schedule().seat(*it)).collect();
    match (sold.is_empty(), foreign.is_empty()) {
        (true, true) => Ok(()),
        (false, _) => Err(Refusal::KeptSeatsSold { seats: ids(sold) }.into()),
        (true, false) => Err(Refusal::SeatsNotKept { seats: ids(foreign) }.into()),
    }
}

/// The seats of an allocation, kept or sold, in order.
async fn seats_of(tx: &mut dyn Tx, allocation: AllocationId) -> Result<Vec<SeatIndex>> {
    let sql = "select seat_index from allocation_seats
                where allocation_id = $1 order by seat_index";
    let rows = tx.query(sql, params![allocation]).await?;
    rows.iter().map(|row| Ok(row.get("seat_index")?)).collect()
}

async fn forget_some(tx: &mut dyn Tx, schedule: ScheduleId, seats: &[SeatIndex]) -> Result<()> {
    let sql = "delete from allocation_seats where schedule_id = $1 and seat_index = $2";
    let set = |index: &SeatIndex| params![schedule, *index].to_vec();
    tx.execute_each(sql, seats.iter().map(set).collect()).await?;
    Ok(())
}

/// Sold seats of an allocation that ended go on general sale when they come back.
async fn end(tx: &mut dyn Tx, allocation: AllocationId, now: Timestamp) -> Result<()> {
    let sql = "delete from allocation_seats where allocation_id = $1";
    tx.execute(sql, params![allocation]).await?;
    let sql = "update allocations set released_at = $2, updated_at = $2 where id = $1";
    tx.execute(sql, params![allocation, now]).await?;
    Ok(())
}
