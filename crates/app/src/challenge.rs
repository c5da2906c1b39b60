//! The riddle in front of a queue. It is made from a code over schedule, fan and time, so that
//! nothing has to be remembered about it.

use crate::platform::Platform;
use crate::seals::Purpose;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::challenge::is_solved;
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use std::time::Duration;

/// A riddle may be solved for this long; a phone needs seconds.
const SOLVE_WITHIN: Duration = Duration::from_secs(300);

/// For whom a riddle is.
#[derive(Clone, Copy, Debug)]
pub struct Riddle {
    pub schedule: ScheduleId,
    pub fan: UserId,
    pub bits: u8,
}

/// How an answer is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is none, or its time is over.
    Missing,
    /// Somebody made it up.
    Forged,
}

impl Riddle {
    /// Lets through who solved it: `salt.number`.
    pub fn check(
        &self,
        platform: &Platform,
        answer: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Wrong> {
        let (salt, number) = answer.and_then(|it| it.split_once('.')).ok_or(Wrong::Missing)?;
        let number: u64 = number.parse().map_err(|_error| Wrong::Forged)?;
        let ends_at = self.end_in(platform, salt).ok_or(Wrong::Forged)?;
        if ends_at <= now {
            return Err(Wrong::Missing);
        }
        if is_solved(salt, number, self.bits) { Ok(()) } else { Err(Wrong::Forged) }
    }

    /// The riddle to solve.
    pub fn refusal(&self, platform: &Platform, now: Timestamp) -> Refusal {
        let ends_at = now.plus(SOLVE_WITHIN);
        let salt = self.salt(platform, ends_at);
        Refusal::ChallengeRequired { salt, bits: self.bits, expires_at: ends_at }
    }

    fn salt(&self, platform: &Platform, ends_at: Timestamp) -> String {
        let time = ends_at.ms().to_be_bytes();
        let Riddle { schedule, fan, bits } = self;
        let bytes =
            [time.as_slice(), schedule.uuid().as_bytes(), fan.uuid().as_bytes(), &[*bits]].concat();
        let code = platform.seals.code(Purpose::Challenge, &bytes);
        URL_SAFE_NO_PAD.encode([time.as_slice(), &code[..16]].concat())
    }

    /// When the riddle of this salt ends, if it is ours and for this fan.
    fn end_in(&self, platform: &Platform, salt: &str) -> Option<Timestamp> {
        let bytes = URL_SAFE_NO_PAD.decode(salt).ok()?;
        let time = bytes.first_chunk::<8>()?;
        let ends_at = Timestamp::from_ms(i64::from_be_bytes(*time));
        (self.salt(platform, ends_at) == salt).then_some(ends_at)
    }
}
