//! Which gateways there are, and their keys.

use super::inicis::Inicis;
use super::kcp::Kcp;
use super::portone::PortOne;
use super::remote::Remote;
use super::toss::Toss;
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

impl GatewaySettings {
    /// The gateways that are set up.
    pub fn open(self, chance: &Arc<dyn Chance>) -> Result<Vec<Arc<dyn Gateway>>, String> {
        let (home, patience) = (self.public_url, self.patience);
        let mut gateways: Vec<Arc<dyn Gateway>> = Vec::new();
        if let Some(settings) = self.toss {
            let wire = Toss::new(settings, &home);
            gateways.push(Arc::new(Remote::new(wire, patience, chance.clone())?));
        }
        if let Some(settings) = self.portone {
            let wire = PortOne::new(settings, &home);
            gateways.push(Arc::new(Remote::new(wire, patience, chance.clone())?));
        }
        if let Some(settings) = self.inicis {
            let wire = Inicis::new(settings, &home);
            gateways.push(Arc::new(Remote::new(wire, patience, chance.clone())?));
        }
        if let Some(settings) = self.kcp {
            let wire = Kcp::new(&settings, &home)?;
            gateways.push(Arc::new(Remote::new(wire, patience, chance.clone())?));
        }
        Ok(gateways)
    }
}
