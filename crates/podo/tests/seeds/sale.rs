//! One seed: its own date with its own fans, on nodes that it shares with other seeds.

use crate::cluster::Cluster;
use crate::coverage::Moment;
use crate::fan::{Fan, applying, choosing};
use crate::organiser::Organiser;
use crate::plan::SalePlan;
use crate::rng::Rng;
use futures::future::{join, join_all};
use podo_app::catalog::port::EventVerb;
use podo_app::catalog::{
    NewSchedule, NewVenue, cancel_schedule, change_event, create_event, create_hall,
    create_schedule, create_venue,
};
use podo_app::identity::accounts::{SignUp, new_user};
use podo_app::identity::port::accounts::CreateUser;
use podo_app::{AppContext, Error};
use podo_domain::booking::seats::SEATS_PER_ORDER;
use podo_domain::catalog::text::Line;
use podo_domain::catalog::{GridTemplate, NewEvent, ResaleDelay, ScheduleTimes, SeatTemplate};
use podo_domain::identity::{Email, NewPassword, Role};
use podo_domain::waiting_room::QueueSettings;
use podo_domain::{EventId, ScheduleId, TicketId, Timestamp, UserId, Won};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const PRICE: i64 = 100_000;
pub(crate) const GRADE: &str = "R";

/// Of the second row, which a date with a desk has.
const GRADE_BEHIND: &str = "S";
const PRICE_BEHIND: i64 = 60_000;

/// How long fans may apply, and how long winners of the draw may buy: ten minutes for the first
/// offers, and as long for those that follow expired ones.
const APPLY_FOR: Duration = Duration::from_secs(400);
const DRAW_PHASE: Duration = Duration::from_secs(1_300);
const DAY: Duration = Duration::from_secs(86_400);

/// How often a step of the harness is repeated on a busy machine, whose pools have no connection
/// left for seconds.
pub(crate) const ATTEMPTS_MAX: u32 = 20;

pub(crate) struct Sale {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) seed: u64,
    pub(crate) plan: SalePlan,
    pub(crate) event: EventId,
    pub(crate) schedule: ScheduleId,
    /// When fans can apply no more, and the sale begins.
    pub(crate) opening: Timestamp,
    /// When winners of a draw have had their time, and everybody may buy.
    pub(crate) second_opening: Timestamp,
    pub(crate) closing: Timestamp,
    pub(crate) fans: Vec<(UserId, Email)>,
    is_called_off: AtomicBool,
    is_over: AtomicBool,
    n_paying: AtomicU32,
    let_in: Mutex<BTreeMap<TicketId, (u32, String)>>,
}

impl Sale {
    pub(crate) async fn play(cluster: Arc<Cluster>, seed: u64) {
        let mut rng = Rng::new(seed);
        let plan = SalePlan::drawn(&mut rng);
        let sale = match Sale::open_on_busy_engines(&cluster, seed, &plan).await {
            Ok(sale) => Arc::new(sale),
            Err(error) => return cluster.note_problem(format!("seed {seed}: {error}, {plan:?}")),
        };
        let fans = (0..sale.fans.len()).map(|index| Fan::live(sale.clone(), index));
        let trade = async {
            let called_off = &mut rng.clone();
            let organisers = join(sale.call_off(called_off), Organiser::work(sale.clone()));
            let (acknowledged, _) = join(join_all(fans), organisers).await;
            sale.is_over.store(true, Ordering::Relaxed);
            acknowledged
        };
        cluster.note_seed(seed, true);
        let (acknowledged, ()) = join(trade, sale.watch_cap()).await;
        sale.check(&acknowledged).await;
        sale.end().await;
        cluster.note_seed(seed, false);
    }

    /// Organisers repeat what found no connection, as fans do.
    async fn open_on_busy_engines(
        cluster: &Arc<Cluster>,
        seed: u64,
        plan: &SalePlan,
    ) -> podo_app::Result<Sale> {
        let mut attempt = 1;
        loop {
            match Sale::open(cluster, (seed, attempt), plan.clone()).await {
                Err(Error::Unavailable(_)) if attempt < ATTEMPTS_MAX => attempt += 1,
                opened => return opened,
            }
        }
    }

    async fn open(
        cluster: &Arc<Cluster>,
        (seed, attempt): (u64, u32),
        plan: SalePlan,
    ) -> podo_app::Result<Sale> {
        let (context, actor) = (&*cluster.nodes[plan.nodes[0]].context, cluster.organiser);
        let fans = fans(context, &format!("{seed}.{attempt}"), plan.n_fans).await?;
        let text = |text: &str| text.to_owned();
        let (name, address) = (line(&format!("Hall {seed}")), line("1"));
        let venue = NewVenue { name, address, city: line("Seoul"), time_zone: None };
        let venue = create_venue(context, actor, venue).await?;
        let mut grade_mapping = BTreeMap::from([(text("A"), text(GRADE))]);
        if plan.has_desk {
            grade_mapping.insert(text("B"), text(GRADE_BEHIND));
        }
        let rows = grade_mapping.keys().cloned().collect();
        let seats_per_row = plan.n_seats;
        let template = SeatTemplate::Grid(GridTemplate { rows, seats_per_row, grade_mapping });
        let (hall, _) = create_hall(context, actor, venue, line("Hall"), template).await?;
        let event = NewEvent::new(line("Podo Live"), line("The Grapes"), venue, hall);
        let event = create_event(context, actor, event).await?;
        let now = context.now();
        let (opening, second_opening) = match plan.has_draw {
            true => (now.plus(APPLY_FOR), now.plus(APPLY_FOR + DRAW_PHASE)),
            false => (now, now),
        };
        let closing = second_opening.plus(plan.sale);
        let asked = schedule(&plan, (opening, closing));
        let (schedule, _) = create_schedule(context, actor, event, asked).await?;
        if plan.has_draw {
            let windows = (now, opening, second_opening, closing);
            applying::invite(context, actor, schedule, &plan, windows).await?;
        }
        if plan.has_options {
            choosing::offer(context, actor, schedule).await?;
        }
        change_event(context, actor, event, EventVerb::Open).await?;
        Ok(Sale {
            cluster: cluster.clone(),
            seed,
            plan,
            event,
            schedule,
            opening,
            second_opening,
            closing,
            fans,
            is_called_off: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            n_paying: AtomicU32::new(0),
            let_in: Mutex::default(),
        })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.cluster.now()
    }

    pub(crate) fn is_on_sale(&self) -> bool {
        self.now() < self.closing && !self.is_called_off()
    }

    pub(crate) fn is_called_off(&self) -> bool {
        self.is_called_off.load(Ordering::Relaxed)
    }

    /// The room of everybody's sale.
    fn room(&self) -> ScheduleId {
        if self.plan.has_draw { self.schedule.phase(2).room() } else { self.schedule }
    }

    /// With a desk there is a second row.
    pub(crate) fn n_seats(&self) -> u32 {
        self.plan.n_seats * if self.plan.has_desk { 2 } else { 1 }
    }

    pub(crate) fn saw(&self, moment: Moment) {
        self.cluster.saw(moment);
    }

    pub(crate) fn ensure(&self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            let (seed, schedule, plan) = (self.seed, self.schedule, &self.plan);
            let problem = problem();
            self.cluster.note_problem(format!("seed {seed} ({schedule}): {problem}; {plan:?}"));
        }
    }

    pub(crate) fn any_node(&self, rng: &mut Rng) -> usize {
        rng.one_of(&self.plan.nodes)
    }

    /// A ticket opened a gate for a seat; returns how often it has.
    pub(crate) fn let_in(&self, ticket: TicketId, seat: String) -> u32 {
        let mut let_in = self.let_in.lock().unwrap();
        let (n_times, _) = let_in.entry(ticket).or_insert((0, seat));
        *n_times += 1;
        *n_times
    }

    /// The tickets that opened a gate, and their seats at that moment.
    pub(crate) fn seats_at_gate(&self) -> BTreeMap<TicketId, String> {
        let let_in = self.let_in.lock().unwrap();
        let_in.iter().map(|(ticket, (_, seat))| (*ticket, seat.clone())).collect()
    }

    /// Counts the fans who are paying during this.
    pub(crate) async fn while_paying<T>(&self, paying: impl Future<Output = T>) -> T {
        self.n_paying.fetch_add(1, Ordering::Relaxed);
        let paid = paying.await;
        self.n_paying.fetch_sub(1, Ordering::Relaxed);
        paid
    }

    /// An organiser who cancels the date in the middle of the sale, mostly while a fan is paying.
    async fn call_off(&self, rng: &mut Rng) {
        if !self.plan.is_called_off {
            return;
        }
        let sale_ms = self.plan.sale.as_millis() as u64;
        let after = rng.ms(0, sale_ms / 8);
        let from =
            if self.plan.has_draw && rng.happens(50) { self.opening } else { self.second_opening };
        self.cluster.clock.sleep_until(from.plus(after)).await;
        let waits = rng.happens(80);
        while waits && self.is_on_sale() && self.n_paying.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(rng.ms(0, 20)).await;
        loop {
            let context = &self.cluster.nodes[self.any_node(rng)].context;
            let answer = cancel_schedule(context, self.cluster.organiser, self.schedule).await;
            match answer {
                Ok(_) => break,
                Err(Error::Unavailable(_) | Error::Conflict(_)) => {}
                Err(error) => return self.ensure(false, || format!("calling off: {error}")),
            }
        }
        self.is_called_off.store(true, Ordering::Relaxed);
        self.saw(Moment::CalledOff);
    }

    /// I16: there are never more fans inside than allowed.
    async fn watch_cap(&self) {
        let context = &self.cluster.nodes[self.plan.nodes[0]].context;
        while !self.is_over.load(Ordering::Relaxed) {
            if let Ok(counts) = context.waiting_room.queue.counts(self.room(), context.now()).await
            {
                let is_within = counts.inside <= u64::from(self.plan.max_active);
                self.ensure(is_within, || format!("I16 {counts:?}"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Stops the upkeep of its waiting room and its filter.
    async fn end(&self) {
        let context = &self.cluster.nodes[self.plan.nodes[0]].context;
        let ended = change_event(context, self.cluster.organiser, self.event, EventVerb::End).await;
        self.ensure(ended.is_ok(), || format!("ending the event: {ended:?}"));
    }
}

fn schedule(plan: &SalePlan, (opening, closing): (Timestamp, Timestamp)) -> NewSchedule {
    NewSchedule {
        times: ScheduleTimes {
            starts_at: opening.plus(DAY * 30),
            ends_at: opening.plus(DAY * 31),
            sale_starts_at: opening,
            sale_ends_at: closing,
        },
        prices: prices(plan),
        seats_per_person: plan.seats_per_fan,
        seats_per_order: SEATS_PER_ORDER,
        resale_delay: ResaleDelay::default(),
        queue: QueueSettings {
            max_active: plan.max_active,
            admit_per_second: 5,
            entry_ttl_seconds: plan.entry_ttl_s,
            ..QueueSettings::default()
        },
    }
}

/// What each grade costs at first.
pub(crate) fn prices(plan: &SalePlan) -> BTreeMap<String, Won> {
    let mut prices = BTreeMap::from([(GRADE.to_owned(), Won::new(PRICE).unwrap())]);
    if plan.has_desk {
        prices.insert(GRADE_BEHIND.to_owned(), Won::new(PRICE_BEHIND).unwrap());
    }
    prices
}

async fn fans(
    context: &AppContext,
    sale: &str,
    n_fans: usize,
) -> podo_app::Result<Vec<(UserId, Email)>> {
    let now = context.now();
    let account = |index: usize| {
        let email = Email::try_from(format!("fan{index}.{sale}@podo.example")).unwrap();
        let asked = SignUp {
            email: email.clone(),
            password: NewPassword::try_from("never used to log in".to_owned()).unwrap(),
            name: line("Fan"),
            phone: None,
            role: Role::User,
        };
        let user = new_user(context, &asked, "no hash".to_owned(), now);
        (CreateUser { is_email_proven: true, ..user }, email)
    };
    let accounts: Vec<_> = (0..n_fans).map(account).collect();
    let fans = accounts.iter().map(|(user, email)| (user.user, email.clone())).collect();
    context.store.create_users(accounts.into_iter().map(|(user, _)| user).collect()).await?;
    Ok(fans)
}

fn line<const MAX: usize>(text: &str) -> Line<MAX> {
    Line::try_from(text.to_owned()).unwrap()
}
