//! The box office: sells and gives away free and kept seats, and gives money back.

use crate::check::coverage::Coverage;
use crate::fan::choosing::{GUEST, YOUTH};
use crate::fan::organiser::{ALL, FREE, KEPT};
use crate::world::{ORGANISER, World};
use futures::FutureExt;
use podo_app::booking::reservations::issued::{AskToIssue, Customer, issue_order};
use podo_app::operations::idempotency::{ADMIN_REFUND, ADMIN_RESOLVE, ISSUE};
use podo_app::operations::port::clock::Clock;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::refunds::{RefundAnswer, RefundRequest, refund_by_organiser};
use podo_app::payments::resolutions::{ResolutionRequest, resolve_refund};
use podo_domain::booking::issued::{Issue, Tender};
use podo_domain::payments::refunds::RefundTo;
use podo_domain::{PaymentId, RefundId, Refusal, SeatId, UserId};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Approves what one organiser may not move alone.
const COLLEAGUE: UserId = UserId::new(Uuid::from_u128(6));

impl World {
    pub(super) async fn issue(self: &Arc<World>) {
        let sql = self.rng.one_of(&[KEPT, KEPT, KEPT, FREE, ALL]);
        let seats = self.some_seats(sql, self.schedule.uuid(), 2);
        if seats.is_empty() {
            return;
        }
        let issue = self.rng.one_of(&[
            Issue::Sale(Tender::Cash),
            Issue::Sale(Tender::Terminal),
            Issue::Complimentary,
        ]);
        let types = self.types_at_desk(&seats);
        let (schedule, key) = (self.schedule, self.organiser_key(ISSUE, &format!("{seats:?}")));
        let asked = self.insist(ORGANISER, "an order", move |context| {
            let (key, seats) = (key.clone(), types.clone());
            async move {
                let customer = Customer { name: "Kim".to_owned(), phone: None, note: None };
                let asked = AskToIssue { key, actor: ORGANISER, schedule, seats, issue, customer };
                issue_order(&context, asked).await.map(drop)
            }
            .boxed()
        });
        match asked.await {
            Some(Ok(())) if issue == Issue::Complimentary => self.saw(Coverage::GivenAway),
            Some(Ok(())) => self.saw(Coverage::SoldAtDesk),
            Some(Err(Refusal::SeatTaken { .. })) => self.saw(Coverage::DeskTooLate),
            Some(Err(_)) | None => {}
        }
    }

    fn types_at_desk(&self, seats: &[SeatId]) -> Vec<(SeatId, Option<u32>)> {
        let kinds = match self.swarm.has_options {
            true => [None, Some(YOUTH), Some(GUEST)],
            false => [None; 3],
        };
        seats.iter().map(|seat| (*seat, self.rng.one_of(&kinds))).collect()
    }

    /// An order of the desk is given back, in full or by a seat.
    pub(super) async fn refund_at_desk(self: &Arc<World>) {
        let sql = "select p.id from payments p join reservations r on r.id = p.reservation_id
                    where r.schedule_id = $1 and r.status = 'CONFIRMED' and r.channel <> 'FAN'
                    order by p.id";
        let Some(payment) = self.any_id(sql).map(PaymentId::new) else { return };
        let sql = "select c.seat_index from reservation_seats c
                     join payments p on p.reservation_id = c.reservation_id
                    where p.id = $1 and c.active order by c.seat_index";
        let one = self.rng.happens(40).then(|| self.some_seats(sql, payment.uuid(), 1));
        let seats = one.unwrap_or_default();
        for actor in [ORGANISER, COLLEAGUE] {
            let key = self.key_of(actor, ADMIN_REFUND, &format!("{payment} {seats:?}"));
            let wanted = seats.clone();
            let asked = self.insist(actor, "a refund at the desk", move |context| {
                let asked = RefundRequest {
                    key: key.clone(),
                    actor,
                    reason: "changed their mind".to_owned(),
                    seats: wanted.clone(),
                    fee_percent: 0,
                    refunds_fees: None,
                    to: RefundTo::Original,
                };
                async move { refund_by_organiser(&context, payment, asked).await }.boxed()
            });
            match asked.await {
                Some(Ok(Idempotent::Fresh(RefundAnswer::SecondNeeded(_)))) => {}
                Some(Ok(_)) => return self.saw(Coverage::RefundedAtDesk),
                Some(Err(_)) | None => return,
            }
        }
    }

    /// The desk hands out the money of a date that was called off.
    pub(super) async fn resolve_refunds_of_desk(self: &Arc<World>) {
        let sql = "select f.id, f.payment_id from refunds f join payments p on p.id = f.payment_id
                    where f.status = 'DUE' and p.method = 'BOX_OFFICE' order by f.id";
        while self.time.now() < self.end() {
            self.time.sleep(Duration::from_secs(20)).await;
            for row in self.store.look(sql, None) {
                let id = |text: &String| text.parse().expect("an id is a UUID");
                let (refund, payment) = (RefundId::new(id(&row[0])), PaymentId::new(id(&row[1])));
                let actor = self.rng.one_of(&[ORGANISER, COLLEAGUE]);
                let key = self.key_of(actor, ADMIN_RESOLVE, &refund.to_string());
                let asked = self.insist(actor, "a refund by hand", move |context| {
                    let evidence = "handed out".to_owned();
                    let asked = ResolutionRequest { key: key.clone(), actor, evidence };
                    async move { resolve_refund(&context, payment, refund, asked).await.map(drop) }
                        .boxed()
                });
                if let Some(Ok(())) = asked.await {
                    self.saw(Coverage::ResolvedAtDesk);
                }
            }
        }
    }
}
