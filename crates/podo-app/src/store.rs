//! The store as one port, and its pages.

use crate::booking::port::allocations::Allocations;
use crate::booking::port::issued::IssuedOrders;
use crate::booking::port::reconciliation::Reconciliation;
use crate::booking::port::reseat::Reseats;
use crate::booking::port::reservations::Reservations;
use crate::booking::port::standby::Standbys;
use crate::catalog::images::port::Images;
use crate::catalog::phases::draws_port::Draws;
use crate::catalog::phases::port::Phases;
use crate::catalog::port::Catalog;
use crate::catalog::pricing_port::Pricing;
use crate::identity::port::accounts::Accounts;
use crate::identity::port::api_keys::ApiKeys;
use crate::identity::port::bot_signals::BotSignals;
use crate::identity::port::encrypted_fields::EncryptedFields;
use crate::identity::port::legal::Legal;
use crate::identity::port::recovery::Recovery;
use crate::identity::port::team::Team;
use crate::identity::support::port::Support;
use crate::messaging::port::announcements::Announcements;
use crate::messaging::port::dead_letters::DeadLetters;
use crate::messaging::port::messages::Messages;
use crate::messaging::port::notifications::Notifications;
use crate::messaging::port::webhook_endpoints::WebhookEndpoints;
use crate::operations::port::admin_search::AdminSearch;
use crate::operations::port::audit::AuditLog;
use crate::operations::port::idempotency::IdempotencyKeys;
use crate::operations::port::invariants::Invariants;
use crate::operations::port::job_failures::JobFailures;
use crate::operations::port::job_runs::JobRuns;
use crate::operations::port::leases::Leases;
use crate::operations::port::records::Records;
use crate::payments::port::deposits::Deposits;
use crate::payments::port::gateway_webhooks::Webhooks;
use crate::payments::port::payments::Payments;
use crate::payments::port::refunds::Refunds;
use crate::payments::port::reports::Reports;
use crate::payments::port::resolutions::Resolutions;
use crate::payments::port::sales::Sales;
use crate::payments::port::wallets::Wallets;
use crate::tickets::gate_port::Gates;
use crate::tickets::port::Tickets;
use crate::tickets::resale_port::Resales;
use crate::waiting_room::port::blocks::QueueBlocks;
use crate::waiting_room::port::history::QueueHistory;
use crate::waiting_room::port::log::QueueLog;
use crate::waiting_room::port::samples::SaleSamples;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Declares a trait that combines the named ones.
macro_rules! union_trait {
    ($(#[$doc:meta])* $name:ident: $($part:path),+ $(,)?) => {
        $(#[$doc])*
        pub trait $name: $($part +)+ {}

        impl<T> $name for T where T: $($part +)+ {}
    };
}

union_trait! {
    /// Everything that must survive. One database is behind all of it, so that one transaction can
    /// span rooms.
    Store:
    Accounts,
    Allocations,
    IssuedOrders,
    Reseats,
    Announcements,
    ApiKeys,
    AuditLog,
    Catalog,
    DeadLetters,
    Deposits,
    Draws,
    Images,
    Invariants,
    JobFailures,
    JobRuns,
    IdempotencyKeys,
    Leases,
    Legal,
    AdminSearch,
    Messages,
    Notifications,
    WebhookEndpoints,
    Payments,
    Phases,
    Pricing,
    QueueBlocks,
    QueueHistory,
    QueueLog,
    Reconciliation,
    Records,
    Recovery,
    Refunds,
    Reports,
    Resales,
    Reservations,
    Resolutions,
    Sales,
    SaleSamples,
    EncryptedFields,
    BotSignals,
    Standbys,
    Gates,
    Support,
    Team,
    Tickets,
    Wallets,
    Webhooks,
}

/// Most rows in one page.
pub const PAGE_MAX: u32 = 100;

/// The order of a list by the time at which its rows were created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = ListOrder)]
pub enum Order {
    #[default]
    Newest,
    Oldest,
}

/// The requested page: at most `limit` rows after `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageRequest {
    pub limit: u32,
    pub after: Option<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Builds a page from rows that were read with one more than the limit.
    pub fn cut(mut rows: Vec<T>, limit: u32, id: impl Fn(&T) -> Uuid) -> Page<T> {
        let has_more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let last = rows.last().map(|row| id(row).to_string());
        Page { items: rows, next_cursor: last.filter(|_| has_more) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_with_more_behind_it_has_a_cursor() {
        let ids: Vec<Uuid> = (1..=3).map(Uuid::from_u128).collect();
        let page = Page::cut(ids.clone(), 2, |id| *id);
        assert_eq!(page.items, ids[..2]);
        assert_eq!(page.next_cursor, Some(ids[1].to_string()));
        assert_eq!(Page::cut(ids, 3, |id| *id).next_cursor, None);
    }
}
