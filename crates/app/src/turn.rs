//! One caller does a piece of work for all the others.

use std::sync::atomic::{AtomicBool, Ordering};

/// Somebody is at it while this lives. It ends with its holder: a caller who hangs up half-way
/// leaves the turn to the next.
pub(crate) struct Turn<'a>(&'a AtomicBool);

impl<'a> Turn<'a> {
    /// The turn, unless somebody else has it.
    pub(crate) fn take(is_taken: &'a AtomicBool) -> Option<Turn<'a>> {
        (!is_taken.swap(true, Ordering::Acquire)).then_some(Turn(is_taken))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_turn_and_whoever_drops_it_leaves_it_to_the_next() {
        let is_taken = AtomicBool::new(false);
        let first = Turn::take(&is_taken);
        assert!(first.is_some() && Turn::take(&is_taken).is_none());
        drop(first);
        assert!(Turn::take(&is_taken).is_some());
    }
}
