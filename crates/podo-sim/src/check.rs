//! The checker: checks the store's invariants during the run, and compares both ledgers once
//! everything has settled.

pub(crate) mod coverage;
pub(crate) mod notes;

use crate::check::coverage::Coverage;
use crate::world::World;
use podo_app::operations::port::clock::Clock;
use podo_app::operations::port::invariants::Invariants;
use podo_app::waiting_room::port::queue::Queue;
use podo_domain::Timestamp;
use podo_domain::waiting_room::RETURN_WINDOW;
use std::sync::Arc;
use std::time::Duration;

/// The longest time without an admission while a slot is free and a fan waits.
const STUCK_MAX: Duration = Duration::from_secs(60);

/// Checks at intervals while the world runs.
pub(crate) async fn watch(world: Arc<World>) {
    let mut stuck_since = None;
    while world.time.now() < world.closing() {
        world.time.sleep(world.rng.ms(10_000, 60_000)).await;
        ask_store(&world).await;
        stuck_since = look_at_line(&world, stuck_since).await;
    }
    world.time.sleep_until(world.end()).await;
    world.time.sleep(Duration::from_secs(120)).await;
    ask_store(&world).await;
    look_at_rest(&world);
    world.check_books();
    world.check_promise();
    world.survey_refunds();
    survey(&world);
}

/// Checks what the stored data shows afterwards.
fn survey(world: &World) {
    for (coverage, sql) in [
        (
            Coverage::HoldTakenOver,
            "select 1 from reservation_history e join reservation_history h
                on h.created_at = e.created_at and h.version = 1
              where e.status = 'EXPIRED'",
        ),
        (
            Coverage::LateApproval,
            "select 1 from reservation_history h join reservations r on r.id = h.reservation_id
              where h.status = 'CONFIRMED' and r.hold_expires_at <= h.created_at",
        ),
        (
            Coverage::SecondCard,
            "select 1 from reservations where status = 'CONFIRMED' and retry_window_given",
        ),
        (Coverage::OutcomeUnknown, "select 1 from payment_history where status = 'UNKNOWN'"),
        (
            Coverage::RefundAnswerLost,
            "select 1 from refunds where status = 'REFUNDED' and attempts > 1",
        ),
        (Coverage::OfferTaken, "select 1 from standbys where state = 'TAKEN'"),
        (
            Coverage::CalledOffWhilePaying,
            "select 1 from refunds f join payments p on p.id = f.payment_id
                                     join reservations r on r.id = p.reservation_id
              where f.reason = 'SHOW_CANCELED' and r.booking_number is null",
        ),
        (
            Coverage::CodeCameBack,
            "select 1 from promotion_codes k
              where k.n_used < (select count(*) from reservations r where r.promotion_id = k.id)",
        ),
        (Coverage::Declined, "select 1 from payments where status = 'FAILED'"),
        (Coverage::WrongAmount, "select 1 from payments where captured not in (0, amount)"),
        (Coverage::RefundDue, "select 1 from refunds where reason = 'TOO_LATE'"),
        (Coverage::Canceled, "select 1 from reservations where status = 'CANCELED'"),
        (
            Coverage::PaidFromWallet,
            "select 1 from payments where method = 'WALLET' and captured > 0",
        ),
        (
            Coverage::ReconcilerConfirmed,
            "select 1 from payments p join payment_history h on h.payment_id = p.id
              where h.status = 'CAPTURED' and p.requested_at + 11000 < h.created_at",
        ),
    ] {
        for _ in world.store.look(sql, None) {
            world.saw(coverage);
        }
    }
}

/// Runs every invariant of the store.
async fn ask_store(world: &World) {
    let findings = world.store.check_all(world.time.now()).await;
    for finding in findings.expect("the store answers its checker") {
        let found = || format!("{}: {:?}", finding.rule, finding.examples);
        world.ensure(finding.n_broken == 0, finding.id, found);
    }
}

/// I20: with a waiting fan and a free slot, an admission follows soon.
async fn look_at_line(world: &World, since: Option<Timestamp>) -> Option<Timestamp> {
    let now = world.time.now();
    let counts = world.live.queue().counts(world.room(), now).await.ok()?;
    let has_room = counts.inside < u64::from(world.swarm.max_active);
    let is_returning = world.live.lost_at().is_some_and(|at| now < at.plus(RETURN_WINDOW * 2));
    let is_up = world.nodes().iter().all(Option::is_some);
    let is_open = world.opening() <= now && now < world.closing();
    if counts.waiting == 0
        || !has_room
        || is_returning
        || !is_up
        || !is_open
        || world.is_called_off()
    {
        return None;
    }
    let since = since.unwrap_or(now);
    let is_moving = now.since(since) < STUCK_MAX;
    world.ensure(is_moving, "I20", || format!("no admission since {since}: {counts:?}"));
    Some(since)
}

/// L1, L2 and I14: nothing is left open. L3: nothing is kept of a canceled date.
fn look_at_rest(world: &World) {
    // What fans who canceled, or sold, tickets before that had left behind: the fees of their
    // refunds, or the order's fee if nothing else was paid.
    let kept = "select p.id, p.status, p.captured, p.refunded, r.status from payments p
                  join reservations r on r.id = p.reservation_id
                 where p.captured - p.refunded >
                       coalesce((select sum(f.fee) from refunds f
                                  where f.payment_id = p.id and f.reason <> 'SHOW_CANCELED'), 0)
                       + case when r.status = 'CANCELED'
                                   and not exists (select 1 from refunds f
                                                    where f.payment_id = p.id)
                              then r.order_fee else 0 end";
    let kept = if world.is_called_off() { world.store.look(kept, None) } else { Vec::new() };
    world.ensure(kept.is_empty(), "L3", || format!("kept of a canceled date: {kept:?}"));
    for (rule, sql) in [
        ("L1", "select id, status from payments where status in ('REQUESTED', 'UNKNOWN')"),
        ("L1", "select id, status from refunds where status = 'DUE'"),
        ("L2", "select id, status from reservations where status in ('HELD', 'PAYING')"),
        ("I14", "select id, status from outbox where status = 'PENDING'"),
    ] {
        let left = world.store.look(sql, None);
        world.ensure(left.is_empty(), rule, || format!("left open at the end: {left:?}"));
    }
}
