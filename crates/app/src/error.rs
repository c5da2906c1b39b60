//! What can go wrong in a use case, by what the caller may do about it.

use domain::Refusal;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An expected no. Nothing was changed.
    #[error("refused: {}", .0.code())]
    Refused(Refusal),
    /// An engine did not answer: the same call may work later.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Another command was faster: the same call, run again, sees what it did.
    #[error("conflict: {0}")]
    Conflict(String),
    /// A fault of ours or of the data: trying again will not help.
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
