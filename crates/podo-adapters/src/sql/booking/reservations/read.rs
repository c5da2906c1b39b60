//! Reservations as their owners see them.

use crate::sql::booking::reservations::{ReservationOf, ReservationsOf, SeatsHeldBy, seats_of};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::booking::port::reservations::{ReservationView, lines_of};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::id::SeatIndex;
use podo_domain::{Currency, PaymentId, ReservationId, ScheduleId};
use uuid::Uuid;

pub(super) async fn list(
    tx: &mut dyn Tx,
    question: &ReservationsOf,
) -> Result<Vec<ReservationView>> {
    let sql = "select id, schedule_id, status, amount, hold_expires_at, booking_number, created_at,
                      order_fee, promotion_code, currency
                 from reservations where user_id = $1 and id < $2 order by id desc limit $3";
    let before = question.page.after.unwrap_or(Uuid::max());
    let values = params![question.user, before, question.page.limit + 1];
    let rows = tx.query(sql, values).await?;
    let mut views = Vec::with_capacity(rows.len());
    for row in &rows {
        views.push(view(tx, row).await?);
    }
    Ok(views)
}

pub(super) async fn one(
    tx: &mut dyn Tx,
    question: &ReservationOf,
) -> Result<Option<ReservationView>> {
    let sql = "select id, schedule_id, status, amount, hold_expires_at, booking_number, created_at,
                      order_fee, promotion_code, currency
                 from reservations where id = $1 and user_id = $2";
    match tx.row(sql, params![question.reservation, question.user]).await? {
        Some(row) => view(tx, &row).await.map(Some),
        None => Ok(None),
    }
}

async fn view(tx: &mut dyn Tx, row: &Row) -> Result<ReservationView> {
    let (id, schedule): (ReservationId, ScheduleId) = (row.get("id")?, row.get("schedule_id")?);
    let seats = seats_of(tx, id, schedule).await?;
    let code: Option<String> = row.get("promotion_code")?;
    let deposit = deposit_of(tx, id).await?;
    Ok(ReservationView {
        id,
        schedule_id: schedule,
        status: row.parse("status", ReservationStatus::parse)?,
        lines: lines_of(&seats, code.as_deref(), row.get("order_fee")?),
        seats,
        promotion_code: code,
        amount: row.get("amount")?,
        currency: row.parse("currency", Currency::parse)?,
        hold_expires_at: row.get("hold_expires_at")?,
        booking_number: row.get("booking_number")?,
        deposit_payment_id: deposit.map(|(payment, _)| payment),
        needs_refund_account: deposit.is_some_and(|(_, needs_account)| needs_account),
        created_at: row.get("created_at")?,
    })
}

/// The latest payment to a virtual account, and whether a refund of it waits for a bank account.
async fn deposit_of(
    tx: &mut dyn Tx,
    reservation: ReservationId,
) -> Result<Option<(PaymentId, bool)>> {
    let sql = "select p.id,
                      exists (select 1 from refunds f
                               where f.payment_id = p.id and f.status = 'DUE'
                                 and f.destination = 'ORIGINAL')
                      and not exists (select 1 from refund_accounts a where a.id = p.id) as needs
                 from payments p join deposits d on d.payment_id = p.id
                where p.reservation_id = $1 and d.issued_at is not null
                order by p.id desc limit 1";
    let Some(row) = tx.row(sql, params![reservation]).await? else { return Ok(None) };
    Ok(Some((row.get("id")?, row.get("needs")?)))
}

pub(super) async fn seats_held(tx: &mut dyn Tx, question: &SeatsHeldBy) -> Result<Vec<SeatIndex>> {
    let sql = "select s.seat_index
                 from reservations r join reservation_seats s on s.reservation_id = r.id
                where r.schedule_id = $1 and r.user_id = $2
                  and r.status in ('HELD', 'PAYING', 'CONFIRMED')";
    let rows = tx.query(sql, params![question.schedule, question.user]).await?;
    rows.iter().map(|row| Ok(row.get("seat_index")?)).collect()
}
