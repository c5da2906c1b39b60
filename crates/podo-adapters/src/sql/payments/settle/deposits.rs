//! Virtual accounts: issued, paid to, closed at their deadline.

use crate::sql::booking::reservations::seats_of;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::payments::settle::{end_entry, refund_accounts};
use crate::sql::payments::{PaymentRow, Purchase};
use podo_app::Result;
use podo_app::payments::port::deposits::{
    AwaitingDeposit, ClosingDeposit, DepositView, Deposits, RefundAccountRecord, SetRefundAccount,
    TakeClosing, TakeWatched,
};
use podo_app::payments::port::payments::{GatewayQuery, Issued};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::deposits::{
    Awaited, CANCELED, CLOSE_AFTER, EXPIRED, REMIND_BEFORE, WATCH_FOR,
};
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{Currency, PaymentId, Refusal, ScheduleId, Timestamp, UserId, Won};
use serde_json::json;
use std::time::Duration;

commands! {
    impl Deposits for SqlStore {
        write cancel_deposit(CancelDeposit { payment: PaymentId, user: UserId, now: Timestamp })
            -> ClosingDeposit as Sales => cancel;
        write take_closing(TakeClosing) -> Vec<ClosingDeposit> as Worker => take_closing;
        write close_deposits_of(CloseDepositsOf { schedule: ScheduleId, now: Timestamp })
            -> u64 as Worker => close_all;
        write take_watched(TakeWatched) -> Vec<GatewayQuery> as Worker => take_watched;
        write set_refund_account(SetRefundAccount) -> () as Sales => refund_accounts::set;
        read refund_account(RefundAccountOf { payment: PaymentId, user: UserId })
            -> RefundAccountRecord as Sales => refund_accounts::read;
        write forget_refund_accounts(ForgetRefundAccounts { before: Timestamp, limit: u32 })
            -> u64 as Worker => refund_accounts::forget;

        command RemindOfDeadlines { now: Timestamp, limit: u32 } -> u64 as Worker => remind;
        command RemindOfAccounts { now: Timestamp, again_at: Timestamp, limit: u32 }
            -> u64 as Worker => refund_accounts::remind;

        async fn remind_depositors(
            &self,
            now: Timestamp,
            again_at: Timestamp,
            limit: u32,
        ) -> Result<u64> {
            let of_deadlines = self.write(RemindOfDeadlines { now, limit }).await?;
            Ok(of_deadlines + self.write(RemindOfAccounts { now, again_at, limit }).await?)
        }
    }
}

/// How soon the gateway is asked about a deposit that was awaited, in case another follows.
const LOOK_AFTER: Duration = Duration::from_secs(60 * 60);

/// A payment to a virtual account was requested. The gateway knows this deadline.
pub(in crate::sql::payments) async fn prepare(
    tx: &mut dyn Tx,
    payment: PaymentId,
    due_at: Timestamp,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into deposits (payment_id, due_at, watch_until, created_at, updated_at)
               values ($1, $2, $3, $4, $4)";
    let values = params![payment, due_at, due_at.plus(WATCH_FOR), now];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}

/// The gateway issued the account: it keeps the seats, and the fan's entry ends.
pub(super) async fn issue(
    tx: &mut dyn Tx,
    purchase: &Purchase,
    awaited: &Awaited,
    now: Timestamp,
) -> Result<Issued> {
    let Purchase { row, reservation, .. } = purchase;
    let payment = row.payment.id;
    // Their deadline counts if it is earlier than ours.
    let until = awaited.account.until.unwrap_or(Timestamp::FAR_FUTURE);
    let set = "update deposits
                  set bank = $2, account_number = $3, holder = $4, issued_at = $5, received = $6,
                      due_at = case when $7 < due_at then $7 else due_at end,
                      ask_at = $8, updated_at = $5
                where payment_id = $1
               returning due_at";
    let account = &awaited.account;
    let values = params![
        payment,
        &account.bank,
        &account.number,
        &account.holder,
        now,
        awaited.received,
        until,
        now.plus(Duration::from_secs(10 * 60))
    ];
    let set = tx.row(set, values).await?;
    let due_at: Timestamp = set.ok_or(Refusal::NotFound)?.get("due_at")?;
    // A reminder soon after the account was issued would repeat its message.
    let remind_at = Some(due_at.minus(REMIND_BEFORE)).filter(|at| now.plus(REMIND_BEFORE) < *at);
    let plan = "update deposits set close_at = $2, remind_at = $3 where payment_id = $1";
    tx.execute(plan, params![payment, due_at.plus(CLOSE_AFTER), remind_at]).await?;
    end_entry(tx, reservation.room(), reservation.place, now).await?;
    tell(tx, payment, MessageKind::DepositAwaited, now).await?;
    let deposit = DepositView {
        bank: account.bank.clone(),
        account_number: account.number.clone(),
        holder: account.holder.clone(),
        amount: row.payment.amount,
        received: awaited.received,
        due_at,
        is_closing: false,
    };
    let status = PaymentStatus::AwaitingDeposit;
    Ok(Issued {
        user: row.user,
        room: reservation.room(),
        place: reservation.place,
        awaiting: AwaitingDeposit { payment_id: payment, status, deposit },
    })
}

pub(super) async fn note_received(
    tx: &mut dyn Tx,
    payment: PaymentId,
    received: Won,
    now: Timestamp,
) -> Result<()> {
    let sql = "update deposits set received = $2, updated_at = $3
                where payment_id = $1 and received <> $2";
    tx.execute(sql, params![payment, received, now]).await?;
    Ok(())
}

/// A payment was settled: nothing is closed or reminded any more, but money may still come.
pub(super) async fn end(
    tx: &mut dyn Tx,
    row: &PaymentRow,
    received: Won,
    now: Timestamp,
) -> Result<()> {
    if row.payment.method != PaymentMethod::VirtualAccount {
        return Ok(());
    }
    let sql = "update deposits
                  set received = $2, close_at = null, remind_at = null, updated_at = $3,
                      ask_at = case when issued_at is not null and $4 < watch_until
                                    then $4 end
                where payment_id = $1";
    let values = params![row.payment.id, received, now, now.plus(LOOK_AFTER)];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Tells the fan about the deposit: the account, the amount and the deadline.
pub(super) async fn tell(
    tx: &mut dyn Tx,
    payment: PaymentId,
    kind: MessageKind,
    now: Timestamp,
) -> Result<()> {
    let count = "update deposits set n_messages = n_messages + 1, updated_at = $2
                  where payment_id = $1
                 returning n_messages, due_at, bank, account_number, holder";
    let Some(row) = tx.row(count, params![payment, now]).await? else { return Ok(()) };
    let facts = "select p.user_id, p.reservation_id, p.amount, r.schedule_id
                   from payments p join reservations r on r.id = p.reservation_id
                  where p.id = $1";
    let of = tx.row(facts, params![payment]).await?.ok_or(Refusal::NotFound)?;
    let (reservation, schedule) = (
        of.get::<podo_domain::ReservationId>("reservation_id")?,
        of.get::<ScheduleId>("schedule_id")?,
    );
    let seats = seats_of(tx, reservation, schedule).await?;
    let payload = json!({
        "paymentId": payment,
        "reservationId": reservation,
        "userId": of.get::<UserId>("user_id")?,
        "amount": of.get::<Won>("amount")?,
        "seatIds": seats.iter().map(|seat| seat.id).collect::<Vec<_>>(),
        "until": row.get::<Timestamp>("due_at")?,
        "deposit": {
            "bank": row.get::<Option<String>>("bank")?,
            "accountNumber": row.get::<Option<String>>("account_number")?,
            "holder": row.get::<Option<String>>("holder")?,
        },
    });
    let message = Outgoing {
        kind,
        aggregate: payment.uuid(),
        seq: row.get("n_messages")?,
        key: reservation.uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, now).await
}

/// The account of a payment, once it is issued.
pub(in crate::sql::payments) async fn view(
    tx: &mut dyn Tx,
    payment: PaymentId,
    amount: Won,
) -> Result<Option<DepositView>> {
    let sql = "select bank, account_number, holder, received, due_at, canceled_at, close_at
                 from deposits where payment_id = $1 and issued_at is not null";
    let Some(row) = tx.row(sql, params![payment]).await? else { return Ok(None) };
    let canceled_at: Option<Timestamp> = row.get("canceled_at")?;
    let close_at: Option<Timestamp> = row.get("close_at")?;
    Ok(Some(DepositView {
        bank: row.get("bank")?,
        account_number: row.get("account_number")?,
        holder: row.get("holder")?,
        amount,
        received: row.get("received")?,
        due_at: row.get("due_at")?,
        is_closing: canceled_at.is_some() && close_at.is_some(),
    }))
}

/// The intent is stored before the gateway is called: after a crash the job goes on.
async fn cancel(tx: &mut dyn Tx, command: &CancelDeposit) -> Result<ClosingDeposit> {
    let sql = "select gateway, method, gateway_ref, amount, currency, status from payments
                where id = $1 and user_id = $2";
    let found = tx.row(sql, params![command.payment, command.user]).await?;
    let row = found.ok_or(Refusal::NotFound)?;
    if row.parse("status", PaymentStatus::parse)? != PaymentStatus::AwaitingDeposit {
        return Err(Refusal::PaymentOver.into());
    }
    let mark = "update deposits
                   set canceled_at = coalesce(canceled_at, $2), close_at = $3, remind_at = null,
                       updated_at = $2
                 where payment_id = $1 and close_at is not null";
    let again_at = command.now.plus(Duration::from_secs(60));
    match tx.execute(mark, params![command.payment, command.now, again_at]).await? {
        1 => Ok(ClosingDeposit { ask: query_of(&row, command.payment)?, reason: CANCELED }),
        _ => Err(podo_app::Error::Conflict("the deposit was settled meanwhile".into())),
    }
}

fn query_of(row: &Row, payment: PaymentId) -> Result<GatewayQuery> {
    let gateway: Option<String> = row.get("gateway")?;
    Ok(GatewayQuery {
        payment,
        gateway: gateway.unwrap_or_default(),
        method: row.parse("method", PaymentMethod::parse)?,
        payment_key: row.get("gateway_ref")?,
        amount: row.get("amount")?,
        currency: row.parse("currency", Currency::parse)?,
    })
}

async fn load_query(tx: &mut dyn Tx, payment: PaymentId) -> Result<GatewayQuery> {
    let sql = "select gateway, method, gateway_ref, amount, currency from payments where id = $1";
    let row = tx.row(sql, params![payment]).await?.ok_or(Refusal::NotFound)?;
    query_of(&row, payment)
}

async fn take_closing(tx: &mut dyn Tx, command: &TakeClosing) -> Result<Vec<ClosingDeposit>> {
    let sql = "update deposits set close_at = $2, updated_at = $1
                where payment_id in
                      (select payment_id from deposits d
                        where close_at is not null and close_at <= $1
                          and coalesce((select f.next_at from job_failures f
                                         where f.job = 'deposits' and f.item = d.payment_id), $1)
                              <= $1
                        order by close_at limit $3 /* skip locked */)
               returning payment_id, canceled_at";
    let rows = tx.query(sql, params![command.now, command.until, command.limit]).await?;
    let mut closing = Vec::with_capacity(rows.len());
    for row in rows {
        let canceled_at: Option<Timestamp> = row.get("canceled_at")?;
        let ask = load_query(tx, row.get("payment_id")?).await?;
        let reason = if canceled_at.is_some() { CANCELED } else { EXPIRED };
        closing.push(ClosingDeposit { ask, reason });
    }
    Ok(closing)
}

async fn close_all(tx: &mut dyn Tx, command: &CloseDepositsOf) -> Result<u64> {
    let sql = "update deposits set close_at = $2, updated_at = $2
                where close_at > $2
                  and exists (select 1
                                from payments p join reservations r on r.id = p.reservation_id
                               where p.id = deposits.payment_id and p.status = 'AWAITING_DEPOSIT'
                                 and r.schedule_id = $1 and r.status = 'PAYING')";
    Ok(tx.execute(sql, params![command.schedule, command.now]).await?)
}

async fn take_watched(tx: &mut dyn Tx, command: &TakeWatched) -> Result<Vec<GatewayQuery>> {
    let sql = "update deposits
                  set updated_at = $1,
                      ask_at = case when close_at is not null then $2
                                    when $3 < watch_until then $3 end
                where payment_id in
                      (select payment_id from deposits
                        where ask_at is not null and ask_at <= $1
                        order by ask_at limit $4 /* skip locked */)
               returning payment_id";
    let TakeWatched { now, again_at, later_at, limit } = *command;
    let rows = tx.query(sql, params![now, again_at, later_at, limit]).await?;
    let mut watched = Vec::with_capacity(rows.len());
    for row in rows {
        watched.push(load_query(tx, row.get("payment_id")?).await?);
    }
    Ok(watched)
}

async fn remind(tx: &mut dyn Tx, command: &RemindOfDeadlines) -> Result<u64> {
    let sql = "update deposits set remind_at = null, updated_at = $1
                where payment_id in
                      (select payment_id from deposits
                        where remind_at is not null and remind_at <= $1
                        order by remind_at limit $2 /* skip locked */)
               returning payment_id, due_at, close_at";
    let rows = tx.query(sql, params![command.now, command.limit]).await?;
    for row in &rows {
        let (due_at, close_at): (Timestamp, Option<Timestamp>) =
            (row.get("due_at")?, row.get("close_at")?);
        if close_at.is_some() && command.now < due_at {
            tell(tx, row.get("payment_id")?, MessageKind::DepositReminder, command.now).await?;
        }
    }
    Ok(rows.len() as u64)
}
