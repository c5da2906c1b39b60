//! The index against a plain set, and under every interleaving.

use crate::live::waiting_index::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

fn waiting_index() -> WaitingIndex {
    WaitingIndex::starting_at(1_000)
}

#[test]
fn a_million_fans_are_counted_exactly() {
    let waiting_index = waiting_index();
    for offset in 0..1_000_000 {
        assert!(waiting_index.insert(offset));
    }
    for offset in (0..1_000_000).step_by(3) {
        assert!(waiting_index.remove(offset));
    }
    assert_eq!((waiting_index.len(), waiting_index.first()), (666_666, Some(1)));
    assert_eq!(
        (waiting_index.count_below(999_999), waiting_index.count_below(300)),
        (666_666, 200)
    );
    let last = QueuePosition::Waiting { number: 1_000_998, ahead: 666_665, behind: 0 };
    assert_eq!(waiting_index.position(1_000_998), Some(last));
    assert_eq!(waiting_index.position(1_000_999), None, "this fan left");
}

#[test]
fn numbers_in_the_last_segment_are_counted_too() {
    const BITS_PER_SEGMENT: usize = WaitingIndex::<AtomicU64>::BITS_PER_SEGMENT;
    const OFFSET_MAX: usize = WaitingIndex::<AtomicU64>::OFFSET_MAX;
    let waiting_index = waiting_index();
    assert!(waiting_index.insert(OFFSET_MAX - 1) && waiting_index.insert(BITS_PER_SEGMENT));
    assert_eq!(waiting_index.first(), Some(BITS_PER_SEGMENT));
    assert_eq!(waiting_index.count_below(OFFSET_MAX - 1), 1);
    assert_eq!(waiting_index.offset(999), None, "from before this run");
    assert_eq!(waiting_index.offset(1_000 + OFFSET_MAX as u64), None, "beyond the index");
}

#[test]
fn while_a_fan_waits_outside_the_index_it_does_not_guess() {
    let waiting_index = waiting_index();
    waiting_index.insert(0);
    waiting_index.set_elsewhere(1);
    assert_eq!(waiting_index.position(1_000), None);
    waiting_index.set_elsewhere(0);
    let expected = QueuePosition::Waiting { number: 1_000, ahead: 0, behind: 0 };
    assert_eq!(waiting_index.position(1_000), Some(expected));
}

proptest! {
    #[test]
    fn it_is_a_set_of_numbers(
        steps in prop::collection::vec((any::<bool>(), 0_usize..3_000), 0..400),
    ) {
        let (waiting_index, mut model) = (waiting_index(), BTreeSet::new());
        for (insert, offset) in steps {
            let (changed, expected) = match insert {
                true => (waiting_index.insert(offset), model.insert(offset)),
                false => (waiting_index.remove(offset), model.remove(&offset)),
            };
            prop_assert_eq!(changed, expected);
            prop_assert_eq!(waiting_index.contains(offset), insert);
            prop_assert_eq!(waiting_index.first(), model.first().copied());
            prop_assert_eq!(waiting_index.count_below(offset), model.range(..offset).count() as u64);
            prop_assert_eq!(waiting_index.len(), model.len() as u64);
        }
    }
}

/// An integer whose every access is a possible thread switch.
#[derive(Default)]
struct Watched(shuttle::sync::atomic::AtomicU64);

type Watchable = WaitingIndex<Watched, 1>;

impl Cell for Watched {
    fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::SeqCst);
    }
}

/// Fans ahead of number 2 leave one by one while two readers poll. Each sees 2, 1 or 0 ahead, the
/// same total, and never more than before.
fn read_while_others_leave(look: fn(&Watchable) -> Option<(u64, u64)>) {
    let waiting_index = Arc::new(Watchable::starting_at(0));
    (0..4).for_each(|offset| assert!(waiting_index.insert(offset)));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let waiting_index = waiting_index.clone();
            shuttle::thread::spawn(move || {
                let seen: Vec<_> = (0..2).filter_map(|_| look(&waiting_index)).collect();
                assert!(
                    seen.is_sorted_by(|one, next| next.0 <= one.0),
                    "inconsistent reads: {seen:?}"
                );
                assert!(
                    seen.iter().all(|(ahead, behind)| *ahead <= 2 && *behind == 1),
                    "inconsistent reads: {seen:?}"
                );
            })
        })
        .collect();
    (0..2).for_each(|offset| assert!(waiting_index.remove(offset)));
    readers.into_iter().for_each(|reader| reader.join().expect("the reader saw consistent values"));
}

fn ahead_and_behind(position: QueuePosition) -> (u64, u64) {
    let QueuePosition::Waiting { ahead, behind, .. } = position else { panic!("{position:?}") };
    (ahead, behind)
}

#[test]
fn readers_never_see_half_a_change() {
    let look = |waiting_index: &Watchable| waiting_index.position(2).map(ahead_and_behind);
    shuttle::check_random(move || read_while_others_leave(look), 5_000);
    shuttle::check_pct(move || read_while_others_leave(look), 5_000, 3);
}

/// The control: without the change counter the same readers see inconsistent values.
#[test]
#[should_panic(expected = "inconsistent reads")]
fn without_the_count_of_changes_they_would() {
    let look = |waiting_index: &Watchable| waiting_index.look(2, 2).map(ahead_and_behind);
    shuttle::check_random(move || read_while_others_leave(look), 5_000);
}
