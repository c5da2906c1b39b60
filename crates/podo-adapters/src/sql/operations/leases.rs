//! Leases: one row per job, taken by comparing its expiry with now.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::operations::port::leases::{Lease, Leases, TakeLease};
use podo_app::{Error, Result};
use podo_domain::{NodeId, Timestamp};
use std::time::Duration;

commands! {
    impl Leases for SqlStore {
        write take_lease(TakeLease) -> Option<Lease> as Worker => take;
        write give_up_lease(GiveUp { lease: Lease }) -> () as Worker => give_up;
        read leads_of(LeadsOf { holder: NodeId, now: Timestamp })
            -> Vec<String> as Worker => leads_of;
    }
}

/// One statement, so that only one of two nodes gets it. A node that let its lease lapse also gets
/// a new fence, because another node may have held it in between. A lease that ends later than any
/// that can be requested now comes from a clock that ran ahead; waiting for it would leave the job
/// undone.
async fn take(tx: &mut dyn Tx, command: &TakeLease) -> Result<Option<Lease>> {
    let sql = "insert into leases (job, holder, fence, held_until) values ($1, $2, 1, $3)
               on conflict (job) do update
                  set fence = leases.fence + case when leases.holder = excluded.holder
                                                   and leases.held_until > $4 then 0 else 1 end,
                      holder = excluded.holder, held_until = excluded.held_until
                where leases.holder = excluded.holder or leases.held_until <= $4
                   or leases.held_until > $5
               returning fence";
    let TakeLease { job, holder, until, now } = *command;
    let length = Duration::from_millis((until.ms() - now.ms()).unsigned_abs());
    let row = tx.row(sql, params![job, holder, until, now, until.plus(length)]).await?;
    let fence = row.map(|row| row.get("fence")).transpose()?;
    Ok(fence.map(|fence| Lease { job, holder, fence, until }))
}

/// Sets the expiry to the epoch, which is past by any node's clock.
async fn give_up(tx: &mut dyn Tx, command: &GiveUp) -> Result<()> {
    let sql = "update leases set held_until = $4
                where job = $1 and holder = $2 and fence = $3";
    let Lease { job, holder, fence, .. } = command.lease;
    tx.execute(sql, params![job, holder, fence, Timestamp::from_ms(0)]).await?;
    Ok(())
}

async fn leads_of(tx: &mut dyn Tx, question: &LeadsOf) -> Result<Vec<String>> {
    let sql = "select job from leases where holder = $1 and held_until > $2 order by job";
    let rows = tx.query(sql, params![question.holder, question.now]).await?;
    rows.iter().map(|row: &Row| Ok(row.get("job")?)).collect()
}

/// Refuses a node that has lost its lease. The row stays locked until the transaction ends, so the
/// lease can't pass on between the check and the commit.
pub(crate) async fn check_fence(tx: &mut dyn Tx, lease: &Lease) -> Result<()> {
    let sql = "update leases set held_until = held_until
                where job = $1 and holder = $2 and fence = $3";
    if tx.execute(sql, params![lease.job, lease.holder, lease.fence]).await? == 1 {
        return Ok(());
    }
    Err(Error::Unavailable(format!("another node holds the lease of `{}` now", lease.job)))
}
