//! Accounts, sessions, roles and attacks on them.

#[path = "identity/accounts.rs"]
pub(crate) mod accounts;
#[path = "identity/admin_sessions.rs"]
pub(crate) mod admin_sessions;
#[path = "identity/attacks.rs"]
pub(crate) mod attacks;
#[path = "identity/bot_signals.rs"]
pub(crate) mod bot_signals;
#[path = "identity/certification.rs"]
pub(crate) mod certification;
#[path = "identity/guessing.rs"]
pub(crate) mod guessing;
#[path = "identity/policy.rs"]
pub(crate) mod policy;
#[path = "identity/profile.rs"]
pub(crate) mod profile;
#[path = "identity/second_factor.rs"]
pub(crate) mod second_factor;
#[path = "identity/social.rs"]
pub(crate) mod social;
#[path = "identity/support.rs"]
pub(crate) mod support;
#[path = "identity/team.rs"]
pub(crate) mod team;
