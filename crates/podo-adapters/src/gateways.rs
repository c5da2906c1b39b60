//! Payment gateways. Each company's file only translates: which request to send, and what a reply
//! means. One client does the I/O.

mod breaker;
pub(crate) mod client;
mod inicis;
mod kcp;
mod portone;
pub mod protocol;
mod remote;
pub mod sandbox;
mod settings;
mod toss;
pub mod transport;
mod webhooks;

pub use crate::identity::certifier::{IdentitySettings, PortOneIdentity};
pub use settings::{GatewaySettings, InicisSettings, KcpSettings, PortOneSettings, TossSettings};
pub(crate) use transport::tls;
