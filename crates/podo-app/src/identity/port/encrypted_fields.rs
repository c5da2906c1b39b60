//! Encrypted fields as they are stored, for key rotation.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::Timestamp;
use uuid::Uuid;

/// A table with encrypted columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncryptedTable {
    Users,
    Signals,
    Devices,
    Endpoints,
    /// Other pending rows end before a rotation does.
    Invitations,
    SupportNotes,
    TicketClaims,
    /// Customers of the box office.
    IssuedOrders,
    /// Organisers' servers that decide who is a member.
    PhaseWebhooks,
    /// Where refunds of deposits go.
    RefundAccounts,
}

impl EncryptedTable {
    pub const ALL: [EncryptedTable; 10] = [
        EncryptedTable::Users,
        EncryptedTable::Signals,
        EncryptedTable::Devices,
        EncryptedTable::Endpoints,
        EncryptedTable::Invitations,
        EncryptedTable::SupportNotes,
        EncryptedTable::TicketClaims,
        EncryptedTable::IssuedOrders,
        EncryptedTable::PhaseWebhooks,
        EncryptedTable::RefundAccounts,
    ];

    /// The prefix of the rows' encryption context, and the columns as they are named in it.
    pub const fn keyring(self) -> (&'static str, &'static [&'static str]) {
        match self {
            EncryptedTable::Users => ("users", &["email", "name", "phone", "ci", "di", "totp"]),
            EncryptedTable::Signals => ("bot_signals", &["appeal"]),
            EncryptedTable::Devices => ("devices", &["token"]),
            // The current secret and the previous one.
            EncryptedTable::Endpoints => ("webhook_endpoints", &["secret", "secret"]),
            // A pending row is encrypted as the account that it may become.
            EncryptedTable::Invitations => ("users", &["email"]),
            EncryptedTable::SupportNotes => ("support_notes", &["body"]),
            EncryptedTable::TicketClaims => ("ticket_claims", &["email"]),
            EncryptedTable::IssuedOrders => ("issued_orders", &["name", "phone", "note"]),
            // The current secret and the previous one.
            EncryptedTable::PhaseWebhooks => ("phase_webhooks", &["secret", "secret"]),
            EncryptedTable::RefundAccounts => ("refund_accounts", &["account"]),
        }
    }
}

/// A row's encrypted fields, in the order of [`EncryptedTable::keyring`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedRow {
    pub id: Uuid,
    pub fields: Vec<Option<Vec<u8>>>,
}

/// New ciphertexts in place of known ones.
#[derive(Clone, Debug)]
pub struct Reencrypt {
    pub table: EncryptedTable,
    pub known: EncryptedRow,
    pub fields: Vec<Option<Vec<u8>>>,
    pub now: Timestamp,
}

#[async_trait]
pub trait EncryptedFields: Send + Sync {
    async fn n_sealed_rows(&self, table: EncryptedTable) -> Result<u64>;

    /// Rows after `after`, by id.
    async fn encrypted_rows(
        &self,
        table: EncryptedTable,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<EncryptedRow>>;

    /// False if a field has changed meanwhile.
    async fn reencrypt(&self, command: Reencrypt) -> Result<bool>;
}
