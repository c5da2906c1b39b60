//! Retention of log-ins.

use crate::world::{Fan, World};
use podo_adapters::clock::{SystemClock, SystemRng};
use podo_adapters::sql::SqlStore;
use podo_app::identity::port::accounts::{Accounts, LoginAttempt, LoginsKept};
use podo_app::operations::port::clock::{Clock, Rng};
use podo_app::store::PageRequest;
use podo_domain::{LoginId, Timestamp};
use std::time::Duration;

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// The real time: engines have their own clock, and keep the last months regardless of `now`.
pub(crate) fn today() -> Timestamp {
    SystemClock.now()
}

/// A failed log-in at that moment, to the account of a fan.
pub(crate) async fn log_in_at(store: &SqlStore, fan: &Fan, now: Timestamp) {
    let attempt = LoginAttempt {
        login: LoginId::new(SystemRng::new().id(now)),
        user: Some(fan.id),
        method: "EMAIL",
        email_hash: [1; 32],
        ip: None,
        network: None,
        agent: None,
        budget: None,
        success: false,
        reason: Some("PASSWORD"),
        now,
    };
    store.record_failed_login(attempt).await.unwrap();
}

/// The times of a fan's stored log-ins, newest first.
pub(crate) async fn known(store: &SqlStore, fan: &Fan) -> Vec<Timestamp> {
    let page = PageRequest { limit: 100, after: None };
    let logins = store.logins_of(fan.id, page).await.unwrap();
    logins.iter().map(|login| login.at).collect()
}

#[tokio::test]
async fn old_log_ins_are_forgotten_a_few_at_a_time_and_young_ones_stay() {
    let world = World::new().await;
    let (fan, now) = (world.fan().await, today());
    let young = [now, now.minus(DAY), now.minus(DAY * 60)];
    let old = [now.minus(DAY * 150), now.minus(DAY * 200), now.minus(DAY * 400)];
    for moment in young.into_iter().chain(old) {
        log_in_at(&world.store, &fan, moment).await;
    }
    let keep = || world.store.apply_login_retention(now.minus(DAY * 92), 2, now);
    for (deleted, left) in [(2, 4), (1, 3), (0, 3)] {
        assert_eq!(keep().await.unwrap(), LoginsKept { deleted, ..LoginsKept::default() });
        assert_eq!(known(&world.store, &fan).await.len(), left);
    }
    assert_eq!(known(&world.store, &fan).await, young);
    world.finish().await;
}
