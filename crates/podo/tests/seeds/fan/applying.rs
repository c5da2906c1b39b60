//! Draw sales: fans apply, change and withdraw, and pay for what they are offered.

use crate::coverage::Moment;
use crate::fan::call::Saw;
use crate::fan::{Fan, HeldSeats, uuid_in};
use crate::plan::SalePlan;
use crate::sale::prices;
use futures::FutureExt;
use podo_app::AppContext;
use podo_app::booking::reservations::release_seats;
use podo_app::catalog::phases::draws::{apply, my_application, set_draw, withdraw};
use podo_app::catalog::phases::set_phases;
use podo_domain::booking::draws::{DrawTerms, OFFER_MINUTES_MIN};
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::{ReservationId, ScheduleId, Timestamp, UserId};
use serde_json::Value;

/// A phase for the winners of a draw, and one for everybody.
pub(crate) async fn invite(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    plan: &SalePlan,
    (now, opening, second, closing): (Timestamp, Timestamp, Timestamp, Timestamp),
) -> podo_app::Result<()> {
    let phase = |audience, starts_at, ends_at| {
        let terms = PhaseTerms {
            name: "Sale".to_owned(),
            name_en: "Sale".to_owned(),
            window: SaleWindow { starts_at, ends_at },
            audience,
            seats_per_person: plan.seats_per_fan,
            seats_per_order: None,
            inventory: Inventory::default(),
        };
        PhaseInput { id: None, terms }
    };
    let drawn = phase(PhaseAudience::Drawn, opening, second);
    let rest = phase(PhaseAudience::Everybody, second, closing);
    set_phases(context, actor, schedule, vec![drawn, rest]).await?;
    let quantity = |grade| (grade, plan.n_seats.div_ceil(2));
    let terms = DrawTerms {
        apply_from: now,
        apply_until: opening,
        seats_max: plan.seats_per_fan.min(2),
        offer_minutes: OFFER_MINUTES_MIN,
        quantities: prices(plan).into_keys().map(quantity).collect(),
    };
    set_draw(context, actor, schedule.phase(1), terms).await.map(drop)
}

impl Fan {
    /// The first phase of a draw sale, until it ends or the fan has nothing to expect of it.
    pub(super) async fn take_part_in_draw(&mut self) {
        if self.rng.happens(85) && self.apply().await {
            self.wait_for_turn().await;
        }
        let sale = self.sale.clone();
        while sale.is_on_sale() && sale.now() < sale.second_opening {
            self.pause(5, 20).await;
        }
    }

    /// Applies, perhaps for something else afterwards, and perhaps withdraws.
    async fn apply(&mut self) -> bool {
        let mut applied = self.send_application().await;
        if applied && self.rng.happens(20) {
            self.pause(0, 100).await;
            applied |= self.send_application().await;
        }
        if applied && self.rng.happens(15) {
            self.pause(0, 300).await;
            let (fan, phase) = (self.user, self.sale.schedule.phase(1));
            let asked = self.ask("withdraw", Saw::Views, move |node| {
                async move { withdraw(&node, fan, phase).await.map(|()| Value::Null) }.boxed()
            });
            return !matches!(asked.await, Some(Ok(_)));
        }
        applied
    }

    async fn send_application(&mut self) -> bool {
        let (fan, phase) = (self.user, self.sale.schedule.phase(1));
        let grades: Vec<String> = prices(&self.sale.plan).into_keys().collect();
        let grade = grades[self.rng.below(grades.len() as u64) as usize].clone();
        let most = u64::from(self.sale.plan.seats_per_fan.min(2));
        let count = 1 + self.rng.below(most) as u32;
        let asked = self.ask("apply", Saw::Views, move |node| {
            let grade = grade.clone();
            async move {
                let view = apply(&node, fan, phase, grade, count).await?;
                Ok(serde_json::to_value(view).unwrap())
            }
            .boxed()
        });
        let applied = matches!(asked.await, Some(Ok(_)));
        if applied {
            self.sale.saw(Moment::Applied);
        }
        applied
    }

    /// Looks for an offer until there is none to come; declines, ignores or pays it.
    async fn wait_for_turn(&mut self) {
        let (fan, phase) = (self.user, self.sale.schedule.phase(1));
        while self.sale.is_on_sale() && self.sale.now() < self.sale.second_opening {
            self.pause(20, 120).await;
            let asked = self.ask("application", Saw::Views, move |node| {
                async move {
                    let view = my_application(&node, fan, phase).await?;
                    Ok(serde_json::to_value(view).unwrap())
                }
                .boxed()
            });
            let Some(Ok(view)) = asked.await else { return };
            match view["state"].as_str() {
                Some("APPLIED" | "DRAWN") => {}
                Some("OFFERED") if view["offer"]["status"] == "HELD" => {
                    return self.answer_offer(&view["offer"]).await;
                }
                Some("OFFERED") => {}
                _ => return,
            }
        }
    }

    async fn answer_offer(&mut self, offer: &Value) {
        let reservation = ReservationId::new(uuid_in(&offer["id"]));
        let until = serde_json::from_value(offer["holdExpiresAt"].clone()).unwrap();
        if self.rng.happens(30) {
            let fan = self.user;
            self.ask("decline", Saw::Views, move |node| {
                async move { release_seats(&node, fan, reservation).await.map(|()| Value::Null) }
                    .boxed()
            })
            .await;
        } else if !self.rng.happens(30) {
            self.pay(HeldSeats { reservation, until }).await;
        }
    }
}
