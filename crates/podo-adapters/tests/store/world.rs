//! A store in its own folder, with a hall on sale and fans who may be inside. Time is in seconds
//! since the sale opened. Every test ends with `World::finish`, which checks the invariants.

// The benchmark includes this file from its own folder.
#[path = "world_steps.rs"]
mod steps;

use crate::engine::Engine;
use podo_adapters::clock::SystemRng;
use podo_adapters::sql::{Guard, SqlStore};
use podo_app::booking::port::reservations::Reservations;
use podo_app::catalog::port::{
    Catalog, ChangeEvent, CreateEvent, CreateHall, CreateSchedule, CreateVenue, EventVerb,
};
use podo_app::identity::port::accounts::{Accounts, CreateUser};
use podo_app::messaging::port::messages::Messages;
use podo_app::operations::port::clock::Rng;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::operations::port::invariants::Invariants;
use podo_app::{Error, Result};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::booking::seats::SEATS_PER_ORDER;
use podo_domain::catalog::text::Line;
use podo_domain::catalog::{
    GridTemplate, NewEvent, ResaleDelay, SaleTerms, ScheduleTimes, SeatTemplate,
};
use podo_domain::identity::Role;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::waiting_room::{Entry, QueueSettings};
use podo_domain::{
    EventId, HallId, Refusal, ReservationId, ScheduleId, Timestamp, UserId, VenueId, Won,
};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use uuid::Uuid;

pub(crate) fn line<const MAX: usize>(text: &str) -> Line<MAX> {
    Line::try_from(text.to_owned()).unwrap()
}

/// The price of the front row, and of every row behind it.
pub(crate) const NEAR: i64 = 150_000;
pub(crate) const FAR: i64 = 100_000;

/// 2026-03-01 20:00 in Seoul.
const OPENING_MS: i64 = 1_772_362_800_000;

/// How long the sale lasts, in seconds.
pub(crate) const SALE_S: i64 = 86_400;

/// Randomness panics at this moment, which stands in for a bug in the middle of a command.
pub(crate) const CURSED: Timestamp = Timestamp::from_ms(OPENING_MS + 13_013);

/// `seconds` after the opening of the sale.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_ms(OPENING_MS + seconds * 1_000)
}

pub(crate) fn won(amount: i64) -> Won {
    Won::new(amount).unwrap()
}

/// The refusal that was expected.
pub(crate) fn refusal<T: Debug>(result: Result<T>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        Err(Error::Conflict(what) | Error::Unavailable(what) | Error::Broken(what)) => {
            panic!("failed: {what}")
        }
        Ok(done) => panic!("not refused: {done:?}"),
    }
}

/// The result of a command that wasn't a replay.
pub(crate) fn fresh<T: Debug>(once: Idempotent<T>) -> T {
    match once {
        Idempotent::Fresh(done) => done,
        Idempotent::Replay(answer) => panic!("done before: {answer:?}"),
    }
}

/// Also records the time of the commands: each of them gets the ids of its messages here.
pub(crate) struct Dice {
    rng: SystemRng,
    latest_ms: Arc<AtomicI64>,
}

impl Dice {
    /// Of another process: no shared state except the record of the time.
    pub(crate) fn of_another_process(&self) -> Arc<Dice> {
        Arc::new(Dice { rng: SystemRng::new(), latest_ms: self.latest_ms.clone() })
    }
}

impl Rng for Dice {
    fn fill(&self, bytes: &mut [u8]) {
        self.rng.fill(bytes);
    }

    fn id(&self, now: Timestamp) -> Uuid {
        assert_ne!(now, CURSED, "this moment is cursed");
        self.latest_ms.fetch_max(now.ms(), Ordering::Relaxed);
        self.rng.id(now)
    }
}

pub(crate) fn dice() -> Arc<Dice> {
    let latest_ms = Arc::new(AtomicI64::new(OPENING_MS));
    Arc::new(Dice { rng: SystemRng::new(), latest_ms })
}

/// The layout of the hall, and which guards are off.
pub(crate) struct Plan {
    pub(crate) rows: u8,
    pub(crate) seats_per_row: u32,
    pub(crate) seats_per_person: u32,
    pub(crate) off: Vec<Guard>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { rows: 4, seats_per_row: 10, seats_per_person: 4, off: Vec::new() }
    }
}

/// A fan with an account and an entry for the first hour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fan {
    pub(crate) id: UserId,
    pub(crate) entry: Entry,
}

pub(crate) struct World {
    pub(crate) store: SqlStore,
    pub(crate) admin: UserId,
    pub(crate) venue: VenueId,
    pub(crate) hall: HallId,
    pub(crate) event: EventId,
    pub(crate) schedule: ScheduleId,
    pub(crate) rng: Arc<Dice>,
    count: AtomicU64,
    is_over: bool,
    /// After the store, so that it is dropped later.
    pub(crate) engine: Engine,
}

impl World {
    pub(crate) async fn new() -> World {
        World::planned(Plan::default()).await
    }

    pub(crate) async fn planned(plan: Plan) -> World {
        let rng = dice();
        let (engine, store) = Engine::open(rng.clone(), plan.off.clone()).await;
        World::on(engine, store, rng, plan).await
    }

    pub(crate) async fn on(engine: Engine, store: SqlStore, rng: Arc<Dice>, plan: Plan) -> World {
        let id = || rng.id(at(-100_000));
        let world = World {
            admin: UserId::new(id()),
            venue: VenueId::new(id()),
            hall: HallId::new(id()),
            event: EventId::new(id()),
            schedule: ScheduleId::with_room_for_seats(id()),
            store,
            engine,
            rng,
            count: AtomicU64::new(0),
            is_over: false,
        };
        world.build_hall(&plan).await;
        world.put_on_sale(&plan).await;
        world
    }

    async fn build_hall(&self, plan: &Plan) {
        let (actor, venue, now) = (self.admin, self.venue, at(-90_000));
        let (name, address, city) = ("Olympic Hall".into(), "424".into(), "Seoul".into());
        let command = CreateVenue {
            actor,
            venue,
            name,
            address,
            city,
            time_zone: "Asia/Seoul".to_owned(),
            now,
        };
        self.store.create_venue(command).await.unwrap();
        let rows: Vec<String> =
            (0..plan.rows).map(|row| char::from(b'A' + row).to_string()).collect();
        let grade = |row: &String| if row == "A" { "VIP".to_owned() } else { "R".to_owned() };
        let grade_mapping = rows.iter().map(|row| (row.clone(), grade(row))).collect();
        let capacity = u32::from(plan.rows) * plan.seats_per_row;
        let template = SeatTemplate::Grid(GridTemplate {
            rows,
            seats_per_row: plan.seats_per_row,
            grade_mapping,
        });
        let name = "Main".into();
        let command = CreateHall { actor, hall: self.hall, venue, name, template, capacity, now };
        self.store.create_hall(command).await.unwrap();
    }

    async fn put_on_sale(&self, plan: &Plan) {
        let (actor, event, now) = (self.admin, self.event, at(-90_000));
        let new = NewEvent::new(line("Podo Live"), line("The Grapes"), self.venue, self.hall);
        self.store
            .create_event(CreateEvent { actor, event, new, terms: SaleTerms::default(), now })
            .await
            .unwrap();
        let command = self.schedule_command(self.schedule, plan.seats_per_person);
        self.store.create_schedule(command).await.unwrap();
        let command = ChangeEvent { actor, event, verb: EventVerb::Open, now };
        self.store.change_event(command).await.unwrap();
    }

    pub(crate) fn schedule_command(
        &self,
        schedule: ScheduleId,
        seats_per_person: u32,
    ) -> CreateSchedule {
        CreateSchedule {
            actor: self.admin,
            schedule,
            event: self.event,
            times: ScheduleTimes {
                starts_at: at(2 * SALE_S),
                ends_at: at(3 * SALE_S),
                sale_starts_at: at(0),
                sale_ends_at: at(SALE_S),
            },
            prices: BTreeMap::from([("VIP".into(), won(NEAR)), ("R".into(), won(FAR))]),
            seats_per_person,
            seats_per_order: SEATS_PER_ORDER,
            resale_delay: ResaleDelay::default(),
            queue: QueueSettings::default(),
            draw_seed: [3; 32],
            now: at(-90_000),
        }
    }

    /// The store as another process would open it: with only its stored data.
    pub(crate) async fn restart(&self) -> SqlStore {
        self.engine.again(self.rng.of_another_process()).await
    }

    pub(crate) fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn id(&self) -> Uuid {
        self.rng.id(at(0))
    }

    pub(crate) fn user_command(&self) -> CreateUser {
        let mut email_hash = [0; 32];
        email_hash[..8].copy_from_slice(&self.number().to_be_bytes());
        CreateUser {
            user: UserId::new(self.id()),
            email: b"sealed".to_vec(),
            email_hash,
            is_email_proven: true,
            password_hash: "argon2id".into(),
            name: b"sealed".to_vec(),
            phone: None,
            phone_hash: None,
            role: Role::User,
            consents: Vec::new(),
            now: at(-80_000),
        }
    }

    pub(crate) async fn fan(&self) -> Fan {
        let command = self.user_command();
        let id = command.user;
        self.store.create_user(command).await.unwrap();
        Fan { id, entry: self.entry(self.number()) }
    }

    pub(crate) async fn fans(&self, n_fans: usize) -> Vec<Fan> {
        let commands: Vec<CreateUser> = (0..n_fans).map(|_| self.user_command()).collect();
        let ids: Vec<UserId> = commands.iter().map(|command| command.user).collect();
        self.store.create_users(commands).await.unwrap();
        ids.into_iter().map(|id| Fan { id, entry: self.entry(self.number()) }).collect()
    }

    pub(crate) fn entry(&self, number: u64) -> Entry {
        Entry { number, admitted_at: at(0), expires_at: at(3_600), extensions_left: 2 }
    }

    pub(crate) async fn status(&self, fan: &Fan, id: ReservationId) -> ReservationStatus {
        self.store.reservation(id, fan.id).await.unwrap().unwrap().status
    }

    /// The messages of one aggregate, in order.
    pub(crate) async fn told(&self, aggregate: Uuid) -> Vec<MessageKind> {
        let messages = self.store.due_messages(Timestamp::FAR_FUTURE, 100_000).await.unwrap();
        let of_it = messages.iter().filter(|message| message.aggregate == aggregate);
        of_it.map(|message| message.kind).collect()
    }

    /// Ends the test: every invariant holds at the time of the latest command. At a later time
    /// fewer holds count against a fan's limit, so the check would find less.
    pub(crate) async fn finish(mut self) {
        self.is_over = true;
        let latest = self.rng.latest_ms.load(Ordering::Relaxed);
        self.check_invariants(Timestamp::from_ms(latest)).await;
    }

    /// Ends a test that damages the store on purpose, without a check.
    pub(crate) fn abandon(mut self, _reason: &str) {
        self.is_over = true;
    }

    /// Time passes without a command that generates an id, such as a deletion of old rows.
    pub(crate) fn advance_to(&self, now: Timestamp) {
        self.rng.latest_ms.fetch_max(now.ms(), Ordering::Relaxed);
    }

    /// Every invariant holds in the middle of a test. `finish` checks the end.
    pub(crate) async fn check_invariants(&self, now: Timestamp) {
        let broken = broken(&self.store, now).await;
        assert!(broken.is_empty(), "broken invariants: {broken:?}");
    }
}

impl Drop for World {
    /// A test that forgets to check the invariants fails.
    fn drop(&mut self) {
        let is_over = self.is_over || std::thread::panicking();
        assert!(is_over, "a test ends with `world.finish().await` or `world.abandon(reason)`");
    }
}

/// The broken invariants.
pub(crate) async fn broken(store: &SqlStore, now: Timestamp) -> Vec<&'static str> {
    let findings = store.check_all(now).await.unwrap();
    findings.iter().filter(|finding| finding.n_broken > 0).map(|finding| finding.id).collect()
}
