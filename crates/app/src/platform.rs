//! Everything a use case needs, chosen once at start.

use crate::accounts::Proven;
use crate::catalog::Shelf;
use crate::layouts::Layouts;
use crate::ports::Store;
use crate::ports::bus::Bus;
use crate::ports::channels::Channels;
use crate::ports::clock::{Chance, Clock};
use crate::ports::courier::Courier;
use crate::ports::gateway::Gateway;
use crate::ports::holds::Holds;
use crate::ports::identity::Certifier;
use crate::ports::limits::{Limits, Quota};
use crate::ports::passwords::Passwords;
use crate::ports::queue::Queue;
use crate::ports::revocations::Revocations;
use crate::ports::seat_versions::SeatVersions;
use crate::ports::social::SocialService;
use crate::ports::strains::Strains;
use crate::queue::{Knocks, Openings, Progresses, QueueLogBuffer, Waits};
use crate::rate_limits::RateLimits;
use crate::reconciliation::Reconciliation;
use crate::schedules::Schedules;
use crate::seals::Seals;
use crate::seat_map::SeatMaps;
use crate::sessions::Sessions;
use crate::signals::Noted;
use crate::traces::Spans;
use crate::vitals::Vitals;
use crate::workers::Tallies;
use domain::queue::HealthLimits;
use domain::{NodeId, Refusal, Timestamp};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// What the operator may choose about the rules.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How long seats are held before the fan starts to pay.
    pub hold_length: Duration,
    /// How long returned seats are held for a fan who stood by.
    pub offer_length: Duration,
    /// Rate and churn limits; never a check of who may do what.
    pub limits_on: bool,
    /// When fewer fans are let in; never, when there are none.
    pub health_limits: Option<HealthLimits>,
    /// The codes of tickets change every half minute.
    pub tickets_rotate: bool,
    /// An organiser without a second factor is a fan.
    pub admins_need_code: bool,
    /// An organiser who did nothing for so long is logged out; never, when there is none.
    pub admin_idle: Option<Duration>,
    /// How long a proof counts before money moves, roles change or files leave; for ever, when there
    /// is none.
    pub admin_proof: Option<Duration>,
    /// An account is made when its address was confirmed, and not before.
    pub confirm_email: bool,
    /// How long the log of the waiting rooms is kept; nothing is logged, when there is none.
    pub queue_log_for: Option<Duration>,
    /// How long log-ins are kept.
    pub logins_for: Duration,
    /// How long the records of purchases are kept.
    pub records_for: Duration,
    /// Most sign-ups of one network in a minute.
    pub sign_ups_per_minute: u32,
}

pub struct Platform {
    /// This process among those that share the engines.
    pub node: NodeId,
    pub store: Arc<dyn Store>,
    pub queue: Arc<dyn Queue>,
    pub holds: Arc<dyn Holds>,
    pub limits: Arc<dyn Limits>,
    pub rate_limits: RateLimits,
    pub revocations: Arc<dyn Revocations>,
    pub seat_versions: Arc<dyn SeatVersions>,
    pub strains: Arc<dyn Strains>,
    pub bus: Arc<dyn Bus>,
    pub channels: Channels,
    pub courier: Arc<dyn Courier>,
    pub passwords: Arc<dyn Passwords>,
    pub gateways: Vec<Arc<dyn Gateway>>,
    /// Who certifies persons, if anybody does.
    pub certifier: Option<Arc<dyn Certifier>>,
    /// Services whose accounts log in here.
    pub social: Vec<Arc<dyn SocialService>>,
    pub clock: Arc<dyn Clock>,
    pub chance: Arc<dyn Chance>,
    pub seals: Seals,
    pub sessions: Sessions,
    pub schedules: Schedules,
    pub shelf: Shelf,
    pub progress: Progresses,
    pub knocks: Knocks,
    pub proven: Proven,
    pub noted: Noted,
    pub openings: Openings,
    pub waits: Waits,
    pub queue_log: QueueLogBuffer,
    pub vitals: Vitals,
    pub layouts: Layouts,
    pub seat_maps: SeatMaps,
    pub reconciliation: Reconciliation,
    /// What the workers and the jobs of this node did.
    /// Reservations that this node saw paid: by the confirm call, a webhook or a job.
    pub purchases: AtomicU64,
    pub worker_tallies: Tallies,
    pub job_tallies: Tallies,
    /// Where spans go, if anybody follows traces.
    pub spans: Option<Arc<dyn Spans>>,
    pub rules: Rules,
}

impl Platform {
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Takes one of `burst` in `period`, or refuses. Limits that are off refuse nobody.
    pub async fn take(&self, key: &str, burst: u32, period: Duration) -> crate::Result<()> {
        if !self.rules.limits_on {
            return Ok(());
        }
        let allowance = self.limits.take(key, Quota { burst, period }, self.now()).await?;
        allowance.or_refuse()?;
        Ok(())
    }

    /// The gateway a fan chose, or the first that is set up.
    pub fn gateway_or_default(&self, name: Option<&str>) -> Result<&Arc<dyn Gateway>, Refusal> {
        match name {
            Some(name) => self.gateway(name),
            None => self.gateways.first().ok_or(Refusal::UnknownGateway),
        }
    }

    pub fn gateway(&self, name: &str) -> Result<&Arc<dyn Gateway>, Refusal> {
        self.gateways.iter().find(|gateway| gateway.name() == name).ok_or(Refusal::UnknownGateway)
    }
}
