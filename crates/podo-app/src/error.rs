//! Errors of use cases, by what the caller can do about them.

use podo_domain::Refusal;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An expected refusal. Nothing was changed.
    #[error("refused: {}", .0.code())]
    Refused(Refusal),
    /// An engine didn't answer: the same call may work later.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Another command was faster: a retry sees its result.
    #[error("conflict: {0}")]
    Conflict(String),
    /// A bug or bad data: a retry won't help.
    #[error("broken: {0}")]
    Broken(String),
}

impl Error {
    pub fn broken(what: impl std::fmt::Display) -> Error {
        Error::Broken(what.to_string())
    }

    pub fn unavailable(what: impl std::fmt::Display) -> Error {
        Error::Unavailable(what.to_string())
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error::Refused(refusal)
    }
}

pub type Result<T> = std::result::Result<T, Error>;
