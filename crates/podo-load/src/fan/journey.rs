//! One fan's journey: wait, look, hold, pay.

use crate::fan::phased::map_of;
use crate::http::answers::{
    Confirmed, ConfirmedReservation, Held, Paid, PaymentNow, QueueState, QueueStatus, Requested,
    SandboxChoice, Wallet,
};
use crate::http::caller::Caller;
use crate::http::client::Call;
use crate::plan::{FanPlan, Favour, LoadPlan, Means, PhasePart, pick_seats};
use crate::report::stats::{Ending, Purchase, Step};
use podo_domain::payments::wallet;
use podo_domain::waiting_room::Outlook;
use podo_domain::{PaymentId, SeatId};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// The poll interval if the server gives none.
const POLL_AFTER: Duration = Duration::from_secs(2);

/// How long a fan waits for an unknown payment outcome: the server voids what its gateway doesn't
/// know after three minutes.
const PAYMENT_WAIT_MAX: Duration = Duration::from_secs(240);

pub(crate) struct Journey {
    pub(super) plan: Arc<LoadPlan>,
    pub(super) caller: Caller,
    pub(super) wish: FanPlan,
    /// When the fan was due to arrive.
    due: Instant,
}

impl Journey {
    pub(crate) fn new(plan: Arc<LoadPlan>, caller: Caller, due: Instant) -> Journey {
        let wish = plan.wish_of(caller.fan);
        Journey { plan, caller, wish, due }
    }

    /// The whole journey. An early end is an `Err`, so that every step can end it with `?`.
    pub(crate) async fn live(mut self) -> Ending {
        let (Ok(ending) | Err(ending)) = self.buy().await;
        if ending != Ending::Bought && self.caller.entry.is_some() {
            self.leave().await;
        }
        ending
    }

    /// Frees the slot. A failure here doesn't change the fan's result.
    async fn leave(&self) {
        self.caller.shared.places.note_leaving();
        let path = format!("/api/queue/leave?scheduleId={}", self.plan.schedule);
        let _ = self.caller.call(Step::Leave, Call::delete(path)).await;
    }

    async fn buy(&mut self) -> Result<Ending, Ending> {
        let plan = Arc::clone(&self.plan);
        let part = plan.part_of(self.caller.fan);
        if let Some((_, part)) = part {
            self.verify(part).await?;
        }
        self.wait_for_entry(part).await?;
        let mut held = self.hold_seats(part.map(|(_, part)| part)).await?;
        self.think().await;
        if self.wish.abandons {
            self.give_back(&held).await?;
            return Ok(Ending::Abandoned);
        }
        self.choose_order(&mut held).await?;
        match self.pay(&held).await {
            Err(Ending::Declined) => {
                // A fan without a working card would keep the seats from others until the hold
                // expires.
                self.give_back(&held).await?;
                Err(Ending::Declined)
            }
            paid => paid.map(|()| Ending::Bought),
        }
    }

    async fn think(&self) {
        if !self.plan.think_time.is_zero() && !self.wish.is_bot {
            tokio::time::sleep(self.plan.think_time).await;
        }
    }

    async fn wait_for_entry(&mut self, part: Option<(usize, &PhasePart)>) -> Result<(), Ending> {
        let body = match part {
            Some((_, part)) => {
                json!({ "scheduleId": self.plan.schedule, "phaseId": part.phase })
            }
            None => json!({ "scheduleId": self.plan.schedule }),
        };
        let room = part.map_or(0, |(index, _)| index);
        let call = Call::post("/api/queue/enter", &body);
        let answer = self.caller.call_due(Step::Enter, call, None, self.due).await?;
        let entered = Instant::now();
        let mut place: QueueStatus = self.caller.read(Step::Enter, &answer)?;
        self.note(room, &mut place);
        while !place.can_enter {
            self.keep_waiting(&place, entered).await?;
            let path = format!("/api/queue/status?scheduleId={}", self.plan.schedule);
            let answer = self.caller.call(Step::Poll, Call::get(path)).await?;
            place = self.caller.read(Step::Poll, &answer)?;
            self.note(room, &mut place);
        }
        self.caller.entry = place.entry_token;
        let stats = &self.caller.shared.stats;
        stats.time(Step::Waited, entered.elapsed());
        stats.n_admitted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Keeps the place token: the draw issues a new one.
    fn note(&mut self, room: usize, place: &mut QueueStatus) {
        self.caller.shared.places.note(room, self.caller.fan, place);
        if let Some(token) = place.token.take() {
            self.caller.place = Some(token);
        }
    }

    async fn keep_waiting(&self, place: &QueueStatus, entered: Instant) -> Result<(), Ending> {
        match place.state {
            QueueState::Expired | QueueState::Closed => return Err(Ending::TurnedAway),
            QueueState::Lobby | QueueState::Waiting | QueueState::Admitted => {}
        }
        if self.plan.leaves_when_sold_out && place.chance == Some(Outlook::None) {
            return Err(Ending::SoldOut);
        }
        if self.plan.patience <= entered.elapsed() {
            return Err(Ending::TurnedAway);
        }
        let asked = place.poll_after_ms.map_or(POLL_AFTER, Duration::from_millis);
        tokio::time::sleep(asked.min(self.plan.poll_cap.unwrap_or(asked))).await;
        Ok(())
    }

    async fn hold_seats(&mut self, part: Option<&PhasePart>) -> Result<Held, Ending> {
        for _ in 0..self.plan.picks_max.max(1) {
            let seats = self.choose_seats(part).await?;
            self.think().await;
            let body = json!({ "scheduleId": self.plan.schedule, "seatIds": seats });
            let call = Call::post("/api/booking/seats/select", &body);
            match self.caller.call_once(Step::Select, call).await {
                Ok(answer) => return self.caller.read(Step::Select, &answer),
                Err(Ending::LostRace) => {}
                Err(ending) => return Err(ending),
            }
        }
        Err(Ending::LostRace)
    }

    async fn choose_seats(&mut self, part: Option<&PhasePart>) -> Result<Vec<SeatId>, Ending> {
        let call = Call::get_bytes(format!("/api/schedules/{}/seats", self.plan.schedule));
        let map = map_of(part, &self.caller.call(Step::Seats, call).await?.body);
        let FanPlan { n_seats, rng, is_bot, .. } = &mut self.wish;
        let favour = if *is_bot { Favour::Front } else { self.plan.favour };
        let picked = pick_seats(&map, favour, *n_seats, rng);
        if picked.is_empty() {
            return Err(Ending::SoldOut);
        }
        Ok(picked.into_iter().map(|index| self.plan.schedule.seat(index)).collect())
    }

    async fn give_back(&self, held: &Held) -> Result<(), Ending> {
        let path = format!("/api/booking/seats/release?reservationId={}", held.reservation_id);
        self.caller.call(Step::Release, Call::delete(path)).await?;
        Ok(())
    }

    async fn pay(&mut self, held: &Held) -> Result<(), Ending> {
        let choice = match self.wish.payment {
            Means::Wallet => return self.pay_from_wallet(held).await,
            Means::Card => "APPROVE",
            Means::LateCard => "LATE",
            Means::BadCard => "DECLINE",
        };
        let body = json!({ "reservationId": held.reservation_id, "method": "CARD" });
        let call = Call::post("/api/payment/request", &body);
        let answer = self.caller.call_once(Step::Request, call).await?;
        let requested: Requested = self.caller.read(Step::Request, &answer)?;
        let payment_key = self.visit_gateway(&requested, choice).await?;
        self.think().await;
        self.confirm(held, &requested, payment_key).await
    }

    /// One call, without a request before it.
    async fn pay_from_wallet(&mut self, held: &Held) -> Result<(), Ending> {
        self.fill_wallet(held.amount).await?;
        self.think().await;
        self.caller.shared.places.note_leaving();
        let body = json!({ "reservationId": held.reservation_id, "amount": held.amount });
        let call = Call::post("/api/payment/wallet", &body);
        let answer = self.caller.call_once(Step::Pay, call).await?;
        let paid: Paid = self.caller.read(Step::Pay, &answer)?;
        let booking_number = paid.reservation.and_then(|own| own.booking_number);
        self.acknowledge(held, paid.payment_id, booking_number);
        Ok(())
    }

    /// Charges the missing amount, in as many parts as the limit per charge requires.
    async fn fill_wallet(&mut self, amount: i64) -> Result<(), Ending> {
        let answer = self.caller.call(Step::Wallet, Call::get("/api/wallet")).await?;
        let mut wallet: Wallet = self.caller.read(Step::Wallet, &answer)?;
        while wallet.balance < amount {
            let part = (amount - wallet.balance).min(wallet::CHARGE_MAX.get());
            let call = Call::post("/api/wallet/charge", &json!({ "amount": part }));
            self.caller.call_once(Step::Charge, call).await?;
            wallet.balance += part;
        }
        Ok(())
    }

    /// Presses a button on the sandbox gateway's page.
    async fn visit_gateway(&self, requested: &Requested, choice: &str) -> Result<String, Ending> {
        let path = format!("/api/payment/sandbox/{}", requested.order_id);
        let call = Call::post(path, &json!({ "choice": choice }));
        let answer = self.caller.call(Step::Sandbox, call).await?;
        let chosen: SandboxChoice = self.caller.read(Step::Sandbox, &answer)?;
        self.tell_server(requested).await?;
        Ok(chosen.payment_key)
    }

    /// Sends the gateway's webhook: one event, as often as the plan says.
    async fn tell_server(&self, requested: &Requested) -> Result<(), Ending> {
        let order = &requested.order_id;
        let body = json!({ "id": format!("event-{order}"), "orderId": order });
        for _ in 0..self.plan.webhooks {
            let call = Call::post("/api/payment/webhooks/sandbox", &body);
            self.caller.call(Step::Sandbox, call).await?;
        }
        Ok(())
    }

    async fn confirm(
        &mut self,
        held: &Held,
        requested: &Requested,
        payment_key: String,
    ) -> Result<(), Ending> {
        let body = json!({ "paymentId": requested.payment_id, "paymentKey": payment_key,
            "amount": requested.amount });
        self.caller.shared.places.note_leaving();
        let call = Call::post("/api/payment/confirm", &body);
        let answer = self.caller.call_once(Step::Confirm, call).await?;
        let mut confirmed: Confirmed = match answer.is_success() {
            true => self.caller.read(Step::Confirm, &answer)?,
            false => Confirmed::unknown(),
        };
        self.tell_server(requested).await?;
        if confirmed.status == "UNKNOWN" {
            let poll_after = confirmed.poll_after_ms.map_or(POLL_AFTER, Duration::from_millis);
            confirmed.reservation = Some(self.wait_for_outcome(held, requested, poll_after).await?);
        }
        let booking_number = confirmed.reservation.and_then(|own| own.booking_number);
        self.acknowledge(held, requested.payment_id, booking_number);
        Ok(())
    }

    /// The gateway hasn't answered the server yet: poll until it has.
    async fn wait_for_outcome(
        &self,
        held: &Held,
        requested: &Requested,
        poll_after: Duration,
    ) -> Result<ConfirmedReservation, Ending> {
        let deadline = Instant::now() + PAYMENT_WAIT_MAX;
        while Instant::now() < deadline {
            tokio::time::sleep(poll_after.min(self.plan.poll_cap.unwrap_or(poll_after))).await;
            let call = Call::get(format!("/api/payment/{}", requested.payment_id));
            let answer = self.caller.call(Step::Payment, call).await?;
            let now: PaymentNow = self.caller.read(Step::Payment, &answer)?;
            match now.status.as_str() {
                "REQUESTED" | "UNKNOWN" => {}
                "CAPTURED" => {
                    let path = format!("/api/booking/reservations/{}", held.reservation_id);
                    let answer = self.caller.call(Step::Payment, Call::get(path)).await?;
                    return self.caller.read(Step::Payment, &answer);
                }
                _ => return Err(Ending::Declined),
            }
        }
        Err(Ending::TurnedAway)
    }

    fn acknowledge(&self, held: &Held, payment_id: PaymentId, booking_number: Option<String>) {
        let stats = &self.caller.shared.stats;
        stats.time(Step::Bought, self.due.elapsed());
        stats.acknowledge(Purchase {
            fan: self.caller.fan,
            reservation_id: held.reservation_id,
            payment_id,
            booking_number: booking_number.unwrap_or_default(),
            seat_ids: held.seats.iter().map(|seat| seat.id).collect(),
            amount: held.amount,
        });
    }
}
