//! What the limiters of one node know together: how many nodes there are, and which groups of keys
//! are due or cannot be reported.

use crate::ports::limits::Group;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct NodeState {
    /// 0 until the others were counted, which is as good as 1.
    n_nodes: AtomicU32,
    groups: [GroupState; Group::COUNT],
    n_failing: AtomicUsize,
}

#[derive(Default)]
struct GroupState {
    due: Notify,
    /// The last report of the group failed.
    is_failing: AtomicBool,
}

impl NodeState {
    pub(super) fn n_nodes(&self) -> u32 {
        self.n_nodes.load(Ordering::Relaxed).max(1)
    }

    pub(super) fn set_nodes(&self, n_nodes: u32) {
        self.n_nodes.store(n_nodes, Ordering::Relaxed);
    }

    pub(super) async fn due(&self, group: Group) {
        self.groups[group.index()].due.notified().await;
    }

    pub(super) fn wake(&self, group: Group) {
        self.groups[group.index()].due.notify_one();
    }

    pub(super) fn is_failing(&self, group: Group) -> bool {
        self.groups[group.index()].is_failing.load(Ordering::Relaxed)
    }

    /// Whether this is the first group that fails.
    pub(super) fn note_failure(&self, group: Group) -> bool {
        let was_failing = self.groups[group.index()].is_failing.swap(true, Ordering::Relaxed);
        !was_failing && self.n_failing.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Whether this was the last group that failed.
    pub(super) fn note_success(&self, group: Group) -> bool {
        let was_failing = self.groups[group.index()].is_failing.swap(false, Ordering::Relaxed);
        was_failing && self.n_failing.fetch_sub(1, Ordering::Relaxed) == 1
    }
}
