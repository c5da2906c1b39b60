//! The fan's wallet.

use crate::error::{Error, Result};
use crate::paging::Page;
use crate::platform::Platform;
use crate::ports::gateway::{Answered, Order};
use crate::ports::keys::{KeyUse, Once};
use crate::ports::payments::AskGateway;
use crate::ports::wallets::{
    AdjustWallet, Adjustment, ChargeReady, ChargeView, ChargeWallet, Charged, ConfirmCharge,
    Movement, RequestCharge, SettleCharge, SettledCharge,
};
use domain::payments::PaymentStatus;
use domain::{LedgerId, PaymentId, Refusal, UserId, Won};

/// Puts money into the wallet. The sandbox stands for the gateway here: it moves no real money.
pub async fn charge(
    platform: &Platform,
    key: KeyUse,
    fan: UserId,
    amount: Won,
) -> Result<Once<Charged>> {
    let now = platform.now();
    let ledger = LedgerId::new(platform.chance.id(now));
    platform.store.charge_wallet(ChargeWallet { key, user: fan, ledger, amount, now }).await
}

/// What charging through a gateway needs.
pub struct AskToCharge<'a> {
    pub key: KeyUse,
    pub fan: UserId,
    pub amount: Won,
    pub gateway: &'a str,
}

/// Prepares a charge: the fan approves it on the gateway's page.
pub async fn request_charge(
    platform: &Platform,
    asked: AskToCharge<'_>,
) -> Result<Once<ChargeReady>> {
    let now = platform.now();
    let gateway = platform.gateway(asked.gateway)?;
    let (payment, amount) = (PaymentId::new(platform.chance.id(now)), asked.amount);
    let order = Order { payment, amount, name: "Podo wallet", customer: asked.fan };
    gateway.prepare(&order, now).await?;
    let command = RequestCharge {
        key: asked.key,
        charge: payment,
        user: asked.fan,
        gateway: gateway.name(),
        amount,
        checkout: gateway.checkout(&order),
        now,
    };
    platform.store.request_charge(command).await
}

/// How confirming a charge ends.
pub enum ChargeOutcome {
    Charged(Charged),
    Unknown(PaymentId),
}

/// Takes what the fan approved. A decline is a refusal; an unknown outcome is asked about later.
pub async fn confirm_charge(
    platform: &Platform,
    command: ConfirmCharge,
) -> Result<Once<ChargeOutcome>> {
    let (charge, key) = (command.charge, command.key.clone());
    let ask = match platform.store.confirm_charge(command).await? {
        Once::Replay(answer) => return Ok(Once::Replay(answer)),
        Once::Fresh(ask) => ask,
    };
    let gateway = platform.gateway(&ask.gateway)?;
    let answered = gateway.capture(&ask, platform.now()).await;
    match settle_charge(platform, &ask, answered).await? {
        SettledCharge::Charged(charged) => Ok(Once::Fresh(ChargeOutcome::Charged(charged))),
        SettledCharge::Declined { reason } => Err(Refusal::PaymentDeclined { reason }.into()),
        SettledCharge::StillUnknown | SettledCharge::Before(PaymentStatus::Unknown) => {
            Ok(Once::Fresh(ChargeOutcome::Unknown(charge)))
        }
        // The webhook or the reconciler was faster: the answer is stored under the key.
        SettledCharge::Before(_) => match platform.store.stored_answer(&key).await? {
            Some(answer) => Ok(Once::Replay(answer)),
            None => Err(Refusal::KeyRunning.into()),
        },
    }
}

/// Brings a gateway's answer home. The confirm call, webhooks and the reconciler all end here.
pub async fn settle_charge(
    platform: &Platform,
    ask: &AskGateway,
    answered: Answered,
) -> Result<SettledCharge> {
    let command = SettleCharge {
        charge: ask.payment,
        outcome: answered.outcome,
        answer: answered.answer,
        reference: answered.reference,
        now: platform.now(),
    };
    platform.store.settle_charge(command).await
}

pub async fn my_charge(platform: &Platform, fan: UserId, charge: PaymentId) -> Result<ChargeView> {
    platform.store.charge(charge, fan).await?.ok_or(Error::Refused(Refusal::NotFound))
}

/// An organiser corrects a wallet. Much money waits for a second one.
pub async fn adjust(
    platform: &Platform,
    key: KeyUse,
    actor: UserId,
    user: UserId,
    (amount, reason): (i64, String),
) -> Result<Once<Adjustment>> {
    platform.store.user(user).await?.ok_or(Refusal::NotFound)?;
    let now = platform.now();
    let ledger = LedgerId::new(platform.chance.id(now));
    let command = AdjustWallet { key, actor, user, ledger, amount, reason, now };
    platform.store.adjust_wallet(command).await
}

pub async fn balance(platform: &Platform, fan: UserId) -> Result<Won> {
    platform.store.balance(fan).await
}

/// Movements, newest first; the cursor is the number of the last one shown.
pub async fn movements(
    platform: &Platform,
    fan: UserId,
    before: Option<i64>,
    limit: u32,
) -> Result<Page<Movement>> {
    let mut rows = platform.store.movements(fan, before, limit + 1).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().map(|(number, _)| number.to_string()).filter(|_| has_more);
    Ok(Page { items: rows.into_iter().map(|(_, movement)| movement).collect(), next_cursor })
}
