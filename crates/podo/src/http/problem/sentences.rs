//! The text of each problem code in Korean and English: what happened and what to do next.

use crate::http::language::Language;
use crate::http::problem::allocation_sentences::ALLOCATIONS;
use crate::http::problem::draw_sentences::DRAWS;
use crate::http::problem::image_sentences::IMAGES;
use crate::http::problem::order_sentences::ORDERS;

/// Code, Korean, English.
pub(crate) const ALL: &[(&str, &str, &str)] = &[
    ("ADMIN_ONLY", "관리자만 할 수 있어요.", "Only an organiser can do this."),
    ("ALREADY_CANCELED", "이미 취소된 예매예요.", "This booking is already canceled."),
    ("ALREADY_PAID", "이미 결제된 예매예요.", "This booking is already paid."),
    ("AMOUNT_MISMATCH", "결제 금액이 예매 금액과 달라요.", "The amount doesn't match the booking."),
    ("BODY_TOO_LARGE", "요청이 너무 커요.", "The request is too large."),
    ("BODY_TOO_SLOW", "요청이 제시간에 도착하지 않았어요.", "The request didn't arrive in time."),
    ("CANCEL_CLOSED", "취소할 수 있는 기간이 지났어요.", "The cancellation period has ended."),
    (
        "CHALLENGE_REQUIRED",
        "브라우저를 확인하고 있어요. 잠시만 기다려 주세요.",
        "Checking your browser… This takes a moment.",
    ),
    (
        "CLAIM_FOREIGN",
        "이 링크는 다른 이메일 주소로 보낸 거예요. 그 주소의 계정으로 로그인해 주세요.",
        "This link was sent to another e-mail address. Please log in with the account of that address.",
    ),
    ("CODE_ON", "이미 2단계 인증을 쓰고 있어요.", "Two-factor authentication is already on."),
    (
        "CODE_REQUIRED",
        "인증 앱의 6자리 코드를 입력해 주세요.",
        "Enter the six-digit code from your authenticator app.",
    ),
    (
        "CODE_WRONG",
        "인증 코드가 맞지 않거나 이미 쓰였어요.",
        "The code is wrong or has already been used.",
    ),
    ("CONSENT_REQUIRED", "필수 항목에 모두 동의해 주세요.", "Please agree to all required items."),
    (
        "DEAD_LETTER_CLOSED",
        "이미 다시 보내고 있거나 처리가 끝난 메시지예요.",
        "This message is already being replayed, or it has been closed.",
    ),
    ("EMAIL_TAKEN", "이미 가입된 이메일이에요.", "An account with this email already exists."),
    (
        "ENTRY_EXPIRED",
        "입장 시간이 끝났어요. 대기열에 다시 들어와 주세요.",
        "Your time to book has expired. Please join the queue again.",
    ),
    (
        "ENTRY_REQUIRED",
        "대기열을 거쳐 입장한 뒤 이용할 수 있어요.",
        "Please go through the waiting room first.",
    ),
    ("EVENT_NOT_OPEN", "아직 공개되지 않은 공연이에요.", "This event isn't published yet."),
    ("FOREIGN_SEAT", "다른 회차의 좌석이에요.", "One of the seats belongs to a different date."),
    (
        "GATES_CLOSED",
        "입장 명단은 공연 시작 36시간 전부터 시작 12시간 뒤까지만 받을 수 있어요.",
        "The list of a date is available from 36 hours before its start until 12 hours after.",
    ),
    (
        "GRANT_TOO_WIDE",
        "내가 가진 것보다 넓은 권한은 줄 수 없어요.",
        "You can't give more permissions or events than you have.",
    ),
    (
        "HOLD_CHURN",
        "결제하지 않고 좌석을 여러 번 놓았어요. 잠시 쉬었다가 다시 골라 주세요.",
        "You've released several holds without paying. Please wait a while before the next one.",
    ),
    (
        "HOLD_OVER",
        "좌석 선점 시간이 끝났어요. 좌석을 다시 골라 주세요.",
        "Your hold has expired. Please choose seats again.",
    ),
    (
        "HOST_INVALID",
        "요청에는 Host 헤더가 하나만 있어야 해요.",
        "A request needs exactly one Host header.",
    ),
    (
        "IDEMPOTENCY_KEY_MALFORMED",
        "Idempotency-Key는 1–200자의 공백 없는 ASCII여야 해요.",
        "Idempotency-Key must be 1–200 ASCII characters without spaces.",
    ),
    ("IDEMPOTENCY_KEY_MISSING", "Idempotency-Key가 필요해요.", "Idempotency-Key is required."),
    (
        "IDEMPOTENCY_KEY_REUSED",
        "같은 Idempotency-Key가 다른 요청에 쓰였어요.",
        "This Idempotency-Key was used for a different request.",
    ),
    (
        "IDEMPOTENCY_KEY_RUNNING",
        "같은 요청을 처리하고 있어요. 잠시 후 다시 확인해 주세요.",
        "The same request is still being processed. Please check again in a moment.",
    ),
    (
        "IDENTITY_NOT_OFFERED",
        "본인 인증을 제공하지 않아요.",
        "Identity verification isn't available here.",
    ),
    (
        "IDENTITY_REQUIRED",
        "본인 인증을 마친 뒤 참여할 수 있어요.",
        "Please verify your identity first.",
    ),
    (
        "IDENTITY_RESTS",
        "탈퇴한 지 30일이 지나야 다시 본인 인증을 할 수 있어요.",
        "You can verify your identity again 30 days after deleting an account.",
    ),
    (
        "IDENTITY_TAKEN",
        "이미 다른 계정에서 본인 인증을 했어요. 한 사람은 한 계정만 쓸 수 있어요.",
        "Your identity is already verified with another account. Each person can have one account.",
    ),
    (
        "IDENTITY_UNPROVEN",
        "본인 인증이 완료되지 않았어요. 다시 인증해 주세요.",
        "Verification isn't complete. Please try again.",
    ),
    (
        "INTERNAL",
        "문제가 생겼어요. 잠시 후 다시 시도해 주세요.",
        "Something went wrong. Please try again in a moment.",
    ),
    ("INVALID", "입력한 값을 확인해 주세요.", "Please check the values you sent."),
    (
        "INVALID_MEMBER_LIST",
        "파일의 첫 줄에 name과 email, phone, membershipNumber 중 하나 이상이 있어야 해요.",
        "The first line must name the columns: name, and at least one of email, phone and membershipNumber.",
    ),
    (
        "INVALID_PHASE",
        "판매 단계의 값이 올바르지 않아요. 표시된 항목을 확인해 주세요.",
        "A value of the sale phase isn't valid. Please check the field.",
    ),
    (
        "INVALID_POLICY",
        "환불 규정을 확인해 주세요. 일수는 730일 안에서 줄어야 하고, 수수료는 90%까지이며 공연이 가까워질수록 줄면 안 돼요.",
        "Please check the refund policy: days (730 at most) must decrease, and fees (90% at most) must not.",
    ),
    (
        "INVALID_SCHEDULE",
        "회차의 시간이나 값이 올바르지 않아요.",
        "The date's times or values aren't valid.",
    ),
    ("INVALID_TEMPLATE", "좌석 배치가 올바르지 않아요.", "The seat template isn't valid."),
    (
        "INVITATION_INVALID",
        "초대가 만료되었거나 이미 쓰였거나 다른 이메일로 보낸 초대예요.",
        "The invitation has expired, was already used, or was sent to another address.",
    ),
    (
        "IN_USE",
        "이미 쓰이고 있어 지우거나 줄일 수 없어요.",
        "It's in use, so it can't be deleted or reduced.",
    ),
    (
        "LAST_LOGIN",
        "다른 로그인 방법이 없어 연결을 끊을 수 없어요. 먼저 비밀번호를 정하거나 다른 계정을 연결해 주세요.",
        "This is your only way to log in. Please set a password or link another account first.",
    ),
    (
        "LAST_OWNER",
        "마지막 소유자예요. 먼저 다른 사람을 소유자로 지정해 주세요.",
        "This is the last owner. Make another person an owner first.",
    ),
    (
        "LINK_INVALID",
        "링크가 만료되었거나 이미 쓰였어요. 다시 요청해 주세요.",
        "The link has expired or was already used. Please request a new one.",
    ),
    (
        "LOGIN_BUSY",
        "로그인이 몰리고 있어요. 잠시 후 다시 시도해 주세요.",
        "Many people are logging in. Please try again in a moment.",
    ),
    ("LOGIN_FAILED", "이메일 또는 비밀번호가 맞지 않아요.", "The email or password is wrong."),
    ("LOGIN_REQUIRED", "로그인해 주세요.", "Please log in."),
    ("MALFORMED_BODY", "요청이 올바른 JSON이 아니에요.", "The request isn't valid JSON."),
    (
        "MEMBERSHIP_UNANSWERED",
        "지금은 회원 여부를 확인할 수 없어요. 잠시 후 다시 시도해 주세요.",
        "We can't check the membership right now. Please try again in a moment.",
    ),
    (
        "MEMBER_TAKEN",
        "이 회원 정보는 이미 다른 계정에서 인증했어요.",
        "This membership was already verified with another account.",
    ),
    (
        "MEMBER_UNKNOWN",
        "회원 정보를 찾을 수 없어요. 번호와 이름을 다시 확인해 주세요.",
        "We couldn't find this membership. Please check the number and the name.",
    ),
    ("METHOD_NOT_ALLOWED", "지원하지 않는 요청 방식이에요.", "This method isn't supported here."),
    (
        "METHOD_NOT_OFFERED",
        "이 공연에서 쓸 수 없는 결제 수단이에요.",
        "This event doesn't offer this payment method.",
    ),
    (
        "METHOD_UNAVAILABLE",
        "이 결제사로는 쓸 수 없는 결제 수단이에요.",
        "This gateway doesn't take this payment method.",
    ),
    ("NAME_TAKEN", "이미 쓰고 있는 이름이에요.", "This name is taken."),
    ("NOTHING_TO_REFUND", "환불할 금액이 없어요.", "There's nothing to refund."),
    (
        "NOT_ELIGIBLE",
        "이번 판매 단계의 구매 자격을 먼저 인증해 주세요.",
        "Please verify first that you may buy in this sale phase.",
    ),
    ("NOT_FOUND", "찾을 수 없어요.", "Not found."),
    (
        "NOT_IN_QUEUE",
        "대기열에 없어요. 먼저 대기열에 들어와 주세요.",
        "You aren't in the queue. Please join it first.",
    ),
    (
        "NOT_JSON",
        "Content-Type은 application/json이어야 해요.",
        "Content-Type must be application/json.",
    ),
    ("NOT_PAID", "결제되지 않은 예매예요.", "This booking isn't paid."),
    (
        "NOT_SERVED_HERE",
        "이 서버가 맡은 요청이 아니에요. 관리자에게 알려 주세요.",
        "This server has a different role. Please tell the operator: requests are routed to the wrong server.",
    ),
    (
        "NOT_STUCK",
        "자동으로 처리되고 있거나 이미 끝난 건이에요. 직접 처리할 수 없어요.",
        "This is still handled automatically or already closed, so it can't be resolved manually.",
    ),
    ("NO_EXTENSIONS_LEFT", "더 이상 시간을 늘릴 수 없어요.", "No extensions left."),
    (
        "NO_MEMBER_WEBHOOK",
        "이 단계는 주최자 서버로 회원을 확인하지 않아요.",
        "This phase doesn't ask a server of the organiser.",
    ),
    ("NO_SEATS", "좌석을 골라 주세요.", "Please choose a seat."),
    (
        "NO_SEATS_TOGETHER",
        "조건에 맞는 연속된 좌석이 없어요. 인원을 나누거나 다른 등급을 골라 주세요.",
        "There aren't that many seats together. Try fewer seats, other rows or another grade.",
    ),
    (
        "ORIGIN_FORBIDDEN",
        "다른 사이트에서 보낸 요청은 받지 않아요.",
        "Requests from other sites aren't accepted.",
    ),
    ("OWN_ROLE", "자신의 권한은 바꿀 수 없어요.", "You can't change your own role."),
    ("PASSWORD_WRONG", "비밀번호가 맞지 않아요.", "The password is wrong."),
    (
        "PASS_OFF",
        "이 티켓은 휴대전화 지갑에 담을 수 없어요. 모바일 티켓을 보여 주세요.",
        "This ticket can't be added to a phone's wallet. Show the mobile ticket instead.",
    ),
    (
        "PAYMENT_DECLINED",
        "결제가 승인되지 않았어요. 좌석은 유지되니 다른 방법으로 결제해 주세요.",
        "The payment was declined. Your seats are still held; please try another payment method.",
    ),
    ("PAYMENT_KEY_MISSING", "결제 승인 키가 필요해요.", "The gateway's payment key is missing."),
    ("PAYMENT_NOT_READY", "결제가 준비되지 않았어요.", "The payment isn't ready."),
    (
        "PAYMENT_OVER",
        "끝난 결제예요. 결제를 다시 요청해 주세요.",
        "This payment has ended. Please start a new one.",
    ),
    (
        "PAYMENT_RUNNING",
        "결제를 확인하고 있어요. 잠시만 기다려 주세요.",
        "The payment is being confirmed. Please wait a moment.",
    ),
    (
        "PERMISSION_MISSING",
        "이 작업을 할 권한이 없어요. 소유자에게 권한을 요청해 주세요.",
        "Your role doesn't include this. Ask an owner for the permission.",
    ),
    (
        "PERSON_REQUIRED",
        "API 키로는 할 수 없어요. 로그인해서 진행해 주세요.",
        "An API key can't do this. Please log in.",
    ),
    ("PHASES_OVERLAP", "판매 단계의 기간이 서로 겹쳐요.", "Two sale phases overlap."),
    (
        "PHASE_BEGUN",
        "이미 시작한 판매 단계라 바꿀 수 없어요.",
        "The sale phase has begun, so this can't be changed.",
    ),
    ("PHASE_CODE_USED", "이미 모두 사용된 코드예요.", "This code has already been used."),
    (
        "PHASE_CODE_WRONG",
        "코드가 올바르지 않아요. 다시 확인해 주세요.",
        "This code isn't valid. Please check it.",
    ),
    (
        "PHASE_OUTSIDE_SALE",
        "판매 단계는 회차의 판매 기간 안에 있어야 해요.",
        "A sale phase must lie within the sale of the date.",
    ),
    ("QUEUE_CLOSED", "대기열이 닫혔어요.", "The queue is closed."),
    ("QUEUE_TOKEN_INVALID", "대기열 토큰이 올바르지 않아요.", "The queue token isn't valid."),
    (
        "REAUTH_REQUIRED",
        "중요한 작업이에요. 비밀번호나 인증 코드로 본인임을 다시 확인해 주세요.",
        "Please confirm your identity again with your password or a code.",
    ),
    ("REFRESH_INVALID", "다시 로그인해 주세요.", "Please log in again."),
    (
        "REFRESH_RETRY",
        "이미 갱신되었어요. 새 토큰을 사용해 주세요.",
        "The token was just refreshed. Please use the new one.",
    ),
    (
        "REFRESH_REUSED",
        "보안을 위해 로그아웃되었어요. 다시 로그인해 주세요.",
        "You were logged out for security reasons. Please log in again.",
    ),
    (
        "RESALE_OVER",
        "이 티켓은 더 이상 살 수 없어요. 결제되지 않았어요.",
        "This ticket is no longer available. You were not charged.",
    ),
    (
        "SALE_BEGUN",
        "판매가 시작되어 바꿀 수 없어요.",
        "The sale has started, so this can't be changed.",
    ),
    ("SALE_CLOSED", "판매가 끝났어요.", "The sale has ended."),
    ("SALE_NOT_OPEN", "아직 판매 전이에요.", "The sale hasn't started yet."),
    (
        "SALE_STOPPED",
        "이 회차의 판매를 잠시 멈췄어요. 확인하는 대로 다시 시작해요.",
        "Sales for this date are paused while we check something. They'll resume soon.",
    ),
    (
        "SCHEDULE_CANCELED",
        "이 회차는 취소되었어요. 결제한 금액이 있으면 전액 자동으로 환불돼요.",
        "This date has been canceled. Everything you paid is refunded automatically.",
    ),
    (
        "SEATS_LEFT",
        "아직 남은 좌석이 있어요. 바로 예매해 주세요.",
        "Seats are still available. Please book them directly.",
    ),
    (
        "SEAT_LIMIT",
        "1인당 구매할 수 있는 좌석 수를 넘었어요.",
        "That exceeds the number of seats per person.",
    ),
    (
        "SEAT_NOT_IN_PHASE",
        "이번 판매 단계에서 판매하지 않는 좌석이에요.",
        "This sale phase doesn't sell these seats.",
    ),
    ("SEAT_REPEATED", "같은 좌석을 두 번 골랐어요.", "The same seat was chosen twice."),
    (
        "SEAT_TAKEN",
        "이미 선택된 좌석이에요. 결제된 금액은 없어요. 다른 좌석을 골라 주세요.",
        "Someone else was faster. You haven't been charged; please choose another seat.",
    ),
    (
        "SESSION_IDLE",
        "오랫동안 사용하지 않아 로그아웃되었어요. 다시 로그인해 주세요.",
        "You were logged out after a period of inactivity. Please log in again.",
    ),
    (
        "SOCIAL_FAILED",
        "로그인이 완료되지 않았어요. 다시 시도해 주세요.",
        "Log-in wasn't completed. Please try again.",
    ),
    (
        "SOCIAL_NOT_LINKED",
        "이 이메일로 가입한 계정이 있어요. 비밀번호로 로그인한 뒤 마이페이지에서 이 서비스를 연결해 주세요.",
        "An account with this email already exists. Log in with your password, then link this service on My page.",
    ),
    (
        "SOCIAL_TAKEN",
        "그 계정은 이미 연결되어 있어요.",
        "That account is already linked to an account here.",
    ),
    (
        "STANDBY_OFFERED",
        "대기하신 좌석이 배정되었어요. 결제하거나 좌석을 놓아 주세요.",
        "Seats are already held for you. Please pay for them or release them.",
    ),
    (
        "TICKETS_LEFT",
        "아직 관람하지 않은 티켓이 있어요. 먼저 예매를 취소해 주세요.",
        "You have tickets for upcoming shows. Please cancel them first.",
    ),
    ("TICKET_ELSEWHERE", "다른 회차의 티켓이에요.", "This ticket is for another date."),
    (
        "TICKET_INVALID",
        "포도가 발행한 티켓이 아니거나 지난 코드예요.",
        "This isn't one of our tickets, or its code has expired.",
    ),
    (
        "TICKET_NOT_USED",
        "아직 입장하지 않은 티켓이에요.",
        "This ticket has not been used, so there is nothing to undo.",
    ),
    (
        "TICKET_OTHER_GATE",
        "다른 입구로 들어가야 하는 티켓이에요.",
        "This ticket is for another gate.",
    ),
    (
        "TICKET_TRANSFERRED",
        "다른 사람에게 보낸 티켓은 취소할 수 없어요.",
        "A transferred ticket can't be canceled.",
    ),
    ("TICKET_USED", "이미 사용한 티켓이에요.", "This ticket has already been used."),
    ("TICKET_VOID", "취소된 티켓이에요.", "This ticket has been canceled."),
    (
        "TOO_MANY_REQUESTS",
        "요청이 너무 많아요. 잠시 후 다시 시도해 주세요.",
        "Too many requests. Please try again in a moment.",
    ),
    (
        "TOO_MANY_SEATS",
        "한 번에 살 수 있는 좌석 수를 넘었어요.",
        "That is more seats than one order may have.",
    ),
    (
        "TRANSFER_OFF",
        "이 공연의 티켓은 다른 사람에게 보낼 수 없어요.",
        "Tickets for this concert can't be transferred.",
    ),
    (
        "UNAVAILABLE",
        "잠시 이용할 수 없어요. 잠시 후 다시 시도해 주세요.",
        "Not available right now. Please try again in a moment.",
    ),
    ("UNKNOWN_GATEWAY", "지원하지 않는 결제사예요.", "This gateway isn't supported."),
    ("UNKNOWN_GRADE", "없는 좌석 등급이에요.", "This hall has no such grade."),
    ("UNKNOWN_SECTION", "없는 구역이에요.", "This hall has no such section."),
    ("WALLET_LIMIT", "지갑 한도를 넘었어요.", "That exceeds the wallet's limits."),
    (
        "WALLET_NOT_EMPTY",
        "지갑에 잔액이 남아 있어요. 먼저 환불받아 주세요.",
        "Your wallet still has a balance. Please have it paid out first.",
    ),
    ("WEBHOOK_INVALID", "서명을 확인할 수 없어요.", "The signature doesn't match."),
    (
        "WEBHOOK_URL_REFUSED",
        "공개된 인터넷의 https 주소여야 해요.",
        "The URL must be https and on the public internet.",
    ),
    (
        "WRONG_EVENT_STATE",
        "지금 상태에서는 할 수 없어요.",
        "The event's current state doesn't allow this.",
    ),
    (
        "WRONG_PHASE_PROOF",
        "이 판매 단계에 필요한 인증 정보가 아니에요.",
        "This sale phase needs another kind of proof.",
    ),
];

pub(crate) fn sentence(code: &str, language: Language) -> &'static str {
    let find = |list: &'static [(&'static str, &'static str, &'static str)]| {
        list.binary_search_by_key(&code, |(known, _, _)| known).ok().map(|at| list[at])
    };
    let found = find(ALL).or_else(|| find(ORDERS)).or_else(|| find(DRAWS));
    let found = found.or_else(|| find(ALLOCATIONS)).or_else(|| find(IMAGES));
    let (_, korean, english) = found.expect("a test keeps the sentences complete and sorted");
    language.choose(korean, english)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_sorted_and_exist_in_both_languages() {
        let lists = [ALL, ORDERS, DRAWS, ALLOCATIONS, IMAGES];
        for list in lists {
            assert!(list.is_sorted_by(|a, b| a.0 < b.0), "sorted, none twice");
        }
        for (code, korean, english) in lists.into_iter().flatten() {
            let has_hangul = |text: &str| text.chars().any(|c| ('가'..='힣').contains(&c));
            assert!(has_hangul(korean) && !has_hangul(english), "{code}");
        }
    }
}
