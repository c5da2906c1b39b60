//! A proxy between two programs that injects faults: slow, narrow, silent, dead or cut.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The fault of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Every chunk arrives this much later.
    Delay(Duration),
    /// At most this many bytes a second.
    Throttle(u32),
    /// Connections stay open and nothing passes, in either direction.
    HalfOpen,
    /// Connections are closed, and new ones at once.
    Cut,
}

/// How often a held-back chunk checks whether the fault is over.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The largest chunk.
const PIECE: usize = 16 * 1024;

#[derive(Default)]
struct State {
    fault: Fault,
    is_over: bool,
    open: Vec<Connection>,
}

/// Both ends of a connection, to close them.
struct Connection {
    ends: [TcpStream; 2],
    /// Drops everything that is sent over it.
    is_dead: Arc<AtomicBool>,
}

type Shared = Arc<Mutex<State>>;

fn state(shared: &Shared) -> MutexGuard<'_, State> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A proxy to `upstream` on its own port; dropping it cuts the connections for good.
pub struct Proxy {
    address: SocketAddr,
    shared: Shared,
}

impl Proxy {
    pub fn to(upstream: SocketAddr) -> Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, shared) = (listener.local_addr()?, Shared::default());
        let theirs = shared.clone();
        thread::spawn(move || accept(&listener, upstream, &theirs));
        Ok(Proxy { address, shared })
    }

    /// A proxy to a program on a local port.
    pub fn to_port(port: u16) -> Result<Proxy> {
        Proxy::to((Ipv4Addr::LOCALHOST, port).into())
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Sets the fault from now on; [`Fault::None`] ends it.
    pub fn set(&self, fault: Fault) {
        let mut state = state(&self.shared);
        state.fault = fault;
        if fault == Fault::Cut {
            close_all(&mut state);
        }
    }

    /// Drops every byte of the currently open connections, in both directions and for good, as when
    /// a host dies or a NAT entry expires: neither end ever learns of it, not even when the other
    /// closes. New connections pass.
    pub fn swallow(&self) {
        for connection in &state(&self.shared).open {
            connection.is_dead.store(true, Ordering::SeqCst);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = state(&self.shared);
        state.is_over = true;
        close_all(&mut state);
        drop(state);
        // Wakes the accepting thread, so that it sees the shutdown.
        let _ = TcpStream::connect(self.address);
    }
}

fn close_all(state: &mut State) {
    for stream in state.open.drain(..).flat_map(|connection| connection.ends) {
        // The other side may have closed it already.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn accept(listener: &TcpListener, upstream: SocketAddr, shared: &Shared) {
    for near in listener.incoming() {
        let (fault, is_over) = {
            let state = state(shared);
            (state.fault, state.is_over)
        };
        if is_over {
            return;
        }
        if let (Ok(near), false) = (near, fault == Fault::Cut) {
            // If upstream is down, the client sees its connection closed.
            let _ = connect(near, upstream, shared);
        }
    }
}

fn connect(near: TcpStream, upstream: SocketAddr, shared: &Shared) -> Result<()> {
    let far = TcpStream::connect(upstream)?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let is_dead = Arc::new(AtomicBool::new(false));
    let ends = [near.try_clone()?, far.try_clone()?];
    state(shared).open.push(Connection { ends, is_dead: is_dead.clone() });
    for (from, to) in [(near.try_clone()?, far.try_clone()?), (far, near)] {
        let (shared, is_dead) = (shared.clone(), is_dead.clone());
        thread::spawn(move || pass(from, to, &shared, &is_dead));
    }
    Ok(())
}

/// Forwards chunks until one side closes. A dead connection drops them instead.
fn pass(mut from: TcpStream, mut to: TcpStream, shared: &Shared, is_dead: &AtomicBool) {
    let mut piece = [0; PIECE];
    loop {
        let n_read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(n_read) => n_read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_closed) => break,
        };
        hold_back(n_read, shared);
        if is_dead.load(Ordering::SeqCst) {
            continue;
        }
        if to.write_all(&piece[..n_read]).is_err() {
            break;
        }
    }
    if is_dead.load(Ordering::SeqCst) {
        return;
    }
    // Either may be closed already.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Applies the fault to a chunk.
fn hold_back(n_bytes: usize, shared: &Shared) {
    loop {
        let fault = state(shared).fault;
        match fault {
            Fault::None | Fault::Cut => return,
            Fault::Delay(length) => return thread::sleep(length),
            Fault::Throttle(per_second) => {
                let seconds = n_bytes as f64 / f64::from(per_second.max(1));
                return thread::sleep(Duration::from_secs_f64(seconds));
            }
            Fault::HalfOpen => thread::sleep(LOOK_EVERY),
        }
    }
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
