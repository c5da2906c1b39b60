//! The store's history of the waiting rooms.

use crate::world::{Fan, World, at};
use podo_app::waiting_room::port::history::{HistoryCursor, QueueHistory};
use podo_app::waiting_room::port::queue::{Admission, FanPlace, Survivors};
use podo_domain::waiting_room::Entry;

fn admission(fan: &Fan) -> Admission {
    Admission { fan: fan.id, entry: fan.entry }
}

async fn live(world: &World, seconds: i64) -> Vec<Admission> {
    let mut live = world.store.live_entries(world.schedule, at(seconds)).await.unwrap();
    live.sort_by_key(|admission| admission.entry.number);
    live
}

#[tokio::test]
async fn entries_are_remembered_until_their_last_moment() {
    let world = World::new().await;
    let fans = world.fans(3).await;
    let admissions: Vec<Admission> = fans.iter().map(admission).collect();
    let record = || world.store.record_admissions(world.schedule, admissions.clone(), at(0));
    record().await.unwrap();
    record().await.unwrap();
    assert_eq!(live(&world, 3_599).await, admissions);
    assert_eq!(live(&world, 3_600).await, []);
    world.finish().await;
}

#[tokio::test]
async fn an_ended_entry_stays_ended_whatever_arrives_later() {
    let world = World::new().await;
    let fan = world.fan().await;
    let record = || world.store.record_admissions(world.schedule, vec![admission(&fan)], at(0));
    record().await.unwrap();
    world.store.end_entry(world.schedule, fan.entry.number, "LEFT", at(1)).await.unwrap();
    world.store.end_entry(world.schedule, fan.entry.number, "LEFT", at(2)).await.unwrap();
    record().await.unwrap();
    let longer = Entry { expires_at: at(9_999), ..fan.entry };
    world.store.record_extension(world.schedule, longer, at(3)).await.unwrap();
    assert_eq!(live(&world, 4).await, []);
    let places =
        world.store.places_of(fan.id, HistoryCursor::newest(at(99_999)), 10).await.unwrap();
    assert_eq!((places.len(), places[0].state.as_str()), (1, "EXPIRED"));
    assert_eq!(places[0].expires_at, Some(at(3_600)));
    world.finish().await;
}

#[tokio::test]
async fn an_extension_is_remembered() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.store.record_admissions(world.schedule, vec![admission(&fan)], at(0)).await.unwrap();
    let longer = Entry { expires_at: at(7_200), extensions_left: 1, ..fan.entry };
    world.store.record_extension(world.schedule, longer, at(10)).await.unwrap();
    assert_eq!(live(&world, 3_600).await, [Admission { fan: fan.id, entry: longer }]);
    world.finish().await;
}

#[tokio::test]
async fn a_sweep_ends_entries_whose_time_is_up_and_no_more_than_its_share() {
    let world = World::new().await;
    let fans = world.fans(5).await;
    let admissions = fans.iter().map(admission).collect();
    world.store.record_admissions(world.schedule, admissions, at(0)).await.unwrap();
    assert_eq!(world.store.expire_entries(at(3_599), 10).await.unwrap(), 0);
    assert_eq!(world.store.expire_entries(at(3_600), 3).await.unwrap(), 3);
    assert_eq!(world.store.expire_entries(at(3_600), 3).await.unwrap(), 2);
    assert_eq!(world.store.expire_entries(at(3_600), 3).await.unwrap(), 0);
    world.finish().await;
}

#[tokio::test]
async fn an_engine_that_lost_its_last_writes_learns_which_entries_are_over() {
    let world = World::new().await;
    let fans = world.fans(6).await;
    let mut admissions: Vec<Admission> = fans.iter().map(admission).collect();
    // The third has expired; the others have an hour.
    admissions[2].entry.expires_at = at(1);
    world.store.record_admissions(world.schedule, admissions.clone(), at(0)).await.unwrap();
    for index in [0, 3] {
        let number = admissions[index].entry.number;
        world.store.end_entry(world.schedule, number, "LEFT", at(2)).await.unwrap();
    }
    let number = |index: usize| admissions[index].entry.number;
    let told = async |oldest: usize, front: usize| {
        let survivors = Survivors { oldest_inside: number(oldest), front: number(front) };
        let mut told =
            world.store.remembered(world.schedule, Some(survivors), at(3)).await.unwrap();
        told.inside.sort_by_key(|admission| admission.entry.number);
        assert_eq!(told.inside, [admissions[1], admissions[4], admissions[5]]);
        told.over.sort_by_key(|over| over.number);
        told.over
    };
    let over = |index: usize| FanPlace { fan: fans[index].id, number: number(index) };
    assert_eq!(told(0, 1).await, [over(0), over(2), over(3)]);
    assert_eq!(told(0, 3).await, [over(0), over(3)], "what ran out inside is known there");
    assert_eq!(told(2, 5).await, [over(3)], "what the engine does not believe in is not told");
    let lost = world.store.remembered(world.schedule, None, at(3)).await.unwrap();
    assert_eq!((lost.inside.len(), lost.over.len()), (3, 0), "a lost room has no fans");
    world.finish().await;
}
