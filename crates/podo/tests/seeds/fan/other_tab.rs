//! The same fan in another browser tab, concurrently, on any node.

use crate::coverage::Moment;
use crate::fan::Fan;
use crate::sale::Sale;
use podo_app::booking::reservations::{SelectSeats, release_seats, select_seats};
use podo_app::identity::sessions::Caller;
use podo_app::operations::idempotency::{REQUEST, SELECT};
use podo_app::operations::port::idempotency::IdempotencyKey;
use podo_app::payments::port::gateway::Device;
use podo_app::payments::{PaymentRequest, request_payment};
use podo_app::{AppContext, Error};
use podo_domain::payments::PaymentMethod;
use podo_domain::{Refusal, ReservationId, SeatId};
use std::sync::Arc;
use std::time::Duration;

/// The actions there; none if the fan has one tab.
pub(super) struct OtherTab {
    sale: Arc<Sale>,
    context: Arc<AppContext>,
    key: IdempotencyKey,
    late: Duration,
}

impl Fan {
    fn other_tab(&mut self, endpoint: &'static str) -> Option<OtherTab> {
        if !self.rng.happens(self.sale.plan.tabs) {
            return None;
        }
        let sale = self.sale.clone();
        let node = sale.any_node(&mut self.rng);
        let context = sale.cluster.nodes[node].context.clone();
        let (key, late) = (self.key(endpoint, "another tab"), self.rng.ms(0, 10));
        Some(OtherTab { sale, context, key, late })
    }

    /// Selects other seats with the same entry; the hold is left to expire.
    pub(super) fn select_elsewhere(&mut self) -> impl Future<Output = ()> + use<> {
        let (tab, seats) = (self.other_tab(SELECT), self.wish());
        let (caller, token) = (self.caller, self.entry_token.clone());
        async move {
            if let Some(tab) = tab {
                tab.select(caller, seats, token).await;
            }
        }
    }

    /// While the payment is in progress: releases the seats, or pays again.
    pub(super) fn meddle(
        &mut self,
        reservation: ReservationId,
    ) -> impl Future<Output = ()> + use<> {
        let (tab, gives_back) = (self.other_tab(REQUEST), self.rng.happens(50));
        async move {
            if let Some(tab) = tab {
                tab.meddle(reservation, gives_back).await;
            }
        }
    }
}

impl OtherTab {
    async fn select(self, fan: Caller, seats: Vec<SeatId>, token: Option<String>) {
        tokio::time::sleep(self.late).await;
        let (entry_token, schedule) = (token.as_deref(), self.sale.schedule);
        let key = self.key.clone();
        let asked = SelectSeats { key, fan, schedule, seats: &seats, entry_token };
        let answer = select_seats(&self.context, asked).await.map(drop);
        self.look_at("select", answer);
    }

    async fn meddle(self, reservation: ReservationId, gives_back: bool) {
        tokio::time::sleep(self.late).await;
        let fan = self.key.user;
        if gives_back {
            return self.look_at("release", release_seats(&self.context, fan, reservation).await);
        }
        let (key, method) = (self.key.clone(), PaymentMethod::Wallet);
        let asked = PaymentRequest {
            key,
            fan,
            reservation,
            method,
            gateway: None,
            device: Device::Desktop,
        };
        let answer = request_payment(&self.context, asked).await.map(drop);
        self.look_at("request", answer);
    }

    fn look_at(&self, what: &str, answer: podo_app::Result<()>) {
        match answer {
            Ok(()) => self.sale.saw(Moment::OtherTab),
            Err(Error::Refused(Refusal::SeatLimit { .. })) => {
                self.sale.saw(Moment::LimitReached);
            }
            Err(Error::Refused(Refusal::PaymentRunning)) => self.sale.saw(Moment::OtherTabRefused),
            Err(Error::Broken(why)) => {
                self.sale.ensure(false, || format!("{what} in another tab is broken: {why}"));
            }
            Err(_) => {}
        }
    }
}
