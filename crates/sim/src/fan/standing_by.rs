//! Waiting for seats that come back.

use super::{Fan, Promise};
use crate::sight::Sight;
use app::ports::reservations::ReservationView;
use app::standby::{my_standby, stand_by};
use domain::standby::StandbyState;
use futures::FutureExt;

/// How often a fan looks whether there is an offer.
const LOOKS_MAX: u32 = 20;

impl Fan {
    /// Joins the standby list and waits a while; gives the seats that were offered.
    pub(super) async fn wait_for_offer(&mut self) -> Option<Promise> {
        let (fan, schedule) = (self.user, self.world.schedule);
        let joined = self.insist("standby", move |platform| {
            async move { stand_by(&platform, fan, schedule, "R".to_owned(), 1).await }.boxed()
        });
        joined.await?.ok()?;
        self.world.saw(Sight::StoodBy);
        for _ in 0..LOOKS_MAX {
            self.pause(500, 12_000).await;
            if !self.world.is_on_sale() {
                return None;
            }
            let looked = self.insist("standby status", move |platform| {
                async move { my_standby(&platform, fan, schedule).await }.boxed()
            });
            let view = looked.await?.ok()?;
            match view.state {
                StandbyState::Waiting => {}
                StandbyState::Offered => return view.offer.map(|it| self.offered(&it)),
                StandbyState::Taken | StandbyState::Lapsed | StandbyState::Left => return None,
            }
        }
        None
    }

    fn offered(&self, offer: &ReservationView) -> Promise {
        self.world.saw(Sight::Offered);
        Promise { reservation: offer.id, until: offer.hold_expires_at }
    }
}
