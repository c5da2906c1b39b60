//! Claimed seats, and the record of repairs to the seat filter.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, first_at, params};
use crate::sql::operations::audit;
use crate::sql::operations::audit::AuditEntry;
use crate::sql::operations::leases;
use crate::sql::waiting_room::history;
use crate::sql::waiting_room::history::SchedulesEntered;
use podo_app::Result;
use podo_app::booking::port::reconciliation::{Reconciliation, RecordHealing};
use podo_domain::booking::allocations::keeper;
use podo_domain::booking::reconciliation::{Claim, Kind};
use podo_domain::booking::seats::SeatState;
use podo_domain::id::SeatIndex;
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The actor of changes that the platform itself makes.
const PLATFORM: UserId = UserId::new(Uuid::nil());

commands! {
    impl Reconciliation for SqlStore {
        read claims_of(ClaimsOf { schedule: ScheduleId, now: Timestamp })
            -> BTreeMap<SeatIndex, Claim> as Worker => claims;
        read schedules_touched(SchedulesTouched { since: Timestamp, now: Timestamp })
            -> Vec<ScheduleId> as Worker => touched;
        write record_healing(RecordHealing) -> () as Worker => record;
    }
}

/// Starts from the claims, because most seats of most dates have none. On SQLite a cross join keeps
/// that order; a PostgreSQL that counts on many claims would read all reservations instead.
async fn claims(tx: &mut dyn Tx, question: &ClaimsOf) -> Result<BTreeMap<SeatIndex, Claim>> {
    let sql = "select s.seat_index, r.user_id, s.state, s.expires_at
                 from reservation_seats c cross join seats s cross join reservations r
                where c.schedule_id = $1 and c.active
                  and s.schedule_id = c.schedule_id and s.seat_index = c.seat_index
                  and s.state <> 'FREE' and not (s.state = 'HELD' and s.expires_at <= $2)
                  and r.id = s.claim";
    tx.follow_indexes().await?;
    let rows = tx.query(sql, params![question.schedule, question.now]).await?;
    let mut claims = rows.iter().map(read).collect::<Result<BTreeMap<_, _>>>()?;
    let sql = "select s.seat_index, a.allocation_id
                 from allocation_seats a
                 join seats s on s.schedule_id = a.schedule_id and s.seat_index = a.seat_index
                where a.schedule_id = $1 and s.state = 'KEPT'";
    for row in tx.query(sql, params![question.schedule]).await? {
        let (fan, until) = (keeper(row.get("allocation_id")?), Some(Timestamp::FAR_FUTURE));
        claims.insert(row.get("seat_index")?, Claim { fan, until });
    }
    Ok(claims)
}

/// Every change of a claim writes a message whose key is the date, and a fan who takes seats has an
/// entry. Other messages have keys that are no dates, which does no harm.
async fn touched(tx: &mut dyn Tx, question: &SchedulesTouched) -> Result<Vec<ScheduleId>> {
    let changed = "select distinct key from outbox where id >= $1";
    let entered = history::entered(tx, &SchedulesEntered { now: question.now }).await?;
    let mut touched: BTreeSet<ScheduleId> = entered.into_iter().collect();
    for row in tx.query(changed, params![first_at(question.since)]).await? {
        touched.insert(row.get::<ScheduleId>("key")?);
    }
    Ok(touched.into_iter().collect())
}

fn read(row: &Row) -> Result<(SeatIndex, Claim)> {
    let until = match row.parse("state", SeatState::parse)? {
        SeatState::Sold | SeatState::Kept => Some(Timestamp::FAR_FUTURE),
        SeatState::Paying => None,
        SeatState::Held | SeatState::Free => row.get("expires_at")?,
    };
    Ok((row.get("seat_index")?, Claim { fan: row.get("user_id")?, until }))
}

async fn record(tx: &mut dyn Tx, command: &RecordHealing) -> Result<()> {
    if let Some(lease) = &command.lease {
        leases::check_fence(tx, lease).await?;
    }
    let details: BTreeMap<&str, u64> =
        command.counts.iter().map(|(kind, n)| (Kind::as_str(*kind), *n)).collect();
    let entry = AuditEntry {
        actor: PLATFORM,
        action: "seats.reconcile",
        subject: command.schedule.to_string(),
        details: &details,
    };
    audit::append(tx, entry, command.now).await
}
