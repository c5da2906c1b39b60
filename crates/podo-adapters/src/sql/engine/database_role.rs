//! Database roles: each service can access only the tables that it needs.

/// PostgreSQL's group roles. SQLite has no users and ignores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseRole {
    /// Accounts, sessions, log-ins.
    User,
    /// Venues, halls, events, schedules.
    Event,
    /// Reservations and payments together: a purchase is one transaction.
    Sales,
    /// The jobs: sweep, relay, settle, clean up.
    Worker,
    /// Lists and invariants; never a decision.
    ReadOnly,
}

impl DatabaseRole {
    pub const ALL: [DatabaseRole; 5] = [
        DatabaseRole::User,
        DatabaseRole::Event,
        DatabaseRole::Sales,
        DatabaseRole::Worker,
        DatabaseRole::ReadOnly,
    ];

    /// The name in settings and metrics.
    pub(crate) fn service(self) -> &'static str {
        self.as_str().trim_start_matches("podo_")
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            DatabaseRole::User => "podo_user",
            DatabaseRole::Event => "podo_event",
            DatabaseRole::Sales => "podo_sales",
            DatabaseRole::Worker => "podo_worker",
            DatabaseRole::ReadOnly => "podo_readonly",
        }
    }
}
