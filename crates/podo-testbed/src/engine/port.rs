//! Ports for engines that can't report which one they got.

use crate::NotStarted;
use std::fs::{File, create_dir_all};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::Mutex;

/// Below the ephemeral range, because a restarted engine needs its port again.
const PORTS: Range<u16> = 10_000..20_000;

/// The nodes of a Redis cluster talk to each other this far above their own port.
const BUS: u16 = 10_000;

const PICKS_MAX: u32 = 1_000;

/// Engines that start at once may pick the same port, but rarely three times in a row.
const STARTS_MAX: u32 = 3;

/// Starts something on a free port, and again on another one if a program took it meanwhile.
pub(crate) fn on_free_port<T>(
    mut start: impl FnMut(Result<u16>) -> std::result::Result<T, NotStarted>,
) -> std::result::Result<T, NotStarted> {
    let mut n_tries = 1;
    loop {
        match start(pick()) {
            Err(failure) if failure.is_port_taken() && n_tries < STARTS_MAX => n_tries += 1,
            outcome => return outcome,
        }
    }
}

fn pick() -> Result<u16> {
    let random = (0..PICKS_MAX).map(|_| RandomState::new().build_hasher().finish());
    let width = u64::from(PORTS.end - PORTS.start);
    let mut ports = random.filter_map(|it| Some(PORTS.start + u16::try_from(it % width).ok()?));
    let is_free = |port: &u16| can_bind(*port) && can_bind(*port + BUS) && reserve(*port);
    let none = || Error::new(ErrorKind::AddrInUse, format!("no port of {PORTS:?} is free"));
    ports.find(is_free).ok_or_else(none)
}

fn can_bind(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// The lock files of the ports that this process has picked.
static RESERVED: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Reserves the port until this process ends: a test takes its engine down for seconds, and another
/// test must not start one on that port meanwhile.
fn reserve(port: u16) -> bool {
    let folder = std::env::temp_dir().join("podo-ports");
    let file = create_dir_all(&folder).and_then(|()| File::create(folder.join(port.to_string())));
    // Another user's folder: the port is only likely to stay free.
    let Ok(file) = file else { return true };
    let is_ours = file.try_lock().is_ok();
    if is_ours {
        RESERVED.lock().expect("the lock is never poisoned").push(file);
    }
    is_ours
}

#[cfg(test)]
fn attempts(log: &str) -> u32 {
    let mut n_attempts = 0;
    let outcome: std::result::Result<(), _> = on_free_port(|port| {
        assert!(PORTS.contains(&port.unwrap()));
        n_attempts += 1;
        Err(NotStarted::new("it", &Error::other("it ended"), log.to_owned()))
    });
    assert!(outcome.is_err());
    n_attempts
}

#[test]
fn only_a_taken_port_is_a_reason_to_try_again() {
    assert_eq!(attempts("bind: Address already in use"), STARTS_MAX);
    assert_eq!(attempts("out of memory"), 1);
}

#[test]
fn a_port_stays_reserved_while_its_engine_is_down() {
    let port = pick().unwrap();
    assert!(can_bind(port), "nothing runs on it");
    assert!(!reserve(port), "but it isn't picked again");
}
