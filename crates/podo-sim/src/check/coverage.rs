//! Counts of rare events: a simulation that never meets them has not tested them.

macro_rules! coverage {
    ($($(#[$about:meta])* $name:ident),+ $(,)?) => {
        /// An event that must occur over the seeds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Coverage {
            $($(#[$about])* $name),+
        }

        impl Coverage {
            pub const ALL: &[Coverage] = &[$(Coverage::$name),+];
        }
    };
}

coverage! {
    /// A fan selected a seat that another fan had.
    RaceLost,
    /// A seat was taken from an expired hold that wasn't swept yet.
    HoldTakenOver,
    /// A fan tried to pay in the very millisecond in which the hold ended.
    PayingAtExpiry,
    /// A fan started to pay in the last millisecond of the hold.
    PayingJustInTime,
    /// Money arrived after the hold's expiry, for a payment started in time.
    LateApproval,
    Declined,
    /// A second payment after a declined one was confirmed.
    SecondCard,
    /// A deposit bought the seats, or its deadline freed them.
    DepositPaid,
    DepositMissed,
    /// Money came to an account that was closed.
    DepositLate,
    /// The gateway captured another amount than requested.
    WrongAmount,
    /// A charge bought nothing and was refunded.
    RefundDue,
    OutcomeUnknown,
    /// The gateway got two capture requests for the same payment.
    CaptureAskedTwice,
    /// The company sent a webhook.
    Webhook,
    /// The fan's call returned an outcome that another path had settled.
    WebhookFirst,
    /// The reconciler found the outcome of a lost answer.
    ReconcilerConfirmed,
    Voided,
    /// The capture request arrived after the void.
    HeardAfterVoid,
    /// A refund succeeded, but its answer was lost.
    RefundAnswerLost,
    /// A refund with a lost answer was found in the gateway's ledger, and not made again.
    RefundFoundInBook,
    PaidFromWallet,
    /// A wallet paid without a request before.
    PaidInOneCall,
    WalletTooSmall,
    /// A paid reservation was canceled.
    Canceled,
    /// A ticket was transferred to another fan.
    Transferred,
    /// A ticket opened a gate.
    CheckedIn,
    /// A used ticket was shown at another gate.
    TicketUsed,
    /// A fan chose ticket types for held seats.
    TypesChosen,
    /// A fan used the promotion code.
    CodeUsed,
    /// The promotion code had as many orders as it may have.
    CodeUsedUp,
    /// A code was free again after an order with it had ended.
    CodeCameBack,
    /// A fan proved that they may buy in the phase.
    PhaseVerified,
    /// The code of the phase had as many fans as it may have.
    PhaseCodeUsedUp,
    /// A fan was kept out of the phase.
    NotEligible,
    /// A member typed an address that isn't on the list.
    MemberUnknown,
    /// Another fan was verified with that membership.
    MemberTaken,
    /// A fan had seats of both phases, and wanted more than the date permits.
    LimitOverPhases,
    /// A fan applied in a draw sale.
    Applied,
    ApplicationChanged,
    ApplicationWithdrawn,
    /// The window ended before the application came.
    AppliedTooLate,
    /// Entering the waiting room of a draw sale was refused.
    DrawOnly,
    /// A fan saw the seats that the draw gave them.
    DrawOffered,
    /// An offer of a draw was bought.
    DrawTaken,
    /// An offer of a draw was declined or expired.
    DrawLapsed,
    /// Seats of a lapsed offer went to a fan whose place the quantity hadn't reached.
    DrawMovedOn,
    /// A place in the drawn order was passed over.
    DrawPassed,
    /// An organiser kept seats from sale.
    SeatsKept,
    /// Keeping seats was refused, because others had one of them.
    KeepRefused,
    /// Some seats of an allocation were put on sale.
    SeatsReleased,
    /// An allocation was put on sale by an organiser.
    AllocationReleased,
    /// An allocation was put on sale at its time.
    AllocationReleasedAtItsTime,
    /// Kept seats that the desk had sold weren't released.
    KeptSeatsSold,
    /// The desk sold seats, for money.
    SoldAtDesk,
    GivenAway,
    /// The desk wanted a seat that others had.
    DeskTooLate,
    /// The desk sold a kept seat.
    KeptSeatIssued,
    /// A kept seat that the desk had sold went back to its allocation.
    KeptAgain,
    /// The desk gave money back.
    RefundedAtDesk,
    /// The desk handed out a refund of a canceled date.
    ResolvedAtDesk,
    /// A booking got other seats.
    Moved,
    /// The other seat wasn't free.
    MoveRefused,
    /// The other seat costs something else.
    MoveOfOtherPrice,
    /// A seat of another booking was to be moved.
    ForeignMoveRefused,
    /// The ticket had opened a gate before it was to be moved.
    UsedTicketStayed,
    /// A code was shown after its ticket had moved.
    MovedBeforeScan,
    /// The booking was canceled before it was to be moved.
    CanceledBeforeMove,
    /// A booking that had moved was canceled.
    CanceledAfterMove,
    PricesChanged,
    /// A planned price change was withdrawn.
    PriceChangeWithdrawn,
    /// Seats were held after a price change.
    SoldAtNewPrice,
    /// An order of free tickets only.
    FreeOrder,
    /// A fan listed a ticket for resale.
    Listed,
    /// A fan on the standby list took a listed ticket.
    Resold,
    /// A fan joined the standby list.
    StoodBy,
    /// Returned seats were offered to a fan on the list.
    Offered,
    /// An offer was paid for.
    OfferTaken,
    /// The date was canceled while it was on sale.
    CalledOff,
    /// A payment in progress when the date was canceled was refunded.
    CalledOffWhilePaying,
    /// Releasing seats under payment was refused.
    ReleaseRefused,
    /// A second payment of a reservation under payment was refused.
    SecondTabRefused,
    /// A repeated request got the answer of the first.
    Replayed,
    /// The first request was still in progress when its repeat came.
    KeyRunning,
    /// The same key with another body was refused.
    KeyReused,
    /// The answer of a completed request was lost.
    AnswerLost,
    /// A node crashed.
    Crash,
    /// A node crashed while it charged a card.
    CrashWhilePaying,
    /// A machine's clock was behind until it was synchronised with the store's.
    ClockJumped,
    EnginesForgot,
    /// The waiting rooms lost their last writes.
    TailLost,
    /// The waiting rooms lost their last writes while fans waited in line.
    TailLostWhileWaiting,
    /// A fan admitted in the lost writes got the entry back.
    EntryOfTailRestored,
    /// A fan got a place back that was assigned in the lost writes.
    PlaceOfTailBroughtBack,
    /// A new fan joined after a tail was lost.
    JoinedAfterTail,
    /// A lost waiting room was opened with its live entries.
    RoomRestored,
    /// A fan got a place back that the engine had lost.
    PlaceBroughtBack,
    /// Fans waited in the lobby before the opening.
    Lobby,
    /// Seats were selected with an expired entry.
    EntryOver,
    /// A fan selected more seats than allowed.
    LimitReached,
    /// Seats were selected after the end of the sale.
    TooLateForSale,
    /// A message was published without an acknowledgement, and published again.
    PublishedTwice,
    /// A worker got messages that it had already processed.
    MessageTwice,
}

/// The number of occurrences of each.
#[derive(Clone, Debug)]
pub struct CoverageCounts([u64; Coverage::ALL.len()]);

impl Default for CoverageCounts {
    fn default() -> CoverageCounts {
        CoverageCounts([0; Coverage::ALL.len()])
    }
}

impl CoverageCounts {
    pub fn count(&self, coverage: Coverage) -> u64 {
        self.0[coverage as usize]
    }

    pub fn add(&mut self, other: &CoverageCounts) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
    }

    /// The events that never occurred.
    pub fn missing(&self) -> Vec<Coverage> {
        Coverage::ALL.iter().copied().filter(|coverage| self.count(*coverage) == 0).collect()
    }

    pub(crate) fn saw(&mut self, coverage: Coverage) {
        self.0[coverage as usize] += 1;
    }
}
