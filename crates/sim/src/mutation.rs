//! Guards that can be taken away, to see whether the checkers would notice.

use adapters::sql::Guard;

macro_rules! mutations {
    ($($(#[$about:meta])* $name:ident = $text:literal caught as $($rule:literal)|+),+ $(,)?) => {
        /// A guard that is taken away.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mutation {
            /// All guards stand.
            None,
            $($(#[$about])* $name),+
        }

        impl Mutation {
            pub const ALL: &[Mutation] = &[$(Mutation::$name),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    Mutation::None => "none",
                    $(Mutation::$name => $text),+
                }
            }

            /// The rules by which the checkers may notice it.
            pub const fn caught_as(self) -> &'static [&'static str] {
                match self {
                    Mutation::None => &[],
                    $(Mutation::$name => &[$($rule),+]),+
                }
            }
        }
    };
}

mutations! {
    /// A seat is claimed without looking, and nothing in the schema minds.
    SeatsAreNotCompared = "seats-are-not-compared" caught as "I1" | "I2" | "I3" | "Q1" | "bug",
    /// The sweeper frees seats whose hold is over, even while they are being paid for.
    SweeperTakesPaying = "sweeper-takes-paying" caught as "Q1" | "I9" | "I2" | "I5",
    /// Nobody counts a fan's seats.
    NoSeatLimit = "no-seat-limit" caught as "I4",
    /// Seats can be held before the opening and after the end.
    NoSaleWindow = "no-sale-window" caught as "I6",
    /// An entry counts for ever, in the engine and in the store.
    EntryNeverEnds = "entry-never-ends" caught as "I19",
    /// A repeated request is done again.
    KeysAreForgotten = "keys-are-forgotten" caught as "I13",
    /// Changes have no message.
    NoMessages = "no-messages" caught as "I14",
    /// Changes have no history.
    NoHistory = "no-history" caught as "I5",
    /// Wallets move without their ledger.
    NoLedger = "no-ledger" caught as "I10",
    /// Money that must go back is not put on the list of refunds.
    RefundForgotten = "refund-forgotten" caught as "I7" | "I8",
    /// A reservation that ends leaves its seats as they were.
    SeatsStayBehind = "seats-stay-behind" caught as "I2",
    /// What was paid for becomes no ticket.
    NoTickets = "no-tickets" caught as "I8",
    /// No answer in time is taken for a no.
    TimeoutIsFailure = "timeout-is-failure" caught as "Q1" | "I11",
    /// A captured payment confirms whatever the amount.
    AnyAmountWillDo = "any-amount-will-do" caught as "I11",
    /// A refund whose answer was lost is asked for again as if it were another one.
    RefundUnderNewName = "refund-under-new-name" caught as "I7" | "I11",
    /// Seats are let go before the gateway has confirmed the void.
    VoidIsAssumed = "void-is-assumed" caught as "Q1" | "I11",
    /// Nobody asks about payments without an answer.
    ReconcilerSleeps = "reconciler-sleeps" caught as "L1",
    /// Nobody makes the refunds that are due.
    RefundsSleep = "refunds-sleep" caught as "L1",
    /// Nobody ends holds whose time is up.
    SweeperSleeps = "sweeper-sleeps" caught as "L2",
    /// Nobody publishes the outbox.
    RelaySleeps = "relay-sleeps" caught as "I14",
    /// Nobody lets fans in.
    AdmitterSleeps = "admitter-sleeps" caught as "I20",
    /// More fans are let in than allowed.
    QueueIgnoresCap = "queue-ignores-cap" caught as "I16",
    /// Whoever enters again gets a new number.
    QueueNumbersAnew = "queue-numbers-anew" caught as "I17" | "I16",
    /// Whoever came last is let in first.
    QueueAdmitsBackwards = "queue-admits-backwards" caught as "I18",
    /// A room that was lost is opened without those who are inside.
    RestoreForgetsEntries = "restore-forgets-entries" caught as "I17",
}

impl Mutation {
    pub fn parse(text: &str) -> Option<Mutation> {
        let mut all = Mutation::ALL.iter().copied().chain([Mutation::None]);
        all.find(|mutation| mutation.as_str() == text)
    }

    /// The guards of the store that it switches off.
    pub(crate) fn guards_off(self) -> Vec<Guard> {
        match self {
            Mutation::SeatsAreNotCompared => vec![Guard::SeatIsCompared, Guard::OneClaimPerSeat],
            Mutation::SweeperTakesPaying => vec![Guard::SweepSparesPaying],
            Mutation::NoSeatLimit => vec![Guard::SeatLimit],
            Mutation::NoSaleWindow => vec![Guard::SaleWindow],
            Mutation::EntryNeverEnds => vec![Guard::EntryIsChecked],
            Mutation::KeysAreForgotten => vec![Guard::KeyIsRemembered],
            Mutation::NoMessages => vec![Guard::MessageIsWritten],
            Mutation::NoHistory => vec![Guard::HistoryIsWritten],
            Mutation::NoLedger => vec![Guard::LedgerIsWritten],
            Mutation::RefundForgotten => vec![Guard::RefundIsOwed],
            Mutation::SeatsStayBehind => vec![Guard::SeatsAreFreed],
            Mutation::NoTickets => vec![Guard::TicketsAreMade],
            Mutation::None
            | Mutation::TimeoutIsFailure
            | Mutation::AnyAmountWillDo
            | Mutation::RefundUnderNewName
            | Mutation::VoidIsAssumed
            | Mutation::ReconcilerSleeps
            | Mutation::RefundsSleep
            | Mutation::SweeperSleeps
            | Mutation::RelaySleeps
            | Mutation::AdmitterSleeps
            | Mutation::QueueIgnoresCap
            | Mutation::QueueNumbersAnew
            | Mutation::QueueAdmitsBackwards
            | Mutation::RestoreForgetsEntries => Vec::new(),
        }
    }
}
