//! A gateway over HTTP. It speaks the gateway's protocol, and never guesses an outcome.

use crate::gateways::client::transport::Transport;
use crate::gateways::client::{Client, Sent};
use crate::gateways::protocol::{Book, CaptureReply, GatewayProtocol, Refund, State, Void};
use async_trait::async_trait;
use podo_app::operations::port::clock::Rng;
use podo_app::payments::port::gateway::{
    Answered, Booked, Delivery, Gateway, Hint, Order, RefundOutcome, Returned,
};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_app::{Error, Result};
use podo_domain::payments::deposits::{Awaited, RefundAccount};
use podo_domain::payments::refunds::RefundStep;
use podo_domain::payments::{Outcome, PaymentMethod};
use podo_domain::{Currency, Refusal, Timestamp};
use serde_json::Value;
use std::sync::Arc;

pub(super) struct Remote<W> {
    protocol: W,
    client: Client,
}

impl<W: GatewayProtocol> Remote<W> {
    pub(super) fn over(transport: Arc<dyn Transport>, protocol: W, rng: Arc<dyn Rng>) -> Remote<W> {
        Remote { protocol, client: Client::over(transport, W::NAME, rng) }
    }

    /// The payment in the gateway's records; `None` if it can't be queried or doesn't answer.
    async fn look(&self, ask: &GatewayQuery, now: Timestamp) -> Option<Book> {
        let call = self.protocol.find(ask, now)?;
        match self.client.send(&call, now).await {
            Sent::Answered(reply) => Some(about(ask, self.protocol.read_book(&reply))),
            Sent::Lost | Sent::Nowhere => None,
        }
    }

    async fn void_unless_captured(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        let can_look = self.protocol.find(ask, now).is_some();
        let book = self.look(ask, now).await;
        match book.as_ref().map(|book| &book.state) {
            // A gateway that can be queried but doesn't answer is queried again later.
            None if can_look => return unknown(),
            Some(State::Unreadable) => return unknown(),
            Some(State::Captured | State::Closed(_)) => return outcome_of(book),
            Some(State::Missing) => return refused("NOT_FOUND"),
            Some(State::Open | State::Awaiting(_)) | None => {}
        }
        let Some(call) = self.protocol.void(ask, book.as_ref(), now) else { return unknown() };
        let Sent::Answered(reply) = self.client.send(&call, now).await else { return unknown() };
        match self.protocol.read_void(&reply) {
            Void::Done(reason) => refused(reason),
            Void::Look => self.found_out(ask, now).await,
            Void::Again => {
                tracing::warn!(gateway = W::NAME, status = reply.status, payment = %ask.payment,
                    "Void not answered; retrying later");
                unknown()
            }
        }
    }

    /// The gateway's records after a refused void. A payment missing by now was never charged.
    async fn found_out(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        match self.look(ask, now).await {
            Some(book) if book.state == State::Missing => refused("NOT_FOUND"),
            book => outcome_of(book),
        }
    }

    /// Whether the gateway's records show this refund.
    async fn was_made(&self, refund: &DueRefund, now: Timestamp) -> bool {
        let Some(book) = self.look(&refund.ask(), now).await else { return false };
        match book.state {
            State::Captured | State::Closed(_) => {
                refund.in_book.step(book.captured, book.refunded) == RefundStep::Made
            }
            State::Open | State::Awaiting(_) | State::Missing | State::Unreadable => false,
        }
    }

    async fn make_refund(
        &self,
        refund: &DueRefund,
        account: Option<&RefundAccount>,
        now: Timestamp,
    ) -> RefundOutcome {
        let call = match self.protocol.refund(refund, account, now) {
            Ok(call) => call,
            Err(why) => return RefundOutcome::Later { why },
        };
        let reply = match self.client.send(&call, now).await {
            Sent::Answered(reply) => self.protocol.read_refund(&reply),
            Sent::Lost => Refund::Later("no answer".into()),
            Sent::Nowhere => Refund::Later("not reachable".into()),
        };
        match reply {
            Refund::Made => RefundOutcome::Refunded,
            Refund::Later(why) => RefundOutcome::Later { why },
            Refund::Look(why) => match self.was_made(refund, now).await {
                true => RefundOutcome::Refunded,
                false => RefundOutcome::Later { why },
            },
        }
    }
}

/// A fan's browser names the charge, so it may name one that paid for something else. That one must
/// never settle this payment.
fn about(ask: &GatewayQuery, book: Book) -> Book {
    match book.subject {
        Some(subject) if subject != (Some(ask.payment), Some(ask.currency)) => {
            tracing::error!(payment = %ask.payment, "The gateway's record is of another payment");
            Book::is(State::Missing)
        }
        Some(_) | None => book,
    }
}

fn unknown() -> Answered {
    Answered { outcome: Outcome::Unknown, answer: None, reference: None, paid_with: None }
}

fn refused(reason: impl Into<String>) -> Answered {
    let outcome = Outcome::NotCaptured { reason: reason.into() };
    Answered { outcome, answer: None, reference: None, paid_with: None }
}

/// The outcome that the gateway's records imply.
fn outcome_of(book: Option<Book>) -> Answered {
    let Some(book) = book else { return unknown() };
    let outcome = match book.state {
        State::Captured => Outcome::Captured { amount: book.captured },
        State::Awaiting(account) => {
            Outcome::AwaitingDeposit(Awaited { account, received: book.captured })
        }
        State::Closed(reason) => Outcome::NotCaptured { reason },
        // A missing order may still arrive: only a void rules that out.
        State::Open | State::Missing | State::Unreadable => Outcome::Unknown,
    };
    Answered { outcome, answer: book.kept, reference: book.reference, paid_with: book.paid_with }
}

#[async_trait]
impl<W: GatewayProtocol> Gateway for Remote<W> {
    fn name(&self) -> &'static str {
        W::NAME
    }

    fn methods(&self) -> &'static [PaymentMethod] {
        W::METHODS
    }

    fn currencies(&self) -> &'static [Currency] {
        W::CURRENCIES
    }

    async fn checkout(&self, order: &Order<'_>, now: Timestamp) -> Result<Checkout> {
        let away = || Error::Unavailable(format!("the gateway {} does not answer", W::NAME));
        if self.client.is_resting(now) {
            return Err(away());
        }
        let registered = match self.protocol.register(order) {
            None => Value::Null,
            Some(call) => match self.client.send(&call, now).await {
                Sent::Answered(reply) if reply.is_ok() => reply.json(),
                Sent::Answered(_) | Sent::Lost | Sent::Nowhere => return Err(away()),
            },
        };
        self.protocol.checkout(order, &registered).ok_or_else(away)
    }

    async fn capture(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        let call = match self.protocol.capture(ask, now) {
            Ok(call) => call,
            Err(reason) => return refused(reason),
        };
        match self.client.send(&call, now).await {
            Sent::Answered(reply) => match self.protocol.read_capture(ask, &reply) {
                CaptureReply::Charged(book) => outcome_of(Some(about(ask, book))),
                CaptureReply::Refused(reason) => refused(reason),
                CaptureReply::Look => outcome_of(self.look(ask, now).await),
                CaptureReply::Unknown => unknown(),
            },
            // The request didn't arrive, so there is no charge.
            Sent::Nowhere => refused("GATEWAY_UNAVAILABLE"),
            Sent::Lost => unknown(),
        }
    }

    async fn find(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        outcome_of(self.look(ask, now).await)
    }

    async fn void(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        self.void_unless_captured(ask, now).await
    }

    async fn refund(
        &self,
        refund: &DueRefund,
        account: Option<&RefundAccount>,
        now: Timestamp,
    ) -> RefundOutcome {
        self.make_refund(refund, account, now).await
    }

    async fn booked(&self, ask: &GatewayQuery, now: Timestamp) -> Option<Booked> {
        let book = self.look(ask, now).await?;
        match book.state {
            State::Captured
            | State::Awaiting(_)
            | State::Closed(_)
            | State::Open
            | State::Missing => Some(Booked { captured: book.captured, refunded: book.refunded }),
            State::Unreadable => None,
        }
    }

    fn read_webhook(&self, delivery: &Delivery<'_>) -> std::result::Result<Hint, Refusal> {
        self.protocol.hint(delivery)
    }

    fn read_return(&self, fields: &[(String, String)]) -> Option<Returned> {
        self.protocol.returned(fields)
    }
}
