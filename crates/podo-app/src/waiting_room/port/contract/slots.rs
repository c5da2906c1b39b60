//! Rules for slots: who is admitted, for how long, and when a slot becomes free.

use crate::Error;
use crate::waiting_room::port::contract::stage::{SECOND, Stage, entry_of, fan, number_of};
use crate::waiting_room::port::queue::{Admission, PlaceProof, Queue};
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{
    CLAIM_WINDOW, EXTENSIONS_MAX, Entry, QueueCounts, QueueMode, QueuePosition,
};
use podo_domain::{Refusal, Timestamp};
use std::time::Duration;

const MILLISECOND: Duration = Duration::from_millis(1);

pub async fn an_empty_queue_admits_at_once_up_to_the_cap(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let stage = Stage::new(queue, (seed, 101), 2, now).await;
    let entry = entry_of(stage.enter(1, now).await);
    assert_eq!(entry.admitted_at, now, "there is a free slot and no fan waits");
    assert_eq!(entry.expires_at, now.plus(stage.rules.settings.entry_ttl()), "for its full time");
    assert_eq!(
        stage.enter(1, now.plus(SECOND)).await,
        QueuePosition::Inside(entry),
        "the same entry"
    );
    entry_of(stage.enter(2, now).await);
    let third = stage.enter(3, now).await;
    assert!(matches!(third, QueuePosition::Waiting { ahead: 0, .. }), "the cap is two: {third:?}");
    assert_eq!(stage.entry(3, now).await, None, "a waiting fan has no entry");
}

pub async fn no_fan_overtakes_a_waiting_fan(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let stage = Stage::new(queue, (seed, 102), 1, now).await;
    stage.enter(1, now).await;
    stage.enter(2, now).await;
    stage.leave(1, now).await;
    let newcomer = stage.enter(3, now).await;
    let inside = stage.entry(3, now).await;
    assert_eq!(inside, None, "the slot is free, but fan 2 was there first: {newcomer:?}");
    let admitted = stage.admit(now).await;
    let fans: Vec<_> = admitted.iter().map(|admission| admission.fan).collect();
    let is_inside = matches!(stage.position(2, now).await, QueuePosition::Inside(_));
    assert!(is_inside, "fan 2 has the slot, by this round or before it: {fans:?}");
}

pub async fn admission_goes_by_number_within_cap_and_rate(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let mut stage = Stage::new(queue, (seed, 103), 5, now).await;
    stage.rules.settings.admit_per_second = 2;
    stage.set_mode(QueueMode::Paused);
    stage.line_up(10, now).await;
    stage.set_mode(QueueMode::Auto);
    let mut let_in = Vec::new();
    for step in 0..8 {
        let round = stage.admit(now.plus(step * SECOND)).await;
        assert!(round.len() <= 2, "two a second: {round:?}");
        let again = stage.admit(now.plus(step * SECOND)).await;
        assert_eq!(again, [], "a second round at the same instant has no budget left");
        let_in.extend(round.into_iter().map(|admission| admission.fan));
    }
    let expected: Vec<_> = (1..=5).map(fan).collect();
    assert_eq!(let_in, expected, "in order, and no more than the cap");
}

pub async fn the_mode_decides_who_moves(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let mut stage = Stage::new(queue, (seed, 104), 1, now).await;
    stage.set_mode(QueueMode::Paused);
    stage.line_up(3, now).await;
    assert_eq!(stage.admit(now).await, [], "a paused queue admits no fan");
    stage.set_mode(QueueMode::Closed);
    assert_eq!(stage.admit(now).await, [], "a closed queue admits no fan");
    assert_eq!(
        stage.refusal_to_enter(9, now).await,
        Some(Refusal::QueueClosed),
        "no new fan joins"
    );
    let same = stage.enter(3, now).await;
    assert!(matches!(same, QueuePosition::Waiting { ahead: 2, .. }), "places are kept: {same:?}");
    stage.set_mode(QueueMode::Draining);
    assert_eq!(
        stage.refusal_to_enter(9, now).await,
        Some(Refusal::QueueClosed),
        "no new fan joins"
    );
    assert_eq!(stage.admit(now).await.len(), 1, "waiting fans are admitted");
}

pub async fn an_entry_ends_at_its_very_millisecond(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let stage = Stage::new(queue, (seed, 105), 1, now).await;
    let first = entry_of(stage.enter(1, now).await);
    stage.enter(2, now).await;
    let last = first.expires_at.minus(MILLISECOND);
    assert_eq!(stage.entry(1, last).await, Some(first), "it lives to its last millisecond");
    assert_eq!(stage.admit(last).await, [], "and keeps its slot until then");
    assert_eq!(stage.entry(1, first.expires_at).await, None, "then it is over, swept or not");
    let admitted = stage.admit(first.expires_at).await;
    assert_eq!(admitted.len(), 1, "and its slot is free at once");
    let over = stage.position(1, first.expires_at).await;
    assert_eq!(over, QueuePosition::Expired, "the answer says that the entry expired");
    let again = stage.enter(1, first.expires_at).await;
    let new_place = matches!(again, QueuePosition::Waiting { number, .. } if first.number < number);
    assert!(new_place, "entering again is a new place: {again:?}");
}

pub async fn an_unclaimed_entry_is_given_back(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let mut stage = Stage::new(queue, (seed, 106), 2, now).await;
    stage.set_mode(QueueMode::Paused);
    stage.line_up(4, now).await;
    stage.set_mode(QueueMode::Auto);
    assert_eq!(stage.admit(now).await.len(), 2, "two are admitted");
    let within = now.plus(CLAIM_WINDOW).minus(MILLISECOND);
    assert_eq!(stage.admit(within).await, [], "they may still claim it");
    entry_of(stage.position(1, within).await);
    let next = stage.admit(now.plus(CLAIM_WINDOW)).await;
    let fans: Vec<_> = next.iter().map(|admission| admission.fan).collect();
    assert_eq!(fans, [fan(3)], "fan 2 never claimed it: the next fan gets the slot");
    let late = now.plus(2 * CLAIM_WINDOW);
    assert_eq!(stage.entry(2, late).await, None, "and fan 2 is out");
    assert!(stage.entry(1, late).await.is_some(), "a fan who claimed the entry keeps it");
}

pub async fn an_entry_that_was_bought_with_ends_alone(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let stage = Stage::new(queue, (seed, 111), 1, now).await;
    let old = entry_of(stage.enter(1, now).await);
    stage.end_entry(1, old.number, now).await;
    assert_eq!(stage.position(1, now).await, QueuePosition::Absent, "a fan who bought is out");
    let new = entry_of(stage.enter(1, now).await);
    stage.end_entry(1, old.number, now).await;
    assert_eq!(
        stage.entry(1, now).await,
        Some(new),
        "a late end of the old entry leaves the new one"
    );
    let waiting = stage.enter(2, now).await;
    stage.end_entry(2, old.number, now).await;
    assert_eq!(stage.position(2, now).await, waiting, "and a place in the queue");
    stage.end_entry(1, new.number, now).await;
    stage.admit(now).await;
    let is_inside = matches!(stage.position(2, now).await, QueuePosition::Inside(_));
    assert!(is_inside, "the slot is free for the next");
}

pub async fn an_entry_is_extended_twice(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let stage = Stage::new(queue, (seed, 107), 1, now).await;
    let first = entry_of(stage.enter(1, now).await);
    let mut before = first;
    for left in (0..EXTENSIONS_MAX).rev() {
        let more = queue.extend(&stage.rules, fan(1), now).await;
        let more = more.expect("a live entry is extended");
        assert!(before.expires_at < more.expires_at, "every extension gives time");
        assert_eq!(more.extensions_left, left, "and is counted");
        before = more;
    }
    assert_eq!(refusal(queue, &stage, 1, now).await, Refusal::NoExtensionsLeft, "twice at most");
    assert_eq!(stage.entry(1, first.expires_at).await, Some(before), "the longer time counts");
    let over = refusal(queue, &stage, 1, before.expires_at).await;
    assert_eq!(over, Refusal::EntryExpired, "an expired entry cannot be extended");
    let absent = refusal(queue, &stage, 2, now).await;
    assert_eq!(absent, Refusal::EntryExpired, "nor an entry that never existed");
}

async fn refusal(queue: &dyn Queue, stage: &Stage<'_>, number: u64, now: Timestamp) -> Refusal {
    match queue.extend(&stage.rules, fan(number), now).await {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("the extension is refused, but the engine says {other:?}"),
    }
}

pub async fn restored_entries_fill_their_slots(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let stage = Stage::new(queue, (seed, 108), 2, now).await;
    let entry = Entry::starting(1, &stage.rules.settings, now);
    let gone = Entry { expires_at: now, ..entry };
    let entries = [Admission { fan: fan(1), entry }, Admission { fan: fan(2), entry: gone }];
    for _ in 0..2 {
        let restored = queue.restore(&stage.rules, &entries.to_vec().into(), now).await;
        restored.expect("the engine answers");
    }
    assert_eq!(stage.entry(1, now).await, Some(entry), "a restored entry is as good as before");
    assert_eq!(stage.entry(2, now).await, None, "an ended entry stays ended");
    assert_eq!(stage.counts(now).await.inside, 1, "restoring twice counts once");
    entry_of(stage.enter(3, now).await);
    let full = stage.enter(4, now).await;
    assert!(matches!(full, QueuePosition::Waiting { .. }), "restored entries take slots: {full:?}");
    stage.leave(1, now).await;
    let proof = Some(PlaceProof::Line { number: entry.number });
    let again = stage.enter_with(1, proof, now).await;
    let is_new = matches!(again, QueuePosition::Waiting { number, .. } if number != entry.number);
    assert!(is_new, "the number of a restored entry is spent: {again:?}");
}

pub async fn a_number_that_came_back_is_not_restored(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let stage = Stage::new(queue, (seed, 110), 2, now).await;
    let proof = Some(PlaceProof::Line { number: 1 });
    assert_eq!(entry_of(stage.enter_with(1, proof, now).await).number, 1);
    let entry = Entry::starting(1, &stage.rules.settings, now);
    let late = [Admission { fan: fan(2), entry }];
    queue.restore(&stage.rules, &late.to_vec().into(), now).await.expect("the engine answers");
    assert_eq!(stage.entry(2, now).await, None, "one number admits one fan");
    assert_eq!(stage.counts(now).await.inside, 1);
}

/// An admission can reach the store after the room was reopened without it.
pub async fn late_entries_come_back_while_slots_are_free(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let stage = Stage::new(queue, (seed, 112), 2, now).await;
    let late = [1, 2, 3].map(|number| Admission {
        fan: fan(number),
        entry: Entry::starting(number, &stage.rules.settings, now),
    });
    let restore = async || {
        queue.restore(&stage.rules, &late.to_vec().into(), now).await.expect("the engine answers");
        stage.counts(now).await.inside
    };
    entry_of(stage.enter(4, now).await);
    assert_eq!(restore().await, 2, "an open room never exceeds its cap");
    assert_eq!(stage.entry(1, now).await, Some(late[0].entry), "the first one had a slot");
    stage.leave(4, now).await;
    assert_eq!(restore().await, 2, "the next one comes back when a slot is free");
    assert_eq!(stage.entry(2, now).await, Some(late[1].entry));
    queue.remove(stage.rules.schedule).await.expect("the engine answers");
    assert_eq!(restore().await, 3, "fans who were inside before the loss stay");
}

/// A fan whose lobby place the engine lost was drawn and admitted elsewhere; the room reserves the
/// number for them.
pub async fn an_entry_of_a_drawn_number_is_restored(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let opens_at = now.plus(10 * SECOND);
    let mut stage = Stage::new(queue, (seed, 113), 2, opens_at).await;
    stage.set_mode(QueueMode::Paused);
    for number in 0..2 {
        stage.enter(number, now).await;
    }
    stage.forget(now).await;
    let proof = |index| PlaceProof::Lobby { index };
    stage.enter_with(1, Some(proof(1)), now).await;
    let drawn = number_of(stage.position(1, opens_at).await);
    let n_drawn = u32::try_from(stage.counts(opens_at).await.drawn).expect("an index is a u32");
    let ranks = draw::permutation(&stage.rules.draw_seed, n_drawn);
    let lost = drawn - u64::from(ranks[1]) + u64::from(ranks[0]);
    let entry = Entry::starting(lost, &stage.rules.settings, opens_at);
    let remembered = vec![Admission { fan: fan(0), entry }].into();
    queue.restore(&stage.rules, &remembered, opens_at).await.expect("the engine answers");
    assert_eq!(stage.entry(0, opens_at).await, Some(entry), "the entry is theirs again");
    let back = stage.come_back(0, proof(0), opens_at).await;
    assert_eq!(entry_of(back), entry, "and the place in the lobby is used up");
}

pub async fn counts_add_up(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let stage = Stage::new(queue, (seed, 109), 3, now).await;
    let counts = stage.counts(now).await;
    let empty = QueueCounts { front: counts.front, ..QueueCounts::default() };
    assert_eq!(counts, empty, "a new queue is empty");
    for number in 1..=6 {
        stage.enter(number, now).await;
    }
    stage.leave(6, now).await;
    stage.leave(1, now).await;
    let counts = stage.counts(now).await;
    assert_eq!(counts.front, number_of(stage.position(4, now).await), "the first waiting number");
    let seen = (counts.waiting, counts.inside, counts.admitted, counts.left, counts.expired);
    assert_eq!(seen, (2, 2, 3, 2, 0), "six entered: two wait, two are inside, two left");
    let outflow = counts.admitted_per_second;
    assert!(0.0 < outflow && outflow <= 3.0, "three were just admitted: {outflow}");
    let over = now.plus(stage.rules.settings.entry_ttl());
    let counts = stage.counts(over).await;
    assert_eq!((counts.inside, counts.expired), (0, 2), "ended entries are counted as expired");
    assert_eq!(counts.admitted_per_second, 0.0, "no fan was admitted in the last minute");
}
