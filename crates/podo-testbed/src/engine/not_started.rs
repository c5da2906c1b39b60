//! Why a program didn't start.

use std::fmt;
use std::io::Error;

/// A failed start. Its `Debug` is its text, so that `unwrap` reads well.
pub struct NotStarted {
    program: &'static str,
    why: String,
    log: String,
}

impl NotStarted {
    pub(crate) fn new(program: &'static str, why: &Error, log: String) -> NotStarted {
        NotStarted { program, why: why.to_string(), log }
    }

    /// Whether another program took the port after we had found it free.
    pub(crate) fn is_port_taken(&self) -> bool {
        self.log.contains("Address already in use")
    }
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} did not start: {}", self.program, self.why)?;
        if !self.log.is_empty() {
            write!(f, "\nthe end of its log:\n{}", self.log)?;
        }
        Ok(())
    }
}

impl fmt::Debug for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NotStarted {}

impl From<NotStarted> for Error {
    fn from(failure: NotStarted) -> Error {
        Error::other(failure)
    }
}

#[test]
fn the_log_is_shown_when_there_is_one() {
    let check = |log: &str, expected: &str| {
        let failure = NotStarted::new("Redis", &Error::other("it ended"), log.to_owned());
        assert_eq!(format!("{failure:?}"), expected);
    };
    check("", "Redis did not start: it ended");
    check("no memory", "Redis did not start: it ended\nthe end of its log:\nno memory");
}
