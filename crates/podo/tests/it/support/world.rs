//! A server in this process, on a free port and a temporary folder, with a clock that tests move.

use crate::support::client::{Api, text};
use crate::support::fan::Fan;
use crate::support::soundness::Soundness;
use podo::bootstrap;
use podo::bootstrap::Bootstrapped;
use podo::config::{Config, Overrides};
use podo::server::Server;
use podo_adapters::clock::SystemClock;
use podo_app::AppContext;
use podo_app::identity::accounts::{SignUp, new_user};
use podo_app::identity::port::accounts::CreateUser;
use podo_app::identity::port::team::ChangeMembership;
use podo_app::identity::sessions::Caller;
use podo_app::operations::port::clock::Clock;
use podo_app::operations::port::invariants::Finding;
use podo_app::payments::jobs::settle::settle_unknown_payments;
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::{Membership, TeamRole};
use podo_domain::identity::{Email, NewPassword, Role};
use podo_domain::{ScheduleId, SeatId, SessionId, Timestamp, UserId};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The price of every seat.
pub(crate) const PRICE: i64 = 50_000;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// From the opening of the sale to the show.
pub(crate) const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The system's clock, advanced by the test.
#[derive(Default)]
pub(crate) struct MovedClock {
    ahead_ms: AtomicI64,
    /// The time of a stopped clock, which only the test advances.
    stopped_at: OnceLock<Timestamp>,
}

impl MovedClock {
    pub(crate) fn advance(&self, length: Duration) {
        let ms = i64::try_from(length.as_millis()).unwrap();
        self.ahead_ms.fetch_add(ms, Ordering::SeqCst);
    }

    pub(crate) fn fall_back(&self, length: Duration) {
        let ms = i64::try_from(length.as_millis()).unwrap();
        self.ahead_ms.fetch_sub(ms, Ordering::SeqCst);
    }

    pub(crate) fn stop_at(&self, time: Timestamp) {
        self.stopped_at.set(time).expect("a clock is stopped once");
    }
}

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        let time = self.stopped_at.get().copied().unwrap_or_else(|| SystemClock.now());
        Timestamp::from_ms(time.ms() + self.ahead_ms.load(Ordering::SeqCst))
    }
}

pub(crate) struct World {
    /// Dropped before the server, so that the check has a store.
    soundness: Soundness,
    pub(crate) running: Server,
    pub(crate) clock: Arc<MovedClock>,
    /// A caller who isn't logged in.
    pub(crate) stranger: Api,
    pub(crate) organiser: Api,
    /// The server's data, if it has its own folder.
    pub(crate) _folder: Option<TempDir>,
}

impl World {
    pub(crate) async fn start() -> World {
        World::with(&[]).await
    }

    /// Starts with some settings (`PODO_…`) changed.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> World {
        World::with_config(settings, |_| {}).await
    }

    /// The same with a change that no setting allows.
    pub(crate) async fn with_config(
        settings: &[(&str, &str)],
        change: impl FnOnce(&mut Config),
    ) -> World {
        let folder = TempDir::with_prefix("podo-").unwrap();
        let mut config = config(folder.path(), settings);
        change(&mut config);
        let bootstrapped = bootstrap::context(&config).await.unwrap();
        let world = World::on(&config, bootstrapped).await;
        World { _folder: Some(folder), ..world }
    }

    /// Starts on parts that the test bootstrapped, in a folder that the test keeps.
    pub(crate) async fn on(config: &Config, mut bootstrapped: Bootstrapped) -> World {
        let clock = Arc::new(MovedClock::default());
        bootstrapped.context.clock = clock.clone();
        let listener = podo::http::listener::bind(&config.listen).unwrap();
        let running = Box::pin(Server::start(config, bootstrapped, listener)).await.unwrap();
        let stranger = Api::at(&running.url());
        let organisers = accounts(&running.context, 1, Role::Admin).await;
        let organiser = stranger.with_token(&organisers[0].1);
        let soundness = Soundness::of(&running.context.store, clock.clone());
        World { soundness, running, clock, stranger, organiser, _folder: None }
    }

    pub(crate) fn context(&self) -> &AppContext {
        &self.running.context
    }

    /// Lets unknown payments become old enough to be voided: three minutes after the first query.
    pub(crate) async fn pass_void_time(&self) {
        self.clock.advance(Duration::from_secs(10));
        settle_unknown_payments(self.context(), self.clock.now()).await.unwrap();
        self.clock.advance(Duration::from_secs(200));
    }

    /// The folder with the store's files.
    pub(crate) fn data(&self) -> &Path {
        self._folder.as_ref().expect("this server has its own folder").path()
    }

    pub(crate) async fn fans(&self, n_fans: usize) -> Vec<Fan> {
        let accounts = accounts(self.context(), n_fans, Role::User).await;
        let fan = |(id, token): (UserId, String)| Fan { id, api: self.stranger.with_token(&token) };
        accounts.into_iter().map(fan).collect()
    }

    /// A fan with this verified address.
    pub(crate) async fn fan_at(&self, email: &str) -> Fan {
        let context = self.context();
        let asked = SignUp {
            email: Email::try_from(email.to_owned()).unwrap(),
            password: NewPassword::try_from("never used to log in".to_owned()).unwrap(),
            name: Line::try_from("Fan".to_owned()).unwrap(),
            phone: None,
            role: Role::User,
        };
        let user = new_user(context, &asked, "no hash".to_owned(), context.now());
        let user = CreateUser { is_email_proven: true, ..user };
        let fan = Fan { id: user.user, api: self.stranger.clone() };
        context.store.create_user(user).await.unwrap();
        self.again(&fan)
    }

    /// An organiser with this role.
    pub(crate) async fn member(&self, membership: Membership) -> Api {
        let context = self.context();
        let made = accounts(context, 1, Role::Staff).await.remove(0);
        let command = ChangeMembership {
            actor: made.0,
            by: Membership::preset(TeamRole::Owner).grant,
            user: made.0,
            membership: Some(membership),
            now: context.now(),
        };
        context.store.change_membership(command).await.unwrap();
        self.stranger.with_token(&made.1)
    }

    pub(crate) async fn fan(&self) -> Fan {
        self.fans(1).await.remove(0)
    }

    /// The same fan with another login.
    pub(crate) fn again(&self, fan: &Fan) -> Fan {
        let context = self.context();
        let now = context.now();
        let session = SessionId::new(context.rng.id(now));
        let caller = Caller { user: fan.id, session, role: Role::User };
        let token = context.identity.sessions.issue(caller, context.rng.id(now), now);
        Fan { id: fan.id, api: self.stranger.with_token(&token) }
    }

    /// An admitted fan.
    pub(crate) async fn fan_inside(&self, show: &Show) -> Fan {
        let mut fan = self.fan().await;
        fan.go_inside(show).await;
        fan
    }

    /// Creates a venue, a hall, an event and its date through the API, and opens it.
    pub(crate) async fn show(&self, plan: Plan) -> Show {
        let template = json!({ "layoutType": "grid", "rows": ["A"],
            "seatsPerRow": plan.n_seats, "gradeMapping": { "A": "VIP" } });
        self.show_in(template, json!({ "VIP": PRICE }), plan).await
    }

    /// The same in a hall of this template, at these prices.
    pub(crate) async fn show_in(&self, template: Value, prices: Value, plan: Plan) -> Show {
        let made = |answer: crate::support::client::Answer| text(&answer.expect(201), "id");
        let admin = &self.organiser;
        let venue = json!({ "name": "포도 아레나", "address": "올림픽로 1", "city": "서울" });
        let venue = made(admin.post("/api/admin/venues", &venue).await);
        let hall = json!({ "name": "대극장", "seatTemplate": template });
        let hall = made(admin.post(&format!("/api/admin/venues/{venue}/halls"), &hall).await);
        let event = json!({ "title": "포도 콘서트", "artist": "청포도밴드",
            "venueId": venue, "hallId": hall });
        let event = made(admin.post("/api/admin/events", &event).await);
        let path = format!("/api/admin/events/{event}/schedules");
        let mut body = self.schedule_body(&plan);
        body["prices"] = prices;
        let schedule = made(admin.post(&path, &body).await);
        admin.post(&format!("/api/admin/events/{event}/open"), &json!({})).await.expect(200);
        Show { event, schedule: schedule.parse().unwrap() }
    }

    fn schedule_body(&self, plan: &Plan) -> Value {
        let opens_at = self.context().now().plus(plan.opens_in);
        let starts_at = opens_at.plus(plan.starts_in);
        json!({
            "startsAt": starts_at, "endsAt": starts_at.plus(DAY),
            "saleStartsAt": opens_at, "saleEndsAt": starts_at.minus(DAY),
            "queue": plan.queue("AUTO"),
        })
    }

    /// The findings of each invariant.
    pub(crate) async fn findings(&self) -> Vec<Finding> {
        let context = self.context();
        context.store.check_all(context.now()).await.unwrap()
    }

    /// Every invariant holds in the middle of a test.
    pub(crate) async fn check_invariants(&self) {
        self.soundness.check().await;
    }

    /// Ends a test: every invariant holds. A test that ends without this call checks the same.
    pub(crate) async fn finish(mut self) {
        self.soundness.check().await;
        self.soundness.settle();
    }

    /// Ends a test that damaged the store on purpose: nothing is checked.
    pub(crate) fn abandon(mut self) {
        self.soundness.settle();
    }
}

/// Settings for tests: a free port, limits off, frequent jobs.
pub(crate) fn config(data: &Path, settings: &[(&str, &str)]) -> Config {
    let (store_url, live_url) = (crate::engine::store_url(data), crate::engine::live_url());
    let usual = [
        ("PODO_STORE_URL", store_url.as_str()),
        ("PODO_STORE_ROLES", "on"),
        ("PODO_LIVE_URL", live_url.as_str()),
        ("PODO_LIMITS", "off"),
        ("PODO_ADMIN_PROOF_MINUTES", "0"),
        ("PODO_LISTEN", "127.0.0.1:0"),
        ("PODO_ADMIT_EVERY_MS", "20"),
        ("PODO_SWEEP_EVERY_MS", "50"),
    ];
    let overrides = Overrides { data: Some(data.to_owned()), ..Overrides::default() };
    Config::load(&overrides, |name| {
        let found = settings.iter().chain(&usual).find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    })
    .unwrap()
}

/// Accounts and their access tokens, without hashing a password for each.
pub(crate) async fn accounts(
    context: &AppContext,
    n_accounts: usize,
    role: Role,
) -> Vec<(UserId, String)> {
    let now = context.now();
    let run = context.rng.number();
    let account = |number: usize| {
        let asked = SignUp {
            email: Email::try_from(format!("p{number}.{run:x}@podo.example")).unwrap(),
            password: NewPassword::try_from("never used to log in".to_owned()).unwrap(),
            name: Line::try_from("Fan".to_owned()).unwrap(),
            phone: None,
            role,
        };
        let user = new_user(context, &asked, "no hash".to_owned(), now);
        CreateUser { is_email_proven: true, ..user }
    };
    let users: Vec<_> = (0..n_accounts).map(account).collect();
    let token = |user: UserId| {
        let session = SessionId::new(context.rng.id(now));
        context.identity.sessions.issue(Caller { user, session, role }, context.rng.id(now), now)
    };
    let accounts = users.iter().map(|user| (user.user, token(user.user))).collect();
    context.store.create_users(users).await.unwrap();
    accounts
}

/// What is sold and how fans are admitted.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) n_seats: u32,
    pub(crate) opens_in: Duration,
    /// From the opening of the sale to the start of the show.
    pub(crate) starts_in: Duration,
    pub(crate) max_active: u32,
    pub(crate) entry_ttl_seconds: u32,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            n_seats: 20,
            opens_in: Duration::ZERO,
            starts_in: MONTH,
            max_active: 1_000,
            entry_ttl_seconds: 600,
        }
    }
}

impl Plan {
    /// A show that begins so soon that its gates are open.
    pub(crate) fn tonight() -> Plan {
        Plan { starts_in: Duration::from_secs(30 * 3_600), ..Plan::default() }
    }

    /// The settings of the queue in this mode.
    pub(crate) fn queue(&self, mode: &str) -> Value {
        json!({ "mode": mode, "maxActive": self.max_active, "admitPerSecond": 100_000,
            "entryTtlSeconds": self.entry_ttl_seconds })
    }
}

/// A date on sale.
#[derive(Clone)]
pub(crate) struct Show {
    pub(crate) event: String,
    pub(crate) schedule: ScheduleId,
}

impl Show {
    pub(crate) fn seat(&self, index: u32) -> SeatId {
        self.schedule.seat(index)
    }

    /// The letter of a seat in the public seat map.
    pub(crate) async fn letter(&self, api: &Api, index: usize) -> char {
        let map = api.get(&format!("/api/schedules/{}/seats", self.schedule)).await.expect(200);
        text(&map, "seats").chars().nth(index).unwrap()
    }

    /// Waits until a seat has this letter in the seat map.
    pub(crate) async fn wait_for_letter(&self, api: &Api, index: usize, letter: char) {
        let what = format!("seat {index} becomes {letter}");
        until(&what, async || (self.letter(api, index).await == letter).then_some(())).await;
    }
}

/// Retries until there is a result; a timeout fails the test and says what was expected.
pub(crate) async fn until<T>(what: &str, ask: impl AsyncFnMut() -> Option<T>) -> T {
    until_within(Duration::from_secs(20), what, ask).await
}

/// The same with a longer timeout.
pub(crate) async fn until_within<T>(
    patience: Duration,
    what: &str,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> T {
    const PAUSE: Duration = Duration::from_millis(20);
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
