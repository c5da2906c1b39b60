//! The box office: sells and gives away seats at the desk. The customer's name is encrypted as
//! other personal data.

use crate::booking::port::issued::{IssueOrder, IssuedOrder, IssuedRow};
use crate::booking::reservations::tell_filter_sold;
use crate::context::AppContext;
use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::store::{Page, PageRequest};
use podo_domain::booking::issued::{Channel, Issue, Tender};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::booking::seats::SeatPick;
use podo_domain::{PaymentId, Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// What an organiser issues to whom.
pub struct AskToIssue {
    pub key: IdempotencyKey,
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub seats: Vec<(SeatId, Option<u32>)>,
    pub issue: Issue,
    pub customer: Customer,
}

/// The person at the desk, or the guest.
pub struct Customer {
    pub name: String,
    pub phone: Option<String>,
    pub note: Option<String>,
}

/// An issued order as organisers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuedOrderView {
    pub reservation_id: ReservationId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booking_number: Option<String>,
    pub status: ReservationStatus,
    pub channel: Channel,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tender: Option<Tender>,
    pub amount: Won,
    pub seats: u32,
    /// The organiser who issued it.
    pub actor_id: UserId,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub created_at: Timestamp,
}

fn place(field: &str, reservation: ReservationId) -> String {
    format!("issued_orders.{field}.{reservation}")
}

pub async fn issue_order(
    context: &AppContext,
    asked: AskToIssue,
) -> Result<Idempotent<IssuedOrder>> {
    let now = context.now();
    let seats: Vec<SeatId> = asked.seats.iter().map(|(seat, _)| *seat).collect();
    let pick = SeatPick::new(asked.schedule, &seats)?;
    let reservation = ReservationId::new(context.rng.id(now));
    let seal = |field, text: &str| {
        context.keyring.encrypt(&place(field, reservation), text, &*context.rng)
    };
    let Customer { name, phone, note } = asked.customer;
    let command = IssueOrder {
        key: asked.key,
        actor: asked.actor,
        reservation,
        payment: PaymentId::new(context.rng.id(now)),
        pick,
        types: asked.seats,
        issue: asked.issue,
        name: seal("name", &name),
        phone: phone.map(|phone| seal("phone", &phone)),
        note: note.map(|note| seal("note", &note)),
        now,
    };
    match context.store.issue_order(command).await? {
        Idempotent::Replay(stored) => Ok(Idempotent::Replay(stored)),
        Idempotent::Fresh((issued, sold)) => {
            if let Err(error) = tell_filter_sold(context, &sold).await {
                tracing::warn!(%error, "The seat filter missed a sale; reconciliation corrects it");
            }
            Ok(Idempotent::Fresh(issued))
        }
    }
}

pub async fn issued_orders(
    context: &AppContext,
    schedule: ScheduleId,
    page: PageRequest,
) -> Result<Page<IssuedOrderView>> {
    context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    let rows = context.store.issued_orders(schedule, page).await?;
    let views = rows.into_iter().map(|row| view(context, row)).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(views, page.limit, |view| view.reservation_id.uuid()))
}

/// The name on the tickets of an issued order. Refusals: `NotFound`.
pub(crate) async fn customer_of(
    context: &AppContext,
    reservation: ReservationId,
) -> Result<IssuedOrderView> {
    let row = context.store.issued_order(reservation).await?.ok_or(Refusal::NotFound)?;
    view(context, row)
}

fn view(context: &AppContext, row: IssuedRow) -> Result<IssuedOrderView> {
    let open = |field, text: &[u8]| context.keyring.decrypt(&place(field, row.reservation), text);
    let name = open("name", &row.name)?;
    let phone = row.phone.as_deref().map(|text| open("phone", text)).transpose()?;
    let note = row.note.as_deref().map(|text| open("note", text)).transpose()?;
    Ok(IssuedOrderView {
        reservation_id: row.reservation,
        booking_number: row.booking_number,
        status: row.status,
        channel: row.channel,
        tender: row.tender,
        amount: row.amount,
        seats: row.n_seats,
        actor_id: row.actor,
        name,
        phone,
        note,
        created_at: row.created_at,
    })
}
