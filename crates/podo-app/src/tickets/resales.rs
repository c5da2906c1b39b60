//! Resale at face value: listings, offers to the standby list, and the swap.

use crate::booking::reservations::tell_filter;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::jobs::{RESELL, Round, put_off};
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::payments::after_sale;
use crate::payments::port::payments::Confirmed;
use crate::tickets::resale_port::{AdvanceResale, ListTicket, ResaleView, Resold, TakeResale};
use podo_domain::{
    PaymentId, RefundId, Refusal, ResaleId, ReservationId, TicketId, Timestamp, UserId, Won,
};
use serde::Serialize;
use utoipa::ToSchema;

/// Most listings of one fan in an answer.
const LISTED_MAX: u32 = 100;

/// Most listings examined in one round.
const ROUND_MAX: u32 = 500;

/// A fan's side of resales.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyResales {
    /// The fan's own tickets, newest first.
    pub listed: Vec<ResaleView>,
    /// Tickets of others that the fan may take now.
    pub offered: Vec<ResaleView>,
}

/// Gives a ticket back as soon as a fan on the standby list takes it.
pub async fn list(context: &AppContext, fan: UserId, ticket: TicketId) -> Result<ResaleView> {
    let now = context.now();
    let resale = ResaleId::new(context.rng.id(now));
    let home = context.rules.currency;
    context.store.list_ticket(ListTicket { resale, ticket, user: fan, home, now }).await
}

/// Keeps the ticket after all.
pub async fn withdraw(context: &AppContext, fan: UserId, ticket: TicketId) -> Result<()> {
    match context.store.withdraw_resale(ticket, fan, context.now()).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}

pub async fn mine(context: &AppContext, fan: UserId) -> Result<MyResales> {
    let listed = context.store.resales_of(fan, LISTED_MAX).await?;
    let offered = context.store.resales_for(fan, context.now()).await?;
    Ok(MyResales { listed, offered })
}

/// Pays for a ticket that is offered to the fan. The payment, the seat's change of hands and the
/// refund are one transaction, so there is no moment at which the seat has two owners or none.
pub async fn take(
    context: &AppContext,
    key: IdempotencyKey,
    fan: UserId,
    resale: ResaleId,
    amount: Won,
) -> Result<Idempotent<Confirmed>> {
    let now = context.now();
    let command = TakeResale {
        key,
        resale,
        user: fan,
        amount,
        reservation: ReservationId::new(context.rng.id(now)),
        payment: PaymentId::new(context.rng.id(now)),
        refund: RefundId::new(context.rng.id(now)),
        now,
    };
    match context.store.take_resale(command).await? {
        Idempotent::Replay(answer) => Ok(Idempotent::Replay(answer)),
        Idempotent::Fresh(Resold { freed, sold }) => {
            if let Err(error) = tell_filter(context, &[freed]).await {
                tracing::warn!(%error, "Could not update the seat filter after a resale");
            }
            after_sale(context, &sold).await;
            Ok(Idempotent::Fresh(sold.confirmed))
        }
    }
}

/// Offers listings to the standby list. Every step is a compare-and-set, so any number of nodes can
/// run this at once.
pub async fn offer_resales(context: &AppContext, now: Timestamp) -> Result<Round> {
    let open = context.store.open_resales(now, ROUND_MAX).await?;
    let mut round = Round { is_full: open.len() >= ROUND_MAX as usize, ..Round::default() };
    let until = now.plus(context.rules.offer_length);
    for resale in open {
        match context.store.advance_resale(AdvanceResale { resale, until, now }).await {
            Ok(is_changed) => round.done += u64::from(is_changed),
            Err(Error::Conflict(_)) => {}
            Err(error) => {
                put_off(context, RESELL, resale.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    // A full round whose listings all wait must not run again at once.
    round.is_full &= round.done > 0;
    Ok(round)
}
