//! Limits log-in attempts. Guessing gets slower and slower, for known and unknown addresses alike.
//! A network or device that has logged in to the account before has a budget of its own, so that
//! guesses from elsewhere don't lock the owner out.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::Origin;
use crate::identity::keyring::Purpose;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::identity::Failures;
use podo_domain::{Refusal, Timestamp};
use std::time::Duration;

/// Attempts per minute for one budget and for one network, because counting failures doesn't catch
/// a burst of simultaneous guesses.
const TRIES_PER_BUDGET: u32 = 20;
const TRIES_PER_NETWORK: u32 = 300;
const TRIES_PER: Duration = Duration::from_secs(60);

/// How long a network stays known after a log-in from it.
const NETWORK_KNOWN_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// How long a device stays known.
pub const DEVICE_KNOWN_FOR: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// Attempts that are counted together, for one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// Everyone who has never logged in to this account.
    Strangers,
    Network(String),
    Device(Device),
}

impl Budget {
    /// The name in the log-in history.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Budget::Strangers => None,
            Budget::Network(network) => Some(format!("network:{network}")),
            Budget::Device(device) => Some(format!("device:{}", URL_SAFE_NO_PAD.encode(device.id))),
        }
    }
}

/// Takes one attempt from the caller's budget, or returns how long to wait.
pub(crate) async fn take(
    context: &AppContext,
    email_hash: [u8; 32],
    origin: &Origin,
) -> Result<Budget> {
    if let Some(network) = &origin.network {
        context.take(&format!("login-from:{network}"), TRIES_PER_NETWORK, TRIES_PER).await?;
    }
    let budget = budget_of(context, email_hash, origin).await?;
    let name = budget.name();
    let address = URL_SAFE_NO_PAD.encode(&email_hash[..16]);
    let key = format!("login:{address}:{}", name.as_deref().unwrap_or_default());
    context.take(&key, TRIES_PER_BUDGET, TRIES_PER).await?;
    if !context.rules.limits_on {
        return Ok(budget);
    }
    let now = context.now();
    let since = now.minus(Failures::COUNT_FOR);
    let failures = context.store.failures(email_hash, name, since).await?;
    match failures.pause(now) {
        Duration::ZERO => Ok(budget),
        pause => Err(Refusal::TooManyRequests { retry_after_s: pause.as_secs() + 1 }.into()),
    }
}

/// A device is more specific than a network, which others may share.
async fn budget_of(context: &AppContext, email_hash: [u8; 32], origin: &Origin) -> Result<Budget> {
    if let Some(device) = Device::of(context, email_hash, origin) {
        return Ok(Budget::Device(device));
    }
    let Some(network) = origin.network.clone() else { return Ok(Budget::Strangers) };
    let since = context.now().minus(NETWORK_KNOWN_FOR);
    let is_known = context.store.knows_network(email_hash, network.clone(), since).await?;
    Ok(if is_known { Budget::Network(network) } else { Budget::Strangers })
}

const ID_BYTES: usize = 16;
const TIME_BYTES: usize = 8;
const CODE_BYTES: usize = 16;

/// A device that has logged in to an account, proved by its cookie: a random id, the time of the
/// log-in, and our MAC over both and the account. It grants no access; it only separates its
/// owner's attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    id: [u8; ID_BYTES],
}

impl Device {
    pub(crate) fn new(context: &AppContext) -> Device {
        let mut id = [0; ID_BYTES];
        context.rng.fill(&mut id);
        Device { id }
    }

    /// The device of a cookie that we issued after a recent log-in to this account.
    pub(crate) fn of(
        context: &AppContext,
        email_hash: [u8; 32],
        origin: &Origin,
    ) -> Option<Device> {
        let bytes = URL_SAFE_NO_PAD.decode(origin.device.as_deref()?).ok()?;
        let (id, rest) = bytes.split_first_chunk::<ID_BYTES>()?;
        let (time, code) = rest.split_first_chunk::<TIME_BYTES>()?;
        let body = [id.as_slice(), time, &email_hash].concat();
        let is_ours =
            code.len() == CODE_BYTES && context.keyring.is_code(Purpose::Device, &body, code);
        let given_at = Timestamp::from_ms(i64::from_be_bytes(*time));
        let is_recent = context.now() < given_at.plus(DEVICE_KNOWN_FOR);
        (is_ours && is_recent).then_some(Device { id: *id })
    }

    /// The new value of the cookie.
    pub(crate) fn token(self, context: &AppContext, email_hash: [u8; 32]) -> String {
        let time = context.now().ms().to_be_bytes();
        let body = [self.id.as_slice(), &time, &email_hash].concat();
        let code = context.keyring.code(Purpose::Device, &body);
        URL_SAFE_NO_PAD.encode([self.id.as_slice(), &time, &code[..CODE_BYTES]].concat())
    }
}
