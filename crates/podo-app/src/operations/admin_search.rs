//! The organisers' search, with decrypted personal fields.

use crate::booking::reservations::issued::{IssuedOrderView, issued_among};
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::operations::port::admin_search::{
    Found, Look, NotificationRow, PaymentRow, PaymentSearch, PersonRow, PersonSearch,
    ReservationRow, ReservationSearch,
};
use crate::store::Page;
use podo_domain::booking::issued::{Channel, Tender};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::identity::Role;
use podo_domain::{Currency, ReservationId, ScheduleId, Timestamp, UserId, Won};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use utoipa::ToSchema;

/// A reservation as organisers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReservationLine {
    pub id: ReservationId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booking_number: Option<String>,
    pub status: ReservationStatus,
    pub schedule_id: ScheduleId,
    pub event_title: String,
    pub starts_at: Timestamp,
    /// The venue's, in which the date is shown.
    pub time_zone: String,
    /// Its seat numbers, including returned seats.
    pub seats: Vec<String>,
    pub amount: Won,
    pub currency: Currency,
    /// The fan, or the organiser who issued it at the desk.
    pub user_id: UserId,
    /// Absent if the account was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    pub channel: Channel,
    /// How the customer of the desk paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tender: Option<Tender>,
    /// The name of the customer of the desk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    pub created_at: Timestamp,
    /// The types of its seats, in the order of `seats`; empty at the full price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticket_types: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promotion_code: Option<String>,
    /// The booking fees of its seats and the fee of the order.
    pub fees: Won,
}

/// A person as organisers see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonLine {
    pub id: UserId,
    pub email: String,
    pub name: String,
    pub role: Role,
    pub status: String,
    /// The wallet balance.
    pub balance: Won,
    /// Of the balance.
    pub currency: Currency,
    pub created_at: Timestamp,
}

pub async fn reservations(
    context: &AppContext,
    search: ReservationSearch,
    look: Look,
) -> Result<Page<ReservationLine>> {
    let found = context.store.find_reservations(search, look).await?;
    let users: BTreeSet<UserId> = found.rows.iter().map(|row| row.user).collect();
    let emails = accounts::emails(context, users.into_iter().collect()).await?;
    let desk = found.rows.iter().filter(|row| !row.channel.is_fan()).map(|row| row.id).collect();
    let mut issued: HashMap<ReservationId, IssuedOrderView> = issued_among(context, desk)
        .await?
        .into_iter()
        .map(|order| (order.reservation_id, order))
        .collect();
    let line = |row: ReservationRow| {
        let email = emails.get(&row.user).cloned();
        let issued = issued.remove(&row.id);
        reservation_line(row, email, issued)
    };
    let items = found.rows.into_iter().map(line).collect();
    Ok(Page { items, next_cursor: found.next.map(|id| id.to_string()) })
}

fn reservation_line(
    row: ReservationRow,
    email: Option<String>,
    issued: Option<IssuedOrderView>,
) -> ReservationLine {
    ReservationLine {
        id: row.id,
        booking_number: row.booking_number,
        status: row.status,
        schedule_id: row.schedule,
        event_title: row.event_title,
        starts_at: row.starts_at,
        time_zone: row.time_zone,
        seats: row.seats,
        amount: row.amount,
        currency: row.currency,
        user_id: row.user,
        email,
        channel: row.channel,
        tender: issued.as_ref().and_then(|order| order.tender),
        customer: issued.map(|order| order.name),
        created_at: row.created_at,
        ticket_types: row.ticket_types,
        promotion_code: row.promotion_code,
        fees: row.fees,
    }
}

pub async fn payments(
    context: &AppContext,
    search: PaymentSearch,
    look: Look,
) -> Result<Page<PaymentRow>> {
    Ok(as_page(context.store.find_payments(search, look).await?))
}

/// Finds people by full e-mail address or id: other fields are encrypted.
pub async fn people(
    context: &AppContext,
    search: PersonSearch,
    look: Look,
) -> Result<Page<PersonLine>> {
    let found = context.store.find_people(search, look).await?;
    let users = found.rows.iter().map(|row| row.user).collect();
    let balances = context.store.balances(users).await?;
    let lines = found.rows.iter().zip(balances);
    let items = lines.map(|(row, balance)| person_line(context, row, balance));
    let items = items.collect::<Result<_>>()?;
    Ok(Page { items, next_cursor: found.next.map(|id| id.to_string()) })
}

fn person_line(context: &AppContext, row: &PersonRow, balance: Won) -> Result<PersonLine> {
    Ok(PersonLine {
        id: row.user,
        email: accounts::open(context, "email", row.user, &row.email)?,
        name: accounts::open(context, "name", row.user, &row.name)?,
        role: row.role,
        status: row.status.clone(),
        balance,
        currency: context.rules.currency,
        created_at: row.created_at,
    })
}

/// Parses an organiser's search text: an id or a full e-mail address.
pub fn person_search(context: &AppContext, text: &str) -> PersonSearch {
    let text = text.trim();
    match text.parse() {
        Ok(id) => PersonSearch { id: Some(id), ..PersonSearch::default() },
        Err(_) if text.is_empty() => PersonSearch::default(),
        Err(_) => {
            let email = text.to_lowercase();
            let email_hash = Some(context.keyring.lookup("email", &email));
            PersonSearch { email_hash, ..PersonSearch::default() }
        }
    }
}

pub async fn notifications(context: &AppContext, look: Look) -> Result<Page<NotificationRow>> {
    Ok(as_page(context.store.all_notifications(look).await?))
}

fn as_page<T>(found: Found<T>) -> Page<T> {
    Page { items: found.rows, next_cursor: found.next.map(|id| id.to_string()) }
}
