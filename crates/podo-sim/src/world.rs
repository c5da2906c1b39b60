//! The world: one schedule on sale, its store, its gateway, its nodes and its clock.

use crate::Mutation;
use crate::check::coverage::Coverage;
use crate::check::notes::Notes;
use crate::fan::choosing;
use crate::faults::clocks::MachineClock;
use crate::faults::injector::NoFaults;
use crate::live::bus::Log;
use crate::live::{Engines, Lender};
use crate::rng::Rng;
use crate::swarm::{Extras, PhasePlan, Swarm};
use crate::time::{Owner, Time};
use podo_adapters::sql::SqlStore;
use podo_app::AppContext;
use podo_app::catalog::phases::port::Phases as _;
use podo_app::catalog::port::{
    Catalog, ChangeEvent, CreateEvent, CreateHall, CreateSchedule, CreateVenue, EventVerb,
};
use podo_app::catalog::pricing_port::Pricing;
use podo_app::identity::keyring::Keyring;
use podo_app::identity::port::accounts::{Accounts, CreateUser};
use podo_app::operations::port::clock::{Clock, Rng as _};
use podo_domain::booking::seats::SEATS_PER_ORDER;
use podo_domain::catalog::{
    GridTemplate, NewEvent, ResaleDelay, SaleTerms, ScheduleTimes, SeatTemplate,
};
use podo_domain::identity::Role;
use podo_domain::payments::deposits::DepositDeadline;
use podo_domain::payments::{OfferedMethods, PaymentMethod};
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

/// Of the second row, in a hall with two grades.
pub(crate) const PRICE_BEHIND: i64 = 60_000;

/// How far the clocks of nodes and fans may be apart when a phase begins.
const ROOMS_CHANGE: Duration = Duration::from_secs(20);

/// The organiser, who has no account.
pub(crate) const ORGANISER: UserId = UserId::new(Uuid::from_u128(3));

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
    /// How often each ticket opened a gate, and the seat that the steward saw.
    let_in: Mutex<BTreeMap<TicketId, (u32, String)>>,
    /// The clock of each node's machine.
    pub(crate) clocks: Vec<Arc<MachineClock>>,
    /// The context of each node; none while it is down.
    nodes: Mutex<Vec<Option<Arc<AppContext>>>>,
}

impl World {
    pub(crate) fn new(seed: u64, mutation: Mutation, is_traced: bool) -> World {
        let rng = Arc::new(Rng::new(seed));
        let swarm = Swarm::drawn(&rng, Extras::of(seed));
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
        // Deposits are awaited for an hour, and late ones are found within another.
        let deposits = if self.swarm.has_deposits { 3 * 3_600 } else { 0 };
        self.closing().plus(REST + Duration::from_secs(deposits))
    }

    /// When the second of two phases begins, or the sale.
    pub(crate) fn second_opening(&self) -> Timestamp {
        self.opening().plus(self.swarm.first_phase)
    }

    /// The waiting room of the sale, or of the phase that runs.
    pub(crate) fn room(&self) -> ScheduleId {
        match self.swarm.phases {
            PhasePlan::None => self.schedule,
            PhasePlan::Code => self.schedule.phase(1).room(),
            PhasePlan::Members | PhasePlan::Draw if self.time.now() < self.second_opening() => {
                self.schedule.phase(1).room()
            }
            PhasePlan::Members | PhasePlan::Draw => self.schedule.phase(2).room(),
        }
    }

    /// Around the moment at which one waiting room follows another, nodes and fans may mean
    /// different ones.
    pub(crate) fn is_between_rooms(&self) -> bool {
        let (now, second) = (self.time.now(), self.second_opening());
        let is_near = second.minus(ROOMS_CHANGE) < now && now < second.plus(ROOMS_CHANGE);
        !self.swarm.first_phase.is_zero() && is_near
    }

    pub(crate) fn is_on_sale(&self) -> bool {
        self.time.now() < self.closing()
    }

    pub(crate) fn is_called_off(&self) -> bool {
        self.is_called_off.load(Ordering::Relaxed)
    }

    /// Counts that a ticket opened a gate. Returns how often it has.
    pub(crate) fn let_in(&self, ticket: TicketId, seat: String) -> u32 {
        let mut let_in = self.let_in.lock().unwrap_or_else(PoisonError::into_inner);
        let (n_times, _) = let_in.entry(ticket).or_insert((0, seat));
        *n_times += 1;
        *n_times
    }

    /// The tickets that opened a gate, and their seats at that moment.
    pub(crate) fn seats_at_gate(&self) -> BTreeMap<TicketId, String> {
        let let_in = self.let_in.lock().unwrap_or_else(PoisonError::into_inner);
        let_in.iter().map(|(ticket, (_, seat))| (*ticket, seat.clone())).collect()
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
        let (actor, event) = (ORGANISER, EventId::new(Uuid::from_u128(4)));
        let (name, address, city) = ("Hall".to_owned(), "1".to_owned(), "Seoul".to_owned());
        let now = START;
        let venue_command = CreateVenue {
            actor,
            venue,
            name: name.clone(),
            address,
            city,
            time_zone: "Asia/Seoul".to_owned(),
            now,
        };
        self.store.create_venue(venue_command).await?;
        let (template, capacity) = (self.template(), self.swarm.n_seats);
        let hall_command = CreateHall { actor, hall, venue, name, template, capacity, now };
        self.store.create_hall(hall_command).await?;
        let title = "Podo Live".to_owned().try_into().map_err(podo_app::Error::broken)?;
        let artist = "The Grapes".to_owned().try_into().map_err(podo_app::Error::broken)?;
        let mut new = NewEvent::new(title, artist, venue, hall);
        let mut terms = SaleTerms::default();
        if self.swarm.has_deposits {
            let methods =
                [PaymentMethod::Card, PaymentMethod::VirtualAccount, PaymentMethod::Wallet];
            terms.methods =
                OfferedMethods::try_from(methods.to_vec()).map_err(podo_app::Error::broken)?;
            new.deposit_deadline = DepositDeadline::Hours(1);
        }
        self.store.create_event(CreateEvent { actor, event, new, terms, now }).await?;
        self.store.create_schedule(self.schedule_command(actor, event)).await?;
        let open = ChangeEvent { actor, event, verb: EventVerb::Open, now };
        self.store.change_event(open).await?;
        if self.swarm.has_options {
            self.store.set_price_options(choosing::options(actor, self.schedule, now)).await?;
            self.store.add_promotion(choosing::promotion(actor, self.schedule, now)).await?;
        }
        if self.swarm.phases != PhasePlan::None {
            self.store.set_phases(self.phases(now)).await?;
            self.invite(now).await?;
        }
        let fans = self.fans.iter().enumerate();
        self.store.create_users(fans.map(|(index, fan)| account(index, *fan)).collect()).await
    }

    /// One row of one grade, or two with a desk.
    fn template(&self) -> SeatTemplate {
        let rows: &[(&str, &str)] = match self.swarm.has_desk {
            true => &[("A", "R"), ("B", "S")],
            false => &[("A", "R")],
        };
        SeatTemplate::Grid(GridTemplate {
            rows: rows.iter().map(|(row, _)| (*row).to_owned()).collect(),
            seats_per_row: self.swarm.n_seats / rows.len() as u32,
            grade_mapping: rows
                .iter()
                .map(|(row, grade)| ((*row).into(), (*grade).into()))
                .collect(),
        })
    }

    /// What each grade costs at first.
    pub(crate) fn prices(&self) -> BTreeMap<String, Won> {
        let won = |amount| Won::new(amount).expect("a price in range");
        let mut prices = BTreeMap::from([("R".to_owned(), won(PRICE))]);
        if self.swarm.has_desk {
            prices.insert("S".to_owned(), won(PRICE_BEHIND));
        }
        prices
    }

    fn schedule_command(&self, actor: UserId, event: EventId) -> CreateSchedule {
        let day = Duration::from_secs(30 * 86_400);
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
            prices: self.prices(),
            seats_per_person: self.swarm.seats_per_person,
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
