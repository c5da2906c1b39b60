//! What a step's script answers: a word, and the values that belong to it.

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
        (0..self.values.len()).step_by(2).map(admission).collect()
    }

    pub(super) fn counts(&self) -> Result<QueueCounts> {
        let (n_fans, n_seconds) = (self.value::<f64>(7)?, self.value::<f64>(8)?);
        Ok(QueueCounts {
            gathered: self.value(0)?,
            drawn: self.value(1)?,
            waiting: self.value(2)?,
            inside: self.value(3)?,
            admitted: self.value(4)?,
            left: self.value(5)?,
            expired: self.value(6)?,
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
