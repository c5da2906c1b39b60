//! Concurrent budgets per client address: open streams, unsent bytes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

pub struct Shares {
    taken: Mutex<HashMap<IpAddr, u64>>,
    max: u64,
}

/// Released when dropped.
pub struct Share {
    shares: Arc<Shares>,
    network: IpAddr,
    amount: u64,
}

impl Shares {
    pub fn new(max: u64) -> Arc<Shares> {
        Arc::new(Shares { taken: Mutex::default(), max })
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    /// `None` if the address would exceed its budget. An address that uses nothing gets any amount,
    /// because one large response must be possible.
    pub fn take(self: &Arc<Shares>, network: IpAddr, amount: u64) -> Option<Share> {
        let mut all = self.taken.lock().expect("the lock is never poisoned");
        let taken = all.entry(network).or_default();
        if *taken > 0 && taken.saturating_add(amount) > self.max {
            return None;
        }
        *taken += amount;
        Some(Share { shares: self.clone(), network, amount })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut all = self.shares.taken.lock().expect("the lock is never poisoned");
        if let Some(taken) = all.get_mut(&self.network) {
            *taken -= self.amount;
            if *taken == 0 {
                all.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_gives_it_back() {
        let shares = Shares::new(10);
        let (one, other): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into());
        let large = shares.take(one, 50).unwrap();
        assert!(shares.take(one, 1).is_none());
        assert!(shares.take(other, 4).is_some());
        drop(large);
        let _four = shares.take(one, 4).unwrap();
        let _six = shares.take(one, 6).unwrap();
        assert!(shares.take(one, 1).is_none());
        assert_eq!(
            shares.taken.lock().unwrap().len(),
            1,
            "an address that uses nothing is removed"
        );
    }
}
