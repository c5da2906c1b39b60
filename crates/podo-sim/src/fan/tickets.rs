//! What fans do with their tickets: transfer one, and show one at the gate, at two gates at once.

use crate::check::coverage::Coverage;
use crate::fan::{Fan, uuid_in};
use crate::world::{ORGANISER, World, address_of};
use futures::FutureExt;
use futures::future::join;
use podo_app::operations::idempotency::{ACCEPT, TRANSFER};
use podo_app::operations::port::idempotency::IdempotencyKey;
use podo_app::tickets::gate::{Scan, check_in};
use podo_app::tickets::holders::{Recipient, accept, my_ticket, offer, qr_text};
use podo_app::{AppContext, Error};
use podo_domain::identity::Email;
use podo_domain::identity::permissions::EventScope;
use podo_domain::messaging::messages::Language;
use podo_domain::{Refusal, ReservationId, ScheduleId, TicketId, UserId};
use serde_json::Value;
use std::sync::Arc;

impl Fan {
    /// Uses one ticket of a purchase.
    pub(super) async fn use_ticket(&self, reservation: ReservationId, paid: &Value) {
        let ticket = TicketId::new(uuid_in(&paid["tickets"][0]["id"]));
        let Some(code) = self.code_of(ticket, self.user).await else { return };
        // On the way to the gate, with the code on the phone.
        if self.world.swarm.has_desk && self.world.rng.happens(40) {
            self.world.move_soon(reservation);
            self.pause(0, 6_000).await;
        }
        let others: Vec<usize> = (0..self.world.fans.len())
            .filter(|index| self.world.fans[*index] != self.user)
            .collect();
        if self.world.rng.happens(50) && !others.is_empty() {
            let to = self.world.rng.one_of(&others);
            if self.give_to(ticket, to).await {
                self.check_old_code(ticket, code).await;
                let receiver = self.world.fans[to];
                if let Some(code) = self.code_of(ticket, receiver).await {
                    self.show_at_two_gates(ticket, code).await;
                }
                return;
            }
        }
        self.show_at_two_gates(ticket, code).await;
    }

    async fn code_of(&self, ticket: TicketId, owner: UserId) -> Option<String> {
        let asked = self.insist("ticket", move |context| {
            async move {
                let view = my_ticket(&context, owner, ticket).await?;
                Ok(qr_text(&context, &view))
            }
            .boxed()
        });
        asked.await?.ok()
    }

    async fn give_to(&self, ticket: TicketId, to: usize) -> bool {
        let (fan, key) = (self.user, self.key(TRANSFER, &ticket.to_string()));
        let email = Email::try_from(address_of(to)).expect("a generated address is valid");
        let asked = self.insist("transfer", move |context| {
            let (key, email) = (key.clone(), email.clone());
            async move {
                let to = Recipient { email: &email, language: Language::Ko };
                offer(&context, key, fan, ticket, to).await.map(drop)
            }
            .boxed()
        });
        if !matches!(asked.await, Some(Ok(()))) {
            return false;
        }
        let (friend, key) = (self.world.fans[to], self.key(ACCEPT, &ticket.to_string()));
        let key = IdempotencyKey { user: friend, ..key };
        let asked = self.insist("accept", move |context| {
            let key = key.clone();
            async move { accept(&context, key, friend, ticket).await.map(drop) }.boxed()
        });
        let is_given = matches!(asked.await, Some(Ok(())));
        if is_given {
            self.world.saw(Coverage::Transferred);
        }
        is_given
    }

    /// T1: the previous owner's copy of the code opens no gate.
    async fn check_old_code(&self, ticket: TicketId, code: String) {
        let schedule = self.world.schedule;
        let asked = self.insist("old code", move |context| {
            let code = code.clone();
            async move { show(&context, schedule, code).await }.boxed()
        });
        let opened = asked.await;
        let is_refused = !matches!(opened, Some(Ok(_)));
        self.world.ensure(is_refused, "T1", || format!("the old code of {ticket} opened a gate"));
    }

    /// T1: a ticket admits one person, once, under concurrent scans.
    async fn show_at_two_gates(&self, ticket: TicketId, code: String) {
        let (one, other) = join(at_gate(&self.world, &code), at_gate(&self.world, &code)).await;
        for opened in [one, other] {
            match opened {
                Some(Ok(seat)) => {
                    self.world.saw(Coverage::CheckedIn);
                    let n_times = self.world.let_in(ticket, seat);
                    let is_once = n_times == 1;
                    self.world.ensure(is_once, "T1", || format!("{ticket} admitted {n_times}"));
                }
                Some(Err(Error::Refused(Refusal::TicketUsed { .. }))) => {
                    self.world.saw(Coverage::TicketUsed);
                }
                // The code was read a moment ago, so the ticket has moved since.
                Some(Err(Error::Refused(Refusal::TicketInvalid))) => {
                    self.world.saw(Coverage::MovedBeforeScan);
                }
                Some(Err(_)) | None => {}
            }
        }
    }
}

/// One scan, on any node.
async fn at_gate(world: &Arc<World>, code: &str) -> Option<podo_app::Result<String>> {
    world.time.sleep(world.rng.ms(0, 3)).await;
    let (code, schedule) = (code.to_owned(), world.schedule);
    world.call(|context| async move { show(&context, schedule, code).await }.boxed()).await
}

/// The seat that the steward sees.
async fn show(
    context: &AppContext,
    schedule: ScheduleId,
    code: String,
) -> podo_app::Result<String> {
    let actor = ORGANISER;
    let gate = "1".to_owned().try_into().expect("it is a name");
    let scan = Scan { actor, events: EventScope::All, schedule, gate, code, id: None };
    check_in(context, scan).await.map(|checked_in| checked_in.seat_number)
}
