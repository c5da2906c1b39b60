//! The texts of notifications, in Korean and English.

use crate::error::{Error, Result};
use crate::messaging::port::messages::Message;
use podo_domain::Won;
use podo_domain::messaging::messages::{Language, MessageKind};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationText {
    pub subject: String,
    pub body: String,
}

/// What a notification needs of a message's data.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    #[serde(default)]
    total_amount: Option<Won>,
    #[serde(default)]
    amount: Option<Won>,
    #[serde(default)]
    seat_ids: Vec<String>,
}

/// Whether messages of this kind cause a notification.
pub fn is_worth_one(kind: MessageKind) -> bool {
    english(kind, 1, "").is_some()
}

/// The notification for a message; most messages cause none.
pub fn write(message: &Message, language: Language) -> Result<Option<NotificationText>> {
    let facts: Facts = serde_json::from_str(&message.payload).map_err(Error::broken)?;
    let n_seats = facts.seat_ids.len();
    let amount = facts.total_amount.or(facts.amount).unwrap_or(Won::ZERO).get();
    let text = match language {
        Language::Ko => korean(message.kind, n_seats, &grouped(amount)),
        Language::En => english(message.kind, n_seats, &grouped(amount)),
    };
    let notification =
        |(subject, body): (&str, String)| NotificationText { subject: subject.to_owned(), body };
    Ok(text.map(notification))
}

/// The notification with a sign-up code.
pub fn sign_up_code(code: &str, language: Language) -> NotificationText {
    let (subject, body) = match language {
        Language::Ko => (
            "가입 확인 코드",
            format!("코드 {code}을(를) 15분 안에 입력해 주세요. 본인이 아니라면 무시해도 돼요."),
        ),
        Language::En => (
            "Your code for Podo",
            format!(
                "Enter {code} within 15 minutes. If you did not request it, ignore this message."
            ),
        ),
    };
    NotificationText { subject: subject.to_owned(), body }
}

fn korean(kind: MessageKind, n: usize, won: &str) -> Option<(&'static str, String)> {
    Some(match kind {
        MessageKind::UserSignedUp => {
            ("포도에 오신 것을 환영해요", "가입이 완료되었어요.".to_owned())
        }
        MessageKind::SignUpAsked => (
            "이미 가입하셨어요",
            "이 이메일로 가입하려는 요청이 있었지만 이미 계정이 있어요. 로그인해 주세요. \
             본인이 아니라면 아무것도 하지 않아도 돼요."
                .to_owned(),
        ),
        MessageKind::SessionCopied => (
            "로그아웃되었어요",
            "로그인 정보가 다른 곳에서 쓰인 것 같아 그 기기에서 로그아웃했어요. \
             본인이 아니라면 비밀번호를 바꿔 주세요."
                .to_owned(),
        ),
        MessageKind::ReservationConfirmed => {
            ("예매가 완료되었어요", format!("좌석 {n}석, {won}원 결제가 완료되었어요."))
        }
        MessageKind::ReservationCanceled => {
            ("예매가 취소되었어요", format!("좌석 {n}석의 예매가 취소되었어요."))
        }
        MessageKind::ReservationReduced => {
            ("예매 일부가 취소되었어요", format!("좌석 {n}석, {won}원의 예매가 남아 있어요."))
        }
        MessageKind::PaymentRefunded => ("환불이 완료되었어요", format!("{won}원이 환불되었어요.")),
        MessageKind::StandbyOffered => (
            "기다리시던 좌석이 나왔어요",
            format!("좌석 {n}석을 잡아 두었어요. 제한 시간 안에 결제해 주세요."),
        ),
        MessageKind::ReservationHeld
        | MessageKind::ReservationExtended
        | MessageKind::ReservationPaying
        | MessageKind::ReservationDeclined
        | MessageKind::ReservationReleased
        | MessageKind::ReservationExpired
        | MessageKind::RefundDue
        | MessageKind::ScheduleOpened
        | MessageKind::CatalogChanged
        | MessageKind::DeadLettered => return None,
    })
}

fn english(kind: MessageKind, n: usize, won: &str) -> Option<(&'static str, String)> {
    let seats = if n == 1 { "1 seat".to_owned() } else { format!("{n} seats") };
    Some(match kind {
        MessageKind::UserSignedUp => ("Welcome to Podo", "Your account is ready.".to_owned()),
        MessageKind::SignUpAsked => (
            "You already have an account",
            "A sign-up was requested for this address, which already has an account. Please log \
             in. If it was not you, you can ignore this message."
                .to_owned(),
        ),
        MessageKind::SessionCopied => (
            "You were logged out",
            "One of your sessions seems to have been used elsewhere, so we ended it. If that was \
             not you, please change your password."
                .to_owned(),
        ),
        MessageKind::ReservationConfirmed => {
            ("Your booking is complete", format!("{seats}, {won} won paid."))
        }
        MessageKind::ReservationCanceled => {
            ("Your booking is canceled", format!("The booking of {seats} was canceled."))
        }
        MessageKind::ReservationReduced => {
            ("Part of your booking is canceled", format!("You still have {seats} for {won} won."))
        }
        MessageKind::PaymentRefunded => {
            ("Your refund is complete", format!("{won} won has been refunded."))
        }
        MessageKind::StandbyOffered => (
            "Your standby seats are available",
            format!("We are holding {seats} for you. Please pay before the hold expires."),
        ),
        MessageKind::ReservationHeld
        | MessageKind::ReservationExtended
        | MessageKind::ReservationPaying
        | MessageKind::ReservationDeclined
        | MessageKind::ReservationReleased
        | MessageKind::ReservationExpired
        | MessageKind::RefundDue
        | MessageKind::ScheduleOpened
        | MessageKind::CatalogChanged
        | MessageKind::DeadLettered => return None,
    })
}

/// Formats 150000 as 150,000.
fn grouped(amount: i64) -> String {
    let digits = amount.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let n_left = digits.len() - index;
        if index > 0 && n_left.is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_cover_the_same_kinds() {
        for kind in MessageKind::ALL {
            let ways = (korean(kind, 2, "1"), english(kind, 2, "1"));
            assert_eq!(ways.0.is_some(), ways.1.is_some(), "{kind:?}");
        }
    }

    #[test]
    fn won_are_grouped_by_thousands() {
        for (amount, text) in
            [(0, "0"), (999, "999"), (150_000, "150,000"), (1_000_000, "1,000,000")]
        {
            assert_eq!(grouped(amount), text);
        }
    }
}
