//! Payment companies. Each file only translates: what to send, and what an answer means. One client
//! talks.

mod breaker;
pub(crate) mod client;
mod identity;
mod inicis;
mod kcp;
mod portone;
mod remote;
pub mod sandbox;
mod settings;
mod toss;
pub mod transport;
mod webhooks;
pub mod wire;

pub use identity::{IdentitySettings, PortOneIdentity};
pub use settings::{GatewaySettings, InicisSettings, KcpSettings, PortOneSettings, TossSettings};
pub(crate) use transport::tls;
