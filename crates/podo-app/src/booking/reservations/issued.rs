//! The box office: sells and gives away seats at the desk. The customer's name is encrypted as
//! other personal data.

use crate::booking::port::issued::{CashUpQuery, IssueOrder, IssuedOrder, IssuedRow, TenderTotal};
use crate::booking::reservations::tell_filter_sold;
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::support::names::prefix_hash;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::store::{Page, PageRequest};
use podo_domain::booking::issued::{Channel, Issue, Tender};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::booking::seats::SeatPick;
use podo_domain::identity::names::name_prefixes;
use podo_domain::identity::permissions::EventScope;
use podo_domain::{
    Currency, PaymentId, Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId, Won,
};
use serde::Serialize;
use utoipa::ToSchema;

/// Most orders that a search by name or phone number looks at; more are a reason to search more
/// precisely.
const LOOKUPS_MAX: u32 = 200;

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
    pub currency: Currency,
    /// What the desk took, and what it gave back of that.
    pub paid: Won,
    pub refunded: Won,
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
    let lookups = lookups(context, &asked.customer);
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
        lookups,
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

/// Support finds an order by the customer's phone number, or by the beginning of the name. They are
/// the hashes under which it finds accounts, so one search looks for both.
fn lookups(context: &AppContext, customer: &Customer) -> Vec<[u8; 32]> {
    let phone = customer.phone.iter().map(|phone| context.keyring.lookup("phone", phone));
    let prefixes = name_prefixes(&customer.name);
    phone.chain(prefixes.iter().map(|prefix| prefix_hash(context, prefix))).collect()
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

/// An issued order with its customer, whose name is on the tickets. Refusals: `NotFound`.
pub(crate) async fn customer_of(
    context: &AppContext,
    reservation: ReservationId,
) -> Result<IssuedOrderView> {
    let found = issued_among(context, vec![reservation]).await?.pop();
    Ok(found.ok_or(Refusal::NotFound)?)
}

/// Those of these reservations that an organiser issued.
pub(crate) async fn issued_among(
    context: &AppContext,
    reservations: Vec<ReservationId>,
) -> Result<Vec<IssuedOrderView>> {
    if reservations.is_empty() {
        return Ok(Vec::new());
    }
    let rows = context.store.issued_among(reservations).await?;
    rows.into_iter().map(|row| view(context, row)).collect()
}

/// The newest orders whose customer has this hash, for events of the scope.
pub(crate) async fn issued_to(
    context: &AppContext,
    hash: [u8; 32],
    events: &EventScope,
) -> Result<Vec<IssuedOrderView>> {
    let rows = context.store.issued_to(hash, LOOKUPS_MAX).await?;
    let is_theirs = |row: &IssuedRow| match events {
        EventScope::All => true,
        EventScope::Only(events) => events.contains(&row.event),
    };
    rows.into_iter().filter(is_theirs).map(|row| view(context, row)).collect()
}

/// The name of a customer at the gate, as far as it can be decrypted: a gate opens without one.
pub(crate) fn customer_name(
    context: &AppContext,
    reservation: ReservationId,
    name: &[u8],
) -> Option<String> {
    match context.keyring.decrypt(&place("name", reservation), name) {
        Ok(name) => Some(name),
        Err(error) => {
            tracing::warn!(reservation.id = %reservation, %error, "Could not decrypt a name");
            None
        }
    }
}

/// What the desk took and gave back in this time, by tender. Refusals: `NotFound`.
pub async fn cash_up(context: &AppContext, asked: CashUpQuery) -> Result<Vec<TenderTotal>> {
    context.store.schedule(asked.schedule).await?.ok_or(Refusal::NotFound)?;
    context.store.cash_up(asked).await
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
        currency: row.currency,
        paid: row.paid,
        refunded: row.refunded,
        seats: row.n_seats,
        actor_id: row.actor,
        name,
        phone,
        note,
        created_at: row.created_at,
    })
}
