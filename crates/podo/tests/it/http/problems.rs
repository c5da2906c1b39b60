//! Every problem code has a message, and every message has a code.

use podo_domain::catalog::phases::PhaseAudience;
use podo_domain::catalog::text::FieldError;
use podo_domain::identity::permissions::Permission;
use podo_domain::{PhaseId, Refusal, Timestamp};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Codes that only the edge returns.
const OF_THE_EDGE: [&str; 10] = [
    "BODY_TOO_LARGE",
    "BODY_TOO_SLOW",
    "HOST_INVALID",
    "INTERNAL",
    "MALFORMED_BODY",
    "METHOD_NOT_ALLOWED",
    "NOT_JSON",
    "NOT_SERVED_HERE",
    "ORIGIN_FORBIDDEN",
    "UNAVAILABLE",
];

fn a_phase() -> PhaseId {
    PhaseId::new(Uuid::from_u128(1))
}

#[expect(clippy::too_many_lines, reason = "a table: one line for each refusal")]
fn refusals() -> Vec<Refusal> {
    vec![
        Refusal::LoginRequired,
        Refusal::LoginFailed,
        Refusal::LoginBusy,
        Refusal::RefreshInvalid,
        Refusal::RefreshReused,
        Refusal::RefreshRetry,
        Refusal::AdminOnly,
        Refusal::EmailTaken,
        Refusal::SessionIdle,
        Refusal::ReauthRequired,
        Refusal::SocialNotLinked,
        Refusal::SocialTaken,
        Refusal::LastLogin,
        Refusal::PasswordWrong,
        Refusal::WalletNotEmpty,
        Refusal::TicketsLeft,
        Refusal::IdentityNotOffered,
        Refusal::IdentityUnproven,
        Refusal::IdentityTaken,
        Refusal::IdentityRests { until: Timestamp::FAR_FUTURE },
        Refusal::IdentityRequired,
        Refusal::InvalidPhase { field: "phases[0].grades".to_owned() },
        Refusal::PhasesOverlap { field: "phases[1].startsAt".to_owned() },
        Refusal::PhaseOutsideSale { field: "phases[0].endsAt".to_owned() },
        Refusal::PhaseBegun,
        Refusal::NotEligible { phase: a_phase(), audience: PhaseAudience::Code },
        Refusal::WrongPhaseProof { field: "code" },
        Refusal::PhaseCodeWrong,
        Refusal::PhaseCodeUsed,
        Refusal::MemberUnknown,
        Refusal::MemberTaken,
        Refusal::InvalidMemberList,
        Refusal::SeatNotInPhase { seats: Vec::new() },
        Refusal::PermissionMissing { permission: Permission::ViewEvents },
        Refusal::PersonRequired,
        Refusal::GrantTooWide,
        Refusal::LastOwner,
        Refusal::InvitationInvalid,
        Refusal::ConsentRequired,
        Refusal::LinkInvalid,
        Refusal::OwnRole,
        Refusal::CodeRequired,
        Refusal::CodeWrong,
        Refusal::CodeOn,
        Refusal::SocialFailed,
        Refusal::TooManyRequests { retry_after_s: 1 },
        Refusal::NotFound,
        Refusal::Invalid { field: "name", problem: FieldError::Blank },
        Refusal::InvalidTemplate { at: String::new(), problem: String::new() },
        Refusal::InvalidSchedule { field: "endsAt" },
        Refusal::NameTaken,
        Refusal::EventNotOpen,
        Refusal::WrongEventState,
        Refusal::SaleBegun,
        Refusal::InUse,
        Refusal::DeadLetterClosed,
        Refusal::WebhookUrlRefused,
        Refusal::PlaceTokenInvalid,
        Refusal::NotInQueue,
        Refusal::QueueClosed,
        Refusal::ChallengeRequired {
            salt: String::new(),
            bits: 0,
            expires_at: Timestamp::FAR_FUTURE,
        },
        Refusal::SaleNotOpen { opens_at: Timestamp::FAR_FUTURE },
        Refusal::SaleClosed,
        Refusal::SaleStopped,
        Refusal::ScheduleCanceled,
        Refusal::EntryRequired,
        Refusal::EntryExpired,
        Refusal::NoExtensionsLeft,
        Refusal::NoSeats,
        Refusal::TooManySeats { max: 4 },
        Refusal::SeatRepeated,
        Refusal::ForeignSeat,
        Refusal::seat_taken(Vec::new()),
        Refusal::NoneTogether,
        Refusal::UnknownGrade,
        Refusal::UnknownSection,
        Refusal::SeatLimit { max: 4 },
        Refusal::HoldChurn { retry_after_s: 1 },
        Refusal::HoldOver,
        Refusal::PaymentRunning,
        Refusal::AlreadyPaid,
        Refusal::AlreadyCanceled,
        Refusal::NotPaid,
        Refusal::SeatsLeft,
        Refusal::StandbyOffered,
        Refusal::AmountMismatch,
        Refusal::PaymentNotReady,
        Refusal::PaymentOver,
        Refusal::PaymentDeclined { reason: String::new() },
        Refusal::PaymentKeyMissing,
        Refusal::UnknownGateway,
        Refusal::WalletLimit,
        Refusal::NothingToRefund,
        Refusal::NotStuck,
        Refusal::CancelClosed,
        Refusal::InvalidPolicy,
        Refusal::WebhookInvalid,
        Refusal::TicketInvalid,
        Refusal::TicketElsewhere,
        Refusal::TicketOtherGate { gates: Vec::new() },
        Refusal::TicketUsed { at: None, gate: None },
        Refusal::TicketNotUsed,
        Refusal::TicketVoid,
        Refusal::TicketTransferred,
        Refusal::ClaimForeign,
        Refusal::ResaleOver,
        Refusal::TransferOff,
        Refusal::PassOff,
        Refusal::KeyMissing,
        Refusal::KeyMalformed,
        Refusal::KeyRunning,
        Refusal::KeyReused,
    ]
}

#[test]
fn every_refusal_has_its_sentence_and_no_sentence_is_left_over() {
    let refusals = refusals();
    let said: BTreeSet<&str> = refusals.iter().map(Refusal::code).chain(OF_THE_EDGE).collect();
    let known: BTreeSet<&str> =
        podo::routes::problem_codes().into_iter().map(|(code, _, _)| code).collect();
    assert_eq!(said, known);
    assert_eq!(said.len(), refusals.len() + OF_THE_EDGE.len(), "one code each");
}
