//! Replicas answer lists, never with older data than the fan's last change, and the primary takes
//! over when they fail.

use crate::engine::alone;
use crate::world::{Fan, World, at, won};
use podo_adapters::sql::{Guard, PostgresSettings, SqlStore};
use podo_app::booking::port::reservations::Reservations;
use podo_app::catalog::port::{CancelSchedule, Catalog};
use podo_app::identity::port::accounts::Accounts;
use podo_app::payments::port::refunds::Refunds;
use podo_app::payments::port::reports::Reports;
use podo_app::payments::port::resolutions::Resolutions;
use podo_app::payments::port::sales::{Booked, GradeShare, Sales};
use podo_app::store::PageRequest;
use podo_domain::id::SeatIndex;
use podo_domain::{MessageId, PaymentId, ReservationId};
use podo_testbed::Postgres;
use std::time::Duration;

const PAGE: PageRequest = PageRequest { limit: 20, after: None };

/// A line of the statement behind `reservations_of` and of no other.
const LIST: &str = "from reservations where user_id = $1 and id < $2 order by id desc limit $3";

/// A world whose lists a replica answers.
struct Hall {
    world: World,
    replica: Postgres,
}

impl Hall {
    async fn new(lag_max: Duration, off: Vec<Guard>) -> Hall {
        let mut world = alone().await;
        let server = &world.engine.server;
        server.psql("postgres", "alter system set log_statement = 'all'").unwrap();
        server.psql("postgres", "select pg_reload_conf()").unwrap();
        // The copy has the same settings, so it logs its statements too.
        let replica = server.replica().unwrap();
        let settings = PostgresSettings {
            replica_urls: vec![replica.url("postgres")],
            replica_lag_max: lag_max,
            ..world.engine.settings()
        };
        let rng = world.rng.of_another_process();
        world.store = SqlStore::postgres_without(&settings, rng, &off).await.unwrap();
        Hall { world, replica }
    }

    async fn n_reservations(&self, fan: &Fan) -> usize {
        self.world.store.reservations_of(fan.id, PAGE).await.unwrap().len()
    }

    /// How many lists this server has answered, by its log. (Index statistics arrive late, and
    /// holds may use the same index.)
    fn n_answered(&self, server: &Postgres) -> usize {
        let log = std::fs::read_to_string(server.log_path()).unwrap();
        log.matches(LIST).count()
    }

    /// Queries until the replica answers again.
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

/// Expires before a replica can catch up.
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
    hall.world.finish().await;
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
    hall.world.finish().await;
}

/// The control: without the WAL check the fan's own seats are missing from the list.
#[tokio::test]
async fn without_the_proof_a_fan_misses_their_own_reservation() {
    let hall = Hall::new(IMPATIENT, vec![Guard::ReplicaIsProven]).await;
    let fan = hall.world.fan().await;
    hall.replica.psql("postgres", "select pg_wal_replay_pause()").unwrap();
    hall.hold(&fan, 0).await;
    assert_eq!(hall.n_reservations(&fan).await, 0);
    hall.world.finish().await;
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
    hall.world.finish().await;
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
    hall.world.finish().await;
}

#[tokio::test]
async fn a_replica_that_was_promoted_is_asked_no_more() {
    let hall = Hall::new(IMPATIENT, Vec::new()).await;
    let fan = hall.world.fan().await;
    hall.wait_until_taken_back(&fan).await;
    hall.hold(&fan, 0).await;
    hall.replica.promote().unwrap();
    let lost = "set session_replication_role = replica;
                delete from reservation_service.reservation_seats;
                delete from reservation_service.reservation_history;
                delete from reservation_service.reservations";
    hall.replica.psql("postgres", lost).unwrap();
    for _ in 0..5 {
        assert_eq!(hall.n_reservations(&fan).await, 1);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    hall.world.finish().await;
}

/// What organisers read about a sale.
#[derive(Debug, PartialEq, Eq)]
struct Reported {
    n_grades: usize,
    sold: u32,
    day_rows: usize,
    has_payment: bool,
    has_refund_run: bool,
}

impl Reported {
    /// Before the first purchase.
    const NOTHING: Reported =
        Reported { n_grades: 2, sold: 0, day_rows: 0, has_payment: false, has_refund_run: false };
    const ALL: Reported =
        Reported { n_grades: 2, sold: 1, day_rows: 1, has_payment: true, has_refund_run: true };

    async fn read(hall: &Hall, payment: PaymentId) -> Reported {
        let (store, schedule) = (&hall.world.store, hall.world.schedule);
        let grades = store.statistics(schedule).await.unwrap();
        Reported {
            n_grades: grades.len(),
            sold: grades.iter().map(|grade| grade.sold).sum(),
            day_rows: store.day_rows(at(-60), at(60), None, 10).await.unwrap().len(),
            has_payment: store.payment_case(payment, at(5)).await.unwrap().is_some(),
            has_refund_run: store.refund_run(schedule).await.unwrap().is_some(),
        }
    }
}

/// Sells a seat, counts it, and cancels the date. Returns the payment.
async fn sell_and_call_off(world: &World) -> PaymentId {
    let sold = world.buy(&world.fan().await, &[0], at(1)).await;
    let share = GradeShare { grade: "VIP".into(), seats: 1, amount: won(150_000) };
    let booked = Booked {
        message: MessageId::new(world.id()),
        reservation: ReservationId::new(world.id()),
        schedule: world.schedule,
        seq: 2,
        shares: vec![share],
    };
    world.store.count_booked("booking", vec![booked], at(2)).await.unwrap();
    let (actor, schedule, now) = (world.admin, world.schedule, at(3));
    world.store.cancel_schedule(CancelSchedule { actor, schedule, now }).await.unwrap();
    assert_eq!(world.store.runs_to_do(at(4)).await.unwrap(), [schedule]);
    sold.confirmed.payment_id
}

/// A paused replica that is queried without the WAL check shows old data, which proves that it was
/// queried.
#[tokio::test]
async fn statistics_the_day_report_and_settlements_are_read_from_the_replica() {
    let hall = Hall::new(IMPATIENT, vec![Guard::ReplicaIsProven]).await;
    let unknown = PaymentId::new(hall.world.id());
    while Reported::read(&hall, unknown).await != Reported::NOTHING {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    hall.replica.psql("postgres", "select pg_wal_replay_pause()").unwrap();
    let payment = sell_and_call_off(&hall.world).await;
    assert_eq!(Reported::read(&hall, payment).await, Reported::NOTHING);
    hall.replica.psql("postgres", "select pg_wal_replay_resume()").unwrap();
    while Reported::read(&hall, payment).await != Reported::ALL {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    hall.world.finish().await;
}

#[tokio::test]
async fn an_organiser_reads_what_was_sold_a_moment_ago() {
    for (lag_max, stands_still) in [(PATIENT, false), (IMPATIENT, true)] {
        let hall = Hall::new(lag_max, Vec::new()).await;
        if stands_still {
            hall.replica.psql("postgres", "select pg_wal_replay_pause()").unwrap();
        }
        let payment = sell_and_call_off(&hall.world).await;
        assert_eq!(Reported::read(&hall, payment).await, Reported::ALL);
        hall.world.finish().await;
    }
}

/// Replicas use `podo_readonly`, which reads no personal data. A query that needs more goes to the
/// primary at once and doesn't mark the replica as failed.
#[tokio::test]
async fn personal_data_is_read_from_the_primary_and_the_replica_stays_in_use() {
    let hall = Hall::new(IMPATIENT, vec![Guard::ReplicaIsProven]).await;
    let fan = hall.world.fan().await;
    hall.wait_until_taken_back(&fan).await;
    hall.replica.psql("postgres", "select pg_wal_replay_pause()").unwrap();
    hall.hold(&fan, 0).await;
    let store = &hall.world.store;
    assert!(store.logins_of(fan.id, PAGE).await.unwrap().is_empty());
    assert!(store.sessions_of(fan.id, at(1)).await.unwrap().is_empty());
    assert_eq!(hall.n_reservations(&fan).await, 0, "the replica answered, which stands still");
    hall.world.finish().await;
}
