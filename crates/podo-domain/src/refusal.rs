//! Every refusal of Podo. A refusal is an expected answer, not a fault: it changes nothing, has a
//! stable code, and the HTTP layer words it in the caller's language.

mod codes;
#[cfg(test)]
mod tests;

use crate::booking::allocations::SeatLine;
use crate::catalog::phases::PhaseAudience;
use crate::identity::permissions::Permission;
use crate::{PhaseId, SeatId, Timestamp, Won};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    // The caller
    LoginRequired,
    LoginFailed,
    LoginBusy,
    RefreshInvalid,
    RefreshReused,
    RefreshRetry,
    AdminOnly,
    EmailTaken,
    /// The organiser was idle for too long.
    SessionIdle,
    /// Money, roles and exports of personal data need a recent step-up.
    ReauthRequired,
    PasswordWrong,
    WalletNotEmpty,
    TicketsLeft,
    IdentityNotOffered,
    IdentityUnproven,
    IdentityTaken,
    IdentityRests {
        until: Timestamp,
    },
    IdentityRequired,
    /// The organiser's role doesn't include it, or is limited to events.
    PermissionMissing {
        permission: Permission,
    },
    /// A person must do this: an API key can't prove a recent log-in.
    PersonRequired,
    /// The role would permit more than the organiser who gives it may do.
    GrantTooWide,
    /// An installation keeps at least one owner.
    LastOwner,
    /// The invitation is unknown, used, withdrawn or expired, or is meant for another address.
    InvitationInvalid,
    /// The terms, the privacy policy or the age of 14 isn't agreed to.
    ConsentRequired,
    /// The link of an e-mail is unknown, used or expired.
    LinkInvalid,
    OwnRole,
    CodeRequired,
    CodeWrong,
    CodeOn,
    SocialFailed,
    /// The address has an account that isn't linked to this service.
    SocialNotLinked,
    /// That account of the other service is linked to another account here.
    SocialTaken,
    /// No way to log in would be left.
    LastLogin,
    TooManyRequests {
        retry_after_s: u64,
    },

    // The subject
    NotFound,
    Invalid {
        field: &'static str,
        problem: crate::catalog::text::FieldError,
    },
    InvalidTemplate {
        at: String,
        problem: String,
    },
    InvalidSchedule {
        field: &'static str,
    },
    /// Names the field, with its position in the request.
    InvalidPhase {
        field: String,
    },
    /// A ticket type or a fee of a date.
    InvalidPriceOptions {
        field: String,
    },
    InvalidPromotion {
        field: &'static str,
    },
    InvalidPriceChange {
        field: &'static str,
    },
    /// Fans have bought at these prices.
    PriceChangeBegun,
    /// The date has a promotion of this code.
    PromotionExists,
    PhasesOverlap {
        field: String,
    },
    PhaseOutsideSale {
        field: String,
    },
    /// Fans rely on a phase from its beginning.
    PhaseBegun,
    NameTaken,
    /// The file isn't a JPEG, PNG or WebP picture.
    ImageType,
    /// The file has too many bytes, or the picture too many pixels.
    ImageTooLarge,
    ImageTooSmall,
    /// The file can't be decoded.
    ImageDamaged,
    /// The event has as many pictures as it may have.
    GalleryFull,
    EventNotOpen,
    WrongEventState,
    SaleBegun,
    InUse,
    DeadLetterClosed,
    WebhookUrlRefused,

    // The queue
    PlaceTokenInvalid,
    NotInQueue,
    QueueClosed,
    ChallengeRequired {
        salt: String,
        bits: u8,
        expires_at: Timestamp,
    },
    SaleNotOpen {
        opens_at: Timestamp,
    },
    SaleClosed,
    /// The date is canceled: nothing is sold, and payments are refunded.
    ScheduleCanceled,
    /// An invariant of this date is broken: the sale is stopped until an organiser has checked it.
    SaleStopped,
    EntryRequired,
    EntryExpired,
    NoExtensionsLeft,
    /// The phase is for others; the audience says what the fan has to prove.
    NotEligible {
        phase: PhaseId,
        audience: PhaseAudience,
    },
    /// The proof is of another kind than the phase asks for.
    WrongPhaseProof {
        field: &'static str,
    },
    PhaseCodeWrong,
    /// Others used the code up.
    PhaseCodeUsed,
    MemberUnknown,
    /// Another account was verified with this membership.
    MemberTaken,
    /// The organiser's server didn't say in time whether the fan is a member.
    MembershipUnanswered,
    /// The phase asks no server of the organiser.
    NoMemberWebhook,
    /// The first line of a member list doesn't name its columns.
    InvalidMemberList,
    /// The terms of a draw sale; names the field.
    InvalidDraw {
        field: String,
    },
    /// Fans rely on a draw from the moment they can apply.
    DrawBegun,
    /// The phase sells to the winners of its draw only, each by an offer.
    DrawOnly,
    /// Applications aren't accepted yet.
    DrawNotOpen {
        opens_at: Timestamp,
    },
    /// Applications aren't accepted any more.
    DrawClosed,
    /// The draw hasn't taken place, so its list can't be published.
    DrawPending,
    /// Seats are held for this application: give them back by releasing them.
    DrawOffered,

    // Seats and reservations
    NoSeats,
    TooManySeats {
        max: usize,
    },
    SeatRepeated,
    ForeignSeat,
    SeatTaken {
        taken: Vec<SeatId>,
        alternatives: Vec<Vec<SeatId>>,
    },
    NoneTogether,
    /// The phase doesn't sell these seats.
    SeatNotInPhase {
        seats: Vec<SeatId>,
    },
    UnknownGrade,
    UnknownSection,

    // Allocations
    InvalidAllocation {
        field: &'static str,
    },
    /// The date has an allocation of this name.
    AllocationExists,
    /// Its seats are on sale.
    AllocationReleased,
    /// These seats are held, sold or kept by another allocation.
    SeatsNotFree {
        seats: Vec<SeatId>,
    },
    /// The allocation doesn't keep these seats.
    SeatsNotKept {
        seats: Vec<SeatId>,
    },
    /// An organiser issued the order: no account gets its notifications.
    DeskOrder,
    /// These seats of the allocation have an order.
    KeptSeatsSold {
        seats: Vec<SeatId>,
    },
    /// The new seat has another price than the old one.
    ReseatOtherPrice,
    /// A list of seats has wrong lines; none of it was applied.
    InvalidSeatList {
        lines: Vec<SeatLine>,
    },
    SeatLimit {
        max: u32,
    },
    HoldChurn {
        retry_after_s: u64,
    },
    HoldOver,
    PaymentRunning,
    AlreadyPaid,
    AlreadyCanceled,
    NotPaid,
    SeatsLeft,
    StandbyOffered,

    // Ticket types and promotion codes
    TicketTypeUnknown {
        field: String,
    },
    /// The type isn't for seats of this grade.
    TicketTypeOtherGrade {
        field: String,
    },
    TicketTypeLimit {
        field: String,
        max: u32,
    },
    PromotionWrong,
    PromotionNotBegun {
        starts_at: Timestamp,
    },
    PromotionOver,
    /// All uses of the code are spent.
    PromotionUsedUp,
    /// This person has used the code as often as one may.
    PromotionUsed,
    PromotionOtherGrade,
    /// The tickets must cost at least this before the code.
    PromotionMinimum {
        amount: Won,
    },

    // Money
    AmountMismatch,
    /// An order of zero won needs no gateway.
    NothingToPay,
    /// One payment moves at most this.
    OrderTooExpensive {
        max: Won,
    },
    PaymentNotReady,
    PaymentOver,
    PaymentDeclined {
        reason: String,
    },
    PaymentKeyMissing,
    UnknownGateway,
    /// The organiser of the event doesn't offer this way of paying.
    MethodNotOffered,
    /// No configured gateway, or not the chosen one, takes money this way.
    MethodUnavailable,
    /// No configured gateway charges this currency by a method of this field.
    CurrencyUnavailable {
        field: &'static str,
    },
    /// The wallet holds money of another currency.
    WalletCurrency {
        field: &'static str,
    },
    /// A date of the event has been on sale, so its currency stays.
    CurrencyFixed,
    DepositTooLate,
    WalletLimit,
    NothingToRefund,
    /// It ends by itself or has ended, so an organiser can't resolve it.
    NotStuck,
    CancelClosed,
    InvalidPolicy {
        field: String,
    },
    WebhookInvalid,

    // Tickets
    TicketInvalid,
    TicketElsewhere,
    /// The date begins later than the next day and a half, or began more than half a day ago.
    GatesClosed,
    /// The section belongs to these gates.
    TicketOtherGate {
        gates: Vec<String>,
    },
    TicketUsed {
        at: Option<Timestamp>,
        gate: Option<String>,
    },
    /// There is no check-in to undo.
    TicketNotUsed,
    TicketVoid,
    TicketTransferred,
    /// The link of a ticket is for another address.
    ClaimForeign,
    /// The ticket isn't offered for resale any more.
    ResaleOver,
    /// The organiser doesn't permit transfers of this event's tickets.
    TransferOff,
    /// The ticket can't be put into the wallet of a phone.
    PassOff,

    // Idempotency keys
    KeyMissing,
    KeyMalformed,
    KeyRunning,
    KeyReused,
}

impl Refusal {
    /// Other fans have these seats.
    pub const fn seat_taken(taken: Vec<SeatId>) -> Refusal {
        Refusal::SeatTaken { taken, alternatives: Vec::new() }
    }
}
