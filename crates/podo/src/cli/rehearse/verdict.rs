//! The conditions that a rehearsal must meet, line by line.

use anyhow::Result;
use podo_app::AppContext;
use podo_app::operations::port::invariants::Finding;
use podo_domain::booking::reservations::ReservationStatus;
use podo_load::{Ending, FanAccount, Report};

pub(super) struct Verdict<'v> {
    pub(super) report: &'v Report,
    pub(super) findings: &'v [Finding],
    /// If so, some calls had no server, and the queue had to be rebuilt.
    pub(super) was_killed: bool,
}

impl Verdict<'_> {
    /// Prints a line for each condition, and returns whether all hold.
    pub(super) async fn print(
        &self,
        context: &AppContext,
        accounts: &[FanAccount],
        max_active: u32,
    ) -> Result<bool> {
        let n_broken = self.findings.iter().filter(|finding| finding.n_broken > 0).count();
        let n_lost = self.n_lost(context, accounts).await?;
        let n_failed = self.report.ended(Ending::Failed);
        let places = self.report.places;
        let lines = [
            ("every invariant holds", Some(n_broken == 0)),
            ("every acknowledged purchase exists", Some(n_lost == 0)),
            ("no fan ended with an error", Some(n_failed == 0)),
            ("no place was lost or assigned twice", Some(places.lost + places.doubled == 0)),
            (
                "never more fans inside than allowed",
                Some(places.inside_max <= u64::from(max_active)),
            ),
            ("no position got worse", self.unless_killed(places.grown == 0)),
            ("no response was unexpected", self.unless_killed(self.report.unexpected == 0)),
        ];
        println!();
        for (check, is_kept) in lines {
            let word = match is_kept {
                Some(true) => "PASS",
                Some(false) => "FAIL",
                None => "SKIP",
            };
            println!("{word}  {check}");
        }
        Ok(lines.iter().all(|(_, is_kept)| *is_kept != Some(false)))
    }

    /// Calls to a dead server fail, and its queue is rebuilt: the condition doesn't apply in the
    /// meantime.
    fn unless_killed(&self, is_kept: bool) -> Option<bool> {
        (!self.was_killed).then_some(is_kept)
    }

    /// Purchases acknowledged to a fan that the store doesn't have.
    async fn n_lost(&self, context: &AppContext, accounts: &[FanAccount]) -> Result<usize> {
        let mut n_lost = 0;
        for bought in &self.report.purchases {
            let account = accounts.get(bought.fan as usize);
            let caller = account
                .and_then(|it| context.identity.sessions.check(&it.access_token, context.now()));
            let found = match caller {
                Some(caller) => {
                    context.store.reservation(bought.reservation_id, caller.user).await?
                }
                None => None,
            };
            let is_there = found.is_some_and(|it| it.status == ReservationStatus::Confirmed);
            n_lost += usize::from(!is_there);
        }
        Ok(n_lost)
    }
}
