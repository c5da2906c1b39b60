//! Erases purchases whose retention period is over: whole reservations, one transaction each. The
//! wallet ledger stays, because it proves the balance and is append-only; entries may then refer to
//! payments that no longer exist. Sales totals stay as they were counted.

use crate::sql::booking::reservations::keep_again;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, first_at, params};
use podo_app::operations::port::records::Records;
use podo_app::{Error, Result};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::operations::retention::Record;
use podo_domain::payments::PaymentStatus;
use podo_domain::payments::refunds::RefundStatus;
use podo_domain::{PaymentId, ReservationId, ScheduleId, Timestamp, UserId};

commands! {
    impl Records for SqlStore {
        read old_reservations(OldReservations { before: Timestamp, limit: u32, now: Timestamp })
            -> Vec<ReservationId> as Worker => old_reservations;
        write erase_reservation(EraseReservation { reservation: ReservationId, before: Timestamp })
            -> bool as Worker => erase_reservation;
        write erase_charges(EraseCharges { before: Timestamp, limit: u32 })
            -> u64 as Worker => erase_charges;
        write erase_notifications(EraseNotifications { before: Timestamp, limit: u32 })
            -> u64 as Worker => erase_notifications;
        write forget_money_keys(ForgetMoneyKeys { before: Timestamp, limit: u32 })
            -> u64 as Worker => forget_money_keys;
    }
}

/// Candidates by age, since ids begin with their creation time. The erasing command checks each
/// again.
async fn old_reservations(
    tx: &mut dyn Tx,
    question: &OldReservations,
) -> Result<Vec<ReservationId>> {
    let sql = "select r.id
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id < $2 and r.updated_at < $1 and r.status not in ('HELD', 'PAYING')
                  and s.ends_at < $1 and s.sale_ends_at < $1
                  and not exists (select 1 from payments p
                                   where p.reservation_id = r.id
                                     and (p.updated_at >= $1
                                          or p.status in ('REQUESTED', 'UNKNOWN',
                                                          'AWAITING_DEPOSIT', 'REFUND_DUE')))
                  and not exists (select 1 from refunds f
                                   where f.reservation_id = r.id
                                     and (f.updated_at >= $1 or f.status = 'DUE'))
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'payment-retention' and f.item = r.id), $4) <= $4
                order by r.id limit $3";
    tx.follow_indexes().await?;
    let OldReservations { before, limit, now } = *question;
    let rows = tx.query(sql, params![before, first_at(before), limit, now]).await?;
    rows.iter().map(|row| Ok(row.get("id")?)).collect()
}

/// A reservation with what its erasure needs.
struct Found {
    record: Record,
    schedule: ScheduleId,
    payments: Vec<(PaymentId, UserId)>,
}

async fn find(tx: &mut dyn Tx, reservation: ReservationId) -> Result<Option<Found>> {
    let sql = "select r.status, r.updated_at, r.schedule_id, s.ends_at, s.sale_ends_at
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id = $1";
    let Some(row) = tx.row(sql, params![reservation]).await? else { return Ok(None) };
    let sql = "select status, updated_at, id, user_id from payments where reservation_id = $1";
    let payments = tx.query(sql, params![reservation]).await?;
    let sql = "select status, updated_at from refunds where reservation_id = $1";
    let refunds = tx.query(sql, params![reservation]).await?;
    let (ends_at, sale_ends_at): (Timestamp, Timestamp) =
        (row.get("ends_at")?, row.get("sale_ends_at")?);
    let paid = |row: &Row| Ok((row.parse("status", PaymentStatus::parse)?, row.get("updated_at")?));
    let refunded =
        |row: &Row| Ok((row.parse("status", RefundStatus::parse)?, row.get("updated_at")?));
    let name = |row: &Row| Ok((row.get("id")?, row.get("user_id")?));
    Ok(Some(Found {
        record: Record {
            status: row.parse("status", ReservationStatus::parse)?,
            changed_at: row.get("updated_at")?,
            over_at: ends_at.max(sale_ends_at),
            payments: payments.iter().map(paid).collect::<Result<_>>()?,
            refunds: refunds.iter().map(refunded).collect::<Result<_>>()?,
        },
        schedule: row.get("schedule_id")?,
        payments: payments.iter().map(name).collect::<Result<_>>()?,
    }))
}

async fn erase_reservation(tx: &mut dyn Tx, command: &EraseReservation) -> Result<bool> {
    let EraseReservation { reservation, before } = *command;
    tx.follow_indexes().await?;
    let Some(found) = find(tx, reservation).await? else { return Ok(false) };
    if !found.record.may_be_erased(before) {
        return Ok(false);
    }
    for (payment, user) in found.payments {
        erase_around_payment(tx, payment, user).await?;
        let sql = "delete from payments where id = $1 and updated_at < $2";
        gone(tx.execute(sql, params![payment, before]).await?)?;
    }
    let sql = "select seat_index from reservation_seats where reservation_id = $1 and active";
    let rows = tx.query(sql, params![reservation]).await?;
    let seats = rows.iter().map(|row| Ok(row.get("seat_index")?)).collect::<Result<Vec<_>>>()?;
    // The show and the sale are over, so the seat is free.
    let free = "update seats set state = 'FREE', claim = null, expires_at = null, fence = fence + 1
                 where schedule_id = $1 and claim = $2
                   and seat_index in (select seat_index from reservation_seats
                                       where reservation_id = $2 and active)";
    tx.execute(free, params![found.schedule, reservation]).await?;
    keep_again(tx, found.schedule, &seats).await?;
    let rest = [
        "delete from check_ins
          where ticket_id in (select id from tickets where reservation_id = $1)",
        "delete from resales where reservation_id = $1",
        "delete from ticket_claims
          where ticket_id in (select id from tickets where reservation_id = $1)",
        "delete from transfer_history where reservation_id = $1",
        "delete from tickets where reservation_id = $1",
        "delete from resends where reservation_id = $1",
        "delete from standbys where reservation_id = $1",
        "delete from draw_applications where reservation_id = $1",
        "delete from issued_lookups where reservation_id = $1",
        "delete from issued_orders where id = $1",
        "delete from reseats where reservation_id = $1",
        "delete from booked where reservation_id = $1",
        "delete from accepted_changes where reservation_id = $1",
        "delete from reservation_seats where reservation_id = $1",
        "delete from reservation_history where reservation_id = $1",
        "delete from outbox where aggregate_id = $1",
    ];
    for sql in rest {
        tx.execute(sql, params![reservation]).await?;
    }
    let used = "update promotion_codes set n_used = n_used - 1, updated_at = $2
                 where id = (select promotion_id from reservations
                              where id = $1 and status = 'CONFIRMED')";
    tx.execute(used, params![reservation, before]).await?;
    let sql = "delete from reservations where id = $1 and updated_at < $2";
    gone(tx.execute(sql, params![reservation, before]).await?)?;
    Ok(true)
}

/// Rows that refer to a payment or a wallet charge, except organisers' idempotency keys, which
/// expire by age.
async fn erase_around_payment(tx: &mut dyn Tx, payment: PaymentId, user: UserId) -> Result<()> {
    let named = [
        "delete from deposits where payment_id = $1",
        "delete from refund_accounts where id = $1",
        "delete from refunds where payment_id = $1",
        "delete from payment_history where payment_id = $1",
        "delete from refund_approvals where payment_id = $1",
        "delete from moved_alone where kind = 'PAYMENT' and subject_id = $1",
        "delete from sandbox_book where payment_id = $1",
    ];
    for sql in named {
        tx.execute(sql, params![payment]).await?;
    }
    let keys = "delete from idempotency_keys where user_id = $1 and subject_id = $2";
    tx.execute(keys, params![user, payment]).await?;
    Ok(())
}

/// Checks that a row read before was deleted; otherwise a concurrent command changed it.
fn gone(n_deleted: u64) -> Result<()> {
    match n_deleted {
        1 => Ok(()),
        _ => Err(Error::Conflict("a concurrent command changed the record".into())),
    }
}

async fn erase_charges(tx: &mut dyn Tx, command: &EraseCharges) -> Result<u64> {
    let EraseCharges { before, limit } = *command;
    let find = "select id, user_id from wallet_charges
                 where id < $2 and updated_at < $1 and status not in ('REQUESTED', 'UNKNOWN')
                 order by id limit $3";
    tx.follow_indexes().await?;
    let rows = tx.query(find, params![before, first_at(before), limit]).await?;
    for row in &rows {
        let (charge, user): (PaymentId, UserId) = (row.get("id")?, row.get("user_id")?);
        erase_around_payment(tx, charge, user).await?;
        let sql = "delete from wallet_charges where id = $1 and updated_at < $2";
        gone(tx.execute(sql, params![charge, before]).await?)?;
    }
    Ok(rows.len() as u64)
}

async fn erase_notifications(tx: &mut dyn Tx, command: &EraseNotifications) -> Result<u64> {
    let sql = "delete from mailbox where (message_id, channel, user_id) in
                 (select message_id, channel, user_id from mailbox
                   where message_id < $1 order by message_id limit $2)";
    Ok(tx.execute(sql, params![first_at(command.before), command.limit]).await?)
}

async fn forget_money_keys(tx: &mut dyn Tx, command: &ForgetMoneyKeys) -> Result<u64> {
    let sql = "delete from idempotency_keys where (user_id, endpoint, key) in
                 (select user_id, endpoint, key from idempotency_keys k
                   where created_at < $1 and subject_id is not null and status is not null
                     and not exists (select 1 from payments p where p.id = k.subject_id)
                     and not exists (select 1 from wallet_charges c where c.id = k.subject_id)
                   limit $2)";
    Ok(tx.execute(sql, params![command.before, command.limit]).await?)
}
