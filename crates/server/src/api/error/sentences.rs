//! What people are told, in Korean and English: what happened and what to do next.

use crate::api::language::Language;

/// Code, Korean, English.
pub(super) const ALL: &[(&str, &str, &str)] = &[
    ("ADMIN_ONLY", "관리자만 할 수 있습니다.", "Only an organiser may do this."),
    ("ALREADY_CANCELED", "이미 취소된 예매입니다.", "This reservation is canceled already."),
    ("ALREADY_PAID", "이미 결제된 예매입니다.", "This reservation is paid already."),
    (
        "AMOUNT_MISMATCH",
        "결제 금액이 예매 금액과 다릅니다.",
        "The amount is not the reservation's.",
    ),
    ("BODY_TOO_LARGE", "요청이 너무 큽니다.", "The request is too large."),
    (
        "BODY_TOO_SLOW",
        "요청이 제시간에 도착하지 않았습니다.",
        "The request did not arrive in time.",
    ),
    ("CANCEL_CLOSED", "취소할 수 있는 기간이 지났습니다.", "It is too late to cancel."),
    (
        "CHALLENGE_REQUIRED",
        "입장하기 전에 기기에서 간단한 계산을 합니다. 잠시만 기다려 주세요.",
        "Your device has to solve a riddle first. This takes a moment.",
    ),
    ("CODE_ON", "이미 2단계 인증을 쓰고 있습니다.", "There is a second factor already."),
    (
        "CODE_REQUIRED",
        "인증 앱의 6자리 코드가 필요합니다.",
        "Please give the six digits of your authenticator app.",
    ),
    (
        "CODE_WRONG",
        "인증 코드가 맞지 않거나 이미 쓰였습니다.",
        "The code is not right, or was used already.",
    ),
    (
        "DEAD_LETTER_CLOSED",
        "이미 다시 보내고 있거나 처리가 끝난 메시지입니다.",
        "This message is being replayed, or was replayed or dropped already.",
    ),
    ("EMAIL_TAKEN", "이미 가입된 이메일입니다.", "There is an account with this address already."),
    (
        "ENTRY_EXPIRED",
        "입장 시간이 끝났습니다. 대기열에 다시 들어와 주세요.",
        "Your time inside is over. Please enter the waiting room again.",
    ),
    (
        "ENTRY_REQUIRED",
        "대기열을 거쳐 입장한 뒤 이용할 수 있습니다.",
        "Please pass the waiting room first.",
    ),
    ("EVENT_NOT_OPEN", "아직 공개되지 않은 공연입니다.", "This event is not open yet."),
    ("FOREIGN_SEAT", "다른 회차의 좌석입니다.", "A seat belongs to another date."),
    (
        "HOLD_CHURN",
        "결제하지 않고 좌석을 여러 번 놓았습니다. 잠시 쉬었다가 다시 선택해 주세요.",
        "You have let several holds go without paying. Please wait a while before the next.",
    ),
    (
        "HOLD_OVER",
        "좌석 선점 시간이 끝났습니다. 좌석을 다시 선택해 주세요.",
        "Your hold is over. Please choose seats again.",
    ),
    (
        "HOST_INVALID",
        "요청에는 Host 헤더가 하나만 있어야 합니다.",
        "A request needs exactly one Host header.",
    ),
    (
        "IDEMPOTENCY_KEY_MALFORMED",
        "Idempotency-Key는 1–200자의 공백 없는 ASCII여야 합니다.",
        "Idempotency-Key must be 1–200 ASCII characters without spaces.",
    ),
    ("IDEMPOTENCY_KEY_MISSING", "Idempotency-Key가 필요합니다.", "Idempotency-Key is required."),
    (
        "IDEMPOTENCY_KEY_REUSED",
        "같은 Idempotency-Key가 다른 요청에 쓰였습니다.",
        "This Idempotency-Key was used for another request.",
    ),
    (
        "IDEMPOTENCY_KEY_RUNNING",
        "같은 요청을 처리하고 있습니다. 잠시 후 다시 확인해 주세요.",
        "The same request is being worked on. Please ask again in a moment.",
    ),
    (
        "IDENTITY_NOT_OFFERED",
        "본인 인증을 제공하지 않습니다.",
        "Proving who you are is not offered here.",
    ),
    (
        "IDENTITY_REQUIRED",
        "본인 인증을 마친 뒤 참여할 수 있습니다.",
        "Please prove who you are first.",
    ),
    (
        "IDENTITY_RESTS",
        "탈퇴한 지 30일이 지나야 다시 본인 인증을 할 수 있습니다.",
        "You can prove who you are again 30 days after withdrawing.",
    ),
    (
        "IDENTITY_TAKEN",
        "이미 다른 계정에서 본인 인증을 했습니다. 한 사람은 한 계정만 쓸 수 있습니다.",
        "You have proved who you are with another account. One person has one account.",
    ),
    (
        "IDENTITY_UNPROVEN",
        "본인 인증이 완료되지 않았습니다. 다시 인증해 주세요.",
        "The verification is not complete. Please verify again.",
    ),
    (
        "INTERNAL",
        "문제가 생겼습니다. 잠시 후 다시 시도해 주세요.",
        "Something went wrong. Please try again in a moment.",
    ),
    ("INVALID", "입력값을 확인해 주세요.", "Please check what you sent."),
    (
        "INVALID_POLICY",
        "환불 규정을 확인해 주세요. 일수는 줄고 수수료(최대 90%)는 늘어야 합니다.",
        "Please check the refund policy: days must fall, fees (90% at most) must not.",
    ),
    (
        "INVALID_SCHEDULE",
        "회차의 시간이나 값이 올바르지 않습니다.",
        "The date's times or values do not fit.",
    ),
    ("INVALID_TEMPLATE", "좌석 배치가 올바르지 않습니다.", "The seat template is not valid."),
    (
        "IN_USE",
        "이미 쓰이고 있어 지우거나 줄일 수 없습니다.",
        "Something relies on it: it cannot be deleted or made smaller.",
    ),
    (
        "LAST_LOGIN",
        "다른 로그인 방법이 없어 연결을 끊을 수 없습니다. 먼저 비밀번호를 정하거나 다른 계정을 연결해 주세요.",
        "Nothing would be left to log in with. Please set a password or link another account first.",
    ),
    (
        "LOGIN_BUSY",
        "로그인이 몰리고 있습니다. 잠시 후 다시 시도해 주세요.",
        "Many people are logging in. Please try again in a moment.",
    ),
    (
        "LOGIN_FAILED",
        "이메일 또는 비밀번호가 맞지 않습니다.",
        "The address or the password is wrong.",
    ),
    ("LOGIN_REQUIRED", "로그인해 주세요.", "Please log in."),
    ("MALFORMED_BODY", "요청이 올바른 JSON이 아닙니다.", "The request is not valid JSON."),
    ("METHOD_NOT_ALLOWED", "지원하지 않는 요청 방식입니다.", "This method is not supported here."),
    ("NAME_TAKEN", "이미 쓰고 있는 이름입니다.", "This name is taken."),
    ("NOTHING_TO_REFUND", "환불할 금액이 없습니다.", "There is nothing to refund."),
    ("NOT_FOUND", "찾을 수 없습니다.", "There is no such thing."),
    (
        "NOT_IN_QUEUE",
        "대기열에 없습니다. 먼저 대기열에 들어와 주세요.",
        "You are not in the waiting room.",
    ),
    (
        "NOT_JSON",
        "Content-Type은 application/json이어야 합니다.",
        "Content-Type must be application/json.",
    ),
    ("NOT_PAID", "결제되지 않은 예매입니다.", "This reservation is not paid."),
    (
        "NOT_SERVED_HERE",
        "이 서버가 맡은 요청이 아닙니다. 관리자에게 알려 주세요.",
        "This server has another role. Please tell the organiser: requests go to the wrong one.",
    ),
    (
        "NOT_STUCK",
        "자동으로 처리되고 있거나 이미 끝난 건입니다. 직접 끝낼 수 없습니다.",
        "This is still handled automatically, or it is over: it cannot be ended by hand.",
    ),
    ("NO_EXTENSIONS_LEFT", "더 이상 시간을 늘릴 수 없습니다.", "There are no extensions left."),
    ("NO_SEATS", "좌석을 선택해 주세요.", "Please choose a seat."),
    (
        "NO_SEATS_TOGETHER",
        "조건에 맞는 연속된 좌석이 없습니다. 인원을 나누거나 다른 등급을 골라 주세요.",
        "There are not that many seats together. Try fewer, other rows or another grade.",
    ),
    (
        "ORIGIN_FORBIDDEN",
        "다른 사이트에서 보낸 요청은 받지 않습니다.",
        "Requests from other sites' pages are not accepted.",
    ),
    ("OWN_ROLE", "자신의 권한은 바꿀 수 없습니다.", "Nobody changes their own role."),
    ("PASSWORD_WRONG", "비밀번호가 맞지 않습니다.", "The password is not right."),
    (
        "PAYMENT_DECLINED",
        "결제가 승인되지 않았습니다. 좌석은 유지되니 다른 방법으로 결제해 주세요.",
        "The payment was declined. Your seats are kept: please try another way to pay.",
    ),
    ("PAYMENT_KEY_MISSING", "결제 승인 키가 필요합니다.", "The gateway's payment key is missing."),
    ("PAYMENT_NOT_READY", "결제가 준비되지 않았습니다.", "The payment is not ready."),
    (
        "PAYMENT_OVER",
        "끝난 결제입니다. 결제를 다시 요청해 주세요.",
        "This payment is over. Please start a new one.",
    ),
    (
        "PAYMENT_RUNNING",
        "결제를 확인하고 있습니다. 잠시만 기다려 주세요.",
        "The payment is being confirmed. Please wait a moment.",
    ),
    ("QUEUE_CLOSED", "대기열이 닫혔습니다.", "The waiting room is closed."),
    ("QUEUE_TOKEN_INVALID", "대기열 토큰이 올바르지 않습니다.", "The queue token is not valid."),
    ("READ_ONLY", "조회 권한만 있습니다.", "Your account may look, not change anything."),
    (
        "REAUTH_REQUIRED",
        "중요한 작업입니다. 비밀번호나 인증 코드로 본인임을 다시 확인해 주세요.",
        "This matters: please show once more that it is you, with your password or a code.",
    ),
    ("REFRESH_INVALID", "다시 로그인해 주세요.", "Please log in again."),
    (
        "REFRESH_RETRY",
        "이미 갱신되었습니다. 새 토큰을 사용해 주세요.",
        "It was just refreshed. Please use the new token.",
    ),
    (
        "REFRESH_REUSED",
        "보안을 위해 로그아웃되었습니다. 다시 로그인해 주세요.",
        "You were logged out for your safety. Please log in again.",
    ),
    (
        "SALE_BEGUN",
        "판매가 시작되어 바꿀 수 없습니다.",
        "The sale has begun: this cannot change any more.",
    ),
    ("SALE_CLOSED", "판매가 끝났습니다.", "The sale is over."),
    ("SALE_NOT_OPEN", "아직 판매 전입니다.", "The sale is not open yet."),
    (
        "SALE_STOPPED",
        "이 회차의 판매를 잠시 멈췄습니다. 확인하는 대로 다시 시작합니다.",
        "The sale of this date is paused while we check something. It will go on.",
    ),
    (
        "SCHEDULE_CANCELED",
        "이 회차는 취소되었습니다. 결제한 금액이 있으면 전액 자동으로 환불됩니다.",
        "This date is canceled. Anything you paid is refunded in full, automatically.",
    ),
    (
        "SEATS_LEFT",
        "아직 남은 좌석이 있습니다. 바로 예매해 주세요.",
        "There are seats left: please book them.",
    ),
    (
        "SEAT_LIMIT",
        "1인당 구매할 수 있는 좌석 수를 넘었습니다.",
        "That is more seats than one person may have.",
    ),
    ("SEAT_REPEATED", "같은 좌석을 두 번 선택했습니다.", "A seat was chosen twice."),
    (
        "SEAT_TAKEN",
        "이미 선택된 좌석입니다. 결제된 금액은 없습니다. 다른 좌석을 선택해 주세요.",
        "Another fan was faster. You were not charged: please choose another seat.",
    ),
    (
        "SESSION_IDLE",
        "오랫동안 사용하지 않아 로그아웃되었습니다. 다시 로그인해 주세요.",
        "You were away for a while, so you were logged out. Please log in again.",
    ),
    (
        "SOCIAL_FAILED",
        "로그인이 완료되지 않았습니다. 다시 시도해 주세요.",
        "The log-in was not completed. Please try again.",
    ),
    (
        "SOCIAL_NOT_LINKED",
        "이 이메일로 가입한 계정이 있습니다. 비밀번호로 로그인한 뒤 내 정보에서 이 서비스를 연결해 주세요.",
        "There is an account with this address. Log in with its password, then link this service on your own page.",
    ),
    (
        "SOCIAL_TAKEN",
        "그 계정은 이미 연결되어 있습니다.",
        "That account is linked to an account here already.",
    ),
    (
        "STANDBY_OFFERED",
        "대기하신 좌석이 배정되었습니다. 결제하거나 좌석을 놓아 주세요.",
        "Seats are held for you already: pay for them or give them back.",
    ),
    (
        "TICKETS_LEFT",
        "아직 관람하지 않은 티켓이 있습니다. 먼저 예매를 취소해 주세요.",
        "There are tickets for shows to come. Please cancel them first.",
    ),
    ("TICKET_ELSEWHERE", "다른 회차의 티켓입니다.", "This ticket is for another date."),
    (
        "TICKET_INVALID",
        "포도가 발행한 티켓이 아니거나 지난 코드입니다.",
        "This is not a ticket of ours, or its code is over.",
    ),
    (
        "TICKET_TRANSFERRED",
        "다른 사람에게 보낸 티켓은 취소할 수 없습니다.",
        "A ticket that was given to somebody else cannot be canceled.",
    ),
    ("TICKET_USED", "이미 사용한 티켓입니다.", "This ticket was used already."),
    ("TICKET_VOID", "취소된 티켓입니다.", "This ticket is canceled."),
    (
        "TOO_MANY_REQUESTS",
        "요청이 너무 많습니다. 잠시 후 다시 시도해 주세요.",
        "Too many requests. Please slow down.",
    ),
    (
        "TOO_MANY_SEATS",
        "한 번에 4석까지 선택할 수 있습니다.",
        "You can choose up to 4 seats at once.",
    ),
    (
        "TRANSFER_OFF",
        "이 공연의 티켓은 다른 사람에게 보낼 수 없습니다.",
        "Tickets of this concert cannot be given to somebody else.",
    ),
    (
        "UNAVAILABLE",
        "잠시 이용할 수 없습니다. 잠시 후 다시 시도해 주세요.",
        "Not available right now. Please try again in a moment.",
    ),
    ("UNKNOWN_GATEWAY", "지원하지 않는 결제사입니다.", "This gateway is not supported."),
    ("UNKNOWN_GRADE", "없는 좌석 등급입니다.", "There is no such grade in this hall."),
    ("WALLET_LIMIT", "지갑 한도를 넘었습니다.", "That is beyond the wallet's limits."),
    (
        "WALLET_NOT_EMPTY",
        "지갑에 잔액이 남아 있습니다. 먼저 환불받아 주세요.",
        "There is money in your wallet. Please have it paid out first.",
    ),
    ("WEBHOOK_INVALID", "서명을 확인할 수 없습니다.", "The signature does not match."),
    (
        "WEBHOOK_URL_REFUSED",
        "공개된 인터넷의 https 주소여야 합니다.",
        "The address must be https, on the public internet.",
    ),
    (
        "WRONG_EVENT_STATE",
        "지금 상태에서는 할 수 없습니다.",
        "The event's state does not allow this.",
    ),
];

pub(super) fn sentence(code: &str, language: Language) -> &'static str {
    let found = ALL.binary_search_by_key(&code, |(known, _, _)| known);
    let (_, korean, english) = ALL[found.expect("a test keeps the sentences complete and sorted")];
    language.choose(korean, english)
}

/// What is wrong with a field. Ours are `code` or `code:limit`; serde's are English sentences.
pub(super) fn field_sentence(problem: &str, language: Language) -> String {
    let (code, limit) = problem.split_once(':').unwrap_or((problem, ""));
    let (korean, english) = match code {
        "blank" => ("비워 둘 수 없습니다.".into(), "must not be blank".into()),
        "too_short" => {
            (format!("{limit}자 이상이어야 합니다."), format!("needs at least {limit} characters"))
        }
        "too_long" => {
            (format!("{limit}자를 넘을 수 없습니다."), format!("has more than {limit} characters"))
        }
        "control_characters" => {
            ("제어 문자를 쓸 수 없습니다.".into(), "has control characters".into())
        }
        "out_of_range" => (format!("{limit} 범위여야 합니다."), format!("must be in {limit}")),
        "not_an_email" => ("이메일 주소가 아닙니다.".into(), "is no e-mail address".into()),
        "not_a_phone" => ("전화번호가 아닙니다.".into(), "is no phone number".into()),
        "not_a_time" => {
            ("시각이 아닙니다 (RFC 3339).".into(), "is no time (RFC 3339 with an offset)".into())
        }
        "too_common" => ("너무 흔한 비밀번호입니다.".into(), "is too common".into()),
        _ if problem.starts_with("unknown field") => {
            ("알 수 없는 필드입니다.".into(), problem.to_owned())
        }
        _ if problem.starts_with("missing field") => {
            ("필수 항목입니다.".into(), problem.to_owned())
        }
        _ => (format!("값의 형식이 올바르지 않습니다 ({problem})."), problem.to_owned()),
    };
    language.choose(korean, english)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_sorted_and_told_in_both_languages() {
        assert!(ALL.is_sorted_by(|a, b| a.0 < b.0), "sorted, none twice");
        for (code, korean, english) in ALL {
            let has_hangul = |text: &str| text.chars().any(|c| ('가'..='힣').contains(&c));
            assert!(has_hangul(korean) && !has_hangul(english), "{code}");
        }
    }

    #[test]
    fn a_field_problem_names_its_limit() {
        assert_eq!(field_sentence("too_long:50", Language::English), "has more than 50 characters");
        assert_eq!(field_sentence("too_long:50", Language::Korean), "50자를 넘을 수 없습니다.");
    }
}
