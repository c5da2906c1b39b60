//! Whether payment gateways answer and accept our keys. Each is queried about a payment that does
//! not exist, which changes nothing there.

use super::Verdict;
use crate::config::Config;
use podo_adapters::clock::{SystemClock, SystemRng};
use podo_app::operations::port::clock::{Clock, Rng};
use podo_app::payments::port::gateway::Gateway;
use podo_app::payments::port::payments::GatewayQuery;
use podo_domain::payments::PaymentMethod;
use podo_domain::{PaymentId, Won};
use std::sync::Arc;

const SILENT_OR_REFUSED: &str =
    "does not accept the keys, or does not answer: compare the keys with its console";
const UNASKED: &str = "its keys cannot be checked without a payment: make one and refund it";
const NOT_HTTPS: &str = "public_url is not https: gateways deliver webhooks to https only";
const TEST_KEYS: &str = "test keys: its window opens, and no money moves";
const MIXED_KEYS: &str = "one key is for tests and the other is live: take both from one set";

/// A gateway by name, and what there is to say about it.
pub(super) async fn examine(config: &Config) -> Vec<(&'static str, Verdict)> {
    let rng: Arc<dyn Rng> = Arc::new(SystemRng::new());
    let gateways = match config.gateways().open(&rng) {
        Ok(gateways) => gateways,
        Err(error) => return vec![("gateways", Verdict::Bad(error))],
    };
    let mut findings = Vec::new();
    for gateway in gateways {
        let verdict = match judge_keys(config, gateway.name()) {
            bad @ Verdict::Bad(_) => bad,
            keys @ (Verdict::Good | Verdict::Advice(_)) => {
                match query(gateway.as_ref(), rng.as_ref()).await {
                    Verdict::Good => keys,
                    answer @ (Verdict::Advice(_) | Verdict::Bad(_)) => answer,
                }
            }
        };
        findings.push((gateway.name(), verdict));
    }
    if !findings.is_empty() && !config.public_url.starts_with("https://") {
        findings.push(("webhooks", Verdict::Advice(NOT_HTTPS.to_owned())));
    }
    findings
}

/// What the keys alone show.
fn judge_keys(config: &Config, gateway: &str) -> Verdict {
    let settings = config.gateways();
    // Stripe writes `pk_test_…` and restricted keys as `rk_test_…`.
    let is_test = |key: &str| key.starts_with("test_") || key.get(2..8) == Some("_test_");
    let is_for_tests = match gateway {
        "toss" => settings.toss.is_some_and(|it| is_test(&it.client_key)),
        "portone" => settings.portone.is_some_and(|it| it.is_test),
        "inicis" => settings.inicis.is_some_and(|it| it.mid == "INIpayTest"),
        "kcp" => settings.kcp.is_some_and(|it| it.site_cd.starts_with('T')),
        "stripe" => settings.stripe.is_some_and(|it| is_test(&it.publishable_key)),
        _ => false,
    };
    let (toss, stripe) = (config.gateways().toss, config.gateways().stripe);
    let secret_key = match gateway {
        "toss" => toss.map(|it| it.secret_key),
        "stripe" => stripe.map(|it| it.secret_key),
        _ => None,
    };
    if secret_key.is_some_and(|key| is_test(&key) != is_for_tests) {
        return Verdict::Bad(MIXED_KEYS.to_owned());
    }
    super::advise(is_for_tests, TEST_KEYS)
}

async fn query(gateway: &dyn Gateway, rng: &dyn Rng) -> Verdict {
    let now = SystemClock.now();
    let ask = GatewayQuery {
        payment: PaymentId::new(rng.id(now)),
        gateway: gateway.name().to_owned(),
        method: PaymentMethod::Card,
        payment_key: None,
        amount: Won::ZERO,
        currency: gateway.currencies().first().copied().unwrap_or_default(),
    };
    match gateway.booked(&ask, now).await {
        Some(_) => Verdict::Good,
        // Inicis can be queried only about a payment that it has.
        None if gateway.name() == "inicis" => Verdict::Advice(UNASKED.to_owned()),
        None => Verdict::Bad(SILENT_OR_REFUSED.to_owned()),
    }
}
