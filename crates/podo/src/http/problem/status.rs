//! The HTTP status of each refusal.

use axum::http::StatusCode;
use podo_domain::Refusal;

#[expect(clippy::too_many_lines, reason = "a table: one line for each refusal")]
pub(super) fn refusal_status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::LoginRequired
        | Refusal::LoginFailed
        | Refusal::CodeRequired
        | Refusal::CodeWrong
        | Refusal::SocialFailed
        | Refusal::RefreshInvalid
        | Refusal::RefreshReused
        | Refusal::SessionIdle
        | Refusal::EntryExpired
        | Refusal::PlaceTokenInvalid
        | Refusal::WebhookInvalid => StatusCode::UNAUTHORIZED,
        Refusal::AdminOnly
        | Refusal::EntryRequired
        | Refusal::IdentityRequired
        | Refusal::NotEligible { .. }
        | Refusal::DrawOnly
        | Refusal::PermissionMissing { .. }
        | Refusal::PersonRequired
        | Refusal::GrantTooWide
        | Refusal::ReauthRequired
        | Refusal::ChallengeRequired { .. }
        | Refusal::PasswordWrong => StatusCode::FORBIDDEN,
        Refusal::NotFound
        | Refusal::NotInQueue
        | Refusal::InvitationInvalid
        | Refusal::LinkInvalid => StatusCode::NOT_FOUND,
        Refusal::TooManyRequests { .. } | Refusal::HoldChurn { .. } => {
            StatusCode::TOO_MANY_REQUESTS
        }
        Refusal::LoginBusy | Refusal::MembershipUnanswered => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::ImageTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Refusal::PaymentDeclined { .. } => StatusCode::PAYMENT_REQUIRED,
        Refusal::KeyMissing | Refusal::KeyMalformed => StatusCode::BAD_REQUEST,
        Refusal::Invalid { .. }
        | Refusal::InvalidTemplate { .. }
        | Refusal::InvalidSchedule { .. }
        | Refusal::InvalidPhase { .. }
        | Refusal::PhasesOverlap { .. }
        | Refusal::PhaseOutsideSale { .. }
        | Refusal::WrongPhaseProof { .. }
        | Refusal::PhaseCodeWrong
        | Refusal::MemberUnknown
        | Refusal::InvalidMemberList
        | Refusal::InvalidDraw { .. }
        | Refusal::ImageType
        | Refusal::ImageTooSmall
        | Refusal::ImageDamaged
        | Refusal::NoSeats
        | Refusal::TooManySeats { .. }
        | Refusal::SeatRepeated
        | Refusal::ForeignSeat
        | Refusal::UnknownGrade
        | Refusal::UnknownSection
        | Refusal::InvalidAllocation { .. }
        | Refusal::InvalidSeatList { .. }
        | Refusal::InvalidPriceOptions { .. }
        | Refusal::InvalidPromotion { .. }
        | Refusal::InvalidPriceChange { .. }
        | Refusal::TicketTypeUnknown { .. }
        | Refusal::TicketTypeOtherGrade { .. }
        | Refusal::TicketTypeLimit { .. }
        | Refusal::PromotionWrong
        | Refusal::PromotionOtherGrade
        | Refusal::PromotionMinimum { .. }
        | Refusal::AmountMismatch
        | Refusal::OrderTooExpensive { .. }
        | Refusal::PaymentKeyMissing
        | Refusal::UnknownGateway
        | Refusal::MethodUnavailable
        | Refusal::CurrencyUnavailable { .. }
        | Refusal::WalletCurrency { .. }
        | Refusal::WalletLimit
        | Refusal::IdentityUnproven
        | Refusal::InvalidPolicy { .. }
        | Refusal::ConsentRequired
        | Refusal::WebhookUrlRefused
        | Refusal::TicketInvalid
        | Refusal::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
        Refusal::RefreshRetry
        | Refusal::EmailTaken
        | Refusal::SocialNotLinked
        | Refusal::SocialTaken
        | Refusal::LastLogin
        | Refusal::WalletNotEmpty
        | Refusal::TicketsLeft
        | Refusal::IdentityNotOffered
        | Refusal::IdentityTaken
        | Refusal::IdentityRests { .. }
        | Refusal::OwnRole
        | Refusal::LastOwner
        | Refusal::CodeOn
        | Refusal::PhaseBegun
        | Refusal::DrawBegun
        | Refusal::DrawNotOpen { .. }
        | Refusal::DrawClosed
        | Refusal::DrawPending
        | Refusal::DrawOffered
        | Refusal::PhaseCodeUsed
        | Refusal::MemberTaken
        | Refusal::NoMemberWebhook
        | Refusal::SeatNotInPhase { .. }
        | Refusal::AllocationExists
        | Refusal::ReseatOtherPrice
        | Refusal::AllocationReleased
        | Refusal::SeatsNotFree { .. }
        | Refusal::SeatsNotKept { .. }
        | Refusal::KeptSeatsSold { .. }
        | Refusal::DeskOrder
        | Refusal::NameTaken
        | Refusal::GalleryFull
        | Refusal::EventNotOpen
        | Refusal::WrongEventState
        | Refusal::SaleBegun
        | Refusal::PriceChangeBegun
        | Refusal::InUse
        | Refusal::QueueClosed
        | Refusal::SaleNotOpen { .. }
        | Refusal::SaleClosed
        | Refusal::ScheduleCanceled
        | Refusal::SaleStopped
        | Refusal::NoExtensionsLeft
        | Refusal::SeatTaken { .. }
        | Refusal::NoneTogether
        | Refusal::SeatLimit { .. }
        | Refusal::HoldOver
        | Refusal::PaymentRunning
        | Refusal::AlreadyPaid
        | Refusal::AlreadyCanceled
        | Refusal::NotPaid
        | Refusal::SeatsLeft
        | Refusal::StandbyOffered
        | Refusal::PaymentNotReady
        | Refusal::PaymentOver
        | Refusal::NothingToRefund
        | Refusal::NothingToPay
        | Refusal::MethodNotOffered
        | Refusal::CurrencyFixed
        | Refusal::DepositTooLate
        | Refusal::PromotionExists
        | Refusal::PromotionNotBegun { .. }
        | Refusal::PromotionOver
        | Refusal::PromotionUsedUp
        | Refusal::PromotionUsed
        | Refusal::NotStuck
        | Refusal::CancelClosed
        | Refusal::TicketElsewhere
        | Refusal::GatesClosed
        | Refusal::TicketOtherGate { .. }
        | Refusal::TicketUsed { .. }
        | Refusal::TicketNotUsed
        | Refusal::TicketVoid
        | Refusal::DeadLetterClosed
        | Refusal::TicketTransferred
        | Refusal::ClaimForeign
        | Refusal::ResaleOver
        | Refusal::TransferOff
        | Refusal::PassOff
        | Refusal::KeyRunning => StatusCode::CONFLICT,
    }
}
