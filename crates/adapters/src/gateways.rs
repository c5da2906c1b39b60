//! Payment companies. Each file only translates: what to send, and what an answer means. One client
//! talks.

mod breaker;
mod client;
mod inicis;
mod kcp;
mod portone;
mod remote;
pub mod sandbox;
mod settings;
mod toss;
mod webhooks;
mod wire;

pub(crate) use client::tls;
pub use settings::{GatewaySettings, InicisSettings, KcpSettings, PortOneSettings, TossSettings};
