//! Draw sales: fans apply, change and withdraw before the sale opens, and pay for what they are
//! offered in the drawn order.

use crate::check::coverage::Coverage;
use crate::fan::proving::FIRST_SEATS_MAX;
use crate::fan::{Fan, HeldSeats};
use crate::swarm::PhasePlan;
use crate::world::{LOBBY, World};
use futures::FutureExt;
use podo_app::booking::port::reservations::ReservationView;
use podo_app::catalog::phases::draws::{DrawApplicationView, apply, my_application, withdraw};
use podo_app::catalog::phases::draws_port::Draws;
use podo_app::operations::port::clock::Clock;
use podo_domain::Refusal;
use podo_domain::booking::draws::ApplicationState;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::waiting_room::draw::permutation;
use std::time::Duration;

/// Many apply in the last moments of the window.
const LAST_MOMENTS: Duration = Duration::from_millis(300);

fn is_open(offer: &ReservationView) -> bool {
    offer.status == ReservationStatus::Held
}

impl World {
    /// D1: the places of the draw follow from its seed.
    pub(crate) async fn check_draw(&self) {
        let phase = self.schedule.phase(1);
        let draw = self.store.draw_of(phase).await.expect("the store answers its checker");
        let Some(draw) = draw else { return };
        let found = self.store.applications_from(phase, 0, u32::MAX).await;
        let found = found.expect("the store answers its checker");
        let places: Vec<_> = found.iter().map(|application| application.place).collect();
        let drawn: Vec<_> = permutation(&draw.seed, draw.n_applied).into_iter().map(Some).collect();
        self.ensure(places == drawn, "D1", || format!("{places:?}, the seed says {drawn:?}"));
    }
}

impl Fan {
    /// The first phase of a draw sale, until it ends or the fan has nothing to expect of it.
    pub(super) async fn take_part_in_draw(&mut self) {
        if self.world.swarm.phases != PhasePlan::Draw {
            return;
        }
        let applied = self.world.rng.happens(85) && self.apply().await;
        self.world.time.sleep_until(self.world.opening()).await;
        if applied {
            self.wait_for_turn().await;
        } else if self.world.rng.happens(30) {
            self.get_in().await;
        }
        self.world.time.sleep_until(self.world.second_opening()).await;
    }

    /// Applies before the window ends, or a moment after it, and perhaps thinks again.
    async fn apply(&self) -> bool {
        if self.world.rng.happens(30) {
            let (most, opening) = (LAST_MOMENTS.as_millis() as u64, self.world.opening());
            let early = self.world.rng.ms(0, most);
            self.world.time.sleep_until(opening.minus(early)).await;
        } else {
            self.pause(0, LOBBY.as_millis() as u64 + 1_000).await;
        }
        if !self.send_application().await {
            return false;
        }
        if self.world.rng.happens(20) {
            self.pause(0, 8_000).await;
            if self.send_application().await {
                self.world.saw(Coverage::ApplicationChanged);
            }
        }
        if self.world.rng.happens(20) {
            self.pause(0, 12_000).await;
            return self.withdraw().await == Some(Err(Refusal::DrawClosed));
        }
        true
    }

    async fn send_application(&self) -> bool {
        let (fan, phase) = (self.user, self.world.schedule.phase(1));
        let grades: Vec<String> = self.world.prices().into_keys().collect();
        let grade = grades[self.world.rng.below(grades.len() as u64) as usize].clone();
        let count = 1 + self.world.rng.below(FIRST_SEATS_MAX.into()) as u32;
        let asked = self.insist("apply", move |context| {
            let grade = grade.clone();
            async move { apply(&context, fan, phase, grade, count).await.map(drop) }.boxed()
        });
        match asked.await {
            Some(Ok(())) => {
                self.world.saw(Coverage::Applied);
                true
            }
            Some(Err(Refusal::DrawClosed)) => {
                self.world.saw(Coverage::AppliedTooLate);
                false
            }
            Some(Err(_)) | None => false,
        }
    }

    async fn withdraw(&self) -> Option<Result<(), Refusal>> {
        let (fan, phase) = (self.user, self.world.schedule.phase(1));
        let asked = self.insist("withdraw", move |context| {
            async move { withdraw(&context, fan, phase).await }.boxed()
        });
        let withdrawn = asked.await;
        if let Some(Ok(())) = withdrawn {
            self.world.saw(Coverage::ApplicationWithdrawn);
        }
        withdrawn
    }

    /// Looks for an offer until there is none to come. Each winner declines, ignores or pays.
    async fn wait_for_turn(&mut self) {
        while self.world.time.now() < self.world.second_opening() {
            self.pause(2_000, 40_000).await;
            let Some(view) = self.my_application().await else { return };
            match view.state {
                ApplicationState::Applied => {}
                // A few give up their place in the drawn order.
                ApplicationState::Drawn if self.world.rng.happens(2) => {
                    self.withdraw().await;
                }
                ApplicationState::Drawn => {}
                ApplicationState::Offered => {
                    // Bought or ended already, and not settled yet.
                    let Some(offer) = view.offer.filter(is_open) else { continue };
                    self.world.saw(Coverage::DrawOffered);
                    return self.answer_offer(offer).await;
                }
                ApplicationState::Withdrawn
                | ApplicationState::Taken
                | ApplicationState::Lapsed
                | ApplicationState::Passed => return,
            }
        }
    }

    async fn my_application(&self) -> Option<DrawApplicationView> {
        let (fan, phase) = (self.user, self.world.schedule.phase(1));
        let asked = self.insist("application", move |context| {
            async move { my_application(&context, fan, phase).await }.boxed()
        });
        asked.await?.ok()
    }

    async fn answer_offer(&mut self, offer: ReservationView) {
        if self.world.rng.happens(25) {
            return self.give_back(offer.id).await;
        }
        if self.world.rng.happens(25) {
            return;
        }
        let held_seats = HeldSeats {
            reservation: offer.id,
            seats: offer.seats.iter().map(|seat| seat.id).collect(),
            amount: offer.amount,
            until: offer.hold_expires_at,
        };
        let held_seats = self.choose(held_seats).await;
        self.pay(held_seats).await;
    }
}
