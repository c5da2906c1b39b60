//! Tests of the search for the best seats.

use crate::booking::best::*;
use crate::catalog::SeatTemplate;
use proptest::prelude::*;
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeSet;

fn hall(template: serde_json::Value) -> Hall {
    Hall::of(&serde_json::from_value::<SeatTemplate>(template).unwrap().plan().unwrap())
}

fn grid(rows: &[&str], seats_per_row: u32) -> Hall {
    let grades: std::collections::BTreeMap<&str, &str> =
        rows.iter().map(|row| (*row, if *row == "A" { "VIP" } else { "S" })).collect();
    hall(json!({"layoutType": "grid", "rows": rows, "seatsPerRow": seats_per_row,
                "gradeMapping": grades}))
}

/// Free seats as a picture of the hall: `.` is free.
fn best(hall: &Hall, picture: &str, wish: &SeatRequest) -> Option<Vec<SeatIndex>> {
    let letters: Vec<char> = picture.chars().filter(|letter| !letter.is_whitespace()).collect();
    assert_eq!(letters.len(), hall.places.len());
    best_seats(hall, |seat| letters[seat as usize] == '.', wish)
}

fn wish(count: usize) -> SeatRequest {
    SeatRequest::new(count)
}

#[test]
fn the_middle_of_the_front_row_is_the_best() {
    let hall = grid(&["A", "B"], 9);
    assert_eq!(best(&hall, "......... .........", &wish(1)), Some(vec![4]));
    assert_eq!(best(&hall, "......... .........", &wish(3)), Some(vec![3, 4, 5]));
}

#[test]
fn a_party_sits_together_even_when_it_is_further_away() {
    let hall = grid(&["A", "B"], 6);
    assert_eq!(best(&hall, "..x..x x.....", &wish(3)), Some(vec![7, 8, 9]));
    assert_eq!(best(&hall, "..x..x xxxx..", &wish(3)), None);
}

#[test]
fn a_grade_that_was_asked_for_is_kept() {
    let hall = grid(&["A", "B"], 4);
    let second = SeatRequest { grade: hall.grade("S"), ..wish(2) };
    assert_eq!(best(&hall, ".... ....", &second), Some(vec![4, 5]));
    assert_eq!(hall.grade("R"), None);
}

#[test]
fn a_fan_chooses_between_grades_or_between_rows_of_one() {
    let hall = grid(&["A", "B", "C"], 4);
    let proposed = |picture: &str, wish: &SeatRequest| {
        let letters: Vec<char> = picture.chars().filter(|it| !it.is_whitespace()).collect();
        suggestions(&hall, |seat| letters[seat as usize] == '.', wish, 3)
    };
    assert_eq!(proposed(".... .... ....", &wish(2)), [[0, 1], [4, 5]], "one of each grade");
    let second = SeatRequest { grade: hall.grade("S"), ..wish(2) };
    assert_eq!(proposed(".... .... ....", &second), [[4, 5], [8, 9]], "two rows");
    assert_eq!(proposed("xxxx .x.x ....", &wish(2)), [[8, 9]]);
    assert!(proposed("xxxx xxxx xxxx", &wish(1)).is_empty());
    assert!(proposed(".... .... ....", &wish(0)).is_empty());
}

#[test]
fn no_single_seat_is_left_over_where_it_can_be_avoided() {
    let hall = grid(&["A"], 5);
    assert_eq!(best(&hall, ".....", &wish(3)), Some(vec![0, 1, 2]), "two are left beside it");
    let hall = grid(&["A"], 4);
    assert_eq!(best(&hall, "....", &wish(3)), Some(vec![0, 1, 2]), "it cannot be avoided");
    let strict = SeatRequest { orphans: Orphans::Strict, ..wish(3) };
    assert_eq!(best(&hall, "....", &strict), None);
    let strict = SeatRequest { orphans: Orphans::Strict, ..wish(2) };
    assert_eq!(best(&hall, "....", &strict), Some(vec![0, 1]));
}

#[test]
fn a_party_is_split_over_rows_only_when_it_asks_for_it() {
    let hall = grid(&["B", "C"], 4);
    let picture = "x..x x..x";
    assert_eq!(best(&hall, picture, &wish(4)), None);
    let split = SeatRequest { across_rows: true, ..wish(4) };
    assert_eq!(best(&hall, picture, &split), Some(vec![1, 2, 5, 6]));
    assert_eq!(best(&hall, "x..x x.xx", &split), None, "there are not enough");
}

#[test]
fn an_aisle_parts_a_row() {
    let row = |x: [i32; 4]| {
        let seats: Vec<_> =
            (1..).zip(x).map(|(number, x)| json!({"number": number, "x": x, "y": 0})).collect();
        hall(json!({"layoutType": "sections", "sections": [
            {"name": "1", "grade": "R", "rows": [{"label": "1", "seats": seats}]}]}))
    };
    assert_eq!(row([0, 10, 20, 30]).blocks.len(), 1);
    let parted = row([0, 10, 40, 50]);
    assert_eq!(parted.blocks, [0..2, 2..4]);
    assert_eq!(best(&parted, "....", &wish(3)), None);
}

#[test]
fn seats_for_wheelchairs_are_kept_for_wheelchairs() {
    let hall = hall(json!({"layoutType": "sections", "sections": [{"name": "1", "grade": "R",
        "rows": [{"label": "1", "count": 6, "line": {"x": 0, "y": 0, "dx": 10, "dy": 0},
                  "accessible": [3, 4], "companion": [2, 5]}]}]}));
    assert_eq!(best(&hall, "......", &wish(1)), Some(vec![0]));
    assert_eq!(best(&hall, "......", &wish(2)), None);
    let chair = SeatRequest { wheelchairs: 1, ..wish(2) };
    assert_eq!(best(&hall, "......", &chair), Some(vec![1, 2]), "with a companion beside it");
    assert_eq!(best(&hall, ".x....", &chair), Some(vec![3, 4]));
    let two = SeatRequest { wheelchairs: 2, ..wish(4) };
    assert_eq!(best(&hall, "......", &two), Some(vec![1, 2, 3, 4]));
}

#[test]
fn people_who_stand_go_in_by_number() {
    let hall = hall(json!({"layoutType": "sections", "sections": [
        {"name": "F", "grade": "ST", "standing":
            {"count": 5, "x": 0, "y": 0, "width": 100, "height": 100}}]}));
    assert_eq!(best(&hall, ".x.x.", &wish(3)), Some(vec![0, 2, 4]));
    assert_eq!(best(&hall, ".xxx.", &wish(3)), None);
}

#[test]
fn a_restricted_view_is_the_last_resort() {
    let hall = hall(json!({"layoutType": "sections", "sections": [{"name": "1", "grade": "R",
        "rows": [{"label": "1", "count": 3, "line": {"x": 0, "y": 0, "dx": 10, "dy": 0},
                  "restrictedView": [2]}]}]}));
    assert_eq!(best(&hall, "...", &wish(1)), Some(vec![0]));
    assert_eq!(best(&hall, "x.x", &wish(1)), Some(vec![1]));
}

#[test]
fn alternatives_are_near_and_do_not_share_seats() {
    let hall = grid(&["A", "B"], 10);
    let is_free = |seat: SeatIndex| seat != 4;
    let found = alternatives(&hall, is_free, &[4, 5], 3);
    assert_eq!(found.len(), 3);
    let all: BTreeSet<_> = found.iter().flatten().copied().collect();
    assert_eq!(all.len(), 6, "{found:?}");
    assert!(all.iter().all(|seat| hall.places[*seat as usize].grade == 0), "the same grade");
    assert!(!all.contains(&4) && !all.contains(&5));
    assert!(alternatives(&hall, |_| false, &[4], 3).is_empty());
    assert!(alternatives(&hall, |_| true, &[99], 3).is_empty());
}

#[test]
fn the_search_for_alternatives_stays_near_the_first_lost_seat_however_far_apart_they_were() {
    let rows: Vec<String> = (0..50).map(|row| format!("R{row}")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let hall = grid(&rows, 100);
    let n_looks = Cell::new(0);
    let is_free = |_| {
        n_looks.set(n_looks.get() + 1);
        true
    };
    let found = alternatives(&hall, is_free, &[150, 4_800], 3);
    assert_eq!(found.len(), 3);
    assert!(found.iter().flatten().all(|seat| *seat < 400), "{found:?}");
    assert!(n_looks.get() < 4_000, "looked {} times at 5,000 seats", n_looks.get());
}

/// Brute force over every choice, as an independent check.
fn exists(hall: &Hall, free: &[bool], count: usize) -> bool {
    hall.blocks.iter().any(|block| {
        let seats: Vec<usize> = block.clone().map(|seat| seat as usize).collect();
        seats.windows(count).any(|seats| {
            seats.iter().all(|seat| free[*seat])
                && seats.iter().all(|seat| hall.places[*seat].grade == hall.places[seats[0]].grade)
        })
    })
}

proptest! {
    #[test]
    fn what_is_chosen_is_free_together_and_of_one_grade(
        free in proptest::collection::vec(any::<bool>(), 40),
        count in 1_usize..=4,
        strict in any::<bool>(),
        across_rows in any::<bool>(),
    ) {
        let hall = grid(&["A", "B", "C", "D"], 10);
        let orphans = if strict { Orphans::Strict } else { Orphans::Lenient };
        let wish = SeatRequest { orphans, across_rows, ..wish(count) };
        let found = best_seats(&hall, |seat| free[seat as usize], &wish);
        if let Some(seats) = &found {
            prop_assert_eq!(seats.len(), count);
            prop_assert_eq!(seats.iter().collect::<BTreeSet<_>>().len(), count);
            prop_assert!(seats.iter().all(|seat| free[*seat as usize]));
            let grade = |seat: &SeatIndex| hall.places[*seat as usize].grade;
            prop_assert!(seats.iter().all(|seat| grade(seat) == grade(&seats[0])));
            let is_row = seats.windows(2).all(|pair| pair[0] + 1 == pair[1])
                && seats[0] / 10 == seats[count - 1] / 10;
            prop_assert!(is_row || across_rows);
            if strict && is_row {
                let block = &hall.blocks[seats[0] as usize / 10];
                let search = Search { hall: &hall, is_free: &|s| free[s as usize], focus: (0, 0) };
                prop_assert_eq!(search.orphans(block, &(seats[0]..seats[0] + count as u32)), 0);
            }
        }
        if !strict {
            let is_possible = exists(&hall, &free, count);
            prop_assert!(found.is_some() || !is_possible);
            prop_assert!(is_possible || across_rows || found.is_none());
        }
    }

    #[test]
    fn a_single_seat_has_the_fewest_orphans_then_the_least_distance(
        free in proptest::collection::vec(any::<bool>(), 30),
    ) {
        let hall = grid(&["B", "C", "D"], 10);
        let found = best_seats(&hall, |seat| free[seat as usize], &wish(1));
        let lone = |seat: SeatIndex| {
            let search = Search { hall: &hall, is_free: &|s| free[s as usize], focus: hall.focus };
            let block = &hall.blocks[seat as usize / 10];
            (search.orphans(block, &(seat..seat + 1)), search.distance(search.place(seat)))
        };
        if let Some(seats) = found {
            let (orphans, distance) = lone(seats[0]);
            for seat in (0..30).filter(|seat| free[*seat as usize]) {
                let (others, further) = lone(seat);
                prop_assert!((orphans, distance) <= (others, further));
            }
        }
    }
}
