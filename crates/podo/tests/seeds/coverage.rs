//! Counts rare moments: what never happened was not tested.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! moments {
    ($($(#[$about:meta])* $name:ident),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Moment {
            $($(#[$about])* $name),+
        }

        impl Moment {
            pub(crate) const ALL: &[Moment] = &[$(Moment::$name),+];
        }
    };
}

moments! {
    /// A command found that another had changed its rows, and was retried.
    ConflictRetried,
    /// Several commands were committed in one transaction of the batch writer.
    BatchShared,
    RaceLost,
    LimitReached,
    EntryOver,
    HoldExpired,
    /// A seat was taken from an expired hold that was not swept yet.
    HoldTakenOver,
    PaidFromWallet,
    PaidByCard,
    Declined,
    OutcomeUnknown,
    /// An unknown payment was found to be charged by a job or a webhook.
    FoundPaid,
    /// Ticket types and perhaps a code were chosen for an order.
    TypesChosen,
    CodeUsed,
    /// Other orders had all uses of the code.
    CodeUsedUp,
    /// An order without a price, which no gateway charges.
    FreeOrder,
    Canceled,
    Transferred,
    CheckedIn,
    /// A used ticket was shown at another gate.
    TicketUsed,
    OfferTaken,
    CalledOff,
    /// A payment was in progress when the date was canceled.
    CalledOffWhilePaying,
    /// An action in another tab, or one refused because the fan was paying.
    OtherTab,
    OtherTabRefused,
    /// A node dropped a call midway.
    CallDropped,
    /// The same key was used on two nodes concurrently, and both returned the same response.
    AnsweredAlike,
    KeyRunning,
    Replayed,
    /// A fan applied in a draw sale, and an offer was bought, declined or left to expire.
    Applied,
    DrawTaken,
    DrawLapsed,
    /// Seats of a lapsed offer went to a fan whose place the quantity hadn't reached.
    DrawMovedOn,
    /// An organiser kept seats from sale, in vain if others had one of them.
    SeatsKept,
    KeepRefused,
    SeatsReleased,
    ReleasedAtItsTime,
    SoldAtDesk,
    DeskTooLate,
    RefundedAtDesk,
    /// A seat that the desk took back went to its allocation again.
    KeptAgain,
    /// A booking got other seats, or they weren't free.
    Moved,
    MoveRefused,
    /// The ticket had opened a gate, or the booking was canceled, before it was to be moved.
    UsedTicketStayed,
    CanceledBeforeMove,
    /// A code was shown after its ticket had moved.
    MovedBeforeScan,
    PricesChanged,
}

pub(crate) struct Coverage([AtomicU64; Moment::ALL.len()]);

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Coverage {
    pub(crate) fn saw(&self, moment: Moment) {
        self.add(moment, 1);
    }

    pub(crate) fn add(&self, moment: Moment, n_times: u64) {
        self.0[moment as usize].fetch_add(n_times, Ordering::Relaxed);
    }

    /// How often each happened.
    pub(crate) fn counts(&self) -> Vec<(Moment, u64)> {
        let count = |moment: &Moment| (*moment, self.0[*moment as usize].load(Ordering::Relaxed));
        Moment::ALL.iter().map(count).collect()
    }
}
