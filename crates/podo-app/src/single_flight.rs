//! Single flight: one caller does a piece of work for all the others.

use std::sync::atomic::{AtomicBool, Ordering};

/// Marks the work as in progress while it lives. Dropping it, even if the caller is canceled
/// half-way, lets the next caller take over.
pub(crate) struct SingleFlight<'a>(&'a AtomicBool);

impl<'a> SingleFlight<'a> {
    /// Takes the flight, unless another caller has it.
    pub(crate) fn take(is_taken: &'a AtomicBool) -> Option<SingleFlight<'a>> {
        (!is_taken.swap(true, Ordering::Acquire)).then_some(SingleFlight(is_taken))
    }
}

impl Drop for SingleFlight<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_has_the_flight_and_dropping_it_frees_it() {
        let is_taken = AtomicBool::new(false);
        let first = SingleFlight::take(&is_taken);
        assert!(first.is_some() && SingleFlight::take(&is_taken).is_none());
        drop(first);
        assert!(SingleFlight::take(&is_taken).is_some());
    }
}
