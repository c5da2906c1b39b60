//! Waits in line, and checks that no one overtakes.

use crate::check::coverage::Coverage;
use crate::fan::Fan;
use crate::world::MASTER_KEY;
use futures::FutureExt;
use podo_app::identity::keyring::Keyring;
use podo_app::operations::port::clock::Clock;
use podo_app::waiting_room;
use podo_app::waiting_room::port::queue::Queue;
use podo_app::waiting_room::tokens::Token;
use podo_app::waiting_room::{QueueState, QueueView};
use podo_domain::waiting_room::{PlaceNumber, RETURN_WINDOW};
use podo_domain::{Refusal, ScheduleId};

/// A fan's last known place.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastPlace {
    /// Each phase has its own waiting room, with its own numbers.
    room: ScheduleId,
    number: PlaceNumber,
    /// The best position, which must never get worse.
    position: u64,
}

impl Fan {
    pub(super) fn forget_place(&mut self) {
        self.place = None;
        self.inside = None;
        self.place_token = None;
        self.entry_token = None;
    }

    /// I17: an entry that the store knows to be live comes back after the engines have lost it. One
    /// that the store recorded after its slot had gone to another fan waits for a free slot at its
    /// number.
    pub(super) async fn come_back_in(&mut self) {
        let number = self.inside.filter(|_| self.has_live_entry());
        self.entry_token = None;
        let Some(number) = number else { return self.forget_place() };
        let view = self.ask_place(true).await;
        if let Some(Ok(view)) = view
            && self.has_live_entry()
            && !self.world.is_called_off()
            && !self.world.is_between_rooms()
        {
            let is_kept = view.number == Some(number)
                && (view.entry_token.is_some() || self.is_full_after_loss().await);
            self.world.ensure(is_kept, "I17", || format!("the entry of {number} was lost"));
        }
        self.forget_place();
    }

    async fn is_full_after_loss(&self) -> bool {
        let world = &self.world;
        let counts = world.live.queue().counts(world.room(), world.time.now()).await;
        let is_full = counts.is_ok_and(|it| it.inside >= u64::from(world.swarm.max_active));
        is_full && world.live.lost_at().is_some()
    }

    /// Whether the store has a live entry of this fan in the current room. A payment ends it,
    /// sometimes late.
    fn has_live_entry(&self) -> bool {
        let sql = "select q.place_number, q.expires_at, q.schedule_id from queue_history q
                    where q.user_id = $1 and q.state = 'ACTIVE'
                      and not exists (select 1 from reservations r
                                       where r.user_id = q.user_id
                                         and coalesce(r.phase_id, r.schedule_id) = q.schedule_id
                                         and r.place_number = q.place_number
                                         and r.status in ('PAYING', 'CONFIRMED', 'CANCELED'))";
        let (now, room) = (self.world.time.now().ms(), self.world.room().to_string());
        let rows = self.world.store.look(sql, Some(self.user.uuid()));
        rows.iter().any(|row| {
            let is_theirs = self.inside.is_some_and(|number| row[0] == number.to_string());
            let is_live = row[1].parse().is_ok_and(|until: i64| now < until);
            is_theirs && is_live && row[2] == room
        })
    }

    /// Enters, and waits for admission. False if the sale ends first.
    pub(super) async fn get_in(&mut self) -> bool {
        if self.entry_token.is_some() && self.world.rng.happens(50) {
            return true;
        }
        let mut view = self.ask_place(true).await;
        while self.world.is_on_sale() {
            match view {
                Some(Ok(view)) if view.entry_token.is_some() => {
                    self.inside = view.number;
                    // A fan who comes back after an entry starts over.
                    self.place = None;
                    self.entry_token = view.entry_token;
                    return true;
                }
                Some(Ok(_)) | None => {}
                Some(Err(refused)) => {
                    self.note_refusal(&refused).await;
                    return self.give_up_place();
                }
            }
            self.pause(500, 14_000).await;
            let enters_again = self.world.rng.happens(self.world.swarm.repeats / 4);
            view = self.ask_place(enters_again).await;
        }
        false
    }

    fn give_up_place(&mut self) -> bool {
        self.forget_place();
        false
    }

    /// Enters or polls, with the place token if there is one.
    async fn ask_place(&mut self, enters: bool) -> Option<Result<QueueView, Refusal>> {
        let (caller, schedule) = (self.caller, self.world.schedule);
        let token = self.place_token.clone();
        let enters = enters || token.is_none();
        let what = if enters { "enter" } else { "status" };
        let asked = self.insist(what, move |context| {
            let token = token.clone();
            async move {
                let asker =
                    waiting_room::asker(&context, schedule, Some(caller), token.as_deref())?;
                match enters {
                    true => waiting_room::enter(&context, asker, None).await,
                    false => waiting_room::status(&context, asker, schedule).await,
                }
            }
            .boxed()
        });
        let answer = asked.await?;
        if let Ok(view) = &answer {
            if let Some(token) = &view.token {
                self.place_token = Some(token.clone());
            }
            if let Some(room) = self.room_of_token() {
                self.look_at(room, view);
            }
        }
        Some(answer)
    }

    /// The waiting room that the fan's place is in.
    fn room_of_token(&self) -> Option<ScheduleId> {
        let keyring = Keyring::new(&MASTER_KEY);
        Token::read(self.place_token.as_deref()?, keyring.tokens()).map(|token| token.schedule)
    }

    /// I17: a number never changes, and a position never grows. After a loss, a fan who polls early
    /// may be ahead for a moment, but none falls behind their earlier position.
    fn look_at(&mut self, room: ScheduleId, view: &QueueView) {
        let world = self.world.clone();
        if view.state == QueueState::Lobby {
            world.saw(Coverage::Lobby);
        }
        if view.state != QueueState::Waiting {
            return;
        }
        let Some(number) = view.number else { return };
        let lost_at = world.live.lost_at();
        let position = view.position;
        // Other fans may still be on their way back, so the current position may get worse.
        let is_settled = lost_at.is_none_or(|at| at.plus(RETURN_WINDOW * 9) < world.time.now());
        let place = match self.place.filter(|known| known.room == room) {
            None => {
                let position = if is_settled { position } else { u64::MAX };
                LastPlace { room, number, position }
            }
            Some(known) => {
                let is_same = known.number == number;
                world.ensure(is_same, "I17", || format!("number {number} after {known:?}"));
                // A fan admitted without the store's knowledge may be in line again.
                let is_behind = known.position < position
                    && known.position + world.live.n_unrecorded_before(&world, room, number)
                        < position;
                world.ensure(!is_behind, "I17", || format!("{position} after {known:?}"));
                let position = if is_settled { position } else { known.position };
                LastPlace { room, number, position }
            }
        };
        self.place = Some(place);
    }
}
