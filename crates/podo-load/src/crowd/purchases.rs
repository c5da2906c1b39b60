//! A crowd that pays: fills wallets, holds seats, and then buys everything at once.

use crate::crowd::{Crowd, read_all};
use crate::http::answers::Held;
use crate::http::client::Call;
use crate::load_run::LoadRun;
use podo_domain::payments::wallet;
use serde_json::json;
use std::io::Result;
use std::ops::Range;

/// Seats per purchase.
const SEATS: usize = 2;

/// Fans who hold seats and have the money for them.
pub struct ReadyToPay {
    fans: Range<usize>,
    held: Vec<Held>,
}

impl Crowd {
    /// These fans fill their wallets and hold two seats each.
    pub async fn prepare_to_pay(&self, fans: Range<usize>) -> Result<ReadyToPay> {
        let charge = Call::post("/api/wallet/charge", &json!({ "amount": wallet::CHARGE_MAX }));
        let charges = fans.clone().map(|fan| self.ask(fan, "charge", &charge));
        self.fire(charges.collect()).await?;
        let held = read_all(&self.hold(fans.clone(), SEATS).await?)?;
        Ok(ReadyToPay { fans, held })
    }

    /// Pays each hold from the wallet, in one call.
    pub async fn pay(&self, ready: ReadyToPay) -> Result<LoadRun> {
        let payments = ready.fans.zip(&ready.held).map(|(fan, held)| {
            let body = json!({ "reservationId": held.reservation_id, "amount": held.amount });
            self.ask(fan, "pay", &Call::post("/api/payment/wallet", &body))
        });
        self.fire(payments.collect()).await
    }
}
