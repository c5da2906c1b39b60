//! Connections to PostgreSQL: settings, TLS, pools, logins and deadlines.

pub(crate) mod connection;
pub(crate) mod logins;
pub(crate) mod pools;
pub(crate) mod settings;
pub(crate) mod target;
pub(crate) mod tls;
