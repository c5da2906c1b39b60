//! What fans do with their tickets: give one away, and show one at the gate, at two gates at once.

use super::{Fan, uuid_in};
use crate::sight::Sight;
use crate::world::{World, address_of};
use app::keys::{ACCEPT, TRANSFER};
use app::ports::keys::KeyUse;
use app::tickets::{accept, check_in, my_ticket, offer, qr_text};
use app::{Error, Platform};
use domain::accounts::Email;
use domain::{Refusal, TicketId, UserId};
use futures::FutureExt;
use futures::future::join;
use serde_json::Value;
use std::sync::Arc;

impl Fan {
    /// Uses one ticket of a purchase.
    pub(super) async fn use_ticket(&self, paid: &Value) {
        let ticket = TicketId::new(uuid_in(&paid["tickets"][0]["id"]));
        let Some(code) = self.code_of(ticket, self.user).await else { return };
        let others: Vec<usize> = (0..self.world.fans.len())
            .filter(|index| self.world.fans[*index] != self.user)
            .collect();
        if self.world.chance.happens(50) && !others.is_empty() {
            let to = self.world.chance.one_of(&others);
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
        let asked = self.insist("ticket", move |platform| {
            async move {
                let view = my_ticket(&platform, owner, ticket).await?;
                Ok(qr_text(&platform, &view))
            }
            .boxed()
        });
        asked.await?.ok()
    }

    async fn give_to(&self, ticket: TicketId, to: usize) -> bool {
        let (fan, key) = (self.user, self.key(TRANSFER, &ticket.to_string()));
        let email = Email::try_from(address_of(to)).expect("an address of ours is valid");
        let asked = self.insist("transfer", move |platform| {
            let (key, email) = (key.clone(), email.clone());
            async move { offer(&platform, key, fan, ticket, &email).await.map(drop) }.boxed()
        });
        if !matches!(asked.await, Some(Ok(()))) {
            return false;
        }
        let (friend, key) = (self.world.fans[to], self.key(ACCEPT, &ticket.to_string()));
        let key = KeyUse { user: friend, ..key };
        let asked = self.insist("accept", move |platform| {
            let key = key.clone();
            async move { accept(&platform, key, friend, ticket).await.map(drop) }.boxed()
        });
        let is_given = matches!(asked.await, Some(Ok(())));
        if is_given {
            self.world.saw(Sight::Transferred);
        }
        is_given
    }

    /// T1: the picture that the old owner kept opens no gate.
    async fn check_old_code(&self, ticket: TicketId, code: String) {
        let asked = self.insist("old code", move |platform| {
            let code = code.clone();
            async move { show(&platform, &code).await }.boxed()
        });
        let opened = asked.await;
        let is_refused = !matches!(opened, Some(Ok(())));
        self.world.ensure(is_refused, "T1", || format!("the old code of {ticket} opened a gate"));
    }

    /// T1: a ticket lets one person in, once, whatever the gates do at the same time.
    async fn show_at_two_gates(&self, ticket: TicketId, code: String) {
        let (one, other) = join(at_gate(&self.world, &code), at_gate(&self.world, &code)).await;
        for opened in [one, other] {
            match opened {
                Some(Ok(())) => {
                    self.world.saw(Sight::CheckedIn);
                    let n_times = self.world.let_in(ticket);
                    let is_once = n_times == 1;
                    self.world.ensure(is_once, "T1", || format!("{ticket} let {n_times} in"));
                }
                Some(Err(Error::Refused(Refusal::TicketUsed { .. }))) => {
                    self.world.saw(Sight::TicketUsed);
                }
                Some(Err(_)) | None => {}
            }
        }
    }
}

/// One scan, on whichever node.
async fn at_gate(world: &Arc<World>, code: &str) -> Option<app::Result<()>> {
    world.time.sleep(world.chance.ms(0, 3)).await;
    let code = code.to_owned();
    world.call(|platform| async move { show(&platform, &code).await }.boxed()).await
}

async fn show(platform: &Platform, code: &str) -> app::Result<()> {
    let steward = UserId::new(uuid::Uuid::from_u128(3));
    check_in(platform, steward, code, None).await.map(drop)
}
