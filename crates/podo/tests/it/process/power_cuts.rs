//! Power cuts on a disk that keeps only synced data, in the middle of a sale.
//!
//! `cycles_embedded` kills the process, and the kernel keeps what it had written. Here the unsynced
//! bytes are lost too.

use crate::operations::cycles::{Cycles, buyers, plan};
use crate::process::cycles_embedded::{launch, verify};
use crate::support::client::Api;
use crate::support::world::{World, config};
use podo::bootstrap;
use podo_testbed::VolatileDisk;
use tempfile::TempDir;

const N_BUYERS: u32 = 1_200;

/// Cuts in the usual run.
const N_CUTS: usize = 20;

/// Prepares a sale in a data folder.
async fn prepare() -> (TempDir, Cycles) {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(plan(N_BUYERS)).await;
    let cycles = Cycles::new(show, buyers(&world, N_BUYERS).await);
    world.running.stop().await;
    (folder, cycles)
}

#[tokio::test(flavor = "multi_thread")]
async fn power_cuts_lose_no_purchase_that_was_acknowledged_because_it_was_synced() {
    let (folder, cycles) = prepare().await;
    let disk = VolatileDisk::under(folder.path()).unwrap();
    for cycle in (0..).take_while(|cycle| cycles.goes_on(*cycle, N_CUTS)) {
        let mut podo = disk.attach(launch(folder.path())).start().unwrap();
        cycles.check(&Api::at(podo.url())).await;
        cycles.play(&mut podo, Some(Cycles::cut(3, cycle))).await;
        disk.cut_power().unwrap();
        verify(folder.path());
    }
    let podo = disk.attach(launch(folder.path())).start().unwrap();
    let n_told = cycles.check(&Api::at(podo.url())).await;
    assert!(n_told > 50, "only {n_told} purchases were acknowledged");
}

/// The control: without syncs, the same cuts do lose purchases.
#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_without_syncs_loses_acknowledged_purchases() {
    let (folder, cycles) = prepare().await;
    let disk = VolatileDisk::under(folder.path()).unwrap();
    let mut n_told = 0;
    for cycle in 0..N_CUTS {
        let mut podo = disk.attach_without_sync(launch(folder.path())).start().unwrap();
        cycles.play(&mut podo, Some(Cycles::cut(4, cycle))).await;
        n_told = cycles.acknowledged().len();
        if n_told > 0 {
            break;
        }
    }
    assert!(n_told > 0, "no purchase was acknowledged before the cut");
    disk.cut_power().unwrap();
    let podo = launch(folder.path()).start().unwrap();
    assert_eq!(n_lost(&cycles, &Api::at(podo.url())).await, n_told);
}

/// Acknowledged purchases that the store doesn't have.
async fn n_lost(cycles: &Cycles, stranger: &Api) -> usize {
    let mut n_lost = 0;
    for buyer in cycles.acknowledged() {
        let path = format!("/api/booking/reservations/{}", buyer.reservation.unwrap());
        let kept = stranger.with_token(&buyer.token).get(&path).await;
        let is_kept = kept.status == 200 && kept.text.contains("bookingNumber");
        n_lost += usize::from(!is_kept);
    }
    n_lost
}
