//! The world: one schedule on sale, its store, its gateway, its nodes and its clock.

use crate::Mutation;
use crate::check::coverage::Coverage;
use crate::check::notes::Notes;
use crate::fan::{choosing, proving};
use crate::faults::clocks::MachineClock;
use crate::faults::injector::NoFaults;
use crate::live::bus::Log;
use crate::live::{Engines, Lender};
use crate::rng::Rng;
use crate::swarm::Swarm;
use crate::time::{Owner, Time};
use podo_adapters::sql::SqlStore;
use podo_app::AppContext;
use podo_app::catalog::phases::port::Phases;
use podo_app::catalog::port::{
    Catalog, ChangeEvent, CreateEvent, CreateHall, CreateSchedule, CreateVenue, EventVerb,
};
use podo_app::catalog::pricing_port::Pricing;
use podo_app::identity::keyring::Keyring;
use podo_app::identity::port::accounts::{Accounts, CreateUser};
use podo_app::operations::port::clock::{Clock, Rng as _};
use podo_domain::booking::seats::SEATS_PER_ORDER;
use podo_domain::catalog::{
    GridTemplate, NewEvent, ResaleDelay, SaleWindow, ScheduleTimes, SeatTemplate,
};
use podo_domain::identity::Role;
use podo_domain::waiting_room::{Entry, QueueSettings};
use podo_domain::{EventId, HallId, ScheduleId, TicketId, Timestamp, UserId, VenueId, Won};
use podo_testbed::gateways::Companies;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

const START: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// The lobby is open for this long before the opening.
pub(crate) const LOBBY: Duration = Duration::from_secs(30);

/// After the sale only the jobs run, without faults, so that everything settles.
const REST: Duration = Duration::from_secs(15 * 60);

/// All nodes share it.
pub(crate) const MASTER_KEY: [u8; 32] = [7; 32];

pub(crate) const PRICE: i64 = 100_000;
pub(crate) const SEATS_PER_FAN_MAX: u32 = 4;

pub(crate) struct World {
    pub(crate) time: Time,
    pub(crate) rng: Arc<Rng>,
    pub(crate) swarm: Swarm,
    pub(crate) mutation: Mutation,
    pub(crate) store: SqlStore,
    pub(crate) live: Engines,
    /// The payment companies' own ledgers.
    pub(crate) companies: Companies,
    pub(crate) bus: Log,
    pub(crate) schedule: ScheduleId,
    pub(crate) fans: Vec<UserId>,
    pub(crate) notes: Notes,
    /// The last entry of each fan, for the mutant in which entries never end.
    entries: Mutex<BTreeMap<UserId, Entry>>,
    pub(crate) is_called_off: AtomicBool,
    /// When an order was last refunded.
    pub(crate) paid_back: Mutex<BTreeMap<String, Timestamp>>,
    /// How often each ticket opened a gate.
    let_in: Mutex<BTreeMap<TicketId, u32>>,
    /// The clock of each node's machine.
    pub(crate) clocks: Vec<Arc<MachineClock>>,
    /// The context of each node; none while it is down.
    nodes: Mutex<Vec<Option<Arc<AppContext>>>>,
}

impl World {
    pub(crate) fn new(seed: u64, mutation: Mutation, is_traced: bool) -> World {
        let rng = Arc::new(Rng::new(seed));
        // Not drawn from `rng`: the other seeds keep the runs that they had without options, and
        // without phases.
        let swarm = Swarm::drawn(&rng, seed % 3 == 1, seed % 8 == 6);
        let (off, edits) = (mutation.guards_off(), mutation.edits());
        let store = SqlStore::in_memory(rng.clone(), off, &edits, Arc::new(NoFaults));
        let store = store.expect("an in-memory database can be created");
        let id = || rng.id(START);
        let time = Time::starting(START);
        let clock = |_| Arc::new(MachineClock::drawn(&time, &rng, &swarm));
        let clocks = (0..swarm.n_nodes).map(clock).collect();
        let books = store.under(Arc::new(NoFaults)).expect("the store is in memory");
        let closing = START.plus(LOBBY).plus(swarm.sale);
        let lender = Lender::new(seed, books, swarm, time.clone(), closing);
        World {
            clocks,
            time,
            schedule: ScheduleId::with_room_for_seats(id()),
            fans: (0..swarm.n_fans).map(|_| UserId::new(id())).collect(),
            swarm,
            mutation,
            store,
            live: Engines::new(seed, lender),
            companies: Companies::default(),
            bus: Log::default(),
            notes: Notes::new(is_traced),
            is_called_off: AtomicBool::default(),
            paid_back: Mutex::default(),
            let_in: Mutex::default(),
            entries: Mutex::default(),
            nodes: Mutex::new(vec![None; swarm.n_nodes]),
            rng,
        }
    }

    pub(crate) fn opening(&self) -> Timestamp {
        START.plus(LOBBY)
    }

    pub(crate) fn closing(&self) -> Timestamp {
        self.opening().plus(self.swarm.sale)
    }

    pub(crate) fn end(&self) -> Timestamp {
        self.closing().plus(REST)
    }

    /// The waiting room of the sale.
    pub(crate) fn room(&self) -> ScheduleId {
        match self.swarm.has_phase {
            true => self.schedule.phase(1).room(),
            false => self.schedule,
        }
    }

    pub(crate) fn is_on_sale(&self) -> bool {
        self.time.now() < self.closing()
    }

    pub(crate) fn is_called_off(&self) -> bool {
        self.is_called_off.load(Ordering::Relaxed)
    }

    /// Counts that a ticket opened a gate. Returns how often it has.
    pub(crate) fn let_in(&self, ticket: TicketId) -> u32 {
        let mut let_in = self.let_in.lock().unwrap_or_else(PoisonError::into_inner);
        let n_times = let_in.entry(ticket).or_default();
        *n_times += 1;
        *n_times
    }

    /// Faults happen only while the sale runs.
    pub(crate) fn is_rough(&self) -> bool {
        self.is_on_sale()
    }

    /// The gateway's faults last a while longer.
    pub(crate) fn is_moody(&self) -> bool {
        self.time.now() < self.closing().plus(REST / 3)
    }

    pub(crate) fn saw(&self, coverage: Coverage) {
        self.notes.saw(coverage);
    }

    pub(crate) fn note(&self, what: impl FnOnce() -> String) {
        let now = self.time.now();
        self.notes.write(|| format!("{:>8} ms  {}", now.since(START).as_millis(), what()));
    }

    pub(crate) fn ensure(&self, holds: bool, rule: &'static str, detail: impl FnOnce() -> String) {
        if !holds {
            self.notes.broke(rule, detail());
        }
    }

    pub(crate) fn nodes(&self) -> MutexGuard<'_, Vec<Option<Arc<AppContext>>>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current or last entry of a fan.
    pub(crate) fn remembered_entry(&self, fan: UserId, entry: Option<Entry>) -> Option<Entry> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entry {
            entries.insert(fan, entry);
        }
        entries.get(&fan).copied()
    }

    /// Crashes the node at this point; what it hasn't stored is lost. It restarts later.
    pub(crate) fn crash(self: &Arc<World>, node: usize, at: &'static str) {
        self.saw(Coverage::Crash);
        if at.contains("charge") {
            self.saw(Coverage::CrashWhilePaying);
        }
        self.note(|| format!("node {node} crashes at {at}"));
        self.nodes()[node] = None;
        self.time.crash(node);
        if self.swarm.is_embedded {
            self.live.forget(self);
        }
        let world = self.clone();
        self.time.spawn(Owner::World, async move {
            world.time.sleep(world.rng.ms(200, 6_000)).await;
            world.start_node(node).await;
        });
    }

    /// Creates a hall, an event on sale and fans with accounts.
    pub(crate) async fn set_stage(&self) -> podo_app::Result<()> {
        let (venue, hall) = (VenueId::new(Uuid::from_u128(1)), HallId::new(Uuid::from_u128(2)));
        let (actor, event) = (UserId::new(Uuid::from_u128(3)), EventId::new(Uuid::from_u128(4)));
        let (name, address, city) = ("Hall".to_owned(), "1".to_owned(), "Seoul".to_owned());
        let now = START;
        let venue_command = CreateVenue { actor, venue, name: name.clone(), address, city, now };
        self.store.create_venue(venue_command).await?;
        let (rows, n_seats) = (vec!["A".to_owned()], self.swarm.n_seats);
        let grade_mapping = BTreeMap::from([("A".to_owned(), "R".to_owned())]);
        let template =
            SeatTemplate::Grid(GridTemplate { rows, seats_per_row: n_seats, grade_mapping });
        let hall_command =
            CreateHall { actor, hall, venue, name, template, capacity: n_seats, now };
        self.store.create_hall(hall_command).await?;
        let title = "Podo Live".to_owned().try_into().map_err(podo_app::Error::broken)?;
        let artist = "The Grapes".to_owned().try_into().map_err(podo_app::Error::broken)?;
        let new = NewEvent::new(title, artist, venue, hall);
        self.store.create_event(CreateEvent { actor, event, new, now }).await?;
        self.store.create_schedule(self.schedule_command(actor, event)).await?;
        let open = ChangeEvent { actor, event, verb: EventVerb::Open, now };
        self.store.change_event(open).await?;
        if self.swarm.has_options {
            self.store.set_price_options(choosing::options(actor, self.schedule, now)).await?;
            self.store.add_promotion(choosing::promotion(actor, self.schedule, now)).await?;
        }
        if self.swarm.has_phase {
            let window = SaleWindow { starts_at: self.opening(), ends_at: self.closing() };
            let phases = proving::phases(actor, self.schedule, window, now);
            self.store.set_phases(phases).await?;
            let uses_max = (self.fans.len() as u32 / 2).max(1);
            let code = proving::code(actor, self.schedule, uses_max, now);
            self.store.add_codes(code).await?;
        }
        let fans = self.fans.iter().enumerate();
        self.store.create_users(fans.map(|(index, fan)| account(index, *fan)).collect()).await
    }

    fn schedule_command(&self, actor: UserId, event: EventId) -> CreateSchedule {
        let day = Duration::from_secs(30 * 86_400);
        let price = Won::new(PRICE).expect("a price in range");
        CreateSchedule {
            actor,
            schedule: self.schedule,
            event,
            times: ScheduleTimes {
                starts_at: START.plus(day),
                ends_at: START.plus(day + Duration::from_secs(7_200)),
                sale_starts_at: self.opening(),
                sale_ends_at: self.closing(),
            },
            prices: BTreeMap::from([("R".to_owned(), price)]),
            seats_per_person: SEATS_PER_FAN_MAX,
            seats_per_order: SEATS_PER_ORDER,
            resale_delay: ResaleDelay::default(),
            queue: QueueSettings {
                max_active: self.swarm.max_active,
                admit_per_second: 5,
                entry_ttl_seconds: self.swarm.entry_ttl_s,
                ..QueueSettings::default()
            },
            draw_seed: [3; 32],
            now: START,
        }
    }
}

/// The e-mail address of a fan.
pub(crate) fn address_of(index: usize) -> String {
    format!("fan{index}@podo.example")
}

fn account(index: usize, user: UserId) -> CreateUser {
    let email_hash = Keyring::new(&MASTER_KEY).lookup("email", &address_of(index));
    CreateUser {
        user,
        email: b"sealed".to_vec(),
        email_hash,
        is_email_proven: true,
        password_hash: "argon2id".into(),
        name: b"sealed".to_vec(),
        phone: None,
        phone_hash: None,
        role: Role::User,
        consents: Vec::new(),
        now: START,
    }
}
