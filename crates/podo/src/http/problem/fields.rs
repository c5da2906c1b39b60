//! Refusals that name the field of the request that is wrong.

use podo_domain::Refusal;
use serde_json::{Value, json};

/// The field, and the other members of the problem.
#[expect(clippy::wildcard_enum_match_arm, reason = "most refusals name no field")]
pub(crate) fn wrong_field(refusal: &Refusal) -> Option<(&str, Value)> {
    Some(match refusal {
        Refusal::InvalidSchedule { field }
        | Refusal::WrongPhaseProof { field }
        | Refusal::InvalidPromotion { field } => (field, json!({})),
        Refusal::InvalidPhase { field }
        | Refusal::InvalidPriceOptions { field }
        | Refusal::TicketTypeUnknown { field }
        | Refusal::TicketTypeOtherGrade { field }
        | Refusal::PhasesOverlap { field }
        | Refusal::PhaseOutsideSale { field } => (field, json!({})),
        Refusal::TicketTypeLimit { field, max } => (field, json!({ "max": max })),
        Refusal::PromotionNotBegun { starts_at } => ("code", json!({ "startsAt": starts_at })),
        Refusal::PromotionMinimum { amount } => ("code", json!({ "amountMin": amount })),
        Refusal::PromotionWrong
        | Refusal::PromotionExists
        | Refusal::PromotionOver
        | Refusal::PromotionUsedUp
        | Refusal::PromotionUsed
        | Refusal::PromotionOtherGrade => ("code", json!({})),
        _ => return None,
    })
}
