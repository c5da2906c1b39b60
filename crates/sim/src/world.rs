//! The world: its rows, its clock and its agenda. The next event is always the earliest one;
//! events of the same millisecond come in the order in which they were planned.

use crate::Mutation;
use crate::chance::Chance;
use crate::fan::Fan;
use crate::gateway::{Gateway, Verdict};
use crate::sight::{Sight, Sightings};
use domain::id::SeatIndex;
use domain::payments::{Outcome, Payment};
use domain::reservations::Reservation;
use domain::seats::{Seat, SeatState};
use domain::{PaymentId, ReservationId, ScheduleId, Timestamp, Won};
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;

const FANS: usize = 8;
const SEATS: u32 = 10;

/// Fans come and act for this long; afterwards only the jobs run, so that all comes to rest.
const SALE: Duration = Duration::from_secs(45 * 60);
const REST: Duration = Duration::from_secs(20 * 60);

const START: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// What can happen.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    FanActs(usize),
    /// Our request reaches the gateway.
    GatewayHears(PaymentId, Verdict),
    /// Its answer reaches us.
    AnswerArrives(PaymentId, Outcome),
    /// We stop waiting for it.
    CallTimesOut(PaymentId),
    /// The gateway tells us to ask.
    Webhook(PaymentId),
    Sweep,
    Reconcile,
    PayBack,
}

/// A reservation and the seats it was made with, each with its fence of that moment.
#[derive(Clone, Debug)]
pub(crate) struct Booking {
    pub(crate) fan: usize,
    pub(crate) reservation: Reservation,
    pub(crate) seats: Vec<(SeatIndex, i64)>,
}

/// A payment and what it is for.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) payment: Payment,
    pub(crate) booking: ReservationId,
    pub(crate) requested_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Refund {
    /// Its name at the gateway.
    pub(crate) name: u64,
    pub(crate) payment: PaymentId,
    pub(crate) amount: Won,
    pub(crate) is_done: bool,
}

/// A fan's money with us, and the sum of its movements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wallet {
    pub(crate) balance: Won,
    pub(crate) ledger_sum: i64,
}

pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) mutation: Mutation,
    pub(crate) chance: Chance,
    pub(crate) schedule: ScheduleId,
    pub(crate) seats: Vec<Seat>,
    pub(crate) bookings: BTreeMap<ReservationId, Booking>,
    pub(crate) attempts: BTreeMap<PaymentId, Attempt>,
    pub(crate) refunds: Vec<Refund>,
    pub(crate) wallets: Vec<Wallet>,
    pub(crate) fans: Vec<Fan>,
    pub(crate) gateway: Gateway,
    pub(crate) sightings: Sightings,
    pub(crate) trace: Vec<String>,
    agenda: BTreeMap<(Timestamp, u64), Event>,
    n_planned: u64,
    n_ids: u128,
}

impl World {
    pub(crate) fn new(seed: u64, mutation: Mutation) -> World {
        let mut world = World {
            now: START,
            mutation,
            chance: Chance::new(seed),
            schedule: ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 64)),
            seats: (0..SEATS).map(new_seat).collect(),
            bookings: BTreeMap::new(),
            attempts: BTreeMap::new(),
            refunds: Vec::new(),
            wallets: vec![Wallet::default(); FANS],
            fans: vec![Fan::default(); FANS],
            gateway: Gateway::default(),
            sightings: Sightings::default(),
            trace: Vec::new(),
            agenda: BTreeMap::new(),
            n_planned: 0,
            n_ids: 0,
        };
        for fan in 0..FANS {
            let pause = world.chance.seconds(0, 120);
            world.plan_in(pause, Event::FanActs(fan));
        }
        for job in [Event::Sweep, Event::Reconcile, Event::PayBack] {
            world.plan_in(Duration::from_secs(1), job);
        }
        world
    }

    /// Lets the next thing happen; false when nothing is left.
    pub(crate) fn step(&mut self) -> bool {
        let Some(((when, _), event)) = self.agenda.pop_first() else { return false };
        assert!(self.now <= when, "time does not go back");
        self.now = when;
        self.note(format!("{event:?}"));
        match event {
            Event::FanActs(fan) => self.let_fan_act(fan),
            Event::GatewayHears(payment, verdict) => self.hear(payment, verdict),
            Event::AnswerArrives(payment, outcome) => self.take_answer(payment, outcome),
            Event::CallTimesOut(payment) => self.time_out(payment),
            Event::Webhook(payment) => self.take_webhook(payment),
            Event::Sweep => self.sweep(),
            Event::Reconcile => self.reconcile(),
            Event::PayBack => self.pay_back(),
        }
        true
    }

    pub(crate) fn is_on_sale(&self) -> bool {
        self.now < START.plus(SALE)
    }

    pub(crate) fn plan_at(&mut self, when: Timestamp, event: Event) {
        self.n_planned += 1;
        self.agenda.insert((when.max(self.now), self.n_planned), event);
    }

    pub(crate) fn plan_in(&mut self, pause: Duration, event: Event) {
        self.plan_at(self.now.plus(pause), event);
    }

    /// A job comes round again until the world is at rest.
    pub(crate) fn plan_again(&mut self, when: Timestamp, job: Event) {
        if when < START.plus(SALE).plus(REST) {
            self.plan_at(when, job);
        }
    }

    pub(crate) fn next_id(&mut self) -> Uuid {
        self.n_ids += 1;
        Uuid::from_u128(self.n_ids)
    }

    pub(crate) fn note(&mut self, what: String) {
        let after_ms = self.now.since(START).as_millis();
        self.trace.push(format!("{after_ms:>8} ms  {what}"));
    }

    pub(crate) fn saw(&mut self, sight: Sight) {
        self.sightings.saw(sight);
    }
}

fn new_seat(index: SeatIndex) -> Seat {
    let price = if index < 4 { 150_000 } else { 100_000 };
    Seat {
        index,
        number: format!("A-{}", index + 1),
        grade: "S".to_owned(),
        price: Won::new(price).expect("a price in range"),
        state: SeatState::Free,
        claim: None,
        fence: 0,
        expires_at: None,
    }
}
