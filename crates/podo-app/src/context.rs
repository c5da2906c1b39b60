//! Everything a use case needs, chosen once at start and grouped by room.

use crate::booking::port::seat_filter::SeatFilter;
use crate::booking::port::seat_versions::SeatVersions;
use crate::booking::reconciliation::Reconciliation;
use crate::booking::seat_map::SeatMaps;
use crate::catalog::CatalogCache;
use crate::catalog::images::ImageStudio;
use crate::catalog::invalidation::Invalidation;
use crate::catalog::layouts::LayoutCache;
use crate::catalog::phases::EligibilityCache;
use crate::catalog::schedules::Schedules;
use crate::identity::accounts::IdentityCache;
use crate::identity::bot_signals::Noted;
use crate::identity::keyring::Keyring;
use crate::identity::port::certifier::Certifier;
use crate::identity::port::passwords::Passwords;
use crate::identity::port::revocations::Revocations;
use crate::identity::port::social::SocialService;
use crate::identity::sessions::Sessions;
use crate::messaging::port::bus::Bus;
use crate::messaging::port::channels::Channels;
use crate::messaging::port::webhook_client::WebhookClient;
use crate::messaging::templates::Brand;
use crate::messaging::workers::RoundCounters;
use crate::operations::port::clock::{Clock, Rng};
use crate::operations::port::node_load::NodeLoad;
use crate::operations::throttling::latency_window::LatencyWindow;
use crate::operations::throttling::limits::{Limits, Quota, SharedBuckets};
use crate::operations::throttling::rate_limits::RateLimits;
use crate::operations::traces::Spans;
use crate::payments::port::gateway::Gateway;
use crate::payments::settlement::GatewayRates;
use crate::store::Store;
use crate::tickets::documents::TicketPress;
use crate::tickets::passes::Passes;
use crate::waiting_room::jobs::Visits;
use crate::waiting_room::port::queue::Queue;
use crate::waiting_room::{Openings, PollRateLimiter, Progresses, QueueLogBuffer, Waits};
use podo_domain::catalog::SaleTerms;
use podo_domain::payments::PaymentMethod;
use podo_domain::waiting_room::HealthLimits;
use podo_domain::{Currency, NodeId, Refusal, Timestamp};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The configurable rules.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How long seats are held before the fan starts to pay.
    pub hold_length: Duration,
    /// How long returned seats are held for a fan on the standby list.
    pub offer_length: Duration,
    /// Rate limits and churn limits; doesn't affect authorization.
    pub limits_on: bool,
    /// When to throttle admission; `None` for never.
    pub health_limits: Option<HealthLimits>,
    /// Whether the codes of tickets change every half minute.
    pub tickets_rotate: bool,
    /// Whether organisers without a second factor have only a fan's role.
    pub admins_need_code: bool,
    /// Idle time after which an organiser is logged out; `None` for never.
    pub admin_idle: Option<Duration>,
    /// How long a step-up is valid for money, role changes and exports; `None` for forever.
    pub admin_proof: Option<Duration>,
    /// Whether an account is created only after its address was confirmed.
    pub confirm_email: bool,
    /// Retention of the waiting-room log; `None` disables it.
    pub queue_log_for: Option<Duration>,
    /// Retention of log-ins.
    pub logins_for: Duration,
    /// Retention of purchase records.
    pub records_for: Duration,
    /// The public address without a slash at the end, for links in e-mails; empty if unknown.
    pub home: String,
    /// What gateways take of each charge, for settlements.
    pub gateway_rates: GatewayRates,
    /// The currency of wallets, and of events that name no other.
    pub currency: Currency,
    /// The IANA time zone of daily jobs and reports.
    pub time_zone: String,
    /// Most sign-ups per network and minute.
    pub sign_ups_per_minute: u32,
    /// The organiser's name and look in notifications and on tickets.
    pub brand: Box<Brand>,
}

/// The context of use cases: the parts that every room uses, then one group per room.
pub struct AppContext {
    /// This process among those that share the engines.
    pub node: NodeId,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub rng: Arc<dyn Rng>,
    pub keyring: Keyring,
    pub rules: Rules,
    /// Where spans go, if traces are exported.
    pub spans: Option<Arc<dyn Spans>>,
    pub identity: IdentityContext,
    pub catalog: CatalogContext,
    pub waiting_room: WaitingRoomContext,
    pub booking: BookingContext,
    pub payments: PaymentsContext,
    pub tickets: TicketsContext,
    pub messaging: MessagingContext,
    pub operations: OperationsContext,
}

pub struct IdentityContext {
    pub passwords: Arc<dyn Passwords>,
    pub revocations: Arc<dyn Revocations>,
    /// Verifies identities, if the operator configured a service for it.
    pub certifier: Option<Arc<dyn Certifier>>,
    /// Services whose accounts can log in here.
    pub social: Vec<Arc<dyn SocialService>>,
    pub sessions: Sessions,
    pub proofs: IdentityCache,
    pub noted_signals: Noted,
}

pub struct CatalogContext {
    pub invalidation: Arc<dyn Invalidation>,
    pub cache: CatalogCache,
    pub schedules: Schedules,
    pub layouts: LayoutCache,
    pub eligible: EligibilityCache,
    /// Pictures of events; `None` where there are none, as in a simulation.
    pub studio: Option<ImageStudio>,
}

pub struct WaitingRoomContext {
    pub queue: Arc<dyn Queue>,
    pub progress: Progresses,
    pub poll_rate_limiter: PollRateLimiter,
    pub openings: Openings,
    pub visits: Visits,
    pub waits: Waits,
    pub log: QueueLogBuffer,
}

pub struct BookingContext {
    pub seat_filter: Arc<dyn SeatFilter>,
    pub seat_versions: Arc<dyn SeatVersions>,
    pub seat_maps: SeatMaps,
    pub reconciliation: Reconciliation,
}

pub struct PaymentsContext {
    pub gateways: Vec<Arc<dyn Gateway>>,
    /// Reservations that this node saw paid: by the confirm call, a webhook or a job.
    pub purchases: AtomicU64,
}

pub struct TicketsContext {
    /// Prints tickets; `None` where nothing is printed, as in a simulation.
    pub press: Option<TicketPress>,
    /// Passes for the wallets of phones, as far as the settings have keys for them.
    pub passes: Passes,
}

pub struct MessagingContext {
    pub bus: Arc<dyn Bus>,
    pub channels: Channels,
    pub webhook_client: Arc<dyn WebhookClient>,
    /// Counters of this node's workers.
    pub worker_rounds: RoundCounters,
}

pub struct OperationsContext {
    pub limits: Arc<dyn Limits>,
    pub rate_limits: RateLimits,
    pub node_load: Arc<dyn NodeLoad>,
    pub latency_window: LatencyWindow,
    /// Counters of this node's jobs.
    pub job_rounds: RoundCounters,
}

/// What every context starts from.
pub struct Foundation {
    pub node: NodeId,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub rng: Arc<dyn Rng>,
    pub keyring: Keyring,
    pub rules: Rules,
}

/// Engines that may lose everything at any moment.
pub struct LiveEngines {
    pub queue: Arc<dyn Queue>,
    pub seat_filter: Arc<dyn SeatFilter>,
    pub seat_versions: Arc<dyn SeatVersions>,
    pub invalidation: Arc<dyn Invalidation>,
    pub limits: Arc<dyn Limits>,
    pub shared_buckets: Arc<dyn SharedBuckets>,
    pub revocations: Arc<dyn Revocations>,
    pub node_load: Arc<dyn NodeLoad>,
}

/// Services that every process needs.
pub struct Services {
    pub bus: Arc<dyn Bus>,
    pub webhook_client: Arc<dyn WebhookClient>,
    pub passwords: Arc<dyn Passwords>,
}

/// Builds a context; anything not set stays empty or off.
pub struct AppContextBuilder {
    foundation: Foundation,
    live: LiveEngines,
    services: Services,
    channels: Channels,
    gateways: Vec<Arc<dyn Gateway>>,
    certifier: Option<Arc<dyn Certifier>>,
    social: Vec<Arc<dyn SocialService>>,
    spans: Option<Arc<dyn Spans>>,
    press: Option<TicketPress>,
    passes: Passes,
    studio: Option<ImageStudio>,
    poll_rate_limiter: PollRateLimiter,
}

impl AppContextBuilder {
    pub fn channels(self, channels: Channels) -> AppContextBuilder {
        AppContextBuilder { channels, ..self }
    }

    pub fn gateways(self, gateways: Vec<Arc<dyn Gateway>>) -> AppContextBuilder {
        AppContextBuilder { gateways, ..self }
    }

    pub fn certifier(self, certifier: Option<Arc<dyn Certifier>>) -> AppContextBuilder {
        AppContextBuilder { certifier, ..self }
    }

    pub fn social(self, social: Vec<Arc<dyn SocialService>>) -> AppContextBuilder {
        AppContextBuilder { social, ..self }
    }

    pub fn spans(self, spans: Option<Arc<dyn Spans>>) -> AppContextBuilder {
        AppContextBuilder { spans, ..self }
    }

    pub fn press(self, press: TicketPress) -> AppContextBuilder {
        AppContextBuilder { press: Some(press), ..self }
    }

    pub fn passes(self, passes: Passes) -> AppContextBuilder {
        AppContextBuilder { passes, ..self }
    }

    pub fn studio(self, studio: ImageStudio) -> AppContextBuilder {
        AppContextBuilder { studio: Some(studio), ..self }
    }

    pub fn poll_rate_limiter(self, poll_rate_limiter: PollRateLimiter) -> AppContextBuilder {
        AppContextBuilder { poll_rate_limiter, ..self }
    }

    pub fn build(self) -> AppContext {
        let AppContextBuilder { foundation, live, services, .. } = self;
        AppContext {
            node: foundation.node,
            store: foundation.store,
            clock: foundation.clock,
            rng: foundation.rng,
            identity: IdentityContext {
                passwords: services.passwords,
                revocations: live.revocations,
                certifier: self.certifier,
                social: self.social,
                sessions: Sessions::new(&foundation.keyring),
                proofs: IdentityCache::default(),
                noted_signals: Noted::default(),
            },
            catalog: CatalogContext {
                invalidation: live.invalidation,
                cache: CatalogCache::default(),
                schedules: Schedules::default(),
                eligible: EligibilityCache::default(),
                layouts: LayoutCache::default(),
                studio: self.studio,
            },
            waiting_room: WaitingRoomContext {
                queue: live.queue,
                progress: Progresses::default(),
                poll_rate_limiter: self.poll_rate_limiter,
                openings: Openings::default(),
                visits: Visits::default(),
                waits: Waits::default(),
                log: QueueLogBuffer::new(foundation.rules.queue_log_for.is_none()),
            },
            booking: BookingContext {
                seat_filter: live.seat_filter,
                seat_versions: live.seat_versions,
                seat_maps: SeatMaps::default(),
                reconciliation: Reconciliation::default(),
            },
            payments: PaymentsContext { gateways: self.gateways, purchases: AtomicU64::new(0) },
            tickets: TicketsContext { press: self.press, passes: self.passes },
            messaging: MessagingContext {
                bus: services.bus,
                channels: self.channels,
                webhook_client: services.webhook_client,
                worker_rounds: RoundCounters::default(),
            },
            operations: OperationsContext {
                limits: live.limits,
                rate_limits: RateLimits::new(live.shared_buckets),
                node_load: live.node_load,
                latency_window: LatencyWindow::default(),
                job_rounds: RoundCounters::default(),
            },
            keyring: foundation.keyring,
            rules: foundation.rules,
            spans: self.spans,
        }
    }
}

impl AppContext {
    pub fn builder(
        foundation: Foundation,
        live: LiveEngines,
        services: Services,
    ) -> AppContextBuilder {
        AppContextBuilder {
            foundation,
            live,
            services,
            channels: Channels::default(),
            gateways: Vec::new(),
            certifier: None,
            social: Vec::new(),
            spans: None,
            press: None,
            passes: Passes::default(),
            studio: None,
            poll_rate_limiter: PollRateLimiter::default(),
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Takes one of `burst` in `period`, or refuses. If limits are off, it never refuses.
    pub async fn take(&self, key: &str, burst: u32, period: Duration) -> crate::Result<()> {
        if !self.rules.limits_on {
            return Ok(());
        }
        let allowance =
            self.operations.limits.take(key, Quota { burst, period }, self.now()).await?;
        allowance.or_refuse()?;
        Ok(())
    }

    /// The gateway that a fan chose, or the first configured one that takes money in this way and in
    /// this currency.
    pub fn gateway_for(
        &self,
        method: PaymentMethod,
        currency: Currency,
        name: Option<&str>,
    ) -> Result<&Arc<dyn Gateway>, Refusal> {
        let gateways = &self.payments.gateways;
        let takes_it = |gateway: &&Arc<dyn Gateway>| gateway.methods().contains(&method);
        let charges_it = |gateway: &&Arc<dyn Gateway>| gateway.currencies().contains(&currency);
        let found = match name {
            Some(name) => Some(self.gateway(name)?).filter(takes_it),
            None if gateways.is_empty() => return Err(Refusal::UnknownGateway),
            None => gateways.iter().filter(takes_it).find(charges_it),
        };
        let found = found.ok_or_else(|| match gateways.iter().any(|it| takes_it(&it)) {
            true if name.is_none() => Refusal::CurrencyUnavailable { field: "method" },
            true | false => Refusal::MethodUnavailable,
        })?;
        match charges_it(&found) {
            true => Ok(found),
            false => Err(Refusal::CurrencyUnavailable { field: "gateway" }),
        }
    }

    /// An event in another currency than the server's offers only what a configured gateway charges.
    /// At home a gateway may be configured later.
    pub(crate) fn refuse_uncharged(&self, terms: &SaleTerms) -> Result<(), Refusal> {
        if terms.currency == self.rules.currency {
            return Ok(());
        }
        let charges = |it: &&Arc<dyn Gateway>| it.currencies().contains(&terms.currency);
        let gateways: Vec<_> = self.payments.gateways.iter().filter(charges).collect();
        if gateways.is_empty() {
            return Err(Refusal::CurrencyUnavailable { field: "currency" });
        }
        let is_taken = |method| gateways.iter().any(|it| it.methods().contains(method));
        match terms.methods.methods().iter().all(is_taken) {
            true => Ok(()),
            false => Err(Refusal::CurrencyUnavailable { field: "paymentMethods" }),
        }
    }

    pub fn gateway(&self, name: &str) -> Result<&Arc<dyn Gateway>, Refusal> {
        self.payments
            .gateways
            .iter()
            .find(|gateway| gateway.name() == name)
            .ok_or(Refusal::UnknownGateway)
    }
}
