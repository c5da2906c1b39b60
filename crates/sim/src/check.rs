//! The checker: asks the store for every promise now and then, and looks at both books when all
//! has come to rest.

use crate::sight::Sight;
use crate::world::World;
use app::ports::clock::Clock;
use app::ports::invariants::Invariants;
use app::ports::queue::Queue;
use domain::Timestamp;
use domain::queue::RETURN_WINDOW;
use std::sync::Arc;
use std::time::Duration;

/// With a slot free and somebody waiting, nobody may have been let in for this long.
const STUCK_MAX: Duration = Duration::from_secs(60);

/// Looks now and then while the world runs.
pub(crate) async fn watch(world: Arc<World>) {
    let mut stuck_since = None;
    while world.time.now() < world.closing() {
        world.time.sleep(world.chance.ms(10_000, 60_000)).await;
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

/// What can be told from the books afterwards.
fn survey(world: &World) {
    for (sight, sql) in [
        (
            Sight::HoldTakenOver,
            "select 1 from reservation_history e join reservation_history h
                on h.created_at = e.created_at and h.version = 1
              where e.status = 'EXPIRED'",
        ),
        (
            Sight::LateApproval,
            "select 1 from reservation_history h join reservations r on r.id = h.reservation_id
              where h.status = 'CONFIRMED' and r.hold_expires_at <= h.created_at",
        ),
        (
            Sight::SecondCard,
            "select 1 from reservations where status = 'CONFIRMED' and retry_window_given",
        ),
        (Sight::OutcomeUnknown, "select 1 from payment_history where status = 'UNKNOWN'"),
        (
            Sight::RefundAnswerLost,
            "select 1 from refunds where status = 'REFUNDED' and attempts > 1",
        ),
        (Sight::OfferTaken, "select 1 from standbys where state = 'TAKEN'"),
        (
            Sight::CalledOffWhilePaying,
            "select 1 from refunds f join payments p on p.id = f.payment_id
                                     join reservations r on r.id = p.reservation_id
              where f.reason = 'SHOW_CANCELED' and r.booking_number is null",
        ),
        (Sight::Declined, "select 1 from payments where status = 'FAILED'"),
        (Sight::WrongAmount, "select 1 from payments where captured not in (0, amount)"),
        (Sight::RefundDue, "select 1 from refunds where reason = 'TOO_LATE'"),
        (Sight::Canceled, "select 1 from reservations where status = 'CANCELED'"),
        (Sight::PaidFromWallet, "select 1 from payments where method = 'WALLET' and captured > 0"),
        (
            Sight::ReconcilerConfirmed,
            "select 1 from payments p join payment_history h on h.payment_id = p.id
              where h.status = 'CAPTURED' and p.requested_at + 11000 < h.created_at",
        ),
    ] {
        for _ in world.store.look(sql, None) {
            world.saw(sight);
        }
    }
}

/// Every promise that the store can be asked about.
async fn ask_store(world: &World) {
    let findings = world.store.check_all(world.time.now()).await;
    for finding in findings.expect("the store answers its checker") {
        let found = || format!("{}: {:?}", finding.rule, finding.examples);
        world.ensure(finding.n_broken == 0, finding.id, found);
    }
}

/// I20: with somebody waiting and a slot free, somebody is let in soon.
async fn look_at_line(world: &World, since: Option<Timestamp>) -> Option<Timestamp> {
    let now = world.time.now();
    let counts = world.live.queue().counts(world.schedule, now).await.ok()?;
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
    world.ensure(is_moving, "I20", || format!("nobody is let in since {since}: {counts:?}"));
    Some(since)
}

/// L1, L2 and I14: nothing is left open. L3: of a date that is called off nothing is kept.
fn look_at_rest(world: &World) {
    let kept = "select p.id, p.status, p.captured, p.refunded, r.status from payments p
                  join reservations r on r.id = p.reservation_id where p.captured > p.refunded";
    let kept = if world.is_called_off() { world.store.look(kept, None) } else { Vec::new() };
    world.ensure(kept.is_empty(), "L3", || format!("kept of a date that is called off: {kept:?}"));
    for (rule, sql) in [
        ("L1", "select id, status from payments where status in ('REQUESTED', 'UNKNOWN')"),
        ("L1", "select id, status from refunds where status = 'DUE'"),
        ("L2", "select id, status from reservations where status in ('HELD', 'PAYING')"),
        ("I14", "select id, status from outbox where status = 'PENDING'"),
    ] {
        let left = world.store.look(sql, None);
        world.ensure(left.is_empty(), rule, || format!("still there in the end: {left:?}"));
    }
}
