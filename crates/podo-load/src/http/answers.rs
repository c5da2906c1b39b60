//! The parts of the API's answers that a fan uses.

use podo_domain::waiting_room::Outlook;
use podo_domain::{PaymentId, ReservationId, SeatId, Timestamp};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Login {
    pub(crate) access_token: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum QueueState {
    Lobby,
    Waiting,
    Admitted,
    Expired,
    Closed,
}

/// The answer of enter and status.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QueueStatus {
    pub(crate) state: QueueState,
    #[serde(default)]
    pub(crate) can_enter: bool,
    #[serde(default)]
    pub(crate) poll_after_ms: Option<u64>,
    #[serde(default)]
    pub(crate) token: Option<String>,
    #[serde(default)]
    pub(crate) entry_token: Option<String>,
    #[serde(default)]
    pub(crate) number: Option<u64>,
    #[serde(default)]
    pub(crate) position: u64,
    #[serde(default)]
    pub(crate) entry_expires_at: Option<Timestamp>,
    #[serde(default)]
    pub(crate) chance: Option<Outlook>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Held {
    pub(crate) reservation_id: ReservationId,
    pub(crate) seats: Vec<HeldSeat>,
    pub(crate) amount: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeldSeat {
    pub(crate) id: SeatId,
    #[serde(default)]
    pub(crate) grade: String,
}

/// An order after the fan has chosen types and a code.
#[derive(Debug, Deserialize)]
pub(crate) struct Ordered {
    pub(crate) amount: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Wallet {
    pub(crate) balance: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Requested {
    pub(crate) payment_id: PaymentId,
    pub(crate) order_id: String,
    pub(crate) amount: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SandboxChoice {
    pub(crate) payment_key: String,
}

/// The answer of a payment from the wallet.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Paid {
    pub(crate) payment_id: PaymentId,
    #[serde(default)]
    pub(crate) reservation: Option<ConfirmedReservation>,
}

/// The answer of confirm: the purchase, or a request to ask again.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Confirmed {
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) reservation: Option<ConfirmedReservation>,
    #[serde(default)]
    pub(crate) poll_after_ms: Option<u64>,
}

impl Confirmed {
    /// The connection broke, or the gateway hasn't answered the server.
    pub(crate) fn unknown() -> Confirmed {
        Confirmed { status: "UNKNOWN".to_owned(), reservation: None, poll_after_ms: None }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfirmedReservation {
    #[serde(default)]
    pub(crate) booking_number: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaymentNow {
    pub(crate) status: String,
}

/// The stable code of a refusal, in problem+json.
#[derive(Debug, Deserialize)]
pub(crate) struct Problem {
    pub(crate) code: String,
}
