//! Wallets: every movement changes the balance and adds two ledger rows that sum to zero.

pub(super) mod charges;

use super::approvals::{Decision, Subject, may_go_ahead};
use super::audit::note;
use super::keys;
use super::store::SqlStore;
use super::tx::{Guard, Tx, work};
use super::value::{Row, params};
use app::Result;
use app::ports::keys::Once;
use app::ports::payments::{AskGateway, Unsettled};
use app::ports::wallets::{
    AdjustWallet, Adjusted, Adjustment, AdjustmentWaits, ChargeReady, ChargeView, ChargeWallet,
    Charged, ConfirmCharge, Movement, RequestCharge, SettleCharge, SettledCharge, Wallets,
};
use async_trait::async_trait;
use charges::{ChargeOf, TakeUnsettledCharges};
use domain::approvals::weight_of_correction;
use domain::wallet::{Change, LedgerKind};
use domain::{LedgerId, PaymentId, Timestamp, UserId, Won};
use serde_json::json;
use uuid::Uuid;

struct BalanceOf(UserId);
struct MovementsOf {
    user: UserId,
    before: Option<i64>,
    limit: u32,
}

work!(Sales: ChargeWallet => charge, Once<Charged>);
work!(Sales: AdjustWallet => adjust, Once<Adjustment>);
work!(Sales: BalanceOf => balance, Won);
work!(Sales or_replica: MovementsOf => movements, Vec<(i64, Movement)>);

#[async_trait]
impl Wallets for SqlStore {
    async fn charge_wallet(&self, command: ChargeWallet) -> Result<Once<Charged>> {
        self.write_in_batch(command).await
    }

    async fn adjust_wallet(&self, command: AdjustWallet) -> Result<Once<Adjustment>> {
        self.write(command).await
    }

    async fn request_charge(&self, command: RequestCharge) -> Result<Once<ChargeReady>> {
        self.write(command).await
    }

    async fn confirm_charge(&self, command: ConfirmCharge) -> Result<Once<AskGateway>> {
        self.write(command).await
    }

    async fn settle_charge(&self, command: SettleCharge) -> Result<SettledCharge> {
        self.write(command).await
    }

    async fn take_unsettled_charges(
        &self,
        asked_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Unsettled>> {
        self.write(TakeUnsettledCharges { asked_before, now, limit }).await
    }

    async fn charge(&self, charge: PaymentId, user: UserId) -> Result<Option<ChargeView>> {
        self.read(ChargeOf { charge, user }).await
    }

    async fn balance(&self, user: UserId) -> Result<Won> {
        self.read(BalanceOf(user)).await
    }

    async fn movements(
        &self,
        user: UserId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, Movement)>> {
        self.read(MovementsOf { user, before, limit }).await
    }
}

/// One movement on a wallet.
pub(super) struct Move {
    pub(super) user: UserId,
    pub(super) change: Change,
    /// What it was for: a payment, a refund, a charge.
    pub(super) reference: Uuid,
    pub(super) now: Timestamp,
}

/// Moves the money or refuses; the balance after it.
pub(super) async fn apply(tx: &mut dyn Tx, movement: &Move) -> Result<Won> {
    // A wallet's movements wait for each other instead of running again and again.
    tx.lock(movement.user.uuid()).await?;
    let (balance, version) = load(tx, movement).await?;
    let after = movement.change.after(balance)?;
    let version = version + 1;
    let sql = "update wallets set balance = $3, version = $2, updated_at = $4
                where user_id = $1 and version = $2 - 1";
    let values = params![movement.user, version, after, movement.now];
    tx.change(sql, vec![values.to_vec()]).await?;
    if tx.has(Guard::LedgerIsWritten) {
        write(tx, movement, version, after).await?;
    }
    Ok(after)
}

/// The balance and the number of the latest movement; a wallet is made when first used.
async fn load(tx: &mut dyn Tx, movement: &Move) -> Result<(Won, i64)> {
    let find = "select balance, version from wallets where user_id = $1";
    if let Some(row) = tx.row(find, params![movement.user]).await? {
        return Ok((row.get(0)?, row.get(1)?));
    }
    let make = "insert into wallets (user_id, balance, version, created_at, updated_at)
                values ($1, 0, 0, $2, $2)";
    tx.execute(make, params![movement.user, movement.now]).await?;
    Ok((Won::ZERO, 0))
}

/// Both sides of a movement: what the fan's account gains, the house's loses.
async fn write(tx: &mut dyn Tx, movement: &Move, version: i64, after: Won) -> Result<()> {
    let sql = "insert into wallet_ledger (user_id, version, account, id, kind, amount,
                                          balance_after, reference, created_at)
               values ($1, $2, 'WALLET', $3, $4, $5, $6, $7, $8),
                      ($1, $2, $9, $10, $4, $11, null, $7, $8)";
    let (kind, signed) = (movement.change.kind(), movement.change.signed());
    let (ours, theirs) = (tx.chance().id(movement.now), tx.chance().id(movement.now));
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

async fn charge(tx: &mut dyn Tx, command: &ChargeWallet) -> Result<Once<Charged>> {
    if let Some(answer) = keys::find(tx, &command.key).await? {
        return Ok(Once::Replay(answer));
    }
    let movement = Move {
        user: command.user,
        change: Change::Charge(command.amount),
        reference: command.ledger.uuid(),
        now: command.now,
    };
    let charged = Charged { balance: apply(tx, &movement).await?, ledger_id: command.ledger };
    keys::store(tx, (&command.key, Some(command.ledger.uuid())), &charged, command.now).await?;
    Ok(Once::Fresh(charged))
}

async fn adjust(tx: &mut dyn Tx, command: &AdjustWallet) -> Result<Once<Adjustment>> {
    if let Some(answer) = keys::find(tx, &command.key).await? {
        return Ok(Once::Replay(answer));
    }
    let change = Change::Adjust(command.amount);
    change.after(balance(tx, &BalanceOf(command.user)).await?)?;
    let decision = Decision {
        subject: Subject::Wallet(command.user),
        what: format!("WALLET {}", command.amount),
        amount: weight_of_correction(command.amount),
        actor: command.actor,
        now: command.now,
    };
    if !may_go_ahead(tx, &decision).await? {
        note_adjustment(tx, command, "wallet.adjust-asked").await?;
        let waits = AdjustmentWaits::of(command.user, command.amount);
        keys::store(tx, (&command.key, Some(command.ledger.uuid())), &waits, command.now).await?;
        return Ok(Once::Fresh(Adjustment::SecondNeeded(waits)));
    }
    let (user, reference, now) = (command.user, command.ledger.uuid(), command.now);
    let balance = apply(tx, &Move { user, change, reference, now }).await?;
    let adjusted = Adjusted { user_id: user, balance, ledger_id: command.ledger };
    note_adjustment(tx, command, "wallet.adjust").await?;
    keys::store(tx, (&command.key, Some(command.ledger.uuid())), &adjusted, command.now).await?;
    Ok(Once::Fresh(Adjustment::Made(adjusted)))
}

async fn note_adjustment(tx: &mut dyn Tx, command: &AdjustWallet, action: &str) -> Result<()> {
    let details = json!({ "amount": command.amount, "reason": command.reason });
    note(tx, (command.actor, action), command.user, details, command.now).await
}

async fn balance(tx: &mut dyn Tx, question: &BalanceOf) -> Result<Won> {
    let row = tx.row("select balance from wallets where user_id = $1", params![question.0]).await?;
    Ok(row.map(|row| row.get(0)).transpose()?.unwrap_or(Won::ZERO))
}

async fn movements(tx: &mut dyn Tx, question: &MovementsOf) -> Result<Vec<(i64, Movement)>> {
    let sql = "select version, id, kind, amount, balance_after, created_at from wallet_ledger
                where user_id = $1 and account = 'WALLET' and version < $2
                order by version desc limit $3";
    let before = question.before.unwrap_or(i64::MAX);
    let read = |row: &Row| {
        let movement = Movement {
            id: LedgerId::new(row.get(1)?),
            kind: row.parse(2, LedgerKind::parse)?,
            amount: row.get(3)?,
            balance_after: row.get(4)?,
            created_at: row.get(5)?,
        };
        Ok((row.get(0)?, movement))
    };
    let values = params![question.user, before, question.limit];
    tx.query(sql, values).await?.iter().map(read).collect()
}
