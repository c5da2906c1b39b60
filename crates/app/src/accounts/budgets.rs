//! How often a log-in may be tried. Guessing gets slower and slower, for known and unknown addresses
//! alike; a network or a device that logged in to the account before has tries of its own, so that
//! guesses from elsewhere do not keep the owner out.

use super::Origin;
use crate::error::Result;
use crate::platform::Platform;
use crate::seals::Purpose;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::accounts::Failures;
use domain::{Refusal, Timestamp};
use std::time::Duration;

/// Log-ins of one budget in a minute, and of one network: a herd of guesses at once is not seen by
/// counting failures.
const TRIES_PER_BUDGET: u32 = 20;
const TRIES_PER_NETWORK: u32 = 300;
const TRIES_PER: Duration = Duration::from_secs(60);

/// A network is known for so long after a log-in from it.
const NETWORK_KNOWN_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The same for a device.
pub const DEVICE_KNOWN_FOR: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// Whose tries are counted together, for one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Budget {
    /// All who never logged in to this account.
    Strangers,
    Network(String),
    Device(Device),
}

impl Budget {
    /// As the history of log-ins names it.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Budget::Strangers => None,
            Budget::Network(network) => Some(format!("network:{network}")),
            Budget::Device(device) => Some(format!("device:{}", URL_SAFE_NO_PAD.encode(device.id))),
        }
    }
}

/// Takes one try from the budget of who asks, or says how long to wait.
pub(super) async fn take(
    platform: &Platform,
    email_hash: [u8; 32],
    origin: &Origin,
) -> Result<Budget> {
    if let Some(network) = &origin.network {
        platform.take(&format!("login-from:{network}"), TRIES_PER_NETWORK, TRIES_PER).await?;
    }
    let budget = budget_of(platform, email_hash, origin).await?;
    let name = budget.name();
    let address = URL_SAFE_NO_PAD.encode(&email_hash[..16]);
    let key = format!("login:{address}:{}", name.as_deref().unwrap_or_default());
    platform.take(&key, TRIES_PER_BUDGET, TRIES_PER).await?;
    if !platform.rules.limits_on {
        return Ok(budget);
    }
    let now = platform.now();
    let since = now.minus(Failures::COUNT_FOR);
    let failures = platform.store.failures(email_hash, name, since).await?;
    match failures.pause(now) {
        Duration::ZERO => Ok(budget),
        pause => Err(Refusal::TooManyRequests { retry_after_s: pause.as_secs() + 1 }.into()),
    }
}

/// A device says more than a network: others may share the network.
async fn budget_of(platform: &Platform, email_hash: [u8; 32], origin: &Origin) -> Result<Budget> {
    if let Some(device) = Device::of(platform, email_hash, origin) {
        return Ok(Budget::Device(device));
    }
    let Some(network) = origin.network.clone() else { return Ok(Budget::Strangers) };
    let since = platform.now().minus(NETWORK_KNOWN_FOR);
    let is_known = platform.store.knows_network(email_hash, network.clone(), since).await?;
    Ok(if is_known { Budget::Network(network) } else { Budget::Strangers })
}

const ID_BYTES: usize = 16;
const TIME_BYTES: usize = 8;
const CODE_BYTES: usize = 16;

/// A device that logged in to an account, as its cookie proves: a random id, when it logged in, and
/// our code over both and the account. It opens nothing; it only keeps its owner's tries apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Device {
    id: [u8; ID_BYTES],
}

impl Device {
    pub(super) fn new(platform: &Platform) -> Device {
        let mut id = [0; ID_BYTES];
        platform.chance.fill(&mut id);
        Device { id }
    }

    /// The device of a cookie that we gave to who logged in to this account, not too long ago.
    pub(super) fn of(platform: &Platform, email_hash: [u8; 32], origin: &Origin) -> Option<Device> {
        let bytes = URL_SAFE_NO_PAD.decode(origin.device.as_deref()?).ok()?;
        let (id, rest) = bytes.split_first_chunk::<ID_BYTES>()?;
        let (time, code) = rest.split_first_chunk::<TIME_BYTES>()?;
        let body = [id.as_slice(), time, &email_hash].concat();
        let is_ours =
            code.len() == CODE_BYTES && platform.seals.is_code(Purpose::Device, &body, code);
        let given_at = Timestamp::from_ms(i64::from_be_bytes(*time));
        let is_recent = platform.now() < given_at.plus(DEVICE_KNOWN_FOR);
        (is_ours && is_recent).then_some(Device { id: *id })
    }

    /// What the cookie says from now on.
    pub(super) fn token(self, platform: &Platform, email_hash: [u8; 32]) -> String {
        let time = platform.now().ms().to_be_bytes();
        let body = [self.id.as_slice(), &time, &email_hash].concat();
        let code = platform.seals.code(Purpose::Device, &body);
        URL_SAFE_NO_PAD.encode([self.id.as_slice(), &time, &code[..CODE_BYTES]].concat())
    }
}
