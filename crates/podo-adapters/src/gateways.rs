//! Payment gateways. Each company's file only translates: which request to send, and what a reply
//! means. One client does the I/O.

mod accounts;
pub(crate) mod client;
mod inicis;
mod kcp;
mod portone;
pub mod protocol;
mod remote;
pub mod sandbox;
mod settings;
mod stripe;
mod toss;
mod webhooks;

pub use crate::identity::certifier::{IdentitySettings, PortOneIdentity};
pub use client::transport;
pub(crate) use client::transport::tls;
pub use settings::{
    GatewaySettings, InicisSettings, KcpSettings, PortOneSettings, StripeSettings, TossSettings,
};
