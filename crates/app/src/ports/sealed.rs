//! Sealed fields as they are stored, for changing the key that sealed them.

use crate::error::Result;
use async_trait::async_trait;
use domain::Timestamp;
use uuid::Uuid;

/// A table with sealed columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedTable {
    Users,
    Signals,
    Devices,
    Endpoints,
}

impl SealedTable {
    pub const ALL: [SealedTable; 4] =
        [SealedTable::Users, SealedTable::Signals, SealedTable::Devices, SealedTable::Endpoints];

    /// The name under which rows are sealed, and the columns by the names of their seals.
    pub const fn seals(self) -> (&'static str, &'static [&'static str]) {
        match self {
            SealedTable::Users => ("users", &["email", "name", "phone", "ci", "di", "totp"]),
            SealedTable::Signals => ("bot_signals", &["appeal"]),
            SealedTable::Devices => ("devices", &["token"]),
            // The secret and the one before it.
            SealedTable::Endpoints => ("webhook_endpoints", &["secret", "secret"]),
        }
    }
}

/// A row's sealed fields, in the order of [`SealedTable::seals`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRow {
    pub id: Uuid,
    pub fields: Vec<Option<Vec<u8>>>,
}

/// New seals in the place of known ones.
#[derive(Clone, Debug)]
pub struct Reseal {
    pub table: SealedTable,
    pub known: SealedRow,
    pub fields: Vec<Option<Vec<u8>>>,
    pub now: Timestamp,
}

#[async_trait]
pub trait SealedFields: Send + Sync {
    async fn n_sealed_rows(&self, table: SealedTable) -> Result<u64>;

    /// Rows behind `after`, by id.
    async fn sealed_rows(
        &self,
        table: SealedTable,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<SealedRow>>;

    /// False when a field was changed meanwhile.
    async fn reseal(&self, command: Reseal) -> Result<bool>;
}
