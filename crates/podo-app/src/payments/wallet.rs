//! The fan's wallet.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::payments::port::gateway::{Answered, Device, Order};
use crate::payments::port::payments::GatewayQuery;
use crate::payments::port::wallets::{
    AdjustWallet, Adjustment, ChargeReady, ChargeView, ChargeWallet, Charged, ConfirmCharge,
    Movement, RequestCharge, SettleCharge, SettledCharge,
};
use crate::store::Page;
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{LedgerId, PaymentId, Refusal, UserId, Won};

/// Credits the wallet. The sandbox stands in for a gateway here: no real money moves.
pub async fn charge(
    context: &AppContext,
    key: IdempotencyKey,
    fan: UserId,
    amount: Won,
) -> Result<Idempotent<Charged>> {
    let now = context.now();
    let ledger = LedgerId::new(context.rng.id(now));
    let (user, currency) = (fan, context.rules.currency);
    let command = ChargeWallet { key, user, ledger, amount, currency, now };
    context.store.charge_wallet(command).await
}

/// A request to charge a wallet through a gateway.
pub struct ChargeRequest<'a> {
    pub key: IdempotencyKey,
    pub fan: UserId,
    pub amount: Won,
    pub gateway: &'a str,
    pub device: Device,
}

/// Prepares a charge, which the fan approves on the gateway's page.
pub async fn request_charge(
    context: &AppContext,
    asked: ChargeRequest<'_>,
) -> Result<Idempotent<ChargeReady>> {
    let now = context.now();
    let (currency, name) = (context.rules.currency, "Podo wallet");
    let gateway = context.gateway_for(PaymentMethod::Card, currency, Some(asked.gateway))?;
    let (payment, amount) = (PaymentId::new(context.rng.id(now)), asked.amount);
    let (customer, method, device) = (asked.fan, PaymentMethod::Card, asked.device);
    let deposit_due = None;
    let order = Order { payment, amount, currency, name, customer, method, device, deposit_due };
    let command = RequestCharge {
        key: asked.key,
        charge: payment,
        user: asked.fan,
        gateway: gateway.name(),
        amount,
        currency,
        checkout: gateway.checkout(&order, now).await?,
        now,
    };
    context.store.request_charge(command).await
}

/// The result of confirming a charge.
pub enum ChargeOutcome {
    Charged(Charged),
    Unknown(PaymentId),
}

/// Charges what the fan approved. A decline is a refusal; an unknown outcome is settled later.
pub async fn confirm_charge(
    context: &AppContext,
    command: ConfirmCharge,
) -> Result<Idempotent<ChargeOutcome>> {
    let (charge, key) = (command.charge, command.key.clone());
    let ask = match context.store.confirm_charge(command).await? {
        Idempotent::Replay(answer) => return Ok(Idempotent::Replay(answer)),
        Idempotent::Fresh(ask) => ask,
    };
    let gateway = context.gateway(&ask.gateway)?;
    let answered = gateway.capture(&ask, context.now()).await;
    match settle_charge(context, &ask, answered).await? {
        SettledCharge::Charged(charged) => Ok(Idempotent::Fresh(ChargeOutcome::Charged(charged))),
        SettledCharge::Declined { reason } => Err(Refusal::PaymentDeclined { reason }.into()),
        SettledCharge::StillUnknown | SettledCharge::Before(PaymentStatus::Unknown) => {
            Ok(Idempotent::Fresh(ChargeOutcome::Unknown(charge)))
        }
        // The webhook or the settling job was faster; the answer is stored under the key.
        SettledCharge::Before(_) => match context.store.stored_answer(&key).await? {
            Some(answer) => Ok(Idempotent::Replay(answer)),
            None => Err(Refusal::KeyRunning.into()),
        },
    }
}

/// Applies a gateway's answer. The confirm call, webhooks and the settling job all end here.
pub async fn settle_charge(
    context: &AppContext,
    ask: &GatewayQuery,
    answered: Answered,
) -> Result<SettledCharge> {
    let command = SettleCharge {
        charge: ask.payment,
        outcome: answered.outcome,
        answer: answered.answer,
        reference: answered.reference,
        now: context.now(),
    };
    context.store.settle_charge(command).await
}

pub async fn my_charge(context: &AppContext, fan: UserId, charge: PaymentId) -> Result<ChargeView> {
    context.store.charge(charge, fan).await?.ok_or(Error::Refused(Refusal::NotFound))
}

/// An organiser corrects a wallet. Large amounts need a second organiser.
pub async fn adjust(
    context: &AppContext,
    key: IdempotencyKey,
    actor: UserId,
    user: UserId,
    amount: i64,
    reason: String,
) -> Result<Idempotent<Adjustment>> {
    context.store.user(user).await?.ok_or(Refusal::NotFound)?;
    let now = context.now();
    let ledger = LedgerId::new(context.rng.id(now));
    let currency = context.rules.currency;
    let command = AdjustWallet { key, actor, user, ledger, amount, currency, reason, now };
    context.store.adjust_wallet(command).await
}

pub async fn balance(context: &AppContext, fan: UserId) -> Result<Won> {
    context.store.balance(fan).await
}

/// Movements, newest first; the cursor is the number of the last one returned.
pub async fn movements(
    context: &AppContext,
    fan: UserId,
    before: Option<i64>,
    limit: u32,
) -> Result<Page<Movement>> {
    let mut rows = context.store.movements(fan, before, limit + 1).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().map(|(number, _)| number.to_string()).filter(|_| has_more);
    Ok(Page { items: rows.into_iter().map(|(_, movement)| movement).collect(), next_cursor })
}
