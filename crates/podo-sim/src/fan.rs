//! Fans: they queue, hold, pay, hesitate, repeat requests, change their minds and arrive at the
//! worst moment.

mod applying;
mod buying;
mod call;
pub(crate) mod choosing;
mod depositing;
pub(crate) mod organiser;
pub(crate) mod proving;
mod reselling;
mod standing_by;
mod tickets;
mod waiting;

use crate::check::coverage::Coverage;
use crate::swarm::PhasePlan;
use crate::world::{LOBBY, PRICE, World};
use futures::FutureExt;
use podo_app::booking::port::reservations::Held;
use podo_app::booking::reservations;
use podo_app::booking::reservations::{SelectSeats, select_seats};
use podo_app::identity::keyring::sha256;
use podo_app::identity::sessions::Caller;
use podo_app::operations::idempotency::{CHARGE, SELECT};
use podo_app::operations::port::clock::{Clock, Rng as _};
use podo_app::operations::port::idempotency::{
    IdempotencyKey, Idempotent, IdempotentAnswer, StoredAnswer,
};
use podo_app::payments::wallet;
use podo_domain::identity::Role;
use podo_domain::waiting_room::PlaceNumber;
use podo_domain::{Refusal, ReservationId, SeatId, SessionId, Timestamp, UserId, Won};
use serde_json::Value;
use std::sync::Arc;
use uuid::Uuid;
use waiting::LastPlace;

/// A fan's state.
pub(crate) struct Fan {
    world: Arc<World>,
    user: UserId,
    caller: Caller,
    place_token: Option<String>,
    entry_token: Option<String>,
    place: Option<LastPlace>,
    /// The number of their admission.
    inside: Option<PlaceNumber>,
    /// Wallet charges that were answered, and that never were.
    n_charged: u64,
    n_unanswered: u64,
}

/// Seats that the fan holds, by the server's answer.
struct HeldSeats {
    reservation: ReservationId,
    seats: Vec<SeatId>,
    amount: Won,
    until: Timestamp,
}

/// A fan's whole day.
pub(crate) async fn live(world: Arc<World>, index: usize) {
    let user = world.fans[index];
    let session = SessionId::new(Uuid::from_u128(1_000 + index as u128));
    let caller = Caller { user, session, role: Role::User };
    let (place_token, entry_token, place) = (None, None, None);
    let mut fan = Fan {
        world,
        user,
        caller,
        place_token,
        entry_token,
        place,
        inside: None,
        n_charged: 0,
        n_unanswered: 0,
    };
    if fan.world.swarm.phases != PhasePlan::None && fan.world.rng.happens(60) {
        fan.prove().await;
    }
    fan.take_part_in_draw().await;
    fan.arrive().await;
    while fan.world.is_on_sale() {
        fan.try_to_buy().await;
        fan.pause(1, 25_000).await;
    }
    fan.check_charges();
}

impl Fan {
    async fn pause(&self, least_ms: u64, most_ms: u64) {
        let length = self.world.rng.ms(least_ms, most_ms);
        self.world.time.sleep(length).await;
    }

    /// Early fans join the lobby; the rest arrive at the opening, many in the same moment.
    async fn arrive(&self) {
        let (world, rng) = (&self.world, &self.world.rng);
        if rng.happens(world.swarm.early) {
            return self.pause(0, LOBBY.as_millis() as u64 - 1).await;
        }
        world.time.sleep_until(world.opening()).await;
        if !rng.happens(world.swarm.at_once) {
            self.pause(1, 30_000).await;
        }
    }

    async fn try_to_buy(&mut self) {
        if !self.get_in().await {
            return;
        }
        let world = self.world.clone();
        if world.rng.happens(10) {
            // Hesitates, some until the sale is over.
            let after = world.closing().plus(world.rng.ms(0, 2));
            let late = world.rng.happens(50).then_some(after);
            let soon = world.time.now().plus(world.rng.ms(1_000, 200_000));
            world.time.sleep_until(late.unwrap_or(soon)).await;
        }
        let held = match self.hold_seats().await {
            None if world.rng.happens(world.swarm.stands_by) => self.wait_for_offer().await,
            held => held,
        };
        let Some(held_seats) = held else { return };
        if world.rng.happens(world.swarm.gives_back) {
            return self.give_back(held_seats.reservation).await;
        }
        if world.rng.happens(10) {
            // Leaves without a request; the sweeper or the next fan ends the hold.
            return;
        }
        let held_seats = self.choose(held_seats).await;
        self.pay(held_seats).await;
    }

    fn key(&self, endpoint: &'static str, body: &str) -> IdempotencyKey {
        let key = self.world.rng.id(self.world.time.now()).to_string();
        let fingerprint = sha256(body.as_bytes());
        IdempotencyKey { user: self.user, endpoint, key, fingerprint }
    }

    /// A few adjacent seats: fans want the same ones.
    fn wish(&self) -> Vec<SeatId> {
        let (rng, n_seats) = (&self.world.rng, self.world.swarm.n_seats);
        let n_wanted = (1 + rng.below(4) as u32).min(n_seats);
        let first = rng.below(u64::from(n_seats - n_wanted + 1)) as u32;
        (first..first + n_wanted).map(|index| self.world.schedule.seat(index)).collect()
    }

    /// Tries a few seats with one entry.
    async fn hold_seats(&mut self) -> Option<HeldSeats> {
        for _ in 0..3 {
            let seats = self.wish();
            match self.select(seats).await? {
                Ok(held_seats) => return Some(held_seats),
                Err(Refusal::SeatTaken { .. }) => {
                    self.world.saw(Coverage::RaceLost);
                    self.pause(100, 20_000).await;
                }
                Err(Refusal::SeatLimit { max }) => {
                    self.world.saw(Coverage::LimitReached);
                    if !self.world.swarm.first_phase.is_zero() {
                        self.note_limit(max);
                    }
                    self.pause(100, 20_000).await;
                }
                Err(Refusal::SaleClosed) => {
                    self.world.saw(Coverage::TooLateForSale);
                    return None;
                }
                Err(Refusal::EntryExpired | Refusal::EntryRequired) => {
                    self.world.saw(Coverage::EntryOver);
                    self.come_back_in().await;
                    return None;
                }
                Err(_other) => return None,
            }
        }
        None
    }

    async fn select(&mut self, seats: Vec<SeatId>) -> Option<Result<HeldSeats, Refusal>> {
        let (caller, schedule) = (self.caller, self.world.schedule);
        let key = self.key(SELECT, &format!("{seats:?}"));
        let token = self.entry_token.clone();
        let wanted = seats.clone();
        let asked = self.insist("select", move |context| {
            let (key, seats, token) = (key.clone(), wanted.clone(), token.clone());
            async move {
                let (entry_token, fan) = (token.as_deref(), caller);
                let asked = SelectSeats { key, fan, schedule, seats: &seats, entry_token };
                select_seats(&context, asked).await.map(body_of::<Held>)
            }
            .boxed()
        });
        let answer = asked.await?;
        Some(answer.map(move |body| {
            let (amount, until) = (body["amount"].clone(), body["holdExpiresAt"].clone());
            HeldSeats {
                reservation: ReservationId::new(uuid_in(&body["reservationId"])),
                seats,
                amount: serde_json::from_value(amount).expect("a hold has an amount"),
                until: serde_json::from_value(until).expect("a hold says how long it lasts"),
            }
        }))
    }

    /// Seats of both phases count towards the limit of the date.
    fn note_limit(&self, max: u32) {
        let sql = "select count(distinct phase_id) from reservations
                    where user_id = $1 and status in ('PAYING', 'CONFIRMED')";
        let rows = self.world.store.look(sql, Some(self.user.uuid()));
        if rows[0][0] == "2" && max == self.world.swarm.seats_per_person {
            self.world.saw(Coverage::LimitOverPhases);
        }
    }

    async fn give_back(&self, reservation: ReservationId) {
        let fan = self.user;
        let asked = self.insist("release", move |context| {
            async move { reservations::release_seats(&context, fan, reservation).await }.boxed()
        });
        asked.await;
    }

    /// Charges the wallet, and retries until there is an answer.
    async fn charge(&mut self) {
        let amount = Won::new(PRICE * (1 + self.world.rng.below(4) as i64));
        let amount = amount.expect("a small amount is in range");
        let (fan, key) = (self.user, self.key(CHARGE, &amount.get().to_string()));
        let asked = self.insist("charge", move |context| {
            let key = key.clone();
            async move { wallet::charge(&context, key, fan, amount).await.map(body_of) }.boxed()
        });
        match asked.await {
            Some(Ok(_)) => self.n_charged += 1,
            Some(Err(_refused)) => {}
            None => self.n_unanswered += 1,
        }
    }

    /// I13: each charge was made once, however often it was requested.
    fn check_charges(&self) {
        let sql = "select count(*) from wallet_ledger
                    where user_id = $1 and account = 'WALLET' and kind = 'CHARGE'";
        let rows = self.world.store.look(sql, Some(self.user.uuid()));
        let n_made: u64 = rows[0][0].parse().expect("a count is a number");
        let expected = self.n_charged..=self.n_charged + self.n_unanswered;
        let is_once = expected.contains(&n_made);
        self.world.ensure(is_once, "I13", || format!("{n_made} charges, asked for {expected:?}"));
    }
}

/// The body of an answer, fresh or replayed.
fn body_of<T: IdempotentAnswer>(once: Idempotent<T>) -> Value {
    match once {
        Idempotent::Fresh(answer) => serde_json::to_value(&answer).expect("answers are JSON"),
        Idempotent::Replay(StoredAnswer { body, .. }) => {
            serde_json::from_str(&body).expect("stored answers are JSON")
        }
    }
}

fn uuid_in(value: &Value) -> Uuid {
    let text = value.as_str().expect("an id is text");
    text.parse().expect("an id is a UUID")
}
