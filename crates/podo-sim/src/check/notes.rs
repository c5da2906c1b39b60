//! A run's record: rare events, the trace, and the first broken rule.

use crate::check::coverage::{Coverage, CoverageCounts};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A broken rule.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) rule: &'static str,
    pub(crate) detail: String,
}

#[derive(Default)]
struct Pages {
    sightings: CoverageCounts,
    trace: Vec<String>,
    broken: Option<Broken>,
}

pub(crate) struct Notes {
    is_traced: bool,
    pages: Mutex<Pages>,
}

impl Notes {
    pub(crate) fn new(is_traced: bool) -> Notes {
        Notes { is_traced, pages: Mutex::default() }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn saw(&self, coverage: Coverage) {
        self.pages().sightings.saw(coverage);
    }

    /// Formatting costs more than the run itself, so a line is only built if a trace was requested.
    pub(crate) fn write(&self, line: impl FnOnce() -> String) {
        if self.is_traced {
            let line = line();
            self.pages().trace.push(line);
        }
    }

    /// Keeps the first violation: later ones may follow from it.
    pub(crate) fn broke(&self, rule: &'static str, detail: String) {
        self.pages().broken.get_or_insert(Broken { rule, detail });
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.pages().broken.is_some()
    }

    pub(crate) fn close(&self) -> (CoverageCounts, Vec<String>, Option<Broken>) {
        let pages = std::mem::take(&mut *self.pages());
        (pages.sightings, pages.trace, pages.broken)
    }
}
