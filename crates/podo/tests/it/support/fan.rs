//! A fan and the steps of a purchase.

use crate::support::client::{Answer, Api, text};
use crate::support::world::{PRICE, Show, until};
use podo_domain::UserId;
use serde_json::{Value, json};

#[derive(Clone)]
pub(crate) struct Fan {
    pub(crate) id: UserId,
    pub(crate) api: Api,
}

/// A completed purchase.
pub(crate) struct Bought {
    pub(crate) reservation: String,
    pub(crate) payment: String,
    pub(crate) ticket: String,
    pub(crate) booking_number: String,
}

impl Fan {
    pub(crate) async fn enter(&self, show: &Show) -> Answer {
        self.api.post("/api/queue/enter", &json!({ "scheduleId": show.schedule })).await
    }

    pub(crate) async fn status(&self, show: &Show) -> Answer {
        self.api.get(&format!("/api/queue/status?scheduleId={}", show.schedule)).await
    }

    pub(crate) async fn leave(&self, show: &Show) {
        let path = format!("/api/queue/leave?scheduleId={}", show.schedule);
        self.api.delete(&path).await.expect(204);
    }

    /// Enters, and waits for admission.
    pub(crate) async fn go_inside(&mut self, show: &Show) {
        self.enter(show).await.expect(200);
        self.wait_inside(show).await;
    }

    /// Waits for admission and keeps the entry token.
    pub(crate) async fn wait_inside(&mut self, show: &Show) {
        let token = until("the fan is let in", async || {
            let view = self.status(show).await.expect(200);
            (view["state"] == "ADMITTED").then(|| text(&view, "entryToken"))
        });
        self.api = self.api.with_entry(&token.await);
    }

    pub(crate) async fn select(&self, show: &Show, indexes: &[u32]) -> Answer {
        let seats: Vec<_> = indexes.iter().map(|index| show.seat(*index)).collect();
        let body = json!({ "scheduleId": show.schedule, "seatIds": seats });
        self.api.post_new("/api/booking/seats/select", &body).await
    }

    /// Requests the best seats; `wish` is the rest of the body.
    pub(crate) async fn best(&self, show: &Show, wish: Value) -> Answer {
        let mut body = wish;
        body["scheduleId"] = json!(show.schedule);
        self.api.post_new("/api/booking/seats/best", &body).await
    }

    /// Holds seats; returns the reservation.
    pub(crate) async fn hold(&self, show: &Show, indexes: &[u32]) -> String {
        text(&self.select(show, indexes).await.expect(201), "reservationId")
    }

    pub(crate) async fn reservation(&self, id: &str) -> Value {
        self.api.get(&format!("/api/booking/reservations/{id}")).await.expect(200)
    }

    pub(crate) async fn release(&self, reservation: &str) -> Answer {
        let path = format!("/api/booking/seats/release?reservationId={reservation}");
        self.api.delete(&path).await
    }

    pub(crate) async fn charge(&self, amount: i64) {
        self.api.post_new("/api/wallet/charge", &json!({ "amount": amount })).await.expect(201);
    }

    pub(crate) async fn balance(&self) -> i64 {
        self.api.get("/api/wallet").await.expect(200)["balance"].as_i64().unwrap()
    }

    pub(crate) async fn request(&self, reservation: &str, method: &str) -> Answer {
        let body = json!({ "reservationId": reservation, "method": method });
        self.api.post_new("/api/payment/request", &body).await
    }

    /// Chooses the payment method; returns the payment.
    pub(crate) async fn ready(&self, reservation: &str, method: &str) -> String {
        text(&self.request(reservation, method).await.expect(201), "paymentId")
    }

    pub(crate) async fn confirm(&self, payment: &str) -> Answer {
        let body = json!({ "paymentId": payment, "amount": PRICE });
        self.api.post_new("/api/payment/confirm", &body).await
    }

    /// Pays from the wallet in one call.
    pub(crate) async fn pay_from_wallet(&self, reservation: &str) -> Answer {
        let body = json!({ "reservationId": reservation, "amount": PRICE });
        self.api.post_new("/api/payment/wallet", &body).await
    }

    pub(crate) async fn payment(&self, id: &str) -> Value {
        self.api.get(&format!("/api/payment/{id}")).await.expect(200)
    }

    pub(crate) async fn cancel(&self, reservation: &str) -> Answer {
        let path = format!("/api/booking/reservations/{reservation}/cancel");
        self.api.post_new(&path, &json!({ "reason": "못 가요" })).await
    }

    /// Buys one seat from the wallet, after charging it.
    pub(crate) async fn buy(&self, show: &Show, index: u32) -> Bought {
        self.charge(PRICE).await;
        let reservation = self.hold(show, &[index]).await;
        let payment = self.ready(&reservation, "WALLET").await;
        let confirmed = self.confirm(&payment).await.expect(200);
        Bought {
            reservation,
            payment,
            ticket: text(&confirmed["tickets"][0], "id"),
            booking_number: text(&confirmed["reservation"], "bookingNumber"),
        }
    }
}
