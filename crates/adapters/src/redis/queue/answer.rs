//! What a step's script answers: a word, and the values that belong to it.

use super::replica::{Change, Facts, Opening};
use super::replicas::News;
use app::ports::queue::Admission;
use app::{Error, Result};
use domain::queue::{Entry, QueueCounts, QueueRules, Standing};
use domain::{Timestamp, UserId};
use redis::{FromRedisValue, ParsingError, Value};
use std::str::FromStr;
use uuid::Uuid;

pub(super) struct Answer {
    pub(super) word: String,
    values: Vec<String>,
}

impl FromRedisValue for Answer {
    fn from_redis_value(value: Value) -> std::result::Result<Answer, ParsingError> {
        let (word, values) = FromRedisValue::from_redis_value(value)?;
        Ok(Answer { word, values })
    }
}

impl Answer {
    pub(super) fn standing(&self) -> Result<Standing> {
        match self.word.as_str() {
            "lobby" => Ok(Standing::Lobby { index: self.value(0)?, n_gathered: self.value(1)? }),
            "waiting" => Ok(Standing::Waiting {
                number: self.value(0)?,
                ahead: self.value(1)?,
                behind: self.value(2)?,
            }),
            "inside" => Ok(Standing::Inside(self.entry()?)),
            "expired" => Ok(Standing::Expired),
            "absent" => Ok(Standing::Absent),
            _ => Err(self.unexpected()),
        }
    }

    pub(super) fn entry(&self) -> Result<Entry> {
        Ok(Entry {
            number: self.value(0)?,
            admitted_at: Timestamp::from_ms(self.value(1)?),
            expires_at: Timestamp::from_ms(self.value(2)?),
            extensions_left: self.value(3)?,
        })
    }

    /// The script gave every fan the same entry that the rule does.
    pub(super) fn admissions(&self, rules: &QueueRules, now: Timestamp) -> Result<Vec<Admission>> {
        let admission = |at| -> Result<Admission> {
            let fan = UserId::new(self.value::<Uuid>(at)?);
            let entry = Entry::starting(self.value(at + 1)?, &rules.settings, now);
            Ok(Admission { fan, entry })
        };
        (3..self.values.len()).step_by(2).map(admission).collect()
    }

    /// What a round says of the opening besides.
    pub(super) fn opening(&self) -> Result<Opening> {
        let (n_lobby, n_drawn) = (self.value(0)?, self.value(1)?);
        Ok(Opening { n_lobby, n_drawn, drawn_first: self.value(2)? })
    }

    pub(super) fn news(&self) -> Result<News> {
        let n_drawn: Option<u32> = self.value(2).ok();
        let opening = Opening {
            n_lobby: self.value(4)?,
            n_drawn: n_drawn.unwrap_or(0),
            drawn_first: self.value(3)?,
        };
        let facts = Facts { base: self.value(1)?, is_drawn: n_drawn.is_some(), opening };
        let changes =
            (5..self.values.len()).step_by(2).filter_map(|at| self.change(at).transpose());
        Ok(News { seen: self.value(0)?, facts, changes: changes.collect::<Result<_>>()? })
    }

    /// The first entry of a log tells nothing.
    fn change(&self, at: usize) -> Result<Option<Change>> {
        let what: String = self.value(at)?;
        Ok(Some(match what.as_str() {
            "join" => Change::Join(self.value(at + 1)?),
            "leave" => Change::Leave(self.value(at + 1)?),
            "admit" => Change::Admit(self.value(at + 1)?),
            "gather" => Change::Gather(self.value(at + 1)?),
            "go" => Change::Go(self.value(at + 1)?),
            "start" => return Ok(None),
            _ => return Err(self.unexpected()),
        }))
    }

    pub(super) fn all<T: FromStr>(&self) -> Result<Vec<T>> {
        (0..self.values.len()).map(|at| self.value(at)).collect()
    }

    pub(super) fn counts(&self) -> Result<QueueCounts> {
        let (n_fans, n_seconds) = (self.value::<f64>(8)?, self.value::<f64>(9)?);
        Ok(QueueCounts {
            gathered: self.value(0)?,
            drawn: self.value(1)?,
            waiting: self.value(2)?,
            front: self.value(3)?,
            inside: self.value(4)?,
            admitted: self.value(5)?,
            left: self.value(6)?,
            expired: self.value(7)?,
            admitted_per_second: n_fans / n_seconds,
        })
    }

    pub(super) fn value<T: FromStr>(&self, at: usize) -> Result<T> {
        let value = self.values.get(at).and_then(|value| value.parse().ok());
        value.ok_or_else(|| self.unexpected())
    }

    pub(super) fn unexpected(&self) -> Error {
        Error::Broken(format!("the waiting room answers `{}` {:?}", self.word, self.values))
    }
}
