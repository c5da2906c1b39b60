//! The proof of work in front of a queue. The challenge is a MAC over schedule, fan and time, so
//! the server keeps no state for it.

use crate::context::AppContext;
use crate::identity::keyring::Purpose;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::waiting_room::proof_of_work::is_solved;
use podo_domain::{Refusal, ScheduleId, Timestamp, UserId};
use std::time::Duration;

/// How long a challenge stays valid; a phone solves it in seconds.
const SOLVE_WITHIN: Duration = Duration::from_secs(300);

/// The fan and schedule that a challenge is bound to.
#[derive(Clone, Copy, Debug)]
pub struct ProofOfWork {
    pub schedule: ScheduleId,
    pub fan: UserId,
    pub bits: u8,
}

/// Why a solution was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Absent or expired.
    Missing,
    /// Not issued by this platform, or not a solution.
    Forged,
}

impl ProofOfWork {
    /// Accepts a valid solution, `salt.number`.
    pub fn check(
        &self,
        context: &AppContext,
        answer: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Wrong> {
        let (salt, number) = answer.and_then(|it| it.split_once('.')).ok_or(Wrong::Missing)?;
        let number: u64 = number.parse().map_err(|_error| Wrong::Forged)?;
        let ends_at = self.end_in(context, salt).ok_or(Wrong::Forged)?;
        if ends_at <= now {
            return Err(Wrong::Missing);
        }
        if is_solved(salt, number, self.bits) { Ok(()) } else { Err(Wrong::Forged) }
    }

    /// The refusal with the challenge to solve.
    pub fn refusal(&self, context: &AppContext, now: Timestamp) -> Refusal {
        let ends_at = now.plus(SOLVE_WITHIN);
        let salt = self.salt(context, ends_at);
        Refusal::ChallengeRequired { salt, bits: self.bits, expires_at: ends_at }
    }

    fn salt(&self, context: &AppContext, ends_at: Timestamp) -> String {
        let time = ends_at.ms().to_be_bytes();
        let ProofOfWork { schedule, fan, bits } = self;
        let bytes =
            [time.as_slice(), schedule.uuid().as_bytes(), fan.uuid().as_bytes(), &[*bits]].concat();
        let code = context.keyring.code(Purpose::Challenge, &bytes);
        URL_SAFE_NO_PAD.encode([time.as_slice(), &code[..16]].concat())
    }

    /// When the challenge of this salt expires, if we issued it to this fan.
    fn end_in(&self, context: &AppContext, salt: &str) -> Option<Timestamp> {
        let bytes = URL_SAFE_NO_PAD.decode(salt).ok()?;
        let time = bytes.first_chunk::<8>()?;
        let ends_at = Timestamp::from_ms(i64::from_be_bytes(*time));
        (self.salt(context, ends_at) == salt).then_some(ends_at)
    }
}
