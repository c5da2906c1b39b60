//! The last check of a test: what is left in the store is sound.

use podo_app::operations::port::clock::Clock;
use podo_app::store::Store;
use std::sync::{Arc, Weak};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// Checks every invariant when the test ends, unless it failed, stopped the server, or damaged the
/// store on purpose.
pub(crate) struct Soundness {
    /// Another process may open the files of a server that the test stopped.
    store: Weak<dyn Store>,
    clock: Arc<dyn Clock>,
    is_due: bool,
}

impl Soundness {
    pub(crate) fn of(store: &Arc<dyn Store>, clock: Arc<dyn Clock>) -> Soundness {
        Soundness { store: Arc::downgrade(store), clock, is_due: true }
    }

    /// Leaves the check out: it was made, or the test damaged the store.
    pub(crate) fn settle(&mut self) {
        self.is_due = false;
    }

    pub(crate) async fn check(&self) {
        let store = self.store.upgrade().expect("the server runs");
        let findings = store.check_all(self.clock.now()).await.unwrap();
        let broken: Vec<_> = findings.iter().filter(|finding| finding.n_broken > 0).collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

impl Drop for Soundness {
    fn drop(&mut self) {
        let is_stopped = self.store.strong_count() == 0;
        if self.is_due && !is_stopped && !std::thread::panicking() {
            block_in_place(|| Handle::current().block_on(self.check()));
        }
    }
}
