//! What differs between the companies besides their protocols: how an approval comes back, and what
//! a webhook looks like.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::hmac;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::RsaKeyPair;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use podo_adapters::gateways::{
    GatewaySettings, InicisSettings, KcpSettings, PortOneSettings, TossSettings,
};
use podo_domain::{PaymentId, Timestamp};
use podo_testbed::TempDir;
use podo_testbed::gateways::Fault;
use serde_json::json;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

pub(crate) const URL: &str = "http://company";
const WEBHOOK_KEY: &[u8] = b"a secret of twenty-four b";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Company {
    Toss,
    PortOne,
    Inicis,
    Kcp,
}

/// The headers and the body of a webhook.
pub(crate) type Webhook = (Vec<(String, String)>, Vec<u8>);

impl Company {
    pub(crate) const ALL: [Company; 4] =
        [Company::Toss, Company::PortOne, Company::Inicis, Company::Kcp];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Company::Toss => "toss",
            Company::PortOne => "portone",
            Company::Inicis => "inicis",
            Company::Kcp => "kcp",
        }
    }

    pub(crate) const fn issues_accounts(self) -> bool {
        matches!(self, Company::Toss | Company::PortOne)
    }

    const fn has_keys(self) -> bool {
        matches!(self, Company::Toss | Company::PortOne)
    }

    /// Only companies with idempotency keys answer "in progress".
    pub(crate) fn knows(self, fault: Fault) -> bool {
        fault != Fault::Busy || self.has_keys()
    }

    /// How late a charge may be made after its request. KCP has no call that forbids a charge which
    /// it has not made: a payment that is missing from its records at the time of the void counts
    /// as never made, so KCP must not act on a request minutes after its connection was closed.
    pub(crate) const fn late_max(self) -> Duration {
        match self {
            Company::Toss | Company::PortOne | Company::Inicis => Duration::from_secs(300),
            Company::Kcp => Duration::from_secs(90),
        }
    }

    pub(crate) fn settings(self) -> GatewaySettings {
        let (url, none) = (URL.to_owned(), GatewaySettings::default());
        match self {
            Company::Toss => {
                let (client_key, secret_key) = ("ck".to_owned(), "sk".to_owned());
                GatewaySettings { toss: Some(TossSettings { url, client_key, secret_key }), ..none }
            }
            Company::PortOne => {
                let settings = PortOneSettings {
                    url,
                    store_id: "store".to_owned(),
                    channel_key: "channel".to_owned(),
                    secret: "secret".to_owned(),
                    webhook_secrets: vec![format!("whsec_{}", STANDARD.encode(WEBHOOK_KEY))],
                    is_test: true,
                };
                GatewaySettings { portone: Some(settings), ..none }
            }
            Company::Inicis => {
                let settings = InicisSettings {
                    pay_url: Some(url.clone()),
                    url,
                    mid: "INIpayTest".to_owned(),
                    sign_key: "sign".to_owned(),
                    api_key: "api".to_owned(),
                };
                GatewaySettings { inicis: Some(settings), ..none }
            }
            Company::Kcp => {
                let (certificate, private_key) = key_files();
                let site_cd = "T0000".to_owned();
                let settings = KcpSettings { url, site_cd, certificate, private_key };
                GatewaySettings { kcp: Some(settings), ..none }
            }
        }
    }

    /// The approval in the fan's own confirm call.
    pub(crate) fn payment_key(self, payment: PaymentId) -> Option<String> {
        let order = payment.order_id();
        match self {
            Company::Toss => Some(format!("tk_{order}")),
            Company::PortOne => Some(format!("tok_{order}")),
            Company::Inicis | Company::Kcp => None,
        }
    }

    /// The approval that the company's page posts to us.
    pub(crate) fn returned(self, payment: PaymentId, amount: i64) -> Vec<(String, String)> {
        let order = payment.order_id();
        let token = format!("{order}-{amount}");
        let fields: &[(&str, &str)] = match self {
            Company::Toss | Company::PortOne => &[],
            Company::Inicis => &[
                ("resultCode", "0000"),
                ("orderNumber", &order),
                ("authToken", &token),
                ("idc_name", "fc"),
            ],
            Company::Kcp => &[
                ("res_cd", "0000"),
                ("ordr_idxx", &order),
                ("tran_cd", "00100000"),
                ("enc_data", &order),
                ("enc_info", "info"),
            ],
        };
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// `None` for companies that send none.
    pub(crate) fn webhook(self, payment: PaymentId, now: Timestamp) -> Option<Webhook> {
        let order = payment.order_id();
        match self {
            Company::Toss => {
                let data = json!({ "orderId": order, "status": "DONE" });
                let body = json!({ "eventType": "PAYMENT_STATUS_CHANGED", "createdAt": "once",
                    "data": data });
                Some((Vec::new(), body.to_string().into_bytes()))
            }
            Company::PortOne => {
                let body = json!({ "type": "Transaction.Paid", "data": { "paymentId": order } });
                let (body, stamp) = (body.to_string(), now.ms() / 1_000);
                let key = hmac::Key::new(hmac::HMAC_SHA256, WEBHOOK_KEY);
                let signed = hmac::sign(&key, format!("{order}.{stamp}.{body}").as_bytes());
                let headers = [
                    ("webhook-id", order),
                    ("webhook-timestamp", stamp.to_string()),
                    ("webhook-signature", format!("v1,{}", STANDARD.encode(signed.as_ref()))),
                ];
                let headers = headers.map(|(name, value)| (name.to_owned(), value));
                Some((headers.to_vec(), body.into_bytes()))
            }
            Company::Inicis | Company::Kcp => None,
        }
    }
}

/// A certificate that isn't read and a key that signs, created once for all worlds.
fn key_files() -> (PathBuf, PathBuf) {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = TempDir::with_prefix("podo-sim-").expect("a folder can be created");
        let key = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key can be generated");
        let der: Pkcs8V1Der<'_> = key.as_der().expect("a key can be written");
        for (file, name, bytes) in [
            ("certificate.pem", "CERTIFICATE", &b"x"[..]),
            ("key.pem", "PRIVATE KEY", der.as_ref()),
        ] {
            let text = STANDARD.encode(bytes);
            let text = format!("-----BEGIN {name}-----\n{text}\n-----END {name}-----\n");
            std::fs::write(folder.path().join(file), text).expect("a file can be written");
        }
        folder
    });
    (folder.path().join("certificate.pem"), folder.path().join("key.pem"))
}
