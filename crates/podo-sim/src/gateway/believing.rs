//! The product's adapter without one of its checks, for the runs with such a mutation.

use crate::Mutation;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::payments::port::gateway::{
    Answered, Booked, Delivery, Gateway, Hint, Order, RefundOutcome, Returned,
};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::payments::deposits::RefundAccount;
use podo_domain::payments::{Outcome, PaymentMethod};
use podo_domain::{Refusal, Timestamp};
use std::sync::Arc;

pub(super) struct Believing {
    pub(super) inner: Arc<dyn Gateway>,
    pub(super) mutation: Mutation,
}

impl Believing {
    fn believe(&self, ask: &GatewayQuery, answered: Answered) -> Answered {
        let outcome = match (answered.outcome, self.mutation) {
            (Outcome::Unknown, Mutation::TimeoutIsFailure) => {
                Outcome::NotCaptured { reason: "TIMEOUT".to_owned() }
            }
            (Outcome::Captured { .. }, Mutation::AnyAmountWillDo) => {
                Outcome::Captured { amount: ask.amount }
            }
            (outcome, _) => outcome,
        };
        Answered { outcome, ..answered }
    }
}

#[async_trait]
impl Gateway for Believing {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn methods(&self) -> &'static [PaymentMethod] {
        self.inner.methods()
    }

    fn currencies(&self) -> &'static [podo_domain::Currency] {
        &[podo_domain::Currency::Krw]
    }

    async fn checkout(&self, order: &Order<'_>, now: Timestamp) -> Result<Checkout> {
        self.inner.checkout(order, now).await
    }

    async fn capture(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        self.believe(ask, self.inner.capture(ask, now).await)
    }

    async fn find(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        self.believe(ask, self.inner.find(ask, now).await)
    }

    async fn void(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        self.believe(ask, self.inner.void(ask, now).await)
    }

    async fn refund(
        &self,
        refund: &DueRefund,
        account: Option<&RefundAccount>,
        now: Timestamp,
    ) -> RefundOutcome {
        self.inner.refund(refund, account, now).await
    }

    async fn booked(&self, ask: &GatewayQuery, now: Timestamp) -> Option<Booked> {
        self.inner.booked(ask, now).await
    }

    fn read_webhook(&self, delivery: &Delivery<'_>) -> std::result::Result<Hint, Refusal> {
        self.inner.read_webhook(delivery)
    }

    fn read_return(&self, fields: &[(String, String)]) -> Option<Returned> {
        self.inner.read_return(fields)
    }
}
