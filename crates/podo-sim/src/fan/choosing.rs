//! At checkout: a ticket type for each seat, and a promotion code that many want.

use crate::check::coverage::Coverage;
use crate::fan::{Fan, HeldSeats};
use crate::world::PRICE;
use futures::FutureExt;
use podo_app::booking::order::choose;
use podo_app::catalog::pricing_port::{AddPromotion, SetOptions};
use podo_domain::booking::order::options::{Discount, Fee, FeeRefund, Fees, TicketTypeInput};
use podo_domain::booking::order::promotions::{Promotion, PromotionPer};
use podo_domain::{PromotionId, Refusal, ScheduleId, SeatId, Timestamp, UserId, Won};
use uuid::Uuid;

const CODE: &str = "GRAPES";

/// Orders that may use the code at one time.
const USES_MAX: u32 = 2;

/// The numbers of the types, in the order in which they were created.
pub(super) const YOUTH: u32 = 1;
pub(super) const GUEST: u32 = 2;

fn won(amount: i64) -> Won {
    Won::new(amount).expect("a small amount is in range")
}

/// Two ticket types, one of them free, and both fees.
pub(crate) fn options(actor: UserId, schedule: ScheduleId, now: Timestamp) -> SetOptions {
    let ticket_type = |name: &str, discount| TicketTypeInput {
        id: None,
        name: name.to_owned(),
        name_en: name.to_owned(),
        grades: None,
        discount,
        per_order: None,
        proof: None,
        proof_en: None,
    };
    let ticket_types = vec![
        ticket_type("Youth", Discount::Percent(33)),
        ticket_type("Guest", Discount::Price(Won::ZERO)),
    ];
    let fees = Fees {
        booking: Some(Fee { amount: won(2_000), refund: FeeRefund::BookingDay }),
        order: Some(Fee { amount: won(500), refund: FeeRefund::Never }),
    };
    SetOptions { actor, schedule, ticket_types, fees, now }
}

/// A code for few orders at a time, and one of each fan.
pub(crate) fn promotion(actor: UserId, schedule: ScheduleId, now: Timestamp) -> AddPromotion {
    let promotion = Promotion {
        id: PromotionId::new(Uuid::from_u128(5)),
        code: CODE.to_owned(),
        discount: Discount::Won(won(PRICE / 3)),
        per: PromotionPer::Order,
        grades: None,
        amount_min: Won::ZERO,
        starts_at: None,
        ends_at: None,
        uses_max: USES_MAX,
        uses_per_person: Some(1),
    };
    AddPromotion { actor, schedule, promotion, now }
}

impl Fan {
    /// Chooses types and perhaps the code; a refusal leaves the order as it is.
    pub(super) async fn choose(&self, held_seats: HeldSeats) -> HeldSeats {
        let rng = &self.world.rng;
        if !self.world.swarm.has_options || rng.happens(30) {
            return held_seats;
        }
        let one =
            |seat: &SeatId| (*seat, rng.one_of(&[None, Some(YOUTH), Some(YOUTH), Some(GUEST)]));
        let types: Vec<_> = held_seats.seats.iter().map(one).collect();
        let code = rng.happens(60).then_some(CODE);
        let (fan, reservation) = (self.user, held_seats.reservation);
        let asked = self.insist("choose", move |context| {
            let types = types.clone();
            async move { choose(&context, fan, reservation, types, code).await }.boxed()
        });
        match asked.await {
            Some(Ok(view)) => {
                self.world.saw(Coverage::TypesChosen);
                if code.is_some() {
                    self.world.saw(Coverage::CodeUsed);
                }
                if view.amount.is_zero() {
                    self.world.saw(Coverage::FreeOrder);
                }
                HeldSeats { amount: view.amount, ..held_seats }
            }
            Some(Err(Refusal::PromotionUsedUp)) => {
                self.world.saw(Coverage::CodeUsedUp);
                held_seats
            }
            Some(Err(_)) | None => held_seats,
        }
    }
}
