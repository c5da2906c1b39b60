//! Replicas: they answer lists, never with less than the fan has just done, and whatever happens
//! to them the primary is there.

use crate::engine::alone;
use crate::world::{Fan, World, at};
use adapters::clock::SystemChance;
use adapters::sql::{Guard, PostgresSettings, SqlStore};
use app::paging::PageAsk;
use app::ports::reservations::Reservations;
use domain::id::SeatIndex;
use std::sync::Arc;
use std::time::Duration;
use testbed::Postgres;

const PAGE: PageAsk = PageAsk { limit: 20, after: None };

/// A world whose lists a replica answers.
struct Hall {
    world: World,
    replica: Postgres,
}

impl Hall {
    async fn new(lag_max: Duration, off: Vec<Guard>) -> Hall {
        let mut world = alone().await;
        let replica = world.engine.server.replica().unwrap();
        let settings = PostgresSettings {
            replica_urls: vec![replica.url("postgres")],
            replica_lag_max: lag_max,
            ..world.engine.settings()
        };
        let chance = Arc::new(SystemChance::new());
        world.store = SqlStore::postgres_without(&settings, chance, off).await.unwrap();
        Hall { world, replica }
    }

    async fn n_reservations(&self, fan: &Fan) -> usize {
        self.world.store.reservations_of(fan.id, PAGE).await.unwrap().len()
    }

    /// How many lists this server has answered, by the statistics of its index.
    fn n_answered(&self, server: &Postgres) -> u64 {
        let sql = "select pg_stat_clear_snapshot(), coalesce(sum(idx_scan), 0)
                     from pg_stat_all_indexes where indexrelname = 'reservations_user'";
        server.psql("postgres", sql).unwrap().trim_start_matches('|').parse().unwrap()
    }

    /// Asks until the replica answers again.
    async fn wait_until_taken_back(&self, fan: &Fan) {
        let before = self.n_answered(&self.replica);
        while self.n_answered(&self.replica) == before {
            self.n_reservations(fan).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn hold(&self, fan: &Fan, seat: SeatIndex) {
        self.world.hold(fan, &[seat], at(1)).await.unwrap();
    }
}

/// Long enough for a replica on a busy machine.
const PATIENT: Duration = Duration::from_secs(20);

/// Over before anybody waits.
const IMPATIENT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_fan_finds_what_they_have_just_done_on_the_replica() {
    let hall = Hall::new(PATIENT, Vec::new()).await;
    let on_primary = hall.n_answered(&hall.world.engine.server);
    for seat in 0..20 {
        let fan = hall.world.fan().await;
        hall.hold(&fan, seat).await;
        assert_eq!(hall.n_reservations(&fan).await, 1);
    }
    hall.wait_until_taken_back(&hall.world.fan().await).await;
    assert_eq!(hall.n_answered(&hall.world.engine.server), on_primary, "the primary was spared");
    hall.world.is_sound(at(1)).await;
}

#[tokio::test]
async fn a_replica_that_is_behind_is_left_out_until_it_has_caught_up() {
    let hall = Hall::new(IMPATIENT, Vec::new()).await;
    let fan = hall.world.fan().await;
    hall.wait_until_taken_back(&fan).await;
    hall.replica.psql("postgres", "select pg_wal_replay_pause()").unwrap();
    hall.hold(&fan, 0).await;
    let before = hall.n_answered(&hall.replica);
    for _ in 0..5 {
        assert_eq!(hall.n_reservations(&fan).await, 1);
    }
    assert_eq!(hall.n_answered(&hall.replica), before);
    hall.replica.psql("postgres", "select pg_wal_replay_resume()").unwrap();
    hall.wait_until_taken_back(&fan).await;
    assert_eq!(hall.n_reservations(&fan).await, 1);
}

/// The control: without the proof the fan's own seats are missing from the list.
#[tokio::test]
async fn without_the_proof_a_fan_misses_their_own_reservation() {
    let hall = Hall::new(IMPATIENT, vec![Guard::ReplicaIsProven]).await;
    let fan = hall.world.fan().await;
    hall.replica.psql("postgres", "select pg_wal_replay_pause()").unwrap();
    hall.hold(&fan, 0).await;
    assert_eq!(hall.n_reservations(&fan).await, 0);
}

#[tokio::test]
async fn a_dead_replica_is_left_out_and_taken_back_when_it_lives() {
    let mut hall = Hall::new(PATIENT, Vec::new()).await;
    let fan = hall.world.fan().await;
    hall.wait_until_taken_back(&fan).await;
    hall.replica.stop_immediate().unwrap();
    hall.hold(&fan, 0).await;
    for _ in 0..5 {
        assert_eq!(hall.n_reservations(&fan).await, 1);
    }
    hall.replica.restart().unwrap();
    hall.wait_until_taken_back(&fan).await;
}

#[tokio::test]
async fn a_replica_that_hangs_does_not_hang_its_askers() {
    let hall = Hall::new(IMPATIENT, Vec::new()).await;
    let fan = hall.world.fan().await;
    hall.wait_until_taken_back(&fan).await;
    hall.replica.pause().unwrap();
    hall.hold(&fan, 0).await;
    for _ in 0..5 {
        assert_eq!(hall.n_reservations(&fan).await, 1);
    }
    hall.replica.resume().unwrap();
    hall.wait_until_taken_back(&fan).await;
}

#[tokio::test]
async fn a_replica_that_was_promoted_is_asked_no_more() {
    let hall = Hall::new(IMPATIENT, Vec::new()).await;
    let fan = hall.world.fan().await;
    hall.wait_until_taken_back(&fan).await;
    hall.hold(&fan, 0).await;
    hall.replica.promote().unwrap();
    let lost = "delete from reservation_service.reservation_seats;
                delete from reservation_service.reservation_history;
                delete from reservation_service.reservations";
    hall.replica.psql("postgres", lost).unwrap();
    for _ in 0..5 {
        assert_eq!(hall.n_reservations(&fan).await, 1);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
