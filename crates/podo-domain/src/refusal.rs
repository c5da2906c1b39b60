//! Every refusal of Podo. A refusal is an expected answer, not a fault: it changes nothing, has a
//! stable code, and the HTTP layer words it in the caller's language.

use crate::{SeatId, Timestamp};

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
    ReadOnly,
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
    NameTaken,
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
    UnknownGrade,
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

    // Money
    AmountMismatch,
    PaymentNotReady,
    PaymentOver,
    PaymentDeclined {
        reason: String,
    },
    PaymentKeyMissing,
    UnknownGateway,
    WalletLimit,
    NothingToRefund,
    /// It ends by itself or has ended, so an organiser can't resolve it.
    NotStuck,
    CancelClosed,
    InvalidPolicy,
    WebhookInvalid,

    // Tickets
    TicketInvalid,
    TicketElsewhere,
    TicketUsed {
        at: Option<Timestamp>,
    },
    TicketVoid,
    TicketTransferred,
    /// The organiser doesn't permit transfers of this event's tickets.
    TransferOff,

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
            Refusal::ReadOnly => "READ_ONLY",
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
            Refusal::NameTaken => "NAME_TAKEN",
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
            Refusal::NoSeats => "NO_SEATS",
            Refusal::TooManySeats { .. } => "TOO_MANY_SEATS",
            Refusal::SeatRepeated => "SEAT_REPEATED",
            Refusal::ForeignSeat => "FOREIGN_SEAT",
            Refusal::SeatTaken { .. } => "SEAT_TAKEN",
            Refusal::NoneTogether => "NO_SEATS_TOGETHER",
            Refusal::UnknownGrade => "UNKNOWN_GRADE",
            Refusal::SeatLimit { .. } => "SEAT_LIMIT",
            Refusal::HoldChurn { .. } => "HOLD_CHURN",
            Refusal::HoldOver => "HOLD_OVER",
            Refusal::PaymentRunning => "PAYMENT_RUNNING",
            Refusal::AlreadyPaid => "ALREADY_PAID",
            Refusal::AlreadyCanceled => "ALREADY_CANCELED",
            Refusal::NotPaid => "NOT_PAID",
            Refusal::SeatsLeft => "SEATS_LEFT",
            Refusal::StandbyOffered => "STANDBY_OFFERED",
            Refusal::AmountMismatch => "AMOUNT_MISMATCH",
            Refusal::PaymentNotReady => "PAYMENT_NOT_READY",
            Refusal::PaymentOver => "PAYMENT_OVER",
            Refusal::PaymentDeclined { .. } => "PAYMENT_DECLINED",
            Refusal::PaymentKeyMissing => "PAYMENT_KEY_MISSING",
            Refusal::UnknownGateway => "UNKNOWN_GATEWAY",
            Refusal::WalletLimit => "WALLET_LIMIT",
            Refusal::NothingToRefund => "NOTHING_TO_REFUND",
            Refusal::NotStuck => "NOT_STUCK",
            Refusal::CancelClosed => "CANCEL_CLOSED",
            Refusal::InvalidPolicy => "INVALID_POLICY",
            Refusal::WebhookInvalid => "WEBHOOK_INVALID",
            Refusal::TicketInvalid => "TICKET_INVALID",
            Refusal::TicketElsewhere => "TICKET_ELSEWHERE",
            Refusal::TicketUsed { .. } => "TICKET_USED",
            Refusal::TicketVoid => "TICKET_VOID",
            Refusal::TicketTransferred => "TICKET_TRANSFERRED",
            Refusal::TransferOff => "TRANSFER_OFF",
            Refusal::KeyMissing => "IDEMPOTENCY_KEY_MISSING",
            Refusal::KeyMalformed => "IDEMPOTENCY_KEY_MALFORMED",
            Refusal::KeyRunning => "IDEMPOTENCY_KEY_RUNNING",
            Refusal::KeyReused => "IDEMPOTENCY_KEY_REUSED",
        }
    }
}
