//! The last check of a test: what is left in the store is sound.

use podo_app::operations::port::clock::Clock;
use podo_app::store::Store;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// Checks every invariant when the test ends, unless it failed or damaged the store on purpose.
pub(crate) struct Soundness {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    is_due: bool,
}

impl Soundness {
    pub(crate) fn of(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Soundness {
        Soundness { store, clock, is_due: true }
    }

    /// Leaves the check out: it was made, or the test damaged the store.
    pub(crate) fn settle(&mut self) {
        self.is_due = false;
    }

    pub(crate) async fn check(&self) {
        let findings = self.store.check_all(self.clock.now()).await.unwrap();
        let broken: Vec<_> = findings.iter().filter(|finding| finding.n_broken > 0).collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

impl Drop for Soundness {
    fn drop(&mut self) {
        if self.is_due && !std::thread::panicking() {
            block_in_place(|| Handle::current().block_on(self.check()));
        }
    }
}
