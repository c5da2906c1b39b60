//! Rare moments, counted: a simulation that never meets them has not tested them.

/// Something worth having seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// A fan asked for a seat that somebody else had.
    RaceLost,
    /// A seat was taken from a hold that was over but not swept yet.
    HoldTakenOver,
    /// A fan tried to pay in the very millisecond in which the hold ended.
    PayingAtExpiry,
    /// A fan started to pay in the last millisecond of the hold.
    PayingJustInTime,
    /// The sweeper came in the very millisecond in which a hold ended.
    SweepAtExpiry,
    /// The sweeper passed by seats that were being paid for after their hold's time.
    SweepSparedPaying,
    /// Money arrived after the hold's time, for a payment started in time.
    LateApproval,
    Declined,
    /// A second payment after a declined one was confirmed.
    SecondCard,
    WrongAmount,
    RefundDue,
    OutcomeUnknown,
    /// The gateway was asked to capture the same payment twice.
    CaptureAskedTwice,
    /// An answer came for a payment that was settled before.
    AnswerAfterSettled,
    /// The gateway told us before it answered us.
    WebhookFirst,
    /// The reconciler found out what the lost answer was.
    ReconcilerConfirmed,
    Voided,
    /// The request reached the gateway after it had been voided.
    HeardAfterVoid,
    /// A refund went through, its answer did not.
    RefundAnswerLost,
    PaidFromWallet,
    WalletTooSmall,
    /// A paid reservation was given back.
    Canceled,
    /// Giving back seats under payment was refused.
    ReleaseRefused,
    /// A second payment of a reservation under payment was refused.
    SecondTabRefused,
}

impl Sight {
    pub const ALL: [Sight; 24] = [
        Sight::RaceLost,
        Sight::HoldTakenOver,
        Sight::PayingAtExpiry,
        Sight::PayingJustInTime,
        Sight::SweepAtExpiry,
        Sight::SweepSparedPaying,
        Sight::LateApproval,
        Sight::Declined,
        Sight::SecondCard,
        Sight::WrongAmount,
        Sight::RefundDue,
        Sight::OutcomeUnknown,
        Sight::CaptureAskedTwice,
        Sight::AnswerAfterSettled,
        Sight::WebhookFirst,
        Sight::ReconcilerConfirmed,
        Sight::Voided,
        Sight::HeardAfterVoid,
        Sight::RefundAnswerLost,
        Sight::PaidFromWallet,
        Sight::WalletTooSmall,
        Sight::Canceled,
        Sight::ReleaseRefused,
        Sight::SecondTabRefused,
    ];
}

/// How often each was seen.
#[derive(Clone, Debug, Default)]
pub struct Sightings([u64; Sight::ALL.len()]);

impl Sightings {
    pub fn count(&self, sight: Sight) -> u64 {
        self.0[sight as usize]
    }

    pub fn add(&mut self, other: &Sightings) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
    }

    /// What never happened.
    pub fn missing(&self) -> Vec<Sight> {
        Sight::ALL.into_iter().filter(|sight| self.count(*sight) == 0).collect()
    }

    pub(crate) fn saw(&mut self, sight: Sight) {
        self.0[sight as usize] += 1;
    }
}
