//! Kept seats: groups of seats that aren't for sale, released by hand or at their time.

use crate::check::coverage::Coverage;
use crate::fan::organiser::{ALL, FREE};
use crate::world::{ORGANISER, World};
use futures::FutureExt;
use podo_app::booking::allocations::{create_allocation, keep_seats, release_seats};
use podo_app::operations::port::clock::{Clock, Rng as _};
use podo_domain::booking::allocations::{AllocationKind, AllocationTerms, KeepPick};
use podo_domain::{AllocationId, Refusal, SeatId};
use std::sync::Arc;

const OPEN: &str = "select id from allocations
                     where schedule_id = $1 and released_at is null order by id";

impl World {
    /// Some of any seats, or of those that are free.
    fn seats_to_keep(&self) -> Vec<SeatId> {
        let sql = if self.rng.happens(70) { FREE } else { ALL };
        self.some_seats(sql, self.schedule.uuid(), 2)
    }

    pub(super) async fn create_allocation(self: &Arc<World>) {
        let kinds = [AllocationKind::Artist, AllocationKind::BoxOffice, AllocationKind::Never];
        let kind = self.rng.one_of(&kinds);
        let release_at = self.time.now().plus(self.rng.ms(15_000, 90_000));
        let is_timed = kind != AllocationKind::Never && self.rng.happens(60);
        let terms = AllocationTerms {
            name: format!("Group {}", self.rng.number()),
            kind,
            note: None,
            release_at: (is_timed && release_at < self.closing()).then_some(release_at),
        };
        let (schedule, seats) = (self.schedule, self.seats_to_keep());
        let asked = self.insist(ORGANISER, "an allocation", move |context| {
            let (terms, seats) = (terms.clone(), seats.clone());
            async move {
                create_allocation(&context, ORGANISER, schedule, terms, &seats).await.map(drop)
            }
            .boxed()
        });
        let answer = asked.await;
        self.note_kept(answer);
    }

    pub(super) async fn keep_more(self: &Arc<World>) {
        let Some(allocation) = self.any_id(OPEN).map(AllocationId::new) else { return };
        let seats = self.seats_to_keep();
        let Ok(pick) = KeepPick::new(self.schedule, &seats) else { return };
        let asked = self.insist(ORGANISER, "kept seats", move |context| {
            let pick = pick.clone();
            async move { keep_seats(&context, ORGANISER, allocation, pick).await.map(drop) }.boxed()
        });
        let answer = asked.await;
        self.note_kept(answer);
    }

    fn note_kept(&self, answer: Option<Result<(), Refusal>>) {
        match answer {
            Some(Ok(())) => self.saw(Coverage::SeatsKept),
            Some(Err(Refusal::SeatsNotFree { .. })) => self.saw(Coverage::KeepRefused),
            Some(Err(_)) | None => {}
        }
    }

    /// Some seats of a group, or the whole group.
    pub(super) async fn release_by_hand(self: &Arc<World>) {
        let Some(allocation) = self.any_id(OPEN).map(AllocationId::new) else { return };
        let sql = "select seat_index from allocation_seats where allocation_id = $1
                    order by seat_index";
        let some = self.rng.happens(60).then(|| self.some_seats(sql, allocation.uuid(), 2));
        let some = some.filter(|seats| !seats.is_empty());
        let is_whole = some.is_none();
        let schedule = self.schedule;
        let asked = self.insist(ORGANISER, "a release", move |context| {
            let some = some.clone();
            async move {
                let some = some.as_deref();
                release_seats(&context, ORGANISER, schedule, allocation, some).await.map(drop)
            }
            .boxed()
        });
        match asked.await {
            Some(Ok(())) if is_whole => self.saw(Coverage::AllocationReleased),
            Some(Ok(())) => self.saw(Coverage::SeatsReleased),
            Some(Err(Refusal::KeptSeatsSold { .. })) => self.saw(Coverage::KeptSeatsSold),
            Some(Err(_)) | None => {}
        }
    }
}
