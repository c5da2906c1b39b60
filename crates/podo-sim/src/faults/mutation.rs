//! Guards that can be removed, to test that the checkers notice.

use podo_adapters::sql::{Edit, Guard};

macro_rules! mutations {
    ($($(#[$about:meta])* $name:ident = $text:literal caught as $($rule:literal)|+),+ $(,)?) => {
        /// A removed guard.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mutation {
            /// All guards are on.
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
    /// A claim doesn't compare the seat's state, and the unique index is gone.
    SeatsAreNotCompared = "seats-are-not-compared" caught as "I1" | "I2" | "I3" | "Q1" | "bug",
    /// The sweeper frees seats with an expired hold, even during a payment.
    SweeperTakesPaying = "sweeper-takes-paying" caught as "Q1" | "I9" | "I2" | "I5",
    /// A fan's seats aren't counted.
    NoSeatLimit = "no-seat-limit" caught as "I4",
    /// Seats can be held before the opening and after the end.
    NoSaleWindow = "no-sale-window" caught as "I6",
    /// An entry never expires, in the engine and in the store.
    EntryNeverEnds = "entry-never-ends" caught as "I19",
    /// A repeated request is executed again.
    KeysAreForgotten = "keys-are-forgotten" caught as "I13",
    /// Changes have no message.
    NoMessages = "no-messages" caught as "I14",
    /// Changes have no history.
    NoHistory = "no-history" caught as "I5",
    /// Wallets move without their ledger.
    NoLedger = "no-ledger" caught as "I10",
    /// An owed refund isn't queued.
    RefundForgotten = "refund-forgotten" caught as "I7" | "I8",
    /// A reservation that ends doesn't free its seats.
    SeatsStayBehind = "seats-stay-behind" caught as "I2",
    /// A paid reservation gets no tickets.
    NoTickets = "no-tickets" caught as "I8",
    /// A timeout counts as a refusal.
    TimeoutIsFailure = "timeout-is-failure" caught as "Q1" | "I11",
    /// A captured payment confirms whatever the amount.
    AnyAmountWillDo = "any-amount-will-do" caught as "I11",
    /// Each node uses its own clock.
    NodesTrustTheirClocks = "nodes-trust-their-clocks" caught as "I6" | "I14" | "I16" | "I17" | "I18" | "I19" | "L1" | "L2" | "Q1",
    /// The settling job finds no payment without an answer.
    UnknownIsNotAsked = "unknown-is-not-asked" caught as "L1",
    /// The refund job finds no refund that is due.
    RefundsAreNotTaken = "refunds-are-not-taken" caught as "L1" | "L3",
    /// The sweeper finds no expired hold.
    HoldsAreNotSwept = "holds-are-not-swept" caught as "L2",
    /// The relay finds no message.
    OutboxIsNotRead = "outbox-is-not-read" caught as "I14",
    /// A gate opens for a used ticket.
    GateOpensTwice = "gate-opens-twice" caught as "T1",
    /// A transferred ticket keeps its code.
    OldCodeStays = "old-code-stays" caught as "T1",
    /// A payment doesn't see that its date was canceled, and a refund run neither waits for it nor
    /// resumes.
    CalledOffIsPaid = "called-off-is-paid" caught as "L3",
    /// The uses of a promotion code aren't counted.
    CodeUsesAreNotCounted = "code-uses-are-not-counted" caught as "I28",
    /// An order that ends keeps its use of a promotion code.
    CodeNeverComesBack = "code-never-comes-back" caught as "I28",
    /// Neither the waiting room nor the hold asks which fan proved that they may buy in the phase.
    EligibilityIsNotChecked = "eligibility-is-not-checked" caught as "I25",
    /// With phases, only the seats of the running one are counted.
    LimitIsOfThePhase = "limit-is-of-the-phase" caught as "I4",
    /// A draw offers seats to the last of the drawn order first.
    DrawIgnoresOrder = "draw-ignores-order" caught as "I30",
    /// A winner with an offer gets another one.
    WinnerIsOfferedTwice = "winner-is-offered-twice" caught as "I4" | "I19" | "I25" | "I30",
    /// Offers of a draw aren't counted against the quantity of their grade.
    DrawIgnoresQuantity = "draw-ignores-quantity" caught as "I30",
    /// A fan applies after the window of the draw has ended.
    DrawTakesLateApplications = "draw-takes-late-applications" caught as "I30" | "D1" | "L4",
    /// The job finds no draw whose window is over.
    DrawsAreNotMade = "draws-are-not-made" caught as "L4",
    /// The job finds no offer of a draw that is over.
    DrawOffersAreNotSettled = "draw-offers-are-not-settled" caught as "L4",
    /// A hold takes kept seats.
    KeptSeatsAreSold = "kept-seats-are-sold" caught as "I2" | "I29",
    /// The seats of an order of the desk go on sale again, even those of an allocation.
    KeptSeatsComeOnSale = "kept-seats-come-on-sale" caught as "I2" | "I29",
    /// The job finds no allocation whose time has come.
    AllocationsAreNotReleased = "allocations-are-not-released" caught as "L4",
    /// The desk sells seats that others have.
    DeskTakesAnySeat = "desk-takes-any-seat" caught as "I1" | "I2" | "I3" | "I29" | "bug",
    /// A booking moves to a seat that isn't free.
    MoveTakesAnySeat = "move-takes-any-seat" caught as "I1" | "I2" | "I29" | "bug",
    /// A move takes a seat of another booking for one of its own.
    MoveOfAnySeat = "move-of-any-seat" caught as "I2" | "I3" | "I32",
    /// A ticket that opened a gate moves to another seat.
    UsedTicketMoves = "used-ticket-moves" caught as "T2",
    /// The ticket of a moved booking keeps its seat and its code.
    TicketStaysBehind = "ticket-stays-behind" caught as "I32",
    /// A hold costs what the seats cost at first.
    PriceChangesAreForgotten = "price-changes-are-forgotten" caught as "P1",
    /// The seats of an order keep their prices when its amount changes.
    LinesAreForgotten = "lines-are-forgotten" caught as "I3",
    /// More fans are admitted than allowed.
    QueueIgnoresCap = "queue-ignores-cap" caught as "I16",
    /// A lost room is opened without its live entries.
    EntriesAreNotRestored = "entries-are-not-restored" caught as "I16" | "I17",
    /// An engine that lost its last writes continues in the same epoch.
    LostTailUnnoticed = "lost-tail-unnoticed" caught as "I17",
}

/// What one fan proved, and what any fan did.
const ELIGIBLE: (&str, &str) = (
    "where p.schedule_id = $1 and e.user_id = $2",
    "where p.schedule_id = $1 and (e.user_id = $2 or e.user_id <> $2)",
);

/// Whose seats, tickets and claims a move takes: the booking's own, and any.
const ANY_SEAT: [(&str, &str); 3] = [
    (
        "where reservation_id = $1 order by seat_index",
        "where reservation_id = $1 or active order by seat_index",
    ),
    (
        "where reservation_id = $1 and seat_index = $2 and status <> 'VOID'",
        "where (reservation_id = $1 or id <> $1) and seat_index = $2 and status <> 'VOID'",
    ),
    (
        "where reservation_id = $1 and seat_index = $2 and active",
        "where (reservation_id = $1 or schedule_id <> $1) and seat_index = $2 and active",
    ),
];

fn move_edit((from, to): (&'static str, &'static str)) -> Edit {
    Edit::ReplaceIn { command: "ReseatBooking", from, to }
}

impl Mutation {
    pub fn parse(text: &str) -> Option<Mutation> {
        let mut all = Mutation::ALL.iter().copied().chain([Mutation::None]);
        all.find(|mutation| mutation.as_str() == text)
    }

    /// The guards of the store that it removes.
    pub(crate) fn guards_off(self) -> &'static [Guard] {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others edit statements")]
        match self {
            Mutation::SeatsAreNotCompared => &[Guard::SeatIsCompared, Guard::OneClaimPerSeat],
            Mutation::EligibilityIsNotChecked => &[Guard::EligibilityIsChecked],
            Mutation::DrawIgnoresOrder => &[Guard::DrawOrderIsCompared],
            Mutation::DrawIgnoresQuantity => &[Guard::DrawQuantityIsCounted],
            Mutation::DrawTakesLateApplications => &[Guard::DrawWindowIsCompared],
            Mutation::DeskTakesAnySeat | Mutation::MoveTakesAnySeat => &[Guard::OneClaimPerSeat],
            Mutation::UsedTicketMoves => &[Guard::TicketIsCompared],
            _ => &[],
        }
    }

    /// What it removes from the product's statements.
    pub(crate) fn edits(self) -> Vec<Edit> {
        let skipped = self.skipped_statement().map(Edit::Skip);
        let emptied = self.emptied_search().map(|(from, to)| Edit::Replace { from, to });
        skipped.into_iter().chain(emptied).chain(self.edited_conditions()).collect()
    }

    /// A part of the statements that it doesn't run.
    fn skipped_statement(self) -> Option<&'static str> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others run every statement")]
        match self {
            Mutation::KeysAreForgotten => {
                Some("(user_id, endpoint, key, fingerprint, status, body, created_at")
            }
            Mutation::NoMessages => Some("insert into outbox"),
            Mutation::NoHistory => Some("insert into reservation_history"),
            Mutation::NoLedger => Some("insert into wallet_ledger"),
            Mutation::RefundForgotten => Some("insert into refunds"),
            Mutation::SeatsStayBehind => Some("set state = 'FREE', claim = null, expires_at = $4"),
            Mutation::CodeNeverComesBack => Some("set n_used = n_used - 1"),
            Mutation::LinesAreForgotten => Some("set price = $3, list_price = $4"),
            Mutation::NoTickets => Some("insert into tickets"),
            Mutation::TicketStaysBehind => Some("set seat_index = $3, seat_number = $4"),
            _ => None,
        }
    }

    /// The search for work of a job that finds nothing.
    fn emptied_search(self) -> Option<(&'static str, &'static str)> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others find their work")]
        match self {
            Mutation::UnknownIsNotAsked => Some((
                "where status in ('REQUESTED', 'UNKNOWN') and asked_at",
                "where 1 = 2 and asked_at",
            )),
            Mutation::RefundsAreNotTaken => {
                Some(("where r.status = 'DUE' and r.next_at", "where 1 = 2 and r.next_at"))
            }
            Mutation::HoldsAreNotSwept => Some((
                "where status = 'HELD' and hold_expires_at <= $1",
                "where hold_expires_at < 0 * $1",
            )),
            Mutation::OutboxIsNotRead => {
                Some(("where o.status = 'PENDING' and o.next_at", "where 1 = 2 and o.next_at"))
            }
            Mutation::DrawsAreNotMade => Some((
                "where d.drawn_at is null and d.apply_until",
                "where 1 = 2 and d.apply_until",
            )),
            Mutation::DrawOffersAreNotSettled => Some((
                "where a.state = 'OFFERED' and r.status not in",
                "where 1 = 2 and r.status not in",
            )),
            Mutation::AllocationsAreNotReleased => Some((
                "where released_at is null and release_at is not null",
                "where 1 = 2 and release_at is not null",
            )),
            _ => None,
        }
    }

    fn edited_conditions(self) -> Vec<Edit> {
        let edit = |from, to| vec![Edit::Replace { from, to }];
        #[expect(clippy::wildcard_enum_match_arm, reason = "most mutations are not of conditions")]
        match self {
            Mutation::SweeperTakesPaying => {
                let found = Edit::Replace {
                    from: "where status = 'HELD' and hold_expires_at <= $1",
                    to: "where status in ('HELD', 'PAYING') and hold_expires_at <= $1",
                };
                // The sweeper expires holds together, and one by one after a failure.
                let expired = ["ExpireHolds", "ExpireHold"].map(|command| Edit::ReplaceIn {
                    command,
                    from: "schedule_id, status, hold_expires_at",
                    to: "schedule_id, 'HELD' as status, hold_expires_at",
                });
                [found].into_iter().chain(expired).collect()
            }
            Mutation::NoSeatLimit => {
                edit("s.seats_per_person, s.stopped_at", "1000 as seats_per_person, s.stopped_at")
            }
            Mutation::NoSaleWindow => edit(
                "select s.sale_starts_at, s.sale_ends_at, s.status, e.status as event_status",
                "select 0 as sale_starts_at, 1000000000000000 as sale_ends_at, s.status,
                        e.status as event_status",
            ),
            Mutation::EntryNeverEnds => edit(
                "select user_id, state, expires_at from queue_history",
                "select user_id, 'ACTIVE' as state, 1000000000000000 as expires_at
                   from queue_history",
            ),
            Mutation::KeysAreForgotten => edit(
                "select fingerprint, status, body from idempotency_keys
                where user_id = $1",
                "select fingerprint, status, body from idempotency_keys
                where 1 = 2 and user_id = $1",
            ),
            Mutation::CodeUsesAreNotCounted => edit(
                "set n_used = n_used + 1, updated_at = $2
                where id = $1 and n_used < uses_max",
                "set updated_at = $2
                where id = $1 and n_used <= uses_max",
            ),
            Mutation::EligibilityIsNotChecked => edit(ELIGIBLE.0, ELIGIBLE.1),
            Mutation::GateOpensTwice => edit(
                "where id = $1 and code = $2 and status = 'VALID'",
                "where id = $1 and code = $2",
            ),
            Mutation::OldCodeStays => {
                edit("set user_id = $2, code = $3", "set user_id = $2, code = coalesce(code, $3)")
            }
            Mutation::CalledOffIsPaid => vec![
                Edit::Replace {
                    from: "s.status as schedule_status",
                    to: "'ONGOING' as schedule_status",
                },
                Edit::Replace {
                    from: "c.schedule_id = $1 and c.active)",
                    to: "c.schedule_id = $1 and 1 = 2)",
                },
                Edit::Replace {
                    from: "r.schedule_id = s.id and r.status = 'RUNNING')",
                    to: "r.schedule_id = s.id)",
                },
            ],
            Mutation::EntriesAreNotRestored => edit(
                "where schedule_id = $1 and state = 'ACTIVE' and expires_at",
                "where schedule_id = $1 and 1 = 2 and expires_at",
            ),
            _ => self.edited_conditions_of_organisers(),
        }
    }

    /// Of phases, draws, the desk and moves.
    fn edited_conditions_of_organisers(self) -> Vec<Edit> {
        let edit = |from, to| vec![Edit::Replace { from, to }];
        let edit_in = |command, from, to| vec![Edit::ReplaceIn { command, from, to }];
        #[expect(clippy::wildcard_enum_match_arm, reason = "most mutations are not of conditions")]
        match self {
            Mutation::LimitIsOfThePhase => edit(
                "s.seats_per_person, s.stopped_at, s.last_phase",
                "case s.last_phase when 0 then s.seats_per_person else 1000 end
                        as seats_per_person, s.stopped_at, s.last_phase",
            ),
            Mutation::DrawIgnoresOrder => {
                edit("order by a.place limit 1", "order by -a.place limit 1")
            }
            Mutation::WinnerIsOfferedTwice => vec![
                Edit::Replace {
                    from: "a.state = 'DRAWN' order by a.place limit 1",
                    to: "a.state in ('DRAWN', 'OFFERED') order by a.place limit 1",
                },
                Edit::Replace {
                    from: "state = 'DRAWN' and n_seats = $4",
                    to: "state in ('DRAWN', 'OFFERED') and n_seats = $4",
                },
            ],
            Mutation::KeptSeatsAreSold => {
                edit_in("HoldSeats", "and state = 'FREE'", "and state in ('FREE', 'KEPT')")
            }
            Mutation::KeptSeatsComeOnSale => {
                edit("and a.allocation_id = $3)", "and a.allocation_id = $3 and 1 = 2)")
            }
            Mutation::DeskTakesAnySeat => edit_in(
                "IssueOrder",
                "and (state = 'FREE'",
                "and (state in ('FREE', 'HELD', 'SOLD')",
            ),
            Mutation::MoveTakesAnySeat => edit_in(
                "ReseatBooking",
                "and state = 'FREE'",
                "and state in ('FREE', 'KEPT', 'SOLD')",
            ),
            Mutation::MoveOfAnySeat => ANY_SEAT.map(move_edit).to_vec(),
            Mutation::PriceChangesAreForgotten => edit_in(
                "HoldSeats",
                "s.price_options, s.price_changes",
                "s.price_options, null as price_changes",
            ),
            _ => Vec::new(),
        }
    }
}
