//! What must be true when a sale has come to rest, and which rare moments its records show.

use crate::cluster::Cluster;
use crate::coverage::Moment;
use crate::fan::Acknowledged;
use crate::organiser::Organiser;
use crate::sale::{ATTEMPTS_MAX, Sale};
use podo_app::Error;
use podo_app::booking::reconciliation;
use podo_app::operations::port::clock::Clock;
use std::sync::Arc;
use std::time::Duration;

/// Everything ends within an hour of the fast clock, which slows down with a busy machine.
const REST_WITHIN: Duration = Duration::from_secs(3_600);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What is still in progress for a schedule.
const OPEN: &str = "
    with ours as (select id from reservations where schedule_id = $1)
    select 'payment ' || id || ' is ' || status from payments
     where reservation_id in (select id from ours) and status in ('REQUESTED', 'UNKNOWN')
    union all
    select 'refund ' || id || ' is ' || status || ', ' || coalesce(last_error, '') from refunds
     where reservation_id in (select id from ours) and status = 'DUE'
    union all
    select 'reservation ' || id || ' is ' || status from reservations
     where schedule_id = $1 and status in ('HELD', 'PAYING')
    union all
    select 'message ' || kind || ' of ' || aggregate_id || ' is ' || status from outbox
     where status = 'PENDING'
       and (aggregate_id in (select id from ours)
            or aggregate_id in (select id from payments
                                 where reservation_id in (select id from ours)))
    union all
    select 'allocation ' || name || ' is kept' from allocations
     where schedule_id = $1 and release_at is not null and released_at is null
    union all
    select 'draw ' || d.phase_id || ' is open' from draws d join sale_phases p on p.id = d.phase_id
     where p.schedule_id = $1 and d.drawn_at is null
    union all
    select 'application ' || a.idx || ' is offered' from draw_applications a
      join sale_phases p on p.id = a.phase_id
     where p.schedule_id = $1 and a.state = 'OFFERED'";

const SOLD_TWICE: &str = "
    select 'seat ' || seat_index from reservation_seats
     where schedule_id = $1 and active group by seat_index having count(*) > 1
    union all
    select 'ticket of seat ' || seat_index from tickets
     where schedule_id = $1 and status <> 'VOID' group by seat_index having count(*) > 1";

/// Money charged for a canceled date and not refunded.
const KEPT: &str = "
    select 'kept payment ' || p.id || ' ' || p.status || ', reservation ' || r.status
      from payments p join reservations r on r.id = p.reservation_id
     where r.schedule_id = $1 and p.captured > p.refunded";

/// What the whole database must not contain when all sales are over.
const LEFT_OVER: &str = "
    select 'message ' || kind || ' of ' || aggregate_id || ' is ' || status from outbox
     where status <> 'PUBLISHED'
    union all
    select 'dead letter of ' || consumer || ': ' || error from dead_letters
    union all
    select job || ' put off ' || item || ': ' || last_error from job_failures
     where last_error like 'broken%'
    union all
    select 'webhook ' || id || ' is ' || status from webhook_events where status = 'RECEIVED'";

/// Idempotency keys of several commands in one transaction: only the batch writer does that.
const SHARED_BATCHES: &str =
    "select xmin::text from idempotency_keys group by xmin having count(*) > 1";

/// Each query returns a row per occurrence.
const SURVEY: [(Moment, &str); 15] = [
    (
        Moment::HoldExpired,
        "select 1 from reservations where schedule_id = $1 and status = 'EXPIRED'",
    ),
    (
        Moment::HoldTakenOver,
        "select 1 from reservation_history e
           join reservations old on old.id = e.reservation_id
           join reservations new on new.schedule_id = old.schedule_id
                                and new.created_at = e.created_at
          where e.status = 'EXPIRED' and old.schedule_id = $1",
    ),
    (
        Moment::PaidFromWallet,
        "select 1 from payments p join reservations r on r.id = p.reservation_id
          where r.schedule_id = $1 and p.method = 'WALLET' and p.captured > 0",
    ),
    (
        Moment::PaidByCard,
        "select 1 from payments p join reservations r on r.id = p.reservation_id
          where r.schedule_id = $1 and p.method = 'CARD' and p.captured > 0",
    ),
    (
        Moment::Declined,
        "select 1 from payments p join reservations r on r.id = p.reservation_id
          where r.schedule_id = $1 and p.status = 'FAILED'",
    ),
    (
        Moment::OutcomeUnknown,
        "select 1 from payment_history h join payments p on p.id = h.payment_id
           join reservations r on r.id = p.reservation_id
          where r.schedule_id = $1 and h.status = 'UNKNOWN'",
    ),
    (
        Moment::FoundPaid,
        "select 1 from payment_history u
           join payment_history c on c.payment_id = u.payment_id and c.step > u.step
           join payments p on p.id = u.payment_id join reservations r on r.id = p.reservation_id
          where r.schedule_id = $1 and u.status = 'UNKNOWN' and c.status = 'CAPTURED'",
    ),
    (Moment::Canceled, "select 1 from reservations where schedule_id = $1 and status = 'CANCELED'"),
    (Moment::OfferTaken, "select 1 from standbys where schedule_id = $1 and state = 'TAKEN'"),
    (
        Moment::DrawTaken,
        "select 1 from draw_applications a join reservations r on r.id = a.reservation_id
          where r.schedule_id = $1 and a.state = 'TAKEN' and r.booking_number is not null",
    ),
    (
        Moment::DrawLapsed,
        "select 1 from draw_applications a join reservations r on r.id = a.reservation_id
          where r.schedule_id = $1 and a.state = 'LAPSED'",
    ),
    (
        Moment::DrawMovedOn,
        "select 1 from draw_applications a join reservations r on r.id = a.reservation_id
          where r.schedule_id = $1 and not a.wins",
    ),
    (
        Moment::ReleasedAtItsTime,
        "select 1 from allocations where schedule_id = $1 and release_at <= released_at",
    ),
    (
        Moment::KeptAgain,
        "select 1 from allocation_seats a join allocations k on k.id = a.allocation_id
           join seats s on s.schedule_id = a.schedule_id and s.seat_index = a.seat_index
           join reservation_seats c
             on c.schedule_id = a.schedule_id and c.seat_index = a.seat_index
           join reservations r on r.id = c.reservation_id
          where a.schedule_id = $1 and s.state = 'KEPT' and r.channel <> 'FAN' and not c.active
            and k.updated_at <= r.created_at",
    ),
    (
        Moment::CalledOffWhilePaying,
        "select 1 from payments p join reservations r on r.id = p.reservation_id
                                  join event_schedules s on s.id = r.schedule_id
          where s.id = $1 and s.status = 'CANCELLED' and p.requested_at <= s.updated_at
            and s.updated_at < (select min(h.created_at) from payment_history h
                                 where h.payment_id = p.id
                                   and h.status not in ('READY', 'REQUESTED', 'UNKNOWN'))",
    ),
];

impl Sale {
    /// Waits until nothing is in progress, and compares the fans' acknowledged results with the
    /// store.
    pub(crate) async fn check(self: &Arc<Sale>, acknowledged: &[Acknowledged]) {
        self.cluster.clock.sleep_until(self.closing).await;
        self.come_to_rest().await;
        let schedule = self.schedule.uuid();
        let cluster = &self.cluster;
        let twice = cluster.look(SOLD_TWICE, &[&schedule]).await;
        self.ensure(twice.is_empty(), || format!("sold twice: {twice:?}"));
        for acknowledged in acknowledged {
            self.check_acknowledged(acknowledged).await;
        }
        self.check_seats_at_gate().await;
        self.ask_store().await;
        for (moment, sql) in SURVEY {
            let rows = cluster.reader.query(sql, &[&schedule]).await.unwrap();
            cluster.coverage.add(moment, rows.len() as u64);
        }
    }

    async fn come_to_rest(self: &Arc<Sale>) {
        let (start, schedule) = (self.cluster.clock.now(), self.schedule.uuid());
        loop {
            let mut open = self.cluster.look(OPEN, &[&schedule]).await;
            if self.is_called_off() {
                Organiser::new(self.clone(), self.seed).resolve_refunds().await;
                open.extend(self.cluster.look(KEPT, &[&schedule]).await);
            } else if open.is_empty() {
                open = self.differences_of_filter().await;
            }
            if open.is_empty() {
                return;
            }
            if start.plus(REST_WITHIN) < self.cluster.clock.now() {
                return self.ensure(false, || format!("still under way: {open:?}"));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// T2: a ticket that opened a gate keeps its seat.
    async fn check_seats_at_gate(&self) {
        for (ticket, seat) in self.seats_at_gate() {
            let sql = "select seat_number from tickets where id = $1 and status = 'USED'";
            let now = self.cluster.look(sql, &[&ticket.uuid()]).await;
            let is_kept = now.iter().all(|other| *other == seat);
            self.ensure(is_kept, || format!("T2 {ticket} was let in for {seat}, now {now:?}"));
        }
    }

    /// F1. The filter of a canceled date is not corrected.
    async fn differences_of_filter(&self) -> Vec<String> {
        let context = &self.cluster.nodes[self.plan.nodes[0]].context;
        if self.cluster.is_without_guards() {
            return Vec::new();
        }
        match reconciliation::look(context, self.schedule).await {
            Ok(look) => look.differences.iter().map(|it| format!("filter: {it:?}")).collect(),
            Err(error) => vec![format!("filter: {error}")],
        }
    }

    /// The store has everything that was acknowledged to a fan, and each charge was made once.
    async fn check_acknowledged(&self, acknowledged: &Acknowledged) {
        let reader = &self.cluster.reader;
        for (reservation, number) in &acknowledged.bought {
            let sql = "select status, booking_number from reservations where id = $1";
            let row = reader.query_one(sql, &[&reservation.uuid()]).await.unwrap();
            let (status, kept): (String, Option<String>) = (row.get(0), row.get(1));
            let is_kept = ["CONFIRMED", "CANCELED"].contains(&status.as_str())
                && kept.as_ref() == Some(number);
            let found = || format!("acknowledged {number}, kept {kept:?} as {status}");
            self.ensure(is_kept, found);
        }
        let sql = "select count(*) from wallet_ledger
                    where user_id = $1 and account = 'WALLET' and kind = 'CHARGE'";
        let row = reader.query_one(sql, &[&acknowledged.user.uuid()]).await.unwrap();
        let n_made = row.get::<_, i64>(0).unsigned_abs();
        let expected = acknowledged.n_charged..=acknowledged.n_charged + acknowledged.n_unanswered;
        let is_once = expected.contains(&n_made);
        self.ensure(is_once, || format!("I13 {n_made} charges, asked for {expected:?}"));
    }

    /// Checks every invariant, for all dates of the database and in the middle of other sales: any
    /// of them may have caused a finding.
    async fn ask_store(&self) {
        let context = &self.cluster.nodes[self.plan.nodes[0]].context;
        for attempt in 1.. {
            match context.store.check_all(context.now()).await {
                Ok(findings) => {
                    for it in findings.iter().filter(|finding| finding.n_broken > 0) {
                        let others = self.cluster.playing();
                        let found = || {
                            format!(
                                "{} {}: {:?} while {others:?} play",
                                it.id, it.rule, it.examples
                            )
                        };
                        self.ensure(false, found);
                    }
                    return;
                }
                Err(Error::Unavailable(_)) if attempt < ATTEMPTS_MAX => {}
                Err(error) => return self.ensure(false, || format!("the invariants: {error}")),
            }
        }
    }
}

impl Cluster {
    pub(crate) async fn check_in_the_end(&self) {
        let start = self.clock.now();
        loop {
            let left = self.look(LEFT_OVER, &[]).await;
            if left.is_empty() {
                break;
            }
            if start.plus(REST_WITHIN) < self.clock.now() {
                self.note_problem(format!("left over: {left:?}"));
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.coverage.add(Moment::ConflictRetried, self.n_run_again());
        let shared = self.look(SHARED_BATCHES, &[]).await;
        self.coverage.add(Moment::BatchShared, shared.len() as u64);
    }
}
