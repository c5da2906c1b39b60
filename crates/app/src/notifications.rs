//! The notification worker: turns messages into letters to fans, once per message.

use crate::error::Result;
use crate::ports::Store;
use crate::ports::bus::Consumer;
use crate::ports::clock::Clock;
use crate::ports::messages::{Consume, Letter, Message};
use async_trait::async_trait;
use domain::messages::MessageKind;
use domain::{Timestamp, UserId, Won};
use serde::Deserialize;
use std::sync::Arc;

pub struct NotificationWorker {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl NotificationWorker {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> NotificationWorker {
        NotificationWorker { store, clock }
    }
}

/// What a letter needs of a message's payload.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    #[serde(default)]
    user_id: Option<UserId>,
    #[serde(default)]
    total_amount: Option<Won>,
    #[serde(default)]
    amount: Option<Won>,
    #[serde(default)]
    seat_ids: Vec<String>,
}

#[async_trait]
impl Consumer for NotificationWorker {
    fn name(&self) -> &'static str {
        "notification"
    }

    async fn consume(&self, message: &Message) -> Result<()> {
        let now = self.clock.now();
        let letters: Vec<Letter> = letter_for(message, now)?.into_iter().collect();
        // Most messages concern no letter: there is nothing to remember of them.
        if letters.is_empty() {
            return Ok(());
        }
        let command = Consume { message: message.id, consumer: self.name(), letters, now };
        self.store.consume(command).await?;
        Ok(())
    }
}

fn letter_for(message: &Message, now: Timestamp) -> Result<Option<Letter>> {
    let facts: Facts =
        serde_json::from_str(&message.payload).map_err(crate::error::Error::broken)?;
    let n_seats = facts.seat_ids.len();
    let amount = facts.total_amount.or(facts.amount).unwrap_or(Won::ZERO).get();
    let (subject, body) = match message.kind {
        MessageKind::UserSignedUp => {
            ("포도에 오신 것을 환영합니다".to_owned(), "가입이 완료되었습니다.".to_owned())
        }
        MessageKind::ReservationConfirmed => (
            "예매가 완료되었습니다".to_owned(),
            format!("좌석 {n_seats}석, {amount}원 결제가 완료되었습니다."),
        ),
        MessageKind::ReservationCanceled => (
            "예매가 취소되었습니다".to_owned(),
            format!("좌석 {n_seats}석의 예매가 취소되었습니다."),
        ),
        MessageKind::ReservationReduced => (
            "예매 일부가 취소되었습니다".to_owned(),
            format!("좌석 {n_seats}석, {amount}원의 예매가 남아 있습니다."),
        ),
        MessageKind::PaymentRefunded => {
            ("환불이 완료되었습니다".to_owned(), format!("{amount}원이 환불되었습니다."))
        }
        MessageKind::StandbyOffered => (
            "기다리시던 좌석이 나왔습니다".to_owned(),
            format!("좌석 {n_seats}석을 잡아 두었습니다. 제한 시간 안에 결제해 주세요."),
        ),
        MessageKind::ReservationHeld
        | MessageKind::ReservationExtended
        | MessageKind::ReservationPaying
        | MessageKind::ReservationDeclined
        | MessageKind::ReservationReleased
        | MessageKind::ReservationExpired
        | MessageKind::RefundDue
        | MessageKind::ScheduleOpened => return Ok(None),
    };
    Ok(Some(Letter { user: facts.user_id, subject, body, created_at: now }))
}
