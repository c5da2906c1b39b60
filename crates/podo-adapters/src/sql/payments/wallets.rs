//! Wallets: every movement changes the balance and adds two ledger rows that sum to zero.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit::note;
use crate::sql::operations::idempotency;
use crate::sql::payments::by_hand::approvals::{Decision, Subject, may_go_ahead};
use crate::sql::payments::wallet_charges;
use podo_app::Result;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{GatewayQuery, Unsettled};
use podo_app::payments::port::wallets::{
    AdjustWallet, Adjusted, Adjustment, AdjustmentWaits, ChargeReady, ChargeView, ChargeWallet,
    Charged, ConfirmCharge, Movement, RequestCharge, SettleCharge, SettledCharge, Wallets,
};
use podo_domain::payments::approvals::weight_of_correction;
use podo_domain::payments::wallet::{Change, LedgerKind};
use podo_domain::{Currency, LedgerId, PaymentId, Refusal, Timestamp, UserId, Won};
use serde_json::json;
use uuid::Uuid;

commands! {
    impl Wallets for SqlStore {
        write_in_batch charge_wallet(ChargeWallet) -> Idempotent<Charged> as Sales => charge;
        write adjust_wallet(AdjustWallet) -> Idempotent<Adjustment> as Sales => adjust;
        write request_charge(RequestCharge)
            -> Idempotent<ChargeReady> as Sales => wallet_charges::request;
        write confirm_charge(ConfirmCharge)
            -> Idempotent<GatewayQuery> as Sales => wallet_charges::confirm;
        write settle_charge(SettleCharge) -> SettledCharge as Sales => wallet_charges::settle;
        write take_unsettled_charges(TakeUnsettledCharges {
            asked_before: Timestamp, now: Timestamp, limit: u32,
        }) -> Vec<Unsettled> as Worker => wallet_charges::take_unsettled;
        read charge(ChargeOf { charge: PaymentId, user: UserId })
            -> Option<ChargeView> as Sales or_replica => wallet_charges::view;
        read balance(BalanceOf { user: UserId }) -> Won as Sales => balance;
        read balances(BalancesOf { users: Vec<UserId> }) -> Vec<Won> as Sales => balances;
        read movements(MovementsOf { user: UserId, before: Option<i64>, limit: u32 })
            -> Vec<(i64, Movement)> as Sales or_replica => movements;
    }
}

/// One movement on a wallet.
pub(crate) struct Move {
    pub(crate) user: UserId,
    pub(crate) change: Change,
    pub(crate) currency: Currency,
    /// The reason: a payment, a refund, a charge.
    pub(crate) reference: Uuid,
    pub(crate) now: Timestamp,
}

/// Moves the money or refuses, also in another currency than the wallet's. Returns the new balance.
pub(crate) async fn apply(tx: &mut dyn Tx, movement: &Move) -> Result<Won> {
    // Serialise a wallet's movements, which otherwise would conflict and retry.
    tx.lock(movement.user.uuid()).await?;
    let (balance, version) = load(tx, movement).await?;
    let after = movement.change.after(balance)?;
    let version = version + 1;
    let sql = "update wallets set balance = $3, version = $2, updated_at = $4
                where user_id = $1 and version = $2 - 1";
    let values = params![movement.user, version, after, movement.now];
    tx.change(sql, vec![values.to_vec()]).await?;
    write(tx, movement, version, after).await?;
    Ok(after)
}

/// The balance and the number of the latest movement. Creates the wallet on first use.
async fn load(tx: &mut dyn Tx, movement: &Move) -> Result<(Won, i64)> {
    let find = "select balance, version, currency from wallets where user_id = $1";
    if let Some(row) = tx.row(find, params![movement.user]).await? {
        if row.parse("currency", Currency::parse)? != movement.currency {
            return Err(Refusal::WalletCurrency { field: "amount" }.into());
        }
        return Ok((row.get("balance")?, row.get("version")?));
    }
    let make = "insert into wallets (user_id, balance, version, created_at, updated_at, currency)
                values ($1, 0, 0, $2, $2, $3)";
    tx.execute(make, params![movement.user, movement.now, movement.currency.as_str()]).await?;
    Ok((Won::ZERO, 0))
}

/// Both sides of a movement: what the fan's account gains, the platform's loses.
async fn write(tx: &mut dyn Tx, movement: &Move, version: i64, after: Won) -> Result<()> {
    let sql = "insert into wallet_ledger (user_id, version, account, id, kind, amount,
                                          balance_after, reference, created_at)
               values ($1, $2, 'WALLET', $3, $4, $5, $6, $7, $8),
                      ($1, $2, $9, $10, $4, $11, null, $7, $8)";
    let (kind, signed) = (movement.change.kind(), movement.change.signed());
    let (ours, theirs) = (tx.rng().id(movement.now), tx.rng().id(movement.now));
    let values = params![
        movement.user,
        version,
        ours,
        kind.as_str(),
        signed,
        after,
        movement.reference,
        movement.now,
        kind.contra(),
        theirs,
        -signed
    ];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}

async fn charge(tx: &mut dyn Tx, command: &ChargeWallet) -> Result<Idempotent<Charged>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let movement = Move {
        user: command.user,
        change: Change::Charge(command.amount),
        currency: command.currency,
        reference: command.ledger.uuid(),
        now: command.now,
    };
    let charged = Charged { balance: apply(tx, &movement).await?, ledger_id: command.ledger };
    idempotency::store(tx, &command.key, Some(command.ledger.uuid()), &charged, command.now)
        .await?;
    Ok(Idempotent::Fresh(charged))
}

async fn adjust(tx: &mut dyn Tx, command: &AdjustWallet) -> Result<Idempotent<Adjustment>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let change = Change::Adjust(command.amount);
    change.after(balance(tx, &BalanceOf { user: command.user }).await?)?;
    let decision = Decision {
        subject: Subject::Wallet(command.user),
        what: format!("WALLET {}", command.amount),
        amount: weight_of_correction(command.amount),
        currency: command.currency,
        actor: command.actor,
        now: command.now,
    };
    if !may_go_ahead(tx, &decision).await? {
        note_adjustment(tx, command, "wallet.adjust-asked").await?;
        let waits = AdjustmentWaits::of(command.user, command.amount);
        idempotency::store(tx, &command.key, Some(command.ledger.uuid()), &waits, command.now)
            .await?;
        return Ok(Idempotent::Fresh(Adjustment::SecondNeeded(waits)));
    }
    let (user, reference, now) = (command.user, command.ledger.uuid(), command.now);
    let currency = command.currency;
    let balance = apply(tx, &Move { user, change, currency, reference, now }).await?;
    let adjusted = Adjusted { user_id: user, balance, ledger_id: command.ledger };
    note_adjustment(tx, command, "wallet.adjust").await?;
    idempotency::store(tx, &command.key, Some(command.ledger.uuid()), &adjusted, command.now)
        .await?;
    Ok(Idempotent::Fresh(Adjustment::Made(adjusted)))
}

async fn note_adjustment(tx: &mut dyn Tx, command: &AdjustWallet, action: &str) -> Result<()> {
    let details = json!({ "amount": command.amount, "reason": command.reason });
    note(tx, command.actor, action, command.user, details, command.now).await
}

const BALANCE: &str = "select balance from wallets where user_id = $1";

async fn balance(tx: &mut dyn Tx, question: &BalanceOf) -> Result<Won> {
    read_balance(tx.row(BALANCE, params![question.user]).await?.as_ref())
}

async fn balances(tx: &mut dyn Tx, question: &BalancesOf) -> Result<Vec<Won>> {
    let sets = question.users.iter().map(|user| params![*user].to_vec()).collect();
    let found = tx.query_each(BALANCE, sets).await?;
    found.iter().map(|rows| read_balance(rows.first())).collect()
}

fn read_balance(row: Option<&Row>) -> Result<Won> {
    Ok(row.map(|row| row.get("balance")).transpose()?.unwrap_or(Won::ZERO))
}

async fn movements(tx: &mut dyn Tx, question: &MovementsOf) -> Result<Vec<(i64, Movement)>> {
    let sql = "select version, id, kind, amount, balance_after, created_at from wallet_ledger
                where user_id = $1 and account = 'WALLET' and version < $2
                order by version desc limit $3";
    let before = question.before.unwrap_or(i64::MAX);
    let read = |row: &Row| {
        let movement = Movement {
            id: LedgerId::new(row.get("id")?),
            kind: row.parse("kind", LedgerKind::parse)?,
            amount: row.get("amount")?,
            balance_after: row.get("balance_after")?,
            created_at: row.get("created_at")?,
        };
        Ok((row.get("version")?, movement))
    };
    let values = params![question.user, before, question.limit];
    tx.query(sql, values).await?.iter().map(read).collect()
}
