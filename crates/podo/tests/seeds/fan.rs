//! Fans: they queue, hold, pay, retry and change their minds, all concurrently.

pub(crate) mod applying;
mod buying;
mod call;
pub(crate) mod choosing;
mod other_tab;
mod tickets;

use crate::coverage::Moment;
use crate::rng::Rng;
use crate::sale::{GRADE, PRICE, Sale};
use call::Saw;
use futures::FutureExt;
use futures::future::join;
use podo_adapters::clock::SystemRng;
use podo_app::booking::reservations::{SelectSeats, release_seats, select_seats};
use podo_app::booking::standby::{my_standby, stand_by};
use podo_app::identity::keyring::sha256;
use podo_app::identity::sessions::Caller;
use podo_app::operations::idempotency::{CHARGE, SELECT};
use podo_app::operations::port::clock::Rng as _;
use podo_app::operations::port::idempotency::{
    IdempotencyKey, Idempotent, IdempotentAnswer, StoredAnswer,
};
use podo_app::payments::wallet;
use podo_app::waiting_room;
use podo_domain::identity::Role;
use podo_domain::{Refusal, ReservationId, SeatId, SessionId, Timestamp, UserId, Won};
use serde_json::Value;
use std::sync::Arc;
use uuid::Uuid;

/// How often a fan tries to buy, and checks for admission or an offer.
const TRIES_MAX: u32 = 4;
const LOOKS_MAX: u32 = 60;

/// A fan's acknowledged results.
pub(crate) struct Acknowledged {
    pub(crate) user: UserId,
    pub(crate) bought: Vec<(ReservationId, String)>,
    /// Wallet charges with a response, and those without.
    pub(crate) n_charged: u64,
    pub(crate) n_unanswered: u64,
}

pub(crate) struct Fan {
    sale: Arc<Sale>,
    index: usize,
    user: UserId,
    caller: Caller,
    rng: Rng,
    place_token: Option<String>,
    entry_token: Option<String>,
    acknowledged: Acknowledged,
}

/// Seats acknowledged as held.
#[derive(Clone, Copy)]
struct HeldSeats {
    reservation: ReservationId,
    until: Timestamp,
}

impl Fan {
    pub(crate) async fn live(sale: Arc<Sale>, index: usize) -> Acknowledged {
        let user = sale.fans[index].0;
        let session = SessionId::new(user.uuid());
        let mut fan = Fan {
            index,
            user,
            caller: Caller { user, session, role: Role::User },
            rng: Rng::new(sale.seed * 1_000 + index as u64 + 1),
            place_token: None,
            entry_token: None,
            acknowledged: Acknowledged { user, bought: Vec::new(), n_charged: 0, n_unanswered: 0 },
            sale,
        };
        fan.pause(0, 200).await;
        if fan.sale.plan.has_draw {
            fan.take_part_in_draw().await;
        }
        for _ in 0..TRIES_MAX {
            if !fan.sale.is_on_sale() {
                break;
            }
            fan.try_to_buy().await;
            fan.pause(0, 100).await;
        }
        fan.acknowledged
    }

    async fn pause(&mut self, least_ms: u64, most_ms: u64) {
        let length = self.rng.ms(least_ms, most_ms);
        tokio::time::sleep(length).await;
    }

    async fn try_to_buy(&mut self) {
        if !self.get_in().await {
            return;
        }
        let plan = self.sale.plan.clone();
        let held = match self.hold_seats().await {
            None if self.rng.happens(plan.stands_by) => self.wait_for_offer().await,
            held => held,
        };
        let Some(held_seats) = held else { return };
        if self.rng.happens(plan.gives_back) {
            let (fan, reservation) = (self.user, held_seats.reservation);
            self.ask("release", Saw::Views, move |node| {
                async move { release_seats(&node, fan, reservation).await.map(|()| Value::Null) }
                    .boxed()
            })
            .await;
        } else if !self.rng.happens(plan.walks_away) {
            self.pay(held_seats).await;
        }
    }

    /// Enters, and waits for admission; false if it doesn't come.
    async fn get_in(&mut self) -> bool {
        if self.entry_token.is_some() && self.rng.happens(50) {
            return true;
        }
        for look in 0..LOOKS_MAX {
            if !self.sale.is_on_sale() {
                return false;
            }
            match self.ask_place(look == 0).await {
                Some(Ok(view)) if view["entryToken"].is_string() => {
                    self.entry_token = view["entryToken"].as_str().map(str::to_owned);
                    return true;
                }
                Some(Ok(_)) | None => {}
                Some(Err(_refused)) => break,
            }
            self.pause(5, 60).await;
        }
        (self.place_token, self.entry_token) = (None, None);
        false
    }

    async fn ask_place(&mut self, enters: bool) -> Option<Result<Value, Refusal>> {
        let (caller, schedule) = (self.caller, self.sale.schedule);
        let token = self.place_token.clone();
        let enters = enters || token.is_none();
        let asked = self.ask("place", Saw::Views, move |node| {
            let token = token.clone();
            async move {
                let asker = waiting_room::asker(&node, schedule, Some(caller), token.as_deref())?;
                let view = match enters {
                    true => waiting_room::enter(&node, asker, None).await?,
                    false => waiting_room::status(&node, asker, schedule).await?,
                };
                let token = view.token.clone();
                let mut view = serde_json::to_value(view).unwrap();
                view["token"] = Value::from(token);
                Ok(view)
            }
            .boxed()
        });
        let answer = asked.await?;
        if let Ok(view) = &answer
            && let Some(token) = view["token"].as_str()
        {
            self.place_token = Some(token.to_owned());
        }
        Some(answer)
    }

    /// Some adjacent seats: fans want the same ones.
    fn wish(&mut self) -> Vec<SeatId> {
        let (n_seats, n_most) = (self.sale.n_seats(), self.sale.plan.seats_per_fan);
        let n_most = if self.rng.happens(10) { 4 } else { n_most };
        let n_wanted = (1 + self.rng.below(n_most.into()) as u32).min(n_seats);
        let first = self.rng.below(u64::from(n_seats - n_wanted + 1)) as u32;
        (first..first + n_wanted).map(|index| self.sale.schedule.seat(index)).collect()
    }

    /// Tries a few seats with one entry.
    async fn hold_seats(&mut self) -> Option<HeldSeats> {
        for _ in 0..3 {
            let seats = self.wish();
            let elsewhere = self.select_elsewhere();
            let (held, ()) = join(self.select(seats), elsewhere).await;
            match held? {
                Ok(held_seats) => return Some(held_seats),
                Err(Refusal::SeatTaken { .. }) => self.sale.saw(Moment::RaceLost),
                Err(Refusal::SeatLimit { .. }) => self.sale.saw(Moment::LimitReached),
                Err(Refusal::EntryExpired | Refusal::EntryRequired) => {
                    self.sale.saw(Moment::EntryOver);
                    self.entry_token = None;
                    return None;
                }
                Err(_other) => return None,
            }
            self.pause(0, 50).await;
        }
        None
    }

    async fn select(&mut self, seats: Vec<SeatId>) -> Option<Result<HeldSeats, Refusal>> {
        let (caller, schedule) = (self.caller, self.sale.schedule);
        let key = self.key(SELECT, &format!("{seats:?}"));
        let token = self.entry_token.clone();
        let asked = self.ask("select", Saw::Answers, move |node| {
            let (key, seats, token) = (key.clone(), seats.clone(), token.clone());
            async move {
                let (entry_token, fan) = (token.as_deref(), caller);
                let asked = SelectSeats { key, fan, schedule, seats: &seats, entry_token };
                select_seats(&node, asked).await.map(body_of)
            }
            .boxed()
        });
        Some(asked.await?.map(|body| HeldSeats {
            reservation: ReservationId::new(uuid_in(&body["reservationId"])),
            until: serde_json::from_value(body["holdExpiresAt"].clone()).unwrap(),
        }))
    }

    /// Joins the standby list and waits a while; returns the offered seats.
    async fn wait_for_offer(&mut self) -> Option<HeldSeats> {
        let (fan, schedule) = (self.user, self.sale.schedule);
        let joined = self.ask("stand by", Saw::Views, move |node| {
            async move {
                let view = stand_by(&node, fan, schedule, GRADE.to_owned(), 1).await?;
                Ok(serde_json::to_value(view).unwrap())
            }
            .boxed()
        });
        joined.await?.ok()?;
        for _ in 0..LOOKS_MAX {
            self.pause(20, 60).await;
            if !self.sale.is_on_sale() {
                return None;
            }
            let looked = self.ask("standby", Saw::Views, move |node| {
                async move {
                    Ok(serde_json::to_value(my_standby(&node, fan, schedule).await?).unwrap())
                }
                .boxed()
            });
            let view = looked.await?.ok()?;
            match view["state"].as_str()? {
                "WAITING" => {}
                "OFFERED" => {
                    let offer = &view["offer"];
                    return Some(HeldSeats {
                        reservation: ReservationId::new(uuid_in(offer.get("id")?)),
                        until: serde_json::from_value(offer["holdExpiresAt"].clone()).unwrap(),
                    });
                }
                _ => return None,
            }
        }
        None
    }

    /// Charges the wallet, and retries until the outcome is known.
    async fn charge(&mut self) {
        let amount = Won::new(PRICE * (1 + self.rng.below(4) as i64)).unwrap();
        let (fan, key) = (self.user, self.key(CHARGE, &amount.get().to_string()));
        let asked = self.ask("charge", Saw::Answers, move |node| {
            let key = key.clone();
            async move { wallet::charge(&node, key, fan, amount).await.map(body_of) }.boxed()
        });
        match asked.await {
            Some(Ok(_)) => self.acknowledged.n_charged += 1,
            Some(Err(_refused)) => {}
            None => self.acknowledged.n_unanswered += 1,
        }
    }

    fn key(&self, endpoint: &'static str, body: &str) -> IdempotencyKey {
        let key = SystemRng::new().id(self.sale.now()).to_string();
        IdempotencyKey { user: self.user, endpoint, key, fingerprint: sha256(body.as_bytes()) }
    }
}

/// The body of a response, new or replayed.
fn body_of<T: IdempotentAnswer>(once: Idempotent<T>) -> Value {
    match once {
        Idempotent::Fresh(answer) => serde_json::to_value(&answer).unwrap(),
        Idempotent::Replay(StoredAnswer { body, .. }) => serde_json::from_str(&body).unwrap(),
    }
}

fn uuid_in(value: &Value) -> Uuid {
    value.as_str().unwrap().parse().unwrap()
}
