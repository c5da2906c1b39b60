//! An organiser while the date is on sale: keeps and releases seats, sells at the box office, takes
//! orders back, changes prices, and moves bookings while fans are at the gate or cancel.

use crate::coverage::Moment;
use crate::rng::Rng;
use crate::sale::{Sale, prices};
use futures::FutureExt;
use futures::future::{BoxFuture, join};
use podo_adapters::clock::SystemRng;
use podo_app::booking::allocations::{create_allocation, release_seats};
use podo_app::booking::reservations::issued::{AskToIssue, Customer, issue_order};
use podo_app::booking::reservations::reseat::{MoveRequest, reseat_booking};
use podo_app::catalog::pricing::change_prices;
use podo_app::catalog::pricing_port::PriceVerb;
use podo_app::identity::keyring::sha256;
use podo_app::operations::idempotency::{ADMIN_REFUND, ADMIN_RESOLVE, ISSUE, RESEAT};
use podo_app::operations::port::clock::Rng as _;
use podo_app::operations::port::idempotency::IdempotencyKey;
use podo_app::payments::refunds::{RefundRequest, refund_by_organiser};
use podo_app::payments::resolutions::{ResolutionRequest, resolve_refund};
use podo_app::{AppContext, Error, Result};
use podo_domain::booking::allocations::{AllocationKind, AllocationTerms};
use podo_domain::booking::issued::{Issue, Tender};
use podo_domain::booking::reservations::SeatMove;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::{AllocationId, PaymentId, RefundId, Refusal, ReservationId, SeatId, UserId, Won};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

pub(crate) struct Organiser {
    sale: Arc<Sale>,
    rng: Rng,
}

impl Organiser {
    pub(crate) fn new(sale: Arc<Sale>, seed: u64) -> Organiser {
        Organiser { sale, rng: Rng::new(seed) }
    }

    /// Until the sale is over.
    pub(crate) async fn work(sale: Arc<Sale>) {
        if !sale.plan.has_desk {
            return;
        }
        let seed = sale.seed.wrapping_mul(31);
        let mut organiser = Organiser::new(sale, seed);
        while organiser.sale.is_on_sale() {
            let pause = organiser.rng.ms(5, 80);
            tokio::time::sleep(pause).await;
            match organiser.rng.below(12) {
                0..=2 => organiser.keep().await,
                3 => organiser.release().await,
                4..=6 => organiser.issue().await,
                7 => organiser.take_back().await,
                8 => organiser.change_prices().await,
                _ => organiser.move_any_booking().await,
            }
        }
    }

    /// Repeats a command until its outcome is known; some go to two nodes at once.
    async fn insist(
        &mut self,
        what: &'static str,
        request: impl Fn(Arc<AppContext>) -> BoxFuture<'static, Result<()>>,
    ) -> Option<std::result::Result<(), Refusal>> {
        for _ in 0..40 {
            let sale = self.sale.clone();
            let node = |index: usize| sale.cluster.nodes[index].context.clone();
            let one = node(sale.any_node(&mut self.rng));
            let answer = match self.rng.happens(sale.plan.repeats / 2) {
                true => {
                    let other = node(sale.any_node(&mut self.rng));
                    let (one, other) = join(request(one), request(other)).await;
                    if one.is_ok() { one } else { other }
                }
                false => request(one).await,
            };
            match answer {
                Ok(()) => return Some(Ok(())),
                Err(Error::Refused(Refusal::KeyRunning)) => {}
                Err(Error::Refused(refusal)) => return Some(Err(refusal)),
                Err(Error::Broken(why)) => {
                    sale.ensure(false, || format!("{what} is broken: {why}"));
                    return None;
                }
                Err(Error::Unavailable(_) | Error::Conflict(_)) => {}
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        None
    }

    fn key(&self, user: UserId, endpoint: &'static str, body: &str) -> IdempotencyKey {
        let key = SystemRng::new().id(self.sale.now()).to_string();
        IdempotencyKey { user, endpoint, key, fingerprint: sha256(body.as_bytes()) }
    }

    async fn ids(&self, sql: &str, about: Uuid) -> Vec<Uuid> {
        let rows = self.sale.cluster.reader.query(sql, &[&about]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn any_id(&mut self, sql: &str) -> Option<Uuid> {
        let ids = self.ids(sql, self.sale.schedule.uuid()).await;
        let at = self.rng.below((ids.len() as u64).max(1)) as usize;
        ids.get(at).copied()
    }

    /// Some seats of a query, in no order.
    async fn some_seats(&mut self, sql: &str, about: Uuid, n_max: u64) -> Vec<SeatId> {
        let rows = self.sale.cluster.reader.query(sql, &[&about]).await.unwrap();
        let mut indexes: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
        let n_seats = (1 + self.rng.below(n_max)).min(indexes.len() as u64);
        let mut seats = Vec::new();
        for _ in 0..n_seats {
            let at = self.rng.below(indexes.len() as u64) as usize;
            seats.push(self.sale.schedule.seat(indexes.swap_remove(at) as u32));
        }
        seats
    }

    async fn keep(&mut self) {
        let sql = if self.rng.happens(70) { FREE } else { ALL };
        let seats = self.some_seats(sql, self.sale.schedule.uuid(), 2).await;
        let after = Duration::from_secs(20 + self.rng.below(60));
        let release_at = self.sale.now().plus(after);
        let is_timed = self.rng.happens(60) && release_at < self.sale.closing;
        let terms = AllocationTerms {
            name: format!("Group {}", self.rng.draw()),
            kind: self.rng.one_of(&[AllocationKind::Artist, AllocationKind::BoxOffice]),
            note: None,
            release_at: is_timed.then_some(release_at),
        };
        let (actor, schedule) = (self.sale.cluster.organiser, self.sale.schedule);
        let asked = self.insist("an allocation", move |node| {
            let (terms, seats) = (terms.clone(), seats.clone());
            async move { create_allocation(&node, actor, schedule, terms, &seats).await.map(drop) }
                .boxed()
        });
        match asked.await {
            Some(Ok(())) => self.sale.saw(Moment::SeatsKept),
            Some(Err(Refusal::SeatsNotFree { .. })) => self.sale.saw(Moment::KeepRefused),
            Some(Err(_)) | None => {}
        }
    }

    /// Some seats of a group, or the whole group.
    async fn release(&mut self) {
        let sql = "select id from allocations
                    where schedule_id = $1 and released_at is null order by id";
        let Some(allocation) = self.any_id(sql).await else { return };
        let sql = "select seat_index from allocation_seats where allocation_id = $1
                    order by seat_index";
        let seats = self.some_seats(sql, allocation, 2).await;
        let some = (!seats.is_empty() && self.rng.happens(60)).then_some(seats);
        let (actor, schedule) = (self.sale.cluster.organiser, self.sale.schedule);
        let allocation = AllocationId::new(allocation);
        let asked = self.insist("a release", move |node| {
            let some = some.clone();
            async move {
                release_seats(&node, actor, schedule, allocation, some.as_deref()).await.map(drop)
            }
            .boxed()
        });
        if let Some(Ok(())) = asked.await {
            self.sale.saw(Moment::SeatsReleased);
        }
    }

    async fn issue(&mut self) {
        let sql = self.rng.one_of(&[KEPT, KEPT, KEPT, FREE, ALL]);
        let seats = self.some_seats(sql, self.sale.schedule.uuid(), 2).await;
        let issue = self.rng.one_of(&[Issue::Sale(Tender::Cash), Issue::Complimentary]);
        let (actor, schedule) = (self.sale.cluster.organiser, self.sale.schedule);
        let key = self.key(actor, ISSUE, &format!("{seats:?}"));
        let asked = self.insist("an order", move |node| {
            let seats = seats.iter().map(|seat| (*seat, None)).collect();
            let customer = Customer { name: "Kim".to_owned(), phone: None, note: None };
            let asked = AskToIssue { key: key.clone(), actor, schedule, seats, issue, customer };
            async move { issue_order(&node, asked).await.map(drop) }.boxed()
        });
        match asked.await {
            Some(Ok(())) => self.sale.saw(Moment::SoldAtDesk),
            Some(Err(Refusal::SeatTaken { .. })) => self.sale.saw(Moment::DeskTooLate),
            Some(Err(_)) | None => {}
        }
    }

    /// Two organisers share this, because one may not move every amount alone.
    async fn take_back(&mut self) {
        let sql = "select p.id from payments p join reservations r on r.id = p.reservation_id
                    where r.schedule_id = $1 and r.status = 'CONFIRMED' and r.channel <> 'FAN'
                    order by p.id";
        let Some(payment) = self.any_id(sql).await.map(PaymentId::new) else { return };
        let actor = UserId::new(Uuid::from_u128(u128::from(self.sale.seed) + 1_000));
        let key = self.key(actor, ADMIN_REFUND, &payment.to_string());
        let asked = self.insist("a refund at the desk", move |node| {
            let asked = RefundRequest {
                key: key.clone(),
                actor,
                reason: "changed their mind".to_owned(),
                seats: Vec::new(),
                fee_percent: 0,
                refunds_fees: None,
                to: RefundTo::Original,
            };
            async move { refund_by_organiser(&node, payment, asked).await.map(drop) }.boxed()
        });
        if let Some(Ok(())) = asked.await {
            self.sale.saw(Moment::RefundedAtDesk);
        }
    }

    async fn change_prices(&mut self) {
        let half = self.rng.one_of(&[1, 2, 3]);
        let other = |amount: Won| Won::new(amount.get() / 2 * half).unwrap();
        let prices = prices(&self.sale.plan).into_iter();
        let prices = prices.map(|(grade, price)| (grade, other(price))).collect();
        let later = self.sale.now().plus(Duration::from_secs(30));
        let from = self.rng.happens(50).then_some(later);
        let verb = PriceVerb::Add { from, prices };
        let (actor, schedule) = (self.sale.cluster.organiser, self.sale.schedule);
        let asked = self.insist("other prices", move |node| {
            let verb = verb.clone();
            async move { change_prices(&node, actor, schedule, verb).await.map(drop) }.boxed()
        });
        if let Some(Ok(())) = asked.await {
            self.sale.saw(Moment::PricesChanged);
        }
    }

    async fn move_any_booking(&mut self) {
        let sql = "select id from reservations where schedule_id = $1 and status = 'CONFIRMED'
                    order by id";
        let Some(booking) = self.any_id(sql).await else { return };
        self.move_booking(ReservationId::new(booking)).await;
    }

    /// Some of its seats, mostly to free ones.
    pub(crate) async fn move_booking(&mut self, booking: ReservationId) {
        let own = "select seat_index from reservation_seats
                    where reservation_id = $1 and active order by seat_index";
        let from = self.some_seats(own, booking.uuid(), 2).await;
        let to = if self.rng.happens(75) { FREE } else { ALL };
        let to = self.some_seats(to, self.sale.schedule.uuid(), 2).await;
        let moves: Vec<SeatMove> =
            from.into_iter().zip(to).map(|(from, to)| SeatMove { from, to }).collect();
        let actor = self.sale.cluster.organiser;
        let waives_difference = self.rng.happens(30);
        let request = MoveRequest { moves, waives_difference, reason: "a camera".to_owned() };
        let key = self.key(actor, RESEAT, &format!("{booking} {request:?}"));
        let asked = self.insist("a move", move |node| {
            let (key, request) = (key.clone(), request.clone());
            async move { reseat_booking(&node, key, actor, booking, request).await.map(drop) }
                .boxed()
        });
        match asked.await {
            Some(Ok(())) => self.sale.saw(Moment::Moved),
            Some(Err(Refusal::SeatTaken { .. })) => self.sale.saw(Moment::MoveRefused),
            Some(Err(Refusal::TicketUsed { .. })) => self.sale.saw(Moment::UsedTicketStayed),
            Some(Err(Refusal::AlreadyCanceled | Refusal::TicketVoid)) => {
                self.sale.saw(Moment::CanceledBeforeMove);
            }
            Some(Err(_)) | None => {}
        }
    }

    /// The desk hands out the money of a date that was called off.
    pub(crate) async fn resolve_refunds(&mut self) {
        let sql = "select f.id from refunds f join payments p on p.id = f.payment_id
                     join reservations r on r.id = p.reservation_id
                    where r.schedule_id = $1 and f.status = 'DUE' and p.method = 'BOX_OFFICE'";
        for refund in self.ids(sql, self.sale.schedule.uuid()).await {
            let sql = "select payment_id from refunds where id = $1";
            let payment = PaymentId::new(self.ids(sql, refund).await[0]);
            // Each by another organiser, because one may not move every amount alone.
            let (refund, actor) = (RefundId::new(refund), UserId::new(refund));
            let key = self.key(actor, ADMIN_RESOLVE, &refund.to_string());
            self.insist("a refund by hand", move |node| {
                let evidence = "handed out".to_owned();
                let asked = ResolutionRequest { key: key.clone(), actor, evidence };
                async move { resolve_refund(&node, payment, refund, asked).await.map(drop) }.boxed()
            })
            .await;
        }
    }
}

/// Every seat of the date, and those in a state.
const ALL: &str = "select seat_index from seats where schedule_id = $1 order by seat_index";
const FREE: &str = "select seat_index from seats
                     where schedule_id = $1 and state = 'FREE' order by seat_index";
const KEPT: &str = "select seat_index from seats
                     where schedule_id = $1 and state = 'KEPT' order by seat_index";
