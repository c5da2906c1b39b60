//! The board against a plain set, and under every order of steps.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

fn board() -> Board {
    Board::starting_at(1_000)
}

#[test]
fn a_million_fans_are_counted_exactly() {
    let board = board();
    for offset in 0..1_000_000 {
        assert!(board.insert(offset));
    }
    for offset in (0..1_000_000).step_by(3) {
        assert!(board.remove(offset));
    }
    assert_eq!((board.len(), board.first()), (666_666, Some(1)));
    assert_eq!((board.count_below(999_999), board.count_below(300)), (666_666, 200));
    let last = Standing::Waiting { number: 1_000_998, ahead: 666_665, behind: 0 };
    assert_eq!(board.standing(1_000_998), Some(last));
    assert_eq!(board.standing(1_000_999), None, "this one left");
}

#[test]
fn numbers_in_the_last_segment_are_counted_too() {
    const BITS_PER_SEGMENT: usize = Board::<AtomicU64>::BITS_PER_SEGMENT;
    const OFFSET_MAX: usize = Board::<AtomicU64>::OFFSET_MAX;
    let board = board();
    assert!(board.insert(OFFSET_MAX - 1) && board.insert(BITS_PER_SEGMENT));
    assert_eq!(board.first(), Some(BITS_PER_SEGMENT));
    assert_eq!(board.count_below(OFFSET_MAX - 1), 1);
    assert_eq!(board.offset(999), None, "from before this run");
    assert_eq!(board.offset(1_000 + OFFSET_MAX as u64), None, "beyond the board");
}

#[test]
fn while_somebody_waits_elsewhere_the_board_does_not_guess() {
    let board = board();
    board.insert(0);
    board.set_elsewhere(1);
    assert_eq!(board.standing(1_000), None);
    board.set_elsewhere(0);
    let expected = Standing::Waiting { number: 1_000, ahead: 0, behind: 0 };
    assert_eq!(board.standing(1_000), Some(expected));
}

proptest! {
    #[test]
    fn it_is_a_set_of_numbers(
        steps in prop::collection::vec((any::<bool>(), 0_usize..3_000), 0..400),
    ) {
        let (board, mut model) = (board(), BTreeSet::new());
        for (insert, offset) in steps {
            let (changed, expected) = match insert {
                true => (board.insert(offset), model.insert(offset)),
                false => (board.remove(offset), model.remove(&offset)),
            };
            prop_assert_eq!(changed, expected);
            prop_assert_eq!(board.contains(offset), insert);
            prop_assert_eq!(board.first(), model.first().copied());
            prop_assert_eq!(board.count_below(offset), model.range(..offset).count() as u64);
            prop_assert_eq!(board.len(), model.len() as u64);
        }
    }
}

/// A number whose every use is a point at which another thread may go on.
#[derive(Default)]
struct Watched(shuttle::sync::atomic::AtomicU64);

type Watchable = Board<Watched, 1>;

impl Cell for Watched {
    fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::SeqCst);
    }
}

/// Those ahead of number 2 leave one by one while it is read: each of the two readers sees 2, 1 or
/// 0 ahead, the same count of fans in all, and never more than a moment before.
fn read_while_others_leave(look: fn(&Watchable) -> Option<(u64, u64)>) {
    let board = Arc::new(Watchable::starting_at(0));
    (0..4).for_each(|offset| assert!(board.insert(offset)));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let board = board.clone();
            shuttle::thread::spawn(move || {
                let seen: Vec<_> = (0..2).filter_map(|_| look(&board)).collect();
                assert!(seen.is_sorted_by(|one, next| next.0 <= one.0), "told nonsense: {seen:?}");
                assert!(
                    seen.iter().all(|(ahead, behind)| *ahead <= 2 && *behind == 1),
                    "told nonsense: {seen:?}"
                );
            })
        })
        .collect();
    (0..2).for_each(|offset| assert!(board.remove(offset)));
    readers.into_iter().for_each(|reader| reader.join().expect("it saw what is true"));
}

#[test]
fn readers_never_see_half_a_change() {
    let look = |board: &Watchable| match board.standing(2)? {
        Standing::Waiting { ahead, behind, .. } => Some((ahead, behind)),
        other => panic!("{other:?}"),
    };
    shuttle::check_random(move || read_while_others_leave(look), 5_000);
    shuttle::check_pct(move || read_while_others_leave(look), 5_000, 3);
}

/// The control: without the count of changes the same readers see nonsense.
#[test]
#[should_panic(expected = "told nonsense")]
fn without_the_count_of_changes_they_would() {
    let look = |board: &Watchable| match board.look(2, 2)? {
        Standing::Waiting { ahead, behind, .. } => Some((ahead, behind)),
        other => panic!("{other:?}"),
    };
    shuttle::check_random(move || read_while_others_leave(look), 5_000);
}
