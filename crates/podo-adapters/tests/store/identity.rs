//! Accounts and their log-ins.

#[path = "identity/accounts.rs"]
pub(crate) mod accounts;
#[path = "identity/login_history.rs"]
pub(crate) mod login_history;
#[path = "identity/support.rs"]
pub(crate) mod support;
#[path = "identity/team.rs"]
pub(crate) mod team;
