//! A script's answer: a word, and its values.

use crate::live::redis::queue::replica::{Change, Moment, Opening, RoomFacts, Tag};
use crate::live::redis::queue::replicas::News;
use podo_app::waiting_room::port::queue::{Admission, Survey, Survivors};
use podo_app::{Error, Result};
use podo_domain::waiting_room::{Draw, Entry, Need, QueueCounts, QueuePosition, QueueRules};
use podo_domain::{Timestamp, UserId};
use redis::{FromRedisValue, ParsingError, Value};
use std::str::FromStr;
use uuid::Uuid;

pub(crate) struct ScriptReply {
    pub(crate) word: String,
    values: Vec<String>,
}

impl FromRedisValue for ScriptReply {
    fn from_redis_value(value: Value) -> std::result::Result<ScriptReply, ParsingError> {
        let (word, values) = FromRedisValue::from_redis_value(value)?;
        Ok(ScriptReply { word, values })
    }
}

impl ScriptReply {
    pub(crate) fn position(&self) -> Result<QueuePosition> {
        match self.word.as_str() {
            "lobby" => {
                Ok(QueuePosition::Lobby { index: self.value(0)?, n_gathered: self.value(1)? })
            }
            "waiting" => Ok(QueuePosition::Waiting {
                number: self.value(0)?,
                ahead: self.value(1)?,
                behind: self.value(2)?,
            }),
            "inside" => Ok(QueuePosition::Inside(self.entry()?)),
            "expired" => Ok(QueuePosition::Expired),
            "absent" => Ok(QueuePosition::Absent),
            _ => Err(self.unexpected()),
        }
    }

    pub(crate) fn entry(&self) -> Result<Entry> {
        Ok(Entry {
            number: self.value(0)?,
            admitted_at: Timestamp::from_ms(self.value(1)?),
            expires_at: Timestamp::from_ms(self.value(2)?),
            extensions_left: self.value(3)?,
        })
    }

    /// The script assigned every fan the same entry as the rule.
    pub(crate) fn admissions(&self, rules: &QueueRules, now: Timestamp) -> Result<Vec<Admission>> {
        let admission = |at| -> Result<Admission> {
            let fan = UserId::new(self.value::<Uuid>(at)?);
            let entry = Entry::starting(self.value(at + 1)?, &rules.settings, now);
            Ok(Admission { fan, entry })
        };
        (0..self.values.len()).step_by(2).map(admission).collect()
    }

    /// The epoch of the answering server, and what its step needs first.
    pub(crate) fn need(&self) -> Result<(&str, Need)> {
        let (epoch, what) = (self.text(0)?, self.text(1)?);
        let need = match what {
            "numbers" => Need::Numbers { above: self.value(2)? },
            "indexes" => Need::Indexes,
            "draw" => Need::Draw {
                above: self.value(2)?,
                n_gathered: self.value(3)?,
                block: self.value(4)?,
            },
            _ => return Err(self.unexpected()),
        };
        Ok((epoch, need))
    }

    /// The draw of another room.
    pub(crate) fn draw(&self) -> Result<Draw> {
        Ok(Draw { n_drawn: self.value(0)?, first: self.value(1)? })
    }

    pub(crate) fn survey(&self) -> Result<Survey> {
        let survivors = match self.word.as_str() {
            "kept" => Some(Survivors { oldest_inside: self.value(1)?, front: self.value(2)? }),
            "absent" => None,
            _ => return Err(self.unexpected()),
        };
        Ok(Survey { epoch: self.value(0)?, survivors })
    }

    pub(crate) fn news(&self) -> Result<News> {
        let seen = Moment { change: self.value(0)?, epoch: self.value(1)? };
        let n_drawn: Option<u32> = self.value(3).ok();
        let opening = Opening {
            n_lobby: self.value(5)?,
            n_drawn: n_drawn.unwrap_or(0),
            drawn_first: self.value(4)?,
        };
        let facts = RoomFacts { base: self.value(2)?, is_drawn: n_drawn.is_some(), opening };
        let changes =
            (6..self.values.len()).step_by(3).filter_map(|at| self.change(at).transpose());
        Ok(News { seen, facts, changes: changes.collect::<Result<_>>()? })
    }

    /// The first entry of a log carries no change.
    fn change(&self, at: usize) -> Result<Option<Change>> {
        let what: String = self.value(at)?;
        Ok(Some(match what.as_str() {
            "join" => Change::Join(self.value(at + 1)?, self.tag(at + 2)),
            "leave" => Change::Leave(self.value(at + 1)?),
            "admit" => Change::Admit(self.value(at + 1)?),
            "gather" => Change::Gather(self.value(at + 1)?, self.tag(at + 2)),
            "go" => Change::Go(self.value(at + 1)?),
            "start" => return Ok(None),
            _ => return Err(self.unexpected()),
        }))
    }

    /// A slice of a replica: numbers or indexes, and their fans' tags.
    pub(crate) fn slice<T: FromStr>(&self) -> Result<Vec<(T, Tag)>> {
        let places = (0..self.values.len()).step_by(2);
        places.map(|at| Ok((self.value(at)?, self.tag(at + 1)))).collect()
    }

    /// A change that an earlier version wrote has no tag, so no fan matches it.
    fn tag(&self, at: usize) -> Tag {
        self.text(at).map_or(Tag::default(), Tag::of_text)
    }

    pub(crate) fn text(&self, at: usize) -> Result<&str> {
        self.values.get(at).map(String::as_str).ok_or_else(|| self.unexpected())
    }

    pub(crate) fn counts(&self) -> Result<QueueCounts> {
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

    pub(crate) fn value<T: FromStr>(&self, at: usize) -> Result<T> {
        let value = self.values.get(at).and_then(|value| value.parse().ok());
        value.ok_or_else(|| self.unexpected())
    }

    pub(crate) fn unexpected(&self) -> Error {
        Error::Broken(format!("the waiting room answers `{}` {:?}", self.word, self.values))
    }
}
