//! What the use cases need from the outside, each trait with the rules that every engine keeps.

pub mod accounts;
pub mod audit;
pub mod bus;
pub mod catalog;
pub mod channels;
pub mod clock;
pub mod courier;
pub mod dead_letters;
pub mod gateway;
pub mod holds;
pub mod identity;
pub mod invariants;
pub mod job_failures;
pub mod job_runs;
pub mod keys;
pub mod leases;
pub mod limits;
pub mod lookups;
pub mod messages;
pub mod notifications;
pub mod organisers;
pub mod passwords;
pub mod payments;
pub mod queue;
pub mod queue_blocks;
pub mod queue_history;
pub mod queue_log;
pub mod reconciliation;
pub mod records;
pub mod refunds;
pub mod reports;
pub mod reservations;
pub mod resolutions;
pub mod revocations;
pub mod sales;
pub mod sealed;
pub mod seat_versions;
pub mod signals;
pub mod social;
pub mod standby;
pub mod strains;
pub mod tickets;
pub mod wallets;
pub mod webhooks;

/// Everything that must survive: one database stands behind all of it, so that one transaction
/// can span nouns.
pub trait Store:
    accounts::Accounts
    + audit::AuditLog
    + catalog::Catalog
    + dead_letters::DeadLetters
    + invariants::Invariants
    + job_failures::JobFailures
    + job_runs::JobRuns
    + keys::Keys
    + leases::Leases
    + lookups::Lookups
    + messages::Messages
    + notifications::Notifications
    + organisers::Organisers
    + payments::Payments
    + queue_blocks::QueueBlocks
    + queue_history::QueueHistory
    + queue_log::QueueLog
    + reconciliation::Reconciliation
    + records::Records
    + refunds::Refunds
    + reports::Reports
    + reservations::Reservations
    + resolutions::Resolutions
    + sales::Sales
    + sealed::SealedFields
    + signals::Signals
    + standby::Standbys
    + tickets::Tickets
    + wallets::Wallets
    + webhooks::Webhooks
{
}

impl<T> Store for T where
    T: accounts::Accounts
        + audit::AuditLog
        + catalog::Catalog
        + dead_letters::DeadLetters
        + invariants::Invariants
        + job_failures::JobFailures
        + job_runs::JobRuns
        + keys::Keys
        + leases::Leases
        + lookups::Lookups
        + messages::Messages
        + notifications::Notifications
        + organisers::Organisers
        + payments::Payments
        + queue_blocks::QueueBlocks
        + queue_history::QueueHistory
        + queue_log::QueueLog
        + reconciliation::Reconciliation
        + records::Records
        + refunds::Refunds
        + reports::Reports
        + reservations::Reservations
        + resolutions::Resolutions
        + sales::Sales
        + sealed::SealedFields
        + signals::Signals
        + standby::Standbys
        + tickets::Tickets
        + wallets::Wallets
        + webhooks::Webhooks
{
}
