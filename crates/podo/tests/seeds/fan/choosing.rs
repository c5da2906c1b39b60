//! At checkout: a ticket type for each seat, and a promotion code that many want.

use crate::coverage::Moment;
use crate::fan::call::Saw;
use crate::fan::{Fan, HeldSeats};
use crate::sale::PRICE;
use futures::FutureExt;
use podo_app::AppContext;
use podo_app::booking::order::choose;
use podo_app::booking::reservations::my_reservation;
use podo_app::catalog::pricing::{add_promotion, set_options};
use podo_domain::booking::order::options::{Discount, Fee, FeeRefund, Fees, TicketTypeInput};
use podo_domain::booking::order::promotions::{Promotion, PromotionPer};
use podo_domain::{PromotionId, Refusal, ScheduleId, UserId, Won};
use uuid::Uuid;

const CODE: &str = "GRAPES";

/// Orders that may use the code at one time.
const USES_MAX: u32 = 1;

/// A fan who tries too much wants four seats.
const SEATS_PER_ORDER_MAX: usize = 4;

/// The numbers of the types, in the order in which they were created.
const YOUTH: u32 = 1;
const GUEST: u32 = 2;

/// Sets two ticket types, one of them free, both fees, and a code for one order at a time and one of
/// each fan. Fees go back with a cancellation, so nothing is kept of a date that is called off.
pub(crate) async fn offer(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
) -> podo_app::Result<()> {
    let won = |amount: i64| Won::new(amount).unwrap();
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
    let types = vec![
        ticket_type("Youth", Discount::Percent(33)),
        ticket_type("Guest", Discount::Price(Won::ZERO)),
    ];
    let fees = Fees {
        booking: Some(Fee { amount: won(2_000), refund: FeeRefund::Always }),
        order: Some(Fee { amount: won(500), refund: FeeRefund::Always }),
    };
    set_options(context, actor, schedule, types, fees).await?;
    let promotion = Promotion {
        id: PromotionId::new(Uuid::nil()),
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
    add_promotion(context, actor, schedule, promotion).await?;
    Ok(())
}

impl Fan {
    /// Chooses types and perhaps the code; a refusal leaves the order as it is. Returns whether
    /// nothing is left to pay.
    pub(super) async fn choose(&mut self, held_seats: HeldSeats) -> bool {
        if !self.sale.plan.has_options || self.rng.happens(30) {
            return false;
        }
        let kinds = [None, Some(YOUTH), Some(YOUTH), Some(GUEST)];
        let chosen = [(); SEATS_PER_ORDER_MAX].map(|()| self.rng.one_of(&kinds));
        let code = self.rng.happens(60).then_some(CODE);
        let (fan, reservation) = (self.user, held_seats.reservation);
        let asked = self.ask("choose", Saw::Views, move |node| {
            async move {
                let seats = my_reservation(&node, fan, reservation).await?.seats;
                let types = seats.iter().zip(chosen).map(|(seat, kind)| (seat.id, kind)).collect();
                let view = choose(&node, fan, reservation, types, code).await?;
                Ok(serde_json::to_value(view).unwrap())
            }
            .boxed()
        });
        match asked.await {
            Some(Ok(view)) => {
                self.sale.saw(Moment::TypesChosen);
                if code.is_some() {
                    self.sale.saw(Moment::CodeUsed);
                }
                let is_free = view["amount"] == 0;
                if is_free {
                    self.sale.saw(Moment::FreeOrder);
                }
                is_free
            }
            Some(Err(Refusal::PromotionUsedUp)) => {
                self.sale.saw(Moment::CodeUsedUp);
                false
            }
            Some(Err(_)) | None => false,
        }
    }
}
