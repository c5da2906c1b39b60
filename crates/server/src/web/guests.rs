//! How many connections one address may have open: somebody who opens thousands and says nothing
//! must not take the room of others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

pub(super) struct Guests {
    open: Mutex<HashMap<IpAddr, u32>>,
    each_max: u32,
}

/// One open connection; it counts until it is dropped.
pub(super) struct Guest {
    guests: Arc<Guests>,
    ip: IpAddr,
}

impl Guests {
    pub(super) fn new(each_max: u32) -> Arc<Guests> {
        Arc::new(Guests { open: Mutex::default(), each_max })
    }

    /// Nothing for an address that has as many open as it may.
    pub(super) fn enter(self: &Arc<Guests>, ip: IpAddr) -> Option<Guest> {
        let mut open = self.open.lock().expect("nothing panics under this lock");
        let n_open = open.entry(ip).or_default();
        if *n_open >= self.each_max {
            return None;
        }
        *n_open += 1;
        Some(Guest { guests: self.clone(), ip })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut open = self.guests.open.lock().expect("nothing panics under this lock");
        if let Some(n_open) = open.get_mut(&self.ip) {
            *n_open -= 1;
            if *n_open == 0 {
                open.remove(&self.ip);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_no_more_until_it_leaves() {
        let guests = Guests::new(2);
        let (one, other): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into());
        let first = guests.enter(one).unwrap();
        let _second = guests.enter(one).unwrap();
        assert!(guests.enter(one).is_none());
        assert!(guests.enter(other).is_some(), "others have their own");
        drop(first);
        assert!(guests.enter(one).is_some());
        assert_eq!(guests.open.lock().unwrap().len(), 1, "who left is forgotten");
    }
}
