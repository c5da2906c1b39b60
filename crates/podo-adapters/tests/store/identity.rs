//! Accounts and their log-ins.

#[path = "identity/accounts.rs"]
pub(crate) mod accounts;
#[path = "identity/login_history.rs"]
pub(crate) mod login_history;
