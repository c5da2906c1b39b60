//! Random steps of three fans on eight seats, compared with a model after each of them (S3).

use crate::payments::refund::cancel_command;
use crate::world::{Fan, Plan, World, at};
use podo_app::Error;
use podo_app::booking::port::reservations::{HoldSeats, ReleaseSeats, Reservations};
use podo_app::catalog::port::Catalog;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{CancelPayment, Capture, Payments};
use podo_domain::booking::seats::{HOLD_LENGTH, SeatFace, SeatPick};
use podo_domain::id::SeatIndex;
use podo_domain::payments::PaymentMethod;
use podo_domain::{PaymentId, Refusal, ReservationId, ScheduleId, SeatId, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const N_CASES: u32 = 200;
const N_STEPS: usize = 50;
const N_SEATS: u32 = 8;
const SEATS_PER_PERSON: usize = 4;

#[derive(Clone, Debug)]
enum Step {
    Hold { fan: usize, seats: Vec<SeatIndex> },
    Release { by: usize, nth: usize },
    Pay { nth: usize },
    Cancel { nth: usize },
    Wait { seconds: i64 },
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    let seats = proptest::sample::subsequence((0..N_SEATS).collect::<Vec<_>>(), 1..=4);
    prop_oneof![
        6 => (0_usize..3, seats).prop_map(|(fan, seats)| Step::Hold { fan, seats }),
        2 => (0_usize..3, 0_usize..8).prop_map(|(by, nth)| Step::Release { by, nth }),
        2 => (0_usize..8).prop_map(|nth| Step::Pay { nth }),
        1 => (0_usize..8).prop_map(|nth| Step::Cancel { nth }),
        3 => (1_i64..70).prop_map(|seconds| Step::Wait { seconds }),
        1 => Just(Step::Sweep),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Held { until: Timestamp },
    Bought,
    Over,
}

#[derive(Debug)]
struct Booking {
    id: ReservationId,
    fan: usize,
    seats: Vec<SeatIndex>,
    status: Status,
    payment: Option<PaymentId>,
}

impl Booking {
    fn has_seats(&self, now: Timestamp) -> bool {
        match self.status {
            Status::Held { until } => now < until,
            Status::Bought => true,
            Status::Over => false,
        }
    }
}

/// The expected state, in its simplest form.
#[derive(Default)]
struct Model {
    bookings: Vec<Booking>,
    now_s: i64,
}

impl Model {
    fn now(&self) -> Timestamp {
        at(self.now_s)
    }

    fn is_taken(&self, seat: SeatIndex) -> bool {
        let now = self.now();
        self.bookings.iter().any(|booking| booking.has_seats(now) && booking.seats.contains(&seat))
    }

    fn n_seats_of(&self, fan: usize) -> usize {
        let live = self.bookings.iter().filter(|one| one.fan == fan && one.has_seats(self.now()));
        live.map(|booking| booking.seats.len()).sum()
    }

    /// The expected answer of a hold.
    fn expect_hold(
        &self,
        fan: usize,
        seats: &[SeatIndex],
        schedule: ScheduleId,
    ) -> Option<Refusal> {
        if self.n_seats_of(fan) + seats.len() > SEATS_PER_PERSON {
            return Some(Refusal::SeatLimit { max: SEATS_PER_PERSON as u32 });
        }
        let taken = seats.iter().filter(|seat| self.is_taken(**seat));
        let taken: Vec<SeatId> = taken.map(|seat| schedule.seat(*seat)).collect();
        (!taken.is_empty()).then(|| Refusal::seat_taken(taken))
    }
}

struct Machine<'w> {
    world: &'w World,
    schedule: ScheduleId,
    fans: Vec<Fan>,
    model: Model,
}

impl Machine<'_> {
    async fn take(&mut self, step: &Step) {
        let now = self.model.now();
        match step {
            Step::Hold { fan, seats } => self.hold(*fan, seats, now).await,
            Step::Release { by, nth } => self.release(*by, *nth, now).await,
            Step::Pay { nth } => self.pay(*nth, now).await,
            Step::Cancel { nth } => self.cancel(*nth, now).await,
            Step::Wait { seconds } => self.model.now_s += seconds,
            Step::Sweep => drop(self.world.store.expire_holds(now, 100).await.unwrap()),
        }
    }

    async fn hold(&mut self, fan: usize, seats: &[SeatIndex], now: Timestamp) {
        let ids: Vec<SeatId> = seats.iter().map(|seat| self.schedule.seat(*seat)).collect();
        let pick = SeatPick::new(self.schedule, &ids).unwrap();
        let command = self.world.hold_command(&self.fans[fan], &[0], now);
        let command = HoldSeats { pick, room: self.schedule, ..command };
        let answer = self.world.store.hold_seats(command).await;
        match (answer, self.model.expect_hold(fan, seats, self.schedule)) {
            (Ok(Idempotent::Fresh(held)), None) => self.model.bookings.push(Booking {
                id: held.reservation_id,
                fan,
                seats: seats.to_vec(),
                status: Status::Held { until: now.plus(HOLD_LENGTH) },
                payment: None,
            }),
            (Err(Error::Refused(told)), Some(expected)) => assert_eq!(told, expected),
            (answer, expected) => panic!("{answer:?}, but expected {expected:?}"),
        }
    }

    async fn release(&mut self, by: usize, nth: usize, now: Timestamp) {
        let Some(booking) = self.model.bookings.get_mut(nth) else { return };
        let user = self.fans[by].id;
        let command = ReleaseSeats { reservation: booking.id, user, now };
        let answer = self.world.store.release_seats(command).await;
        match (booking.fan == by, booking.status, answer) {
            (false, _, Err(Error::Refused(Refusal::NotFound))) => {}
            (true, Status::Held { .. }, Ok(_)) => booking.status = Status::Over,
            (true, Status::Over, Ok(None) | Err(Error::Refused(_))) => {}
            (true, Status::Bought, Err(Error::Refused(Refusal::AlreadyPaid))) => {}
            (is_owner, status, answer) => panic!("{is_owner} {status:?}: {answer:?}"),
        }
    }

    async fn pay(&mut self, nth: usize, now: Timestamp) {
        let Some(booking) = self.model.bookings.get_mut(nth) else { return };
        let fan = self.fans[booking.fan];
        let wallet = PaymentMethod::Wallet;
        let ready = self.world.request(&fan, booking.id, wallet, now).await;
        let is_live = matches!(booking.status, Status::Held { until } if now < until);
        let ready = match (is_live, ready) {
            (true, Ok(ready)) => ready,
            (false, Err(Error::Refused(_))) => return,
            (is_live, ready) => panic!("live: {is_live}, {ready:?}"),
        };
        match self.world.confirm(&fan, &ready, now).await.unwrap() {
            Capture::Sold(_) => {
                booking.status = Status::Bought;
                booking.payment = Some(ready.payment_id);
                // A payment ends the entry: the fan comes back through the queue.
                self.fans[booking.fan].entry = self.world.entry(self.world.number());
            }
            Capture::Ask(ask) => panic!("a wallet asks no gateway: {ask:?}"),
        }
    }

    async fn cancel(&mut self, nth: usize, now: Timestamp) {
        let Some(booking) = self.model.bookings.get_mut(nth) else { return };
        let Some(payment) = booking.payment else { return };
        let fan = self.fans[booking.fan];
        let command = CancelPayment { now, ..cancel_command(self.world, &fan, payment) };
        let answer = self.world.store.cancel_payment(command).await;
        match (booking.status, answer) {
            (Status::Bought, Ok(_)) => booking.status = Status::Over,
            (Status::Over, Err(Error::Refused(_))) => {}
            (status, answer) => panic!("{status:?}: {answer:?}"),
        }
    }

    /// Every seat matches the model.
    async fn compare(&self) {
        let now = self.model.now();
        for seat in self.world.store.seats_of(self.schedule).await.unwrap() {
            let is_free = seat.face(now) == SeatFace::Available;
            assert_eq!(is_free, !self.model.is_taken(seat.index), "seat {}: {seat:?}", seat.index);
        }
    }
}

async fn play(world: &World, steps: &[Step]) {
    let schedule = ScheduleId::with_room_for_seats(world.id());
    let seats_per_person = SEATS_PER_PERSON as u32;
    let command = world.schedule_command(schedule, seats_per_person);
    world.store.create_schedule(command).await.unwrap();
    let fans = world.fans(3).await;
    for fan in &fans {
        world.charge(fan, 1_000_000).await;
    }
    let mut machine = Machine { world, schedule, fans, model: Model::default() };
    for step in steps {
        machine.take(step).await;
        machine.compare().await;
    }
}

#[test]
fn random_steps_lead_where_the_model_says() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let plan = Plan { rows: 2, seats_per_row: N_SEATS / 2, ..Plan::default() };
    let world = runtime.block_on(World::planned(plan));
    let config = Config {
        cases: N_CASES,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let steps = proptest::collection::vec(step(), N_STEPS);
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        runtime.block_on(play(&world, &steps));
        Ok(())
    });
    outcome.unwrap();
    runtime.block_on(world.finish());
}
