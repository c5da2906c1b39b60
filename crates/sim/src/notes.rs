//! What a run leaves behind: rare moments, the trace, and the first rule that did not hold.

use crate::sight::{Sight, Sightings};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A rule that does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) rule: &'static str,
    pub(crate) detail: String,
}

#[derive(Default)]
struct Pages {
    sightings: Sightings,
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

    pub(crate) fn saw(&self, sight: Sight) {
        self.pages().sightings.saw(sight);
    }

    /// Words cost more than the run itself, so they are made only when somebody reads them.
    pub(crate) fn write(&self, line: impl FnOnce() -> String) {
        if self.is_traced {
            let line = line();
            self.pages().trace.push(line);
        }
    }

    /// The first one counts: what follows may follow from it.
    pub(crate) fn broke(&self, rule: &'static str, detail: String) {
        self.pages().broken.get_or_insert(Broken { rule, detail });
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.pages().broken.is_some()
    }

    pub(crate) fn close(&self) -> (Sightings, Vec<String>, Option<Broken>) {
        let pages = std::mem::take(&mut *self.pages());
        (pages.sightings, pages.trace, pages.broken)
    }
}
