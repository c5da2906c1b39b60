//! The checker: checks the store's invariants during the run, and compares both ledgers once
//! everything has settled.

pub(crate) mod coverage;
pub(crate) mod notes;
mod survey;

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
    look_at_gates(&world);
    world.check_draw().await;
    world.check_prices().await;
    world.check_books();
    world.check_promise();
    world.check_deposits();
    world.survey_refunds();
    survey::survey(&world);
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
        || world.is_between_rooms()
    {
        return None;
    }
    let since = since.unwrap_or(now);
    let is_moving = now.since(since) < STUCK_MAX;
    world.ensure(is_moving, "I20", || format!("no admission since {since}: {counts:?}"));
    Some(since)
}

/// T2: a ticket that opened a gate keeps its seat.
fn look_at_gates(world: &World) {
    let sql = "select seat_number from tickets where id = $1 and status = 'USED'";
    for (ticket, seat) in world.seats_at_gate() {
        let rows = world.store.look(sql, Some(ticket.uuid()));
        let is_kept = rows.iter().all(|row| row[0] == seat);
        world.ensure(is_kept, "T2", || format!("{ticket} was let in for {seat}, now {rows:?}"));
    }
}

/// L1, L2 and I14: nothing is left open. L4: allocations are on sale from their time on, and every
/// draw took place and settled its offers. L3: nothing is kept of a canceled date.
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
        (
            "L4",
            "select id, name from allocations where release_at is not null and released_at is null",
        ),
        ("L4", "select phase_id, n_ranked from draws where drawn_at is null"),
        ("L4", "select phase_id, user_id from draw_applications where state = 'OFFERED'"),
    ] {
        let left = world.store.look(sql, None);
        world.ensure(left.is_empty(), rule, || format!("left open at the end: {left:?}"));
    }
}
