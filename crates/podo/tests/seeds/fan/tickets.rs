//! What fans do with their tickets: transfer one, and show one at two gates at once.

use crate::coverage::Moment;
use crate::fan::call::Saw;
use crate::fan::{Fan, body_of, uuid_in};
use crate::organiser::Organiser;
use futures::FutureExt;
use futures::future::join;
use podo_app::operations::idempotency::{ACCEPT, TRANSFER};
use podo_app::operations::port::idempotency::IdempotencyKey;
use podo_app::tickets::gate::{Scan, check_in};
use podo_app::tickets::holders::{Recipient, accept, my_ticket, offer, qr_text};
use podo_app::{AppContext, Error};
use podo_domain::identity::permissions::EventScope;
use podo_domain::messaging::messages::Language;
use podo_domain::{Refusal, ReservationId, ScheduleId, TicketId, UserId};
use serde_json::Value;

impl Fan {
    /// Uses one ticket of a purchase.
    pub(super) async fn use_ticket(&mut self, reservation: ReservationId, paid: &Value) {
        let ticket = TicketId::new(uuid_in(&paid["tickets"][0]["id"]));
        let Some(code) = self.code_of(ticket, self.user).await else { return };
        if self.rng.happens(50) {
            let to = (self.index + 1) % self.sale.fans.len();
            if self.give_to(ticket, to).await {
                self.check_old_code(ticket, code).await;
                let receiver = self.sale.fans[to].0;
                if let Some(code) = self.code_of(ticket, receiver).await {
                    self.show_while_moved(reservation, ticket, &code).await;
                }
                return;
            }
        }
        self.show_while_moved(reservation, ticket, &code).await;
    }

    /// An organiser may move the booking at the same moment.
    async fn show_while_moved(&mut self, booking: ReservationId, ticket: TicketId, code: &str) {
        let moved = self.moved_meanwhile(booking);
        if self.rng.happens(50) {
            // On the way to the gate, with the code on the phone.
            moved.await;
            return self.show_at_two_gates(ticket, code).await;
        }
        join(self.show_at_two_gates(ticket, code), moved).await;
    }

    pub(super) fn moved_meanwhile(
        &mut self,
        booking: ReservationId,
    ) -> impl Future<Output = ()> + use<> {
        let sale = self.sale.clone();
        let moves = sale.plan.has_desk && self.rng.happens(70);
        let (seed, late) = (self.rng.draw(), self.rng.ms(0, 6));
        async move {
            if moves {
                tokio::time::sleep(late).await;
                Organiser::new(sale, seed).move_booking(booking).await;
            }
        }
    }

    async fn code_of(&mut self, ticket: TicketId, owner: UserId) -> Option<String> {
        let asked = self.ask("ticket", Saw::Views, move |node| {
            async move {
                let view = my_ticket(&node, owner, ticket).await?;
                Ok(Value::from(qr_text(&node, &view)))
            }
            .boxed()
        });
        asked.await?.ok()?.as_str().map(str::to_owned)
    }

    async fn give_to(&mut self, ticket: TicketId, to: usize) -> bool {
        let (fan, key) = (self.user, self.key(TRANSFER, &ticket.to_string()));
        let email = self.sale.fans[to].1.clone();
        let asked = self.ask("transfer", Saw::Answers, move |node| {
            let (key, email) = (key.clone(), email.clone());
            async move {
                let to = Recipient { email: &email, language: Language::Ko };
                offer(&node, key, fan, ticket, to).await.map(body_of)
            }
            .boxed()
        });
        if !matches!(asked.await, Some(Ok(_))) {
            return false;
        }
        let (friend, key) = (self.sale.fans[to].0, self.key(ACCEPT, &ticket.to_string()));
        let key = IdempotencyKey { user: friend, ..key };
        let asked = self.ask("accept", Saw::Answers, move |node| {
            let key = key.clone();
            async move { accept(&node, key, friend, ticket).await.map(body_of) }.boxed()
        });
        let is_given = matches!(asked.await, Some(Ok(_)));
        if is_given {
            self.sale.saw(Moment::Transferred);
        }
        is_given
    }

    /// T1: the old owner's copy of the code opens no gate.
    async fn check_old_code(&mut self, ticket: TicketId, code: String) {
        let schedule = self.sale.schedule;
        let asked = self.ask("old code", Saw::Views, move |node| {
            let code = code.clone();
            async move { show(&node, schedule, &code).await.map(Value::from) }.boxed()
        });
        let opened = matches!(asked.await, Some(Ok(_)));
        self.sale.ensure(!opened, || format!("T1 the old code of {ticket} opened a gate"));
    }

    /// T1: a ticket admits one person, once, whatever the gates do concurrently.
    async fn show_at_two_gates(&mut self, ticket: TicketId, code: &str) {
        let sale = self.sale.clone();
        let node = |index: usize| sale.cluster.nodes[index].context.clone();
        let one = node(sale.any_node(&mut self.rng));
        let other = node(sale.any_node(&mut self.rng));
        let (one, other) =
            join(show(&one, sale.schedule, code), show(&other, sale.schedule, code)).await;
        for opened in [one, other] {
            match opened {
                Ok(seat) => {
                    sale.saw(Moment::CheckedIn);
                    let n_times = sale.let_in(ticket, seat);
                    sale.ensure(n_times == 1, || format!("T1 {ticket} let {n_times} in"));
                }
                Err(Error::Refused(Refusal::TicketUsed { .. })) => sale.saw(Moment::TicketUsed),
                // The code was read a moment ago, so the ticket has moved since.
                Err(Error::Refused(Refusal::TicketInvalid)) => sale.saw(Moment::MovedBeforeScan),
                Err(Error::Broken(why)) => sale.ensure(false, || format!("check-in: {why}")),
                Err(_) => {}
            }
        }
    }
}

/// The seat that the steward sees.
async fn show(context: &AppContext, schedule: ScheduleId, code: &str) -> podo_app::Result<String> {
    let actor = UserId::new(uuid::Uuid::from_u128(3));
    let (gate, code) = ("1".to_owned().try_into().unwrap(), code.to_owned());
    let scan = Scan { actor, events: EventScope::All, schedule, gate, code, id: None };
    check_in(context, scan).await.map(|checked_in| checked_in.seat_number)
}
