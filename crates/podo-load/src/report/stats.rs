//! Statistics of a run: a histogram per step, a count per answer and ending, the first unexpected
//! answers.

use crate::Latencies;
use podo_domain::{PaymentId, ReservationId, SeatId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Unexpected answers kept with their bodies.
const SAMPLES_MAX: usize = 5;

/// The maximum length of a sample's body, in bytes.
const SAMPLE_BYTES_MAX: usize = 600;

/// What is timed: each call, and three spans that fans notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    SignUp,
    LogIn,
    /// The proof for a phase, before it opens.
    Verify,
    /// Timed from the moment the fan was due, not from the moment the call was sent.
    Enter,
    Poll,
    Seats,
    Select,
    /// Ticket types and a code.
    Order,
    Release,
    Leave,
    Wallet,
    Charge,
    /// A purchase from the wallet in one call.
    Pay,
    Request,
    Sandbox,
    Confirm,
    /// Polls of a payment whose outcome wasn't known at once.
    Payment,
    /// Span: from entering the queue until admission.
    Waited,
    /// Span: from the moment the fan was due until the purchase was acknowledged.
    Bought,
    /// Span: how late this tool itself started a fan. If it is large, the other figures are
    /// unreliable.
    StartLag,
}

impl Step {
    pub const ALL: [Step; 20] = [
        Step::SignUp,
        Step::LogIn,
        Step::Verify,
        Step::Enter,
        Step::Poll,
        Step::Seats,
        Step::Select,
        Step::Order,
        Step::Release,
        Step::Leave,
        Step::Wallet,
        Step::Charge,
        Step::Pay,
        Step::Request,
        Step::Sandbox,
        Step::Confirm,
        Step::Payment,
        Step::Waited,
        Step::Bought,
        Step::StartLag,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Step::SignUp => "sign up",
            Step::LogIn => "log in",
            Step::Verify => "verify",
            Step::Enter => "enter",
            Step::Poll => "poll",
            Step::Seats => "seats",
            Step::Select => "select",
            Step::Order => "order",
            Step::Release => "release",
            Step::Leave => "leave",
            Step::Wallet => "wallet",
            Step::Charge => "charge",
            Step::Pay => "pay",
            Step::Request => "request",
            Step::Sandbox => "sandbox",
            Step::Confirm => "confirm",
            Step::Payment => "payment",
            Step::Waited => "(waited)",
            Step::Bought => "(bought)",
            Step::StartLag => "(start lag)",
        }
    }

    /// Whether it is a request, and not a span over several.
    pub const fn is_call(self) -> bool {
        !matches!(self, Step::Waited | Step::Bought | Step::StartLag)
    }

    /// Whether it comes before the sale. Such calls are timed, but excluded from the throughput.
    pub const fn is_before_sale(self) -> bool {
        matches!(self, Step::SignUp | Step::LogIn)
    }
}

/// How a fan's journey ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    Bought,
    /// Released the seats before paying, as planned.
    Abandoned,
    /// Nothing was free.
    SoldOut,
    /// Lost every race for seats.
    LostRace,
    Declined,
    /// The queue, the entry, the hold, the sale or the fan's patience ended.
    TurnedAway,
    /// A limit of the account, not of the server.
    OverLimit,
    /// An unexpected answer.
    Failed,
}

impl Ending {
    pub const fn as_str(self) -> &'static str {
        match self {
            Ending::Bought => "bought",
            Ending::Abandoned => "abandoned",
            Ending::SoldOut => "sold out",
            Ending::LostRace => "lost race",
            Ending::Declined => "declined",
            Ending::TurnedAway => "turned away",
            Ending::OverLimit => "over limit",
            Ending::Failed => "failed",
        }
    }

    /// What a refusal means for the fan; none if it is unexpected.
    pub(crate) fn of_refusal(code: &str) -> Option<Ending> {
        match code {
            "SEAT_TAKEN" => Some(Ending::LostRace),
            "SEAT_LIMIT" => Some(Ending::OverLimit),
            "PAYMENT_DECLINED" => Some(Ending::Declined),
            "ENTRY_EXPIRED" | "HOLD_OVER" | "QUEUE_CLOSED" | "SALE_CLOSED" | "SALE_NOT_OPEN" => {
                Some(Ending::TurnedAway)
            }
            _ => None,
        }
    }
}

/// An acknowledged purchase: it must exist after any crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Purchase {
    pub fan: u32,
    pub reservation_id: ReservationId,
    pub payment_id: PaymentId,
    pub booking_number: String,
    pub seat_ids: Vec<SeatId>,
    pub amount: i64,
}

/// An unexpected answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sample {
    pub step: Step,
    /// None if there was no answer.
    pub status: Option<u16>,
    pub body: String,
}

/// Everything that fans report while they run.
pub(crate) struct Stats {
    latencies: [Mutex<Latencies>; Step::ALL.len()],
    words: Mutex<Words>,
    pub(crate) n_started: AtomicU64,
    pub(crate) n_admitted: AtomicU64,
    pub(crate) n_bought: AtomicU64,
    pub(crate) n_finished: AtomicU64,
    pub(crate) n_requests: AtomicU64,
    pub(crate) n_unexpected: AtomicU64,
}

/// The rarer events, behind one lock.
#[derive(Clone, Default)]
pub(crate) struct Words {
    pub(crate) endings: BTreeMap<Ending, u64>,
    /// Every answer that was not a success: `select 409 SEAT_TAKEN`.
    pub(crate) refusals: BTreeMap<String, u64>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) purchases: Vec<Purchase>,
}

impl Stats {
    pub(crate) fn new() -> Stats {
        Stats {
            latencies: std::array::from_fn(|_| Mutex::default()),
            words: Mutex::default(),
            n_started: AtomicU64::new(0),
            n_admitted: AtomicU64::new(0),
            n_bought: AtomicU64::new(0),
            n_finished: AtomicU64::new(0),
            n_requests: AtomicU64::new(0),
            n_unexpected: AtomicU64::new(0),
        }
    }

    pub(crate) fn time(&self, step: Step, took: Duration) {
        self.latencies(step).add(took);
        if step.is_call() && !step.is_before_sale() {
            self.n_requests.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn refuse(&self, step: Step, status: u16, code: &str) {
        let refusal = format!("{} {status} {code}", step.as_str());
        *self.words().refusals.entry(refusal).or_default() += 1;
    }

    pub(crate) fn surprise(&self, step: Step, status: Option<u16>, body: &[u8]) {
        self.n_unexpected.fetch_add(1, Ordering::Relaxed);
        let mut words = self.words();
        if words.samples.len() < SAMPLES_MAX {
            let shown = &body[..body.len().min(SAMPLE_BYTES_MAX)];
            let body = String::from_utf8_lossy(shown).into_owned();
            words.samples.push(Sample { step, status, body });
        }
    }

    pub(crate) fn acknowledge(&self, purchase: Purchase) {
        self.n_bought.fetch_add(1, Ordering::Relaxed);
        self.words().purchases.push(purchase);
    }

    pub(crate) fn end(&self, ending: Ending) {
        self.n_finished.fetch_add(1, Ordering::Relaxed);
        *self.words().endings.entry(ending).or_default() += 1;
    }

    pub(crate) fn latencies(&self, step: Step) -> MutexGuard<'_, Latencies> {
        self.latencies[step as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn words(&self) -> MutexGuard<'_, Words> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
