//! Draws the applications of a draw sale, and offers seats to the winners in their order.

use crate::booking::reservations::tell_held;
use crate::catalog::phases::draws_port::{
    ApplicationRecord, DrawRecord, NextApplication, OfferDrawn, Placed, StorePlaces,
};
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::jobs::{DRAW, OFFER_DRAWN, Round, put_off};
use crate::store::Store;
use podo_domain::booking::best::{SeatRequest, best_seats};
use podo_domain::booking::draws::{Application, ApplicationState, ListHash, offer_until, winners};
use podo_domain::booking::seats::SeatPick;
use podo_domain::id::SeatIndex;
use podo_domain::waiting_room::draw::permutation;
use podo_domain::{PhaseId, Refusal, ReservationId, SeatId, Timestamp};
use std::collections::BTreeSet;

/// Draws in one round.
const DRAWS_MAX: u32 = 20;

/// Applications read at once, and places stored in one transaction.
const READ_MAX: u32 = 20_000;
const STORED_MAX: usize = 5_000;

/// Offers of one draw in one round, and fans told in one transaction.
const OFFERS_MAX: usize = 200;
const TOLD_MAX: u32 = 500;

/// Ends windows that are over, and stores the drawn order. The places follow from the seed and the
/// number of indexes, so a round that was interrupted continues with the same order.
pub async fn draw(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    for phase in context.store.draws_due(now, DRAWS_MAX).await? {
        match draw_phase(&*context.store, phase, now).await {
            Ok(n_drawn) => round.done += n_drawn,
            Err(error) => {
                put_off(context, DRAW, phase.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}

/// Returns how many applications have got their place.
pub async fn draw_phase(store: &dyn Store, phase: PhaseId, now: Timestamp) -> Result<u64> {
    let draw = store.close_draw(phase, now).await?;
    if draw.closed_at.is_none() || draw.drawn_at.is_some() {
        return Ok(0);
    }
    let list = read_list(store, &draw).await?;
    let ranks = permutation(&draw.seed, draw.n_applied);
    let quantities: Vec<u32> = draw.terms.quantities.values().copied().collect();
    let wins = winners(&ranks, &list.applications, &quantities);
    let places: Vec<Placed> = ranks
        .iter()
        .zip(&wins)
        .map(|(place, wins)| Placed { place: *place, wins: *wins })
        .collect();
    let mut from = draw.n_ranked as usize;
    loop {
        let to = (from + STORED_MAX).min(places.len());
        let command = StorePlaces {
            phase,
            from: u32::try_from(from).unwrap_or(u32::MAX),
            places: places[from..to].to_vec(),
            list_hash: list.hash,
            now,
        };
        store.store_places(command).await?;
        from = to;
        if from == places.len() {
            return Ok(u64::from(draw.n_applied - draw.n_ranked));
        }
    }
}

/// The applications by index, and the hash under which they are published.
struct List {
    applications: Vec<Application>,
    hash: [u8; 32],
}

async fn read_list(store: &dyn Store, draw: &DrawRecord) -> Result<List> {
    let grades: Vec<&String> = draw.terms.quantities.keys().collect();
    let mut applications = Vec::with_capacity(draw.n_applied as usize);
    let mut hash = ListHash::default();
    while applications.len() < draw.n_applied as usize {
        let from = u32::try_from(applications.len()).unwrap_or(u32::MAX);
        let page = store.applications_from(draw.phase, from, READ_MAX).await?;
        if page.is_empty() {
            return Err(Error::broken("a draw has fewer applications than indexes"));
        }
        for record in page {
            let index = u32::try_from(applications.len()).unwrap_or(u32::MAX);
            if record.index != index {
                return Err(Error::broken("an index of a draw has no application"));
            }
            let is_withdrawn = record.state == ApplicationState::Withdrawn;
            let line = (!is_withdrawn).then_some((record.grade.as_str(), record.count));
            hash.add(index, line);
            let grade = grades.binary_search(&&record.grade).unwrap_or(usize::MAX);
            applications.push(Application {
                grade: u16::try_from(grade).unwrap_or(u16::MAX),
                n_seats: u8::try_from(record.count).unwrap_or(u8::MAX),
                is_withdrawn,
            });
        }
    }
    Ok(List { applications, hash: hash.finish() })
}

/// Settles offers that are over, and offers seats to those whose turn it is. Every step is a
/// compare-and-set, so any number of nodes can run this at once.
pub async fn offer_drawn(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    round.done += context.store.settle_drawn(now, TOLD_MAX).await?;
    for draw in context.store.draws_running(now, DRAWS_MAX).await? {
        match serve(context, &draw, now).await {
            Ok(served) => {
                round.done += served.done;
                round.is_full |= served.is_full;
            }
            Err(Error::Conflict(_)) => round.is_full = true,
            Err(error) => {
                put_off(context, OFFER_DRAWN, draw.phase.uuid(), &error).await?;
                round.failed += 1;
            }
        }
    }
    Ok(round)
}

async fn serve(context: &AppContext, draw: &DrawRecord, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    if let Some(until) = offer_until(draw.terms.offer_minutes, draw.ends_at, now) {
        let mut free = free_seats(context, draw.phase).await?;
        for grade in draw.terms.quantities.keys() {
            let mut offers = GradeRound { context, draw, grade, free: &mut free, until, now };
            let n_served = offers.offer_grade().await?;
            round.done += n_served as u64;
            round.is_full |= n_served == OFFERS_MAX;
        }
    }
    let n_told = context.store.tell_not_drawn(draw.phase, TOLD_MAX, now).await?;
    round.is_full |= n_told == u64::from(TOLD_MAX);
    round.done += n_told;
    Ok(round)
}

/// The free seats that the phase sells.
async fn free_seats(context: &AppContext, phase: PhaseId) -> Result<BTreeSet<SeatIndex>> {
    let schedule = phase.schedule();
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    let found = record.phases.iter().find(|it| it.id == phase).ok_or(Refusal::NotFound)?;
    let seats = context.store.free_seats_of(schedule).await?;
    Ok(seats.into_iter().filter(|seat| found.sells(*seat)).collect())
}

/// What became of an application whose turn it was.
enum Served {
    Done,
    /// Nothing more can be offered in this round.
    Stop,
}

struct GradeRound<'t> {
    context: &'t AppContext,
    draw: &'t DrawRecord,
    grade: &'t String,
    free: &'t mut BTreeSet<SeatIndex>,
    until: Timestamp,
    now: Timestamp,
}

impl GradeRound<'_> {
    async fn offer_grade(&mut self) -> Result<usize> {
        for n_served in 0..OFFERS_MAX {
            let next =
                self.context.store.next_to_offer(self.draw.phase, self.grade.clone()).await?;
            let Some(next) = next else { return Ok(n_served) };
            match self.serve(next).await? {
                Served::Done => {}
                Served::Stop => return Ok(n_served),
            }
        }
        Ok(OFFERS_MAX)
    }

    async fn serve(&mut self, next: NextApplication) -> Result<Served> {
        let NextApplication { application, left, has_open } = next;
        if left < application.count {
            // Seats of an open offer may come back; then it is still this fan's turn.
            if has_open || left == 0 {
                return Ok(Served::Stop);
            }
            return self.pass_over(&application).await;
        }
        let Some(pick) = self.choose(&application).await? else { return Ok(Served::Stop) };
        // Whether the offer succeeds or loses a race, these seats aren't available to the next.
        for seat in pick.indexes() {
            self.free.remove(seat);
        }
        let command = OfferDrawn {
            phase: self.draw.phase,
            user: application.user,
            reservation: ReservationId::new(self.context.rng.id(self.now)),
            pick: pick.clone(),
            until: self.until,
            now: self.now,
        };
        match self.context.store.offer_drawn(command).await {
            Ok(()) => {
                tell_held(self.context, &pick, application.user, self.until).await?;
                Ok(Served::Done)
            }
            // The fan has bought seats elsewhere.
            Err(Error::Refused(Refusal::SeatLimit { .. })) => self.pass_over(&application).await,
            // Another command was faster, or the sale stopped; the next round sees what is left.
            Err(Error::Refused(_)) => Ok(Served::Stop),
            Err(error) => Err(error),
        }
    }

    async fn pass_over(&self, application: &ApplicationRecord) -> Result<Served> {
        self.context.store.pass_over(self.draw.phase, application.user, self.now).await?;
        Ok(Served::Done)
    }

    /// Adjacent seats if possible; otherwise any seats of the grade.
    async fn choose(&self, application: &ApplicationRecord) -> Result<Option<SeatPick>> {
        let schedule = self.draw.phase.schedule();
        let hall = self.context.catalog.layouts.get(&*self.context.store, schedule).await?;
        let wish = SeatRequest {
            grade: hall.grade(self.grade),
            across_rows: true,
            ..SeatRequest::new(application.count as usize)
        };
        let Some(seats) = best_seats(&hall, |seat| self.free.contains(&seat), &wish) else {
            return Ok(None);
        };
        let seats: Vec<SeatId> = seats.iter().map(|seat| schedule.seat(*seat)).collect();
        Ok(Some(SeatPick::new(schedule, &seats)?))
    }
}
