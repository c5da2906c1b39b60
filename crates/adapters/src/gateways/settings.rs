//! Which gateways there are, and their keys.

use super::inicis::Inicis;
use super::kcp::Kcp;
use super::portone::PortOne;
use super::remote::Remote;
use super::toss::Toss;
use super::transport::{Https, Transport};
use super::wire::Wire;
use app::ports::clock::Chance;
use app::ports::gateway::Gateway;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Each gateway is there when its settings are. Secrets stand here in plain text, so none of these
/// can be printed.
#[derive(Default)]
pub struct GatewaySettings {
    /// Where fans reach us, without a slash at the end.
    pub public_url: String,
    /// How long any answer may take; each gateway has its own when this is left out.
    pub patience: Option<Duration>,
    pub toss: Option<TossSettings>,
    pub portone: Option<PortOneSettings>,
    pub inicis: Option<InicisSettings>,
    pub kcp: Option<KcpSettings>,
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
    /// Two while one replaces the other.
    pub webhook_secrets: Vec<String>,
    pub is_test: bool,
}

pub struct InicisSettings {
    /// INIAPI: refunds and questions.
    pub url: String,
    /// Stands for `https://{fc,ks,stg}stdpay.inicis.com` in tests.
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

/// Makes what carries calls, given how long an answer may take.
type Connect<'c> = &'c dyn Fn(Duration) -> Result<Arc<dyn Transport>, String>;

impl GatewaySettings {
    /// The gateways that are set up.
    pub fn open(self, chance: &Arc<dyn Chance>) -> Result<Vec<Arc<dyn Gateway>>, String> {
        self.open_over(chance, &|patience| Ok(Arc::new(Https::new(patience)?)))
    }

    /// The same over something else than HTTPS.
    pub fn open_over(
        self,
        chance: &Arc<dyn Chance>,
        connect: Connect<'_>,
    ) -> Result<Vec<Arc<dyn Gateway>>, String> {
        let (home, patience) = (self.public_url, self.patience);
        let toss = self.toss.map(|it| Toss::new(it, &home));
        let portone = self.portone.map(|it| PortOne::new(it, &home));
        let inicis = self.inicis.map(|it| Inicis::new(it, &home));
        let kcp = self.kcp.map(|it| Kcp::new(&it, &home)).transpose()?;
        let open = Open { patience, chance, connect };
        let gateways = [
            open.gateway(toss)?,
            open.gateway(portone)?,
            open.gateway(inicis)?,
            open.gateway(kcp)?,
        ];
        Ok(gateways.into_iter().flatten().collect())
    }
}

struct Open<'c> {
    patience: Option<Duration>,
    chance: &'c Arc<dyn Chance>,
    connect: Connect<'c>,
}

impl Open<'_> {
    fn gateway<W: Wire>(&self, wire: Option<W>) -> Result<Option<Arc<dyn Gateway>>, String> {
        let Some(wire) = wire else { return Ok(None) };
        let transport = (self.connect)(self.patience.unwrap_or(W::PATIENCE))?;
        Ok(Some(Arc::new(Remote::over(transport, wire, self.chance.clone()))))
    }
}
