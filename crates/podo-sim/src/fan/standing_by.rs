//! The standby list.

use crate::check::coverage::Coverage;
use crate::fan::{Fan, HeldSeats};
use futures::FutureExt;
use podo_app::booking::port::reservations::ReservationView;
use podo_app::booking::standby::{my_standby, stand_by};
use podo_domain::booking::standby::StandbyState;

/// How often a fan checks for an offer.
const LOOKS_MAX: u32 = 20;

impl Fan {
    /// Joins the standby list and waits a while. Returns the offered seats.
    pub(super) async fn wait_for_offer(&mut self) -> Option<HeldSeats> {
        let (fan, schedule) = (self.user, self.world.schedule);
        let joined = self.insist("standby", move |context| {
            async move { stand_by(&context, fan, schedule, "R".to_owned(), 1).await }.boxed()
        });
        joined.await?.ok()?;
        self.world.saw(Coverage::StoodBy);
        for _ in 0..LOOKS_MAX {
            self.pause(500, 12_000).await;
            if !self.world.is_on_sale() {
                return None;
            }
            let looked = self.insist("standby status", move |context| {
                async move { my_standby(&context, fan, schedule).await }.boxed()
            });
            let view = looked.await?.ok()?;
            match view.state {
                StandbyState::Waiting => {
                    if self.world.swarm.has_options && self.take_offered_ticket().await {
                        return None;
                    }
                }
                StandbyState::Offered => return view.offer.map(|it| self.offered(&it)),
                StandbyState::Taken | StandbyState::Lapsed | StandbyState::Left => return None,
            }
        }
        None
    }

    fn offered(&self, offer: &ReservationView) -> HeldSeats {
        self.world.saw(Coverage::Offered);
        HeldSeats {
            reservation: offer.id,
            seats: offer.seats.iter().map(|seat| seat.id).collect(),
            amount: offer.amount,
            until: offer.hold_expires_at,
        }
    }
}
