//! The gate: check-ins, late scans with their undos, and the list of what changed.

use crate::world::{World, at, refusal};
use podo_app::tickets::gate_port::{
    ChangedSince, CheckIn, GateTicket, Gates, OfflineScan, OfflineUndo, RecordScan,
};
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::ScanVerdict;
use podo_domain::{Refusal, Timestamp};
use uuid::Uuid;

const START: ChangedSince = ChangedSince { at: Timestamp::from_ms(0), ticket: Uuid::nil() };

/// A date with two tickets, as the gate sees them.
async fn two_tickets(world: &World) -> Vec<GateTicket> {
    let fan = world.fan().await;
    world.buy(&fan, &[20, 21], at(1)).await;
    changed(world, START, 10).await
}

async fn changed(world: &World, since: ChangedSince, limit: u32) -> Vec<GateTicket> {
    world.store.gate_tickets(world.schedule, since, limit).await.unwrap()
}

fn check_in(world: &World, ticket: &GateTicket, now: Timestamp) -> CheckIn {
    CheckIn {
        id: world.id(),
        actor: ticket.holder,
        ticket: ticket.ticket,
        code: ticket.code.clone(),
        gate: "east".to_owned(),
        now,
    }
}

async fn record(
    world: &World,
    ticket: &GateTicket,
    id: Uuid,
    undo: Option<Uuid>,
) -> (ScanVerdict, Option<String>) {
    let undo = undo.map(|check_in| OfflineUndo { check_in, reason: "sent back".to_owned() });
    let (gate, scanned_at) = ("west".to_owned(), at(20));
    let scan = OfflineScan { id, ticket: ticket.ticket, gate, scanned_at, undo };
    let (actor, schedule) = (ticket.holder, world.schedule);
    let command = RecordScan { actor, schedule, scan, now: at(30) };
    let found = world.store.record_scan(command).await.unwrap();
    (found.verdict, found.used_gate)
}

async fn n_admitted(world: &World) -> (u64, Vec<bool>) {
    let found = world.store.attendance(world.schedule).await.unwrap();
    let mut seats = world.store.seats_at_gate(world.schedule).await.unwrap();
    seats.sort_unstable();
    (found.admitted, seats.into_iter().map(|(_, is_admitted)| is_admitted).collect())
}

#[tokio::test]
async fn the_list_has_every_ticket_once_and_then_what_changed() {
    let world = World::new().await;
    let all = two_tickets(&world).await;
    assert_eq!(all.len(), 2);
    assert_eq!(world.store.count_gate_tickets(world.schedule).await.unwrap(), 2);
    let first = changed(&world, START, 1).await;
    let after = ChangedSince { at: first[0].changed_at, ticket: first[0].ticket.uuid() };
    let second = changed(&world, after, 1).await;
    assert_eq!([first[0].ticket, second[0].ticket], [all[0].ticket, all[1].ticket]);
    let end = ChangedSince { at: second[0].changed_at, ticket: second[0].ticket.uuid() };
    assert!(changed(&world, end, 10).await.is_empty());
    world.store.check_in(check_in(&world, &all[0], at(10))).await.unwrap();
    let news = changed(&world, end, 10).await;
    assert_eq!(news.len(), 1);
    assert_eq!((news[0].ticket, news[0].status), (all[0].ticket, TicketStatus::Used));
    assert_eq!(news[0].used_gate.as_deref(), Some("east"));
    assert_eq!(n_admitted(&world).await, (1, vec![true, false]));
    world.finish().await;
}

#[tokio::test]
async fn a_check_in_counts_once_by_its_id() {
    let world = World::new().await;
    let all = two_tickets(&world).await;
    let command = check_in(&world, &all[0], at(10));
    world.store.check_in(command.clone()).await.unwrap();
    world.store.check_in(command.clone()).await.unwrap();
    let other = CheckIn { id: command.id, ..check_in(&world, &all[1], at(11)) };
    assert_eq!(refusal(world.store.check_in(other).await), Refusal::KeyReused);
    let again = record(&world, &all[0], command.id, None).await;
    assert_eq!(again.0, ScanVerdict::Admitted, "its answer was lost");
    assert_eq!(n_admitted(&world).await.0, 1);
    world.finish().await;
}

#[tokio::test]
async fn an_undo_takes_back_its_check_in_or_resolves_a_double() {
    let world = World::new().await;
    let all = two_tickets(&world).await;
    let ticket = &all[0];
    let (first, double) = (world.id(), world.id());
    let command = check_in(&world, ticket, at(40));
    assert_eq!(record(&world, ticket, first, None).await.0, ScanVerdict::Admitted);
    assert_eq!(record(&world, ticket, world.id(), Some(first)).await.0, ScanVerdict::Undone);
    world.store.check_in(command.clone()).await.unwrap();
    assert_eq!(record(&world, ticket, world.id(), Some(first)).await.0, ScanVerdict::Undone);
    assert_eq!(n_admitted(&world).await.0, 1, "a later check-in stays");
    let found = record(&world, ticket, double, None).await;
    assert_eq!(found, (ScanVerdict::Double, Some("east".to_owned())));
    let doubles = async || {
        let found = world.store.attendance(world.schedule).await.unwrap();
        found.gates.iter().map(|gate| gate.doubles).sum::<u64>()
    };
    assert_eq!(doubles().await, 1);
    assert_eq!(record(&world, ticket, world.id(), Some(double)).await.0, ScanVerdict::Undone);
    assert_eq!((doubles().await, n_admitted(&world).await.0), (0, 1));
    assert_eq!(record(&world, ticket, world.id(), Some(command.id)).await.0, ScanVerdict::Undone);
    assert_eq!(n_admitted(&world).await.0, 0);
    world.finish().await;
}
