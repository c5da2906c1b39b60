//! What is wrong with a field of the request, and the refusals that name one.

use crate::http::language::Language;
use podo_domain::Refusal;
use podo_domain::booking::allocations::SeatLine;
use serde_json::{Value, json};

/// The field, and the other members of the problem.
#[expect(clippy::wildcard_enum_match_arm, reason = "most refusals name no field")]
pub(crate) fn wrong_field(refusal: &Refusal) -> Option<(&str, Value)> {
    Some(match refusal {
        Refusal::InvalidSchedule { field }
        | Refusal::WrongPhaseProof { field }
        | Refusal::InvalidPriceChange { field }
        | Refusal::InvalidAllocation { field }
        | Refusal::InvalidPromotion { field } => (field, json!({})),
        Refusal::InvalidPhase { field }
        | Refusal::InvalidPolicy { field }
        | Refusal::InvalidDraw { field }
        | Refusal::InvalidPriceOptions { field }
        | Refusal::TicketTypeUnknown { field }
        | Refusal::TicketTypeOtherGrade { field }
        | Refusal::PhasesOverlap { field }
        | Refusal::PhaseOutsideSale { field } => (field, json!({})),
        Refusal::TicketTypeLimit { field, max } => (field, json!({ "max": max })),
        Refusal::PromotionNotBegun { starts_at } => ("code", json!({ "startsAt": starts_at })),
        Refusal::PromotionMinimum { amount } => ("code", json!({ "amountMin": amount })),
        Refusal::CurrencyUnavailable { field } | Refusal::WalletCurrency { field } => {
            (field, json!({}))
        }
        Refusal::CurrencyFixed => ("currency", json!({})),
        Refusal::AllocationExists => ("name", json!({})),
        Refusal::PromotionWrong
        | Refusal::PromotionExists
        | Refusal::PromotionOver
        | Refusal::PromotionUsedUp
        | Refusal::PromotionUsed
        | Refusal::PromotionOtherGrade => ("code", json!({})),
        _ => return None,
    })
}

/// The seats that a refusal is about.
#[expect(clippy::wildcard_enum_match_arm, reason = "most refusals name no seats")]
pub(crate) fn named_seats(refusal: &Refusal) -> Option<Value> {
    match refusal {
        Refusal::SeatNotInPhase { seats }
        | Refusal::SeatsNotFree { seats }
        | Refusal::SeatsNotKept { seats }
        | Refusal::KeptSeatsSold { seats } => Some(json!({ "seatIds": seats })),
        _ => None,
    }
}

/// The wrong lines of a list of seats.
pub(crate) fn wrong_lines(lines: &[SeatLine], language: Language) -> Value {
    let wrong = |it: &SeatLine| {
        let detail = field_sentence(it.problem.as_str(), language);
        json!({ "field": "seat", "line": it.line, "detail": detail })
    };
    json!({ "errors": lines.iter().map(wrong).collect::<Vec<_>>() })
}

/// What is wrong with a field. Ours are `code` or `code:limit`; serde's are English sentences.
pub(crate) fn field_sentence(problem: &str, language: Language) -> String {
    let (code, limit) = problem.split_once(':').unwrap_or((problem, ""));
    let (korean, english) = match code {
        "blank" => ("비워 둘 수 없어요.".into(), "must not be blank".into()),
        "too_short" => {
            (format!("{limit}자 이상이어야 해요."), format!("needs at least {limit} characters"))
        }
        "too_long" => {
            (format!("{limit}자를 넘을 수 없어요."), format!("has more than {limit} characters"))
        }
        "control_characters" => {
            ("제어 문자를 쓸 수 없어요.".into(), "contains control characters".into())
        }
        "out_of_range" => (format!("{limit} 범위여야 해요."), format!("must be in {limit}")),
        "not_for_fans" => (
            "팬이 고를 수 없는 결제 수단이 있어요.".into(),
            "names a method that fans can't choose".into(),
        ),
        "not_an_email" => ("이메일 주소가 아니에요.".into(), "is not an email address".into()),
        "not_a_hash" => (
            "SHA-256 해시(16진수 64자)가 아니에요.".into(),
            "is not a SHA-256 in 64 hex digits".into(),
        ),
        "not_an_account" => (
            "계좌번호가 아니에요. 숫자 8~16자리로 적어 주세요.".into(),
            "is not an account number: write 8 to 16 digits".into(),
        ),
        "not_a_phone" => ("전화번호가 아니에요.".into(), "is not a phone number".into()),
        "not_a_time" => {
            ("시각이 아니에요 (RFC 3339).".into(), "is not a time (RFC 3339 with an offset)".into())
        }
        "not_a_zone" => (
            "시간대 이름이 아니에요 (예: Asia/Seoul).".into(),
            "is not a time zone (Asia/Seoul)".into(),
        ),
        "not_a_section" => ("공연장에 없는 구역이에요.".into(), "has an unknown section".into()),
        "not_our_cursor" => (
            "끝난 목록이에요. 처음부터 다시 받아 주세요.".into(),
            "isn't of this list, or has expired; begin again without it".into(),
        ),
        "seat_no_column" => (
            "첫 줄에 seat(좌석) 열이 있어야 해요.".into(),
            "needs a column `seat` in its first line".into(),
        ),
        "seat_columns" => {
            ("열의 수가 첫 줄과 달라요.".into(), "has another number of columns".into())
        }
        "seat_unknown" => ("이 회차에 없는 좌석이에요.".into(), "is no seat of this date".into()),
        "seat_repeated" => {
            ("앞줄에 이미 있는 좌석이에요.".into(), "repeats an earlier line".into())
        }
        "seat_taken" => (
            "선점됐거나 팔렸거나 다른 보류석이에요.".into(),
            "is held, sold or kept by another allocation".into(),
        ),
        "not_utf8" => ("UTF-8 파일이어야 해요.".into(), "must be UTF-8".into()),
        "too_common" => ("너무 흔한 비밀번호예요.".into(), "is too common".into()),
        _ if problem.starts_with("unknown field") => {
            ("알 수 없는 필드예요.".into(), problem.to_owned())
        }
        _ if problem.starts_with("missing field") => {
            ("필수 항목이에요.".into(), problem.to_owned())
        }
        _ => (format!("값의 형식이 올바르지 않아요 ({problem})."), problem.to_owned()),
    };
    language.choose(korean, english)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_problem_names_its_limit() {
        assert_eq!(field_sentence("too_long:50", Language::English), "has more than 50 characters");
        assert_eq!(field_sentence("too_long:50", Language::Korean), "50자를 넘을 수 없어요.");
    }
}
