//! What must be true after a rehearsal, line by line.

use anyhow::Result;
use app::Platform;
use app::ports::invariants::Finding;
use domain::reservations::ReservationStatus;
use load::{Ending, FanAccount, Report};

pub(super) struct Verdict<'v> {
    pub(super) report: &'v Report,
    pub(super) findings: &'v [Finding],
    /// Then some calls found nobody, and the line had to be put together again.
    pub(super) was_killed: bool,
}

impl Verdict<'_> {
    /// Prints a line for each promise; says whether all were kept.
    pub(super) async fn print(
        &self,
        platform: &Platform,
        accounts: &[FanAccount],
        max_active: u32,
    ) -> Result<bool> {
        let n_broken = self.findings.iter().filter(|finding| finding.n_broken > 0).count();
        let n_lost = self.n_lost(platform, accounts).await?;
        let n_failed = self.report.ended(Ending::Failed);
        let places = self.report.places;
        let lines = [
            ("every invariant holds", Some(n_broken == 0)),
            ("everything that was acknowledged is there", Some(n_lost == 0)),
            ("no fan ended in an error", Some(n_failed == 0)),
            ("no place was lost or given twice", Some(places.lost + places.doubled == 0)),
            ("no more were inside than allowed", Some(places.inside_max <= u64::from(max_active))),
            ("no position grew", self.unless_killed(places.grown == 0)),
            ("no answer was unexpected", self.unless_killed(self.report.unexpected == 0)),
        ];
        println!();
        for (promise, is_kept) in lines {
            let word = match is_kept {
                Some(true) => "PASS",
                Some(false) => "FAIL",
                None => "SKIP",
            };
            println!("{word}  {promise}");
        }
        Ok(lines.iter().all(|(_, is_kept)| *is_kept != Some(false)))
    }

    /// Calls to a dead server find nobody, and its line is put together again: nothing is said of
    /// what that does for a moment.
    fn unless_killed(&self, is_kept: bool) -> Option<bool> {
        (!self.was_killed).then_some(is_kept)
    }

    /// Purchases that a fan was told of and that the store does not have.
    async fn n_lost(&self, platform: &Platform, accounts: &[FanAccount]) -> Result<usize> {
        let mut n_lost = 0;
        for bought in &self.report.purchases {
            let account = accounts.get(bought.fan as usize);
            let caller =
                account.and_then(|it| platform.sessions.check(&it.access_token, platform.now()));
            let found = match caller {
                Some(caller) => {
                    platform.store.reservation(bought.reservation_id, caller.user).await?
                }
                None => None,
            };
            let is_there = found.is_some_and(|it| it.status == ReservationStatus::Confirmed);
            n_lost += usize::from(!is_there);
        }
        Ok(n_lost)
    }
}
