//! Every refusal of Podo. A refusal is an expected answer, not a fault: it changes nothing, has a
//! stable code, and the HTTP layer words it in the caller's language.

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

    /// The stable name of this refusal in the API.
    #[expect(clippy::too_many_lines, reason = "a table: one line for each refusal")]
    pub const fn code(&self) -> &'static str {
        match self {
            Refusal::LoginRequired => "LOGIN_REQUIRED",
            Refusal::LoginFailed => "LOGIN_FAILED",
            Refusal::LoginBusy => "LOGIN_BUSY",
            Refusal::RefreshInvalid => "REFRESH_INVALID",
            Refusal::RefreshReused => "REFRESH_REUSED",
            Refusal::RefreshRetry => "REFRESH_RETRY",
            Refusal::AdminOnly => "ADMIN_ONLY",
            Refusal::EmailTaken => "EMAIL_TAKEN",
            Refusal::SessionIdle => "SESSION_IDLE",
            Refusal::ReauthRequired => "REAUTH_REQUIRED",
            Refusal::PasswordWrong => "PASSWORD_WRONG",
            Refusal::WalletNotEmpty => "WALLET_NOT_EMPTY",
            Refusal::TicketsLeft => "TICKETS_LEFT",
            Refusal::IdentityNotOffered => "IDENTITY_NOT_OFFERED",
            Refusal::IdentityUnproven => "IDENTITY_UNPROVEN",
            Refusal::IdentityTaken => "IDENTITY_TAKEN",
            Refusal::IdentityRests { .. } => "IDENTITY_RESTS",
            Refusal::IdentityRequired => "IDENTITY_REQUIRED",
            Refusal::PermissionMissing { .. } => "PERMISSION_MISSING",
            Refusal::PersonRequired => "PERSON_REQUIRED",
            Refusal::GrantTooWide => "GRANT_TOO_WIDE",
            Refusal::LastOwner => "LAST_OWNER",
            Refusal::InvitationInvalid => "INVITATION_INVALID",
            Refusal::ConsentRequired => "CONSENT_REQUIRED",
            Refusal::LinkInvalid => "LINK_INVALID",
            Refusal::OwnRole => "OWN_ROLE",
            Refusal::CodeRequired => "CODE_REQUIRED",
            Refusal::CodeWrong => "CODE_WRONG",
            Refusal::CodeOn => "CODE_ON",
            Refusal::SocialFailed => "SOCIAL_FAILED",
            Refusal::SocialNotLinked => "SOCIAL_NOT_LINKED",
            Refusal::SocialTaken => "SOCIAL_TAKEN",
            Refusal::LastLogin => "LAST_LOGIN",
            Refusal::TooManyRequests { .. } => "TOO_MANY_REQUESTS",
            Refusal::NotFound => "NOT_FOUND",
            Refusal::Invalid { .. } => "INVALID",
            Refusal::InvalidTemplate { .. } => "INVALID_TEMPLATE",
            Refusal::InvalidSchedule { .. } => "INVALID_SCHEDULE",
            Refusal::InvalidPhase { .. } => "INVALID_PHASE",
            Refusal::InvalidPriceOptions { .. } => "INVALID_PRICE_OPTIONS",
            Refusal::InvalidPromotion { .. } => "INVALID_PROMOTION",
            Refusal::InvalidPriceChange { .. } => "INVALID_PRICE_CHANGE",
            Refusal::PriceChangeBegun => "PRICE_CHANGE_BEGUN",
            Refusal::PromotionExists => "PROMOTION_EXISTS",
            Refusal::PhasesOverlap { .. } => "PHASES_OVERLAP",
            Refusal::PhaseOutsideSale { .. } => "PHASE_OUTSIDE_SALE",
            Refusal::PhaseBegun => "PHASE_BEGUN",
            Refusal::NameTaken => "NAME_TAKEN",
            Refusal::ImageType => "IMAGE_TYPE",
            Refusal::ImageTooLarge => "IMAGE_TOO_LARGE",
            Refusal::ImageTooSmall => "IMAGE_TOO_SMALL",
            Refusal::ImageDamaged => "IMAGE_DAMAGED",
            Refusal::GalleryFull => "GALLERY_FULL",
            Refusal::EventNotOpen => "EVENT_NOT_OPEN",
            Refusal::WrongEventState => "WRONG_EVENT_STATE",
            Refusal::SaleBegun => "SALE_BEGUN",
            Refusal::InUse => "IN_USE",
            Refusal::DeadLetterClosed => "DEAD_LETTER_CLOSED",
            Refusal::WebhookUrlRefused => "WEBHOOK_URL_REFUSED",
            Refusal::PlaceTokenInvalid => "QUEUE_TOKEN_INVALID",
            Refusal::NotInQueue => "NOT_IN_QUEUE",
            Refusal::QueueClosed => "QUEUE_CLOSED",
            Refusal::ChallengeRequired { .. } => "CHALLENGE_REQUIRED",
            Refusal::SaleNotOpen { .. } => "SALE_NOT_OPEN",
            Refusal::SaleClosed => "SALE_CLOSED",
            Refusal::ScheduleCanceled => "SCHEDULE_CANCELED",
            Refusal::SaleStopped => "SALE_STOPPED",
            Refusal::EntryRequired => "ENTRY_REQUIRED",
            Refusal::EntryExpired => "ENTRY_EXPIRED",
            Refusal::NoExtensionsLeft => "NO_EXTENSIONS_LEFT",
            Refusal::NotEligible { .. } => "NOT_ELIGIBLE",
            Refusal::WrongPhaseProof { .. } => "WRONG_PHASE_PROOF",
            Refusal::PhaseCodeWrong => "PHASE_CODE_WRONG",
            Refusal::PhaseCodeUsed => "PHASE_CODE_USED",
            Refusal::MemberUnknown => "MEMBER_UNKNOWN",
            Refusal::MemberTaken => "MEMBER_TAKEN",
            Refusal::MembershipUnanswered => "MEMBERSHIP_UNANSWERED",
            Refusal::NoMemberWebhook => "NO_MEMBER_WEBHOOK",
            Refusal::InvalidMemberList => "INVALID_MEMBER_LIST",
            Refusal::InvalidDraw { .. } => "INVALID_DRAW",
            Refusal::DrawBegun => "DRAW_BEGUN",
            Refusal::DrawOnly => "DRAW_ONLY",
            Refusal::DrawNotOpen { .. } => "DRAW_NOT_OPEN",
            Refusal::DrawClosed => "DRAW_CLOSED",
            Refusal::DrawPending => "DRAW_PENDING",
            Refusal::DrawOffered => "DRAW_OFFERED",
            Refusal::NoSeats => "NO_SEATS",
            Refusal::TooManySeats { .. } => "TOO_MANY_SEATS",
            Refusal::SeatRepeated => "SEAT_REPEATED",
            Refusal::ForeignSeat => "FOREIGN_SEAT",
            Refusal::SeatTaken { .. } => "SEAT_TAKEN",
            Refusal::NoneTogether => "NO_SEATS_TOGETHER",
            Refusal::SeatNotInPhase { .. } => "SEAT_NOT_IN_PHASE",
            Refusal::UnknownGrade => "UNKNOWN_GRADE",
            Refusal::UnknownSection => "UNKNOWN_SECTION",
            Refusal::InvalidAllocation { .. } => "INVALID_ALLOCATION",
            Refusal::AllocationExists => "ALLOCATION_EXISTS",
            Refusal::AllocationReleased => "ALLOCATION_RELEASED",
            Refusal::SeatsNotFree { .. } => "SEATS_NOT_FREE",
            Refusal::SeatsNotKept { .. } => "SEATS_NOT_KEPT",
            Refusal::KeptSeatsSold { .. } => "KEPT_SEATS_SOLD",
            Refusal::DeskOrder => "DESK_ORDER",
            Refusal::ReseatOtherPrice => "RESEAT_OTHER_PRICE",
            Refusal::InvalidSeatList { .. } => "INVALID_SEAT_LIST",
            Refusal::SeatLimit { .. } => "SEAT_LIMIT",
            Refusal::HoldChurn { .. } => "HOLD_CHURN",
            Refusal::HoldOver => "HOLD_OVER",
            Refusal::PaymentRunning => "PAYMENT_RUNNING",
            Refusal::AlreadyPaid => "ALREADY_PAID",
            Refusal::AlreadyCanceled => "ALREADY_CANCELED",
            Refusal::NotPaid => "NOT_PAID",
            Refusal::SeatsLeft => "SEATS_LEFT",
            Refusal::StandbyOffered => "STANDBY_OFFERED",
            Refusal::TicketTypeUnknown { .. } => "TICKET_TYPE_UNKNOWN",
            Refusal::TicketTypeOtherGrade { .. } => "TICKET_TYPE_OTHER_GRADE",
            Refusal::TicketTypeLimit { .. } => "TICKET_TYPE_LIMIT",
            Refusal::PromotionWrong => "PROMOTION_WRONG",
            Refusal::PromotionNotBegun { .. } => "PROMOTION_NOT_BEGUN",
            Refusal::PromotionOver => "PROMOTION_OVER",
            Refusal::PromotionUsedUp => "PROMOTION_USED_UP",
            Refusal::PromotionUsed => "PROMOTION_USED",
            Refusal::PromotionOtherGrade => "PROMOTION_OTHER_GRADE",
            Refusal::PromotionMinimum { .. } => "PROMOTION_MINIMUM",
            Refusal::AmountMismatch => "AMOUNT_MISMATCH",
            Refusal::NothingToPay => "NOTHING_TO_PAY",
            Refusal::OrderTooExpensive { .. } => "ORDER_TOO_EXPENSIVE",
            Refusal::PaymentNotReady => "PAYMENT_NOT_READY",
            Refusal::PaymentOver => "PAYMENT_OVER",
            Refusal::PaymentDeclined { .. } => "PAYMENT_DECLINED",
            Refusal::PaymentKeyMissing => "PAYMENT_KEY_MISSING",
            Refusal::UnknownGateway => "UNKNOWN_GATEWAY",
            Refusal::MethodNotOffered => "METHOD_NOT_OFFERED",
            Refusal::MethodUnavailable => "METHOD_UNAVAILABLE",
            Refusal::DepositTooLate => "DEPOSIT_TOO_LATE",
            Refusal::WalletLimit => "WALLET_LIMIT",
            Refusal::NothingToRefund => "NOTHING_TO_REFUND",
            Refusal::NotStuck => "NOT_STUCK",
            Refusal::CancelClosed => "CANCEL_CLOSED",
            Refusal::InvalidPolicy { .. } => "INVALID_POLICY",
            Refusal::WebhookInvalid => "WEBHOOK_INVALID",
            Refusal::TicketInvalid => "TICKET_INVALID",
            Refusal::TicketElsewhere => "TICKET_ELSEWHERE",
            Refusal::GatesClosed => "GATES_CLOSED",
            Refusal::TicketOtherGate { .. } => "TICKET_OTHER_GATE",
            Refusal::TicketUsed { .. } => "TICKET_USED",
            Refusal::TicketNotUsed => "TICKET_NOT_USED",
            Refusal::TicketVoid => "TICKET_VOID",
            Refusal::TicketTransferred => "TICKET_TRANSFERRED",
            Refusal::ClaimForeign => "CLAIM_FOREIGN",
            Refusal::ResaleOver => "RESALE_OVER",
            Refusal::TransferOff => "TRANSFER_OFF",
            Refusal::PassOff => "PASS_OFF",
            Refusal::KeyMissing => "IDEMPOTENCY_KEY_MISSING",
            Refusal::KeyMalformed => "IDEMPOTENCY_KEY_MALFORMED",
            Refusal::KeyRunning => "IDEMPOTENCY_KEY_RUNNING",
            Refusal::KeyReused => "IDEMPOTENCY_KEY_REUSED",
        }
    }
}
