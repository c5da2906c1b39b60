//! State shared by the limiters of one node: the number of nodes, and which groups of keys are due
//! or can't be reported.

use crate::operations::throttling::limits::Group;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct NodeState {
    /// 0 until the nodes have been counted, which is equivalent to 1.
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
    pub(crate) fn n_nodes(&self) -> u32 {
        self.n_nodes.load(Ordering::Relaxed).max(1)
    }

    pub(crate) fn set_nodes(&self, n_nodes: u32) {
        self.n_nodes.store(n_nodes, Ordering::Relaxed);
    }

    pub(crate) async fn due(&self, group: Group) {
        self.groups[group.index()].due.notified().await;
    }

    pub(crate) fn wake(&self, group: Group) {
        self.groups[group.index()].due.notify_one();
    }

    pub(crate) fn is_failing(&self, group: Group) -> bool {
        self.groups[group.index()].is_failing.load(Ordering::Relaxed)
    }

    /// Returns whether this is the first failing group.
    pub(crate) fn note_failure(&self, group: Group) -> bool {
        let was_failing = self.groups[group.index()].is_failing.swap(true, Ordering::Relaxed);
        !was_failing && self.n_failing.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Returns whether this was the last failing group.
    pub(crate) fn note_success(&self, group: Group) -> bool {
        let was_failing = self.groups[group.index()].is_failing.swap(false, Ordering::Relaxed);
        was_failing && self.n_failing.fetch_sub(1, Ordering::Relaxed) == 1
    }
}
