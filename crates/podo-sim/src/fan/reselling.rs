//! Resale at face value: a fan lists a ticket, and a fan on the standby list takes it.

use crate::check::coverage::Coverage;
use crate::fan::{Fan, body_of, uuid_in};
use futures::FutureExt;
use podo_app::operations::idempotency::RESALE;
use podo_app::tickets::resales::{list, mine, take};
use podo_domain::TicketId;
use serde_json::Value;

impl Fan {
    /// Lists a ticket of a purchase.
    pub(super) async fn list_ticket(&self, paid: &Value) {
        let (fan, ticket) = (self.user, TicketId::new(uuid_in(&paid["tickets"][0]["id"])));
        let asked = self.insist("resale", move |context| {
            async move { list(&context, fan, ticket).await }.boxed()
        });
        if let Some(Ok(_)) = asked.await {
            self.world.saw(Coverage::Listed);
        }
    }

    /// Takes a listed ticket that is offered to the fan; says whether there was one.
    pub(super) async fn take_offered_ticket(&mut self) -> bool {
        let fan = self.user;
        let looked =
            self.insist("resales", move |context| async move { mine(&context, fan).await }.boxed());
        let Some(Ok(mine)) = looked.await else { return false };
        let Some(offered) = mine.offered.first() else { return false };
        self.charge().await;
        let (resale, price) = (offered.id, offered.price);
        let key = self.key(RESALE, &resale.to_string());
        let asked = self.insist("take resale", move |context| {
            let key = key.clone();
            async move { take(&context, key, fan, resale, price).await.map(body_of) }.boxed()
        });
        if let Some(Ok(_)) = asked.await {
            self.world.saw(Coverage::Resold);
        }
        true
    }
}
