//! Tests of the board behind the seat map.

use crate::booking::seat_map::board::*;
use podo_domain::catalog::{GridTemplate, SeatTemplate};
use uuid::Uuid;

fn board(rows: &[&str], seats_per_row: u32) -> Board {
    let template = SeatTemplate::Grid(GridTemplate {
        rows: rows.iter().map(|row| (*row).to_owned()).collect(),
        seats_per_row,
        grade_mapping: rows.iter().map(|row| ((*row).to_owned(), format!("G{row}"))).collect(),
    });
    let hall = Hall::of(&template.plan().unwrap());
    Board::new(Arc::new(hall), NodeId::new(Uuid::from_u128(5)))
}

fn seat(index: u32, state: SeatState, until_ms: i64) -> SeatStanding {
    SeatStanding { index, state, expires_at: Some(at(until_ms)) }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn letters(snapshot: &Snapshot) -> String {
    String::from_utf8(snapshot.letters().to_vec()).unwrap()
}

#[test]
fn the_version_grows_only_when_something_changed() {
    let mut board = board(&["A"], 3);
    let claimed = [seat(1, SeatState::Held, 1_000), seat(2, SeatState::Sold, 0)];
    let first = board.set_all(&claimed, at(500));
    assert_eq!(letters(&first), "AHS");
    assert_eq!(first.packed.as_ref(), [0b11_10_01_00]);
    let same = board.set_all(&claimed, at(600));
    assert_eq!(same.version, first.version);
    let later = board.tidy(at(1_000));
    assert_eq!(letters(&later), "AAS", "the hold expired");
    assert!(later.version > first.version);
    let counts = (later.counts.available, later.counts.held, later.counts.sold);
    assert_eq!(counts, (2, 0, 1));
    assert_ne!(later.tag, first.tag);
}

#[test]
fn seats_left_are_counted_by_grade() {
    let mut board = board(&["A", "B"], 2);
    let snapshot = board.set_all(&[seat(3, SeatState::Sold, 0)], at(1));
    assert_eq!(snapshot.left, [("GA".to_owned(), 2), ("GB".to_owned(), 1)].into());
}

#[test]
fn a_payment_under_way_keeps_its_seat_past_the_hold() {
    let mut board = board(&["A"], 1);
    let paying = board.set(&[seat(0, SeatState::Paying, 1_000)], at(500));
    assert_eq!(letters(&paying), "H");
    assert_eq!(letters(&board.tidy(at(5_000))), "H");
}

#[test]
fn a_hold_that_was_given_more_time_does_not_end_at_the_old_one() {
    let mut board = board(&["A"], 1);
    board.set(&[seat(0, SeatState::Held, 1_000)], at(500));
    board.set(&[seat(0, SeatState::Held, 2_000)], at(600));
    assert_eq!(letters(&board.tidy(at(1_500))), "H");
    assert_eq!(letters(&board.tidy(at(2_000))), "A");
}

#[test]
fn changes_since_a_known_version_lead_to_the_current_map() {
    let mut board = board(&["A"], 4);
    let first = board.set_all(&[], at(1));
    let second = board.set(&[seat(0, SeatState::Held, 9_000)], at(2));
    let third = board.set(&[seat(0, SeatState::Sold, 0), seat(3, SeatState::Held, 9_000)], at(3));
    let since = |version| third.changes_since(version);
    let told = format!(
        r#"{{"version":{},"since":{},"changes":[[0,"S"],[3,"H"]]}}"#,
        third.version, first.version
    );
    assert_eq!(since(first.version), Some(told.into()));
    let told = format!(r#"{{"version":{0},"since":{0},"changes":[]}}"#, third.version);
    assert_eq!(since(third.version), Some(told.into()));
    assert!(since(second.version).is_some());
    assert_eq!(since(first.version + 1), None, "another node's version");
}

#[test]
fn only_so_much_is_remembered() {
    let mut board = board(&["A"], 2);
    let first = board.set_all(&[], at(1));
    let mut last = first.clone();
    for round in 0..300 {
        let state = if round % 2 == 0 { SeatState::Sold } else { SeatState::Free };
        last = board.set(&[seat(0, state, 0)], at(2 + i64::from(round)));
    }
    assert_eq!(last.changes_since(first.version), None);
}

#[test]
fn two_nodes_never_give_the_same_version_for_what_they_saw() {
    let one = next_version(0, NodeId::new(Uuid::from_u128(1)), at(1_800_000_000_000));
    let two = next_version(0, NodeId::new(Uuid::from_u128(2)), at(1_800_000_000_000));
    assert_ne!(one, two);
    assert!(one < 1 << 53, "JavaScript represents it exactly");
    let next = next_version(one, NodeId::new(Uuid::from_u128(1)), at(1_800_000_000_000));
    assert!(next > one, "also within a millisecond and when the clock was set back");
}
