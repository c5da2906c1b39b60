//! Rare moments, counted: a simulation that never meets them has not tested them.

macro_rules! sights {
    ($($(#[$about:meta])* $name:ident),+ $(,)?) => {
        /// Something that must have been seen over the seeds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Sight {
            $($(#[$about])* $name),+
        }

        impl Sight {
            pub const ALL: &[Sight] = &[$(Sight::$name),+];
        }
    };
}

sights! {
    /// A fan asked for a seat that somebody else had.
    RaceLost,
    /// A seat was taken from a hold that was over but not swept yet.
    HoldTakenOver,
    /// A fan tried to pay in the very millisecond in which the hold ended.
    PayingAtExpiry,
    /// A fan started to pay in the last millisecond of the hold.
    PayingJustInTime,
    /// Money arrived after the hold's time, for a payment started in time.
    LateApproval,
    Declined,
    /// A second payment after a declined one was confirmed.
    SecondCard,
    /// The gateway took another amount than it was asked for.
    WrongAmount,
    /// Money came for nothing and had to go back.
    RefundDue,
    OutcomeUnknown,
    /// The gateway was asked to capture the same payment twice.
    CaptureAskedTwice,
    /// The company told us by itself.
    Webhook,
    /// The fan's call was answered by what somebody else had settled.
    WebhookFirst,
    /// The reconciler found out what the lost answer was.
    ReconcilerConfirmed,
    Voided,
    /// The request reached the gateway after it had been voided.
    HeardAfterVoid,
    /// A refund went through, its answer did not.
    RefundAnswerLost,
    /// A refund whose answer was lost was found in the gateway's book, and not made again.
    RefundFoundInBook,
    PaidFromWallet,
    WalletTooSmall,
    /// A paid reservation was given back.
    Canceled,
    /// A ticket was given to another fan.
    Transferred,
    /// A ticket opened a gate.
    CheckedIn,
    /// A ticket that had opened one was shown at another.
    TicketUsed,
    /// A fan joined the standby list.
    StoodBy,
    /// Seats that came back were offered to a fan on the list.
    Offered,
    /// An offer was paid for.
    OfferTaken,
    /// The date was called off while it was on sale.
    CalledOff,
    /// A payment under way when the date was called off went back.
    CalledOffWhilePaying,
    /// Giving back seats under payment was refused.
    ReleaseRefused,
    /// A second payment of a reservation under payment was refused.
    SecondTabRefused,
    /// A repeated request got the answer of the first.
    Replayed,
    /// The first request was still under way when its repeat came.
    KeyRunning,
    /// The same key with another body was refused.
    KeyReused,
    /// A fan never heard what became of a request that was done.
    AnswerLost,
    /// A node died.
    Crash,
    /// A node died while it charged a card.
    CrashWhilePaying,
    /// The clock of a machine was behind until it was compared with the store's.
    ClockJumped,
    EnginesForgot,
    /// The waiting rooms lost their last writes.
    TailLost,
    /// The same while fans waited in line.
    TailLostWhileWaiting,
    /// A fan who was let in during what was lost got the entry back.
    EntryOfTailRestored,
    /// A fan got a place back that was given during what was lost.
    PlaceOfTailBroughtBack,
    /// Somebody new came after a tail was lost.
    JoinedAfterTail,
    /// A lost waiting room was opened with those who were inside.
    RoomRestored,
    /// A fan got a place back that the engine had lost.
    PlaceBroughtBack,
    /// Fans gathered before the opening.
    Lobby,
    /// Seats were asked for with an entry that was over.
    EntryOver,
    /// More seats were asked for than a fan may have.
    LimitReached,
    /// Seats were asked for after the end of the sale.
    TooLateForSale,
    /// A message was published though the bus did not say so, and again.
    PublishedTwice,
    /// A worker got messages again that it was done with.
    MessageTwice,
}

/// How often each was seen.
#[derive(Clone, Debug)]
pub struct Sightings([u64; Sight::ALL.len()]);

impl Default for Sightings {
    fn default() -> Sightings {
        Sightings([0; Sight::ALL.len()])
    }
}

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
        Sight::ALL.iter().copied().filter(|sight| self.count(*sight) == 0).collect()
    }

    pub(crate) fn saw(&mut self, sight: Sight) {
        self.0[sight as usize] += 1;
    }
}
