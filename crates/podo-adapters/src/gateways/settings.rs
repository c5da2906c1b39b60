//! The configured gateways and their keys.

use crate::gateways::client::transport::{Https, Transport};
use crate::gateways::inicis::Inicis;
use crate::gateways::kcp::Kcp;
use crate::gateways::portone::PortOne;
use crate::gateways::protocol::GatewayProtocol;
use crate::gateways::remote::Remote;
use crate::gateways::stripe::Stripe;
use crate::gateways::toss::Toss;
use podo_app::operations::port::clock::Rng;
use podo_app::payments::port::gateway::Gateway;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A gateway exists if its settings do. Secrets are in plain text, so these types have no `Debug`.
#[derive(Default)]
pub struct GatewaySettings {
    /// Our public URL, without a trailing slash.
    pub public_url: String,
    /// The timeout of a reply; each gateway has its own default.
    pub patience: Option<Duration>,
    pub toss: Option<TossSettings>,
    pub portone: Option<PortOneSettings>,
    pub inicis: Option<InicisSettings>,
    pub kcp: Option<KcpSettings>,
    pub stripe: Option<StripeSettings>,
}

pub struct TossSettings {
    pub url: String,
    pub client_key: String,
    pub secret_key: String,
}

pub struct PortOneSettings {
    pub url: String,
    pub store_id: String,
    pub channel_key: String,
    pub secret: String,
    /// Two during a rotation.
    pub webhook_secrets: Vec<String>,
    pub is_test: bool,
}

pub struct InicisSettings {
    /// INIAPI: refunds and queries.
    pub url: String,
    /// Replaces `https://{fc,ks,stg}stdpay.inicis.com` in tests.
    pub pay_url: Option<String>,
    pub mid: String,
    pub sign_key: String,
    pub api_key: String,
}

pub struct KcpSettings {
    pub url: String,
    pub site_cd: String,
    /// PEM files: the service certificate, and the private key as unencrypted PKCS#8.
    pub certificate: PathBuf,
    pub private_key: PathBuf,
}

pub struct StripeSettings {
    pub url: String,
    pub publishable_key: String,
    pub secret_key: String,
    /// Two during a rotation.
    pub webhook_secrets: Vec<String>,
}

/// Creates a transport with this timeout.
type Connect<'c> = &'c dyn Fn(Duration) -> Result<Arc<dyn Transport>, String>;

impl GatewaySettings {
    /// The configured gateways.
    pub fn open(self, rng: &Arc<dyn Rng>) -> Result<Vec<Arc<dyn Gateway>>, String> {
        self.open_over(rng, &|patience| Ok(Arc::new(Https::new(patience)?)))
    }

    /// Like `open`, over another transport than HTTPS.
    pub fn open_over(
        self,
        rng: &Arc<dyn Rng>,
        connect: Connect<'_>,
    ) -> Result<Vec<Arc<dyn Gateway>>, String> {
        let (home, patience) = (self.public_url, self.patience);
        let toss = self.toss.map(|it| Toss::new(it, &home));
        let portone = self.portone.map(|it| PortOne::new(it, &home));
        let inicis = self.inicis.map(|it| Inicis::new(it, &home));
        let kcp = self.kcp.map(|it| Kcp::new(&it, &home)).transpose()?;
        let stripe = self.stripe.map(|it| Stripe::new(it, &home));
        let open = Open { patience, rng, connect };
        let gateways = [
            open.gateway(toss)?,
            open.gateway(portone)?,
            open.gateway(inicis)?,
            open.gateway(kcp)?,
            open.gateway(stripe)?,
        ];
        Ok(gateways.into_iter().flatten().collect())
    }
}

struct Open<'c> {
    patience: Option<Duration>,
    rng: &'c Arc<dyn Rng>,
    connect: Connect<'c>,
}

impl Open<'_> {
    fn gateway<W: GatewayProtocol>(
        &self,
        protocol: Option<W>,
    ) -> Result<Option<Arc<dyn Gateway>>, String> {
        let Some(protocol) = protocol else { return Ok(None) };
        let transport = (self.connect)(self.patience.unwrap_or(W::PATIENCE))?;
        Ok(Some(Arc::new(Remote::over(transport, protocol, self.rng.clone()))))
    }
}
