use crate::catalog::*;
use crate::{Currency, Refusal, Timestamp, Won};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn plan(template: serde_json::Value) -> Result<SeatPlan, Refusal> {
    serde_json::from_value::<SeatTemplate>(template).unwrap().plan()
}

/// Checks that the template is refused at this place, with a problem that contains these words.
fn check_refused(template: serde_json::Value, expected_at: &str, words: &str) {
    match plan(template) {
        Err(Refusal::InvalidTemplate { at, problem }) => {
            assert_eq!(at, expected_at);
            assert!(problem.contains(words), "{problem}");
        }
        other => panic!("{other:?}"),
    }
}

fn grid(rows: &[&str], seats_per_row: u32) -> serde_json::Value {
    let grades: BTreeMap<&str, &str> = rows.iter().map(|row| (*row, "S")).collect();
    json!({"layoutType": "grid", "rows": rows, "seatsPerRow": seats_per_row,
           "gradeMapping": grades})
}

fn section(rows: serde_json::Value) -> serde_json::Value {
    json!({"layoutType": "sections", "sections": [{"name": "107", "grade": "R", "rows": rows}]})
}

#[test]
fn the_shape_of_a_section_comes_back_and_is_not_sold() {
    let numbering = json!({"firstRow": "A", "fromBack": false, "firstSeat": "1",
        "fromRight": true, "step": 2, "skipsIO": true});
    let shape = json!({"x": 100, "y": 50, "rotation": 90, "rows": 1, "seats": 3, "lastSeats": 3,
        "seatStep": 100, "rowStep": 100, "bend": 30, "numbering": numbering,
        "blocked": [[0, 1]]});
    let seats = json!([{"number": "5", "x": 0, "y": 0}, {"number": "1", "x": 200, "y": 0}]);
    let rows = json!([{"label": "A", "seats": seats}]);
    let drawn = json!({"layoutType": "sections",
        "sections": [{"name": "107", "grade": "R", "rows": rows, "shape": shape}]});
    let template: SeatTemplate = serde_json::from_value(drawn.clone()).unwrap();
    assert_eq!(serde_json::to_value(&template).unwrap(), drawn);
    let sold = template.clone().without_shapes();
    assert_eq!(serde_json::to_value(&sold).unwrap(), section(rows));
    assert_eq!(sold.plan(), template.plan());
}

#[test]
fn an_event_moves_only_along_its_life() {
    use EventStatus::{Cancelled, Ended, Open, Preparing};
    let wrong = || Err(Refusal::WrongEventState);
    let check = |from: EventStatus, open, end, cancel| {
        assert_eq!((from.open(), from.end(), from.cancel()), (open, end, cancel), "{from:?}");
    };
    check(Preparing, Ok(Open), wrong(), Ok(Cancelled));
    check(Open, Ok(Open), Ok(Ended), Ok(Cancelled));
    check(Ended, wrong(), Ok(Ended), wrong());
    check(Cancelled, wrong(), wrong(), Ok(Cancelled));
}

#[test]
fn a_status_is_spelled_alike_in_json_and_in_the_store() {
    for status in EventStatus::ALL {
        assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        assert_eq!(EventStatus::parse(status.as_str()), Some(status));
    }
    for status in ScheduleStatus::ALL {
        assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        assert_eq!(ScheduleStatus::parse(status.as_str()), Some(status));
    }
    assert_eq!(EventStatus::parse("open"), None);
}

#[test]
fn a_sale_runs_from_its_first_millisecond_to_just_before_its_end() {
    let sale = SaleWindow { starts_at: at(10), ends_at: at(20) };
    assert_eq!(sale.check(at(9)), Err(Refusal::SaleNotOpen { opens_at: at(10) }));
    assert_eq!(sale.check(at(10)), Ok(()));
    assert_eq!(sale.check(at(19)), Ok(()));
    assert_eq!(sale.check(at(20)), Err(Refusal::SaleClosed));
}

#[test]
fn times_that_make_no_sense_together_are_refused_by_name() {
    let check = |show: (i64, i64), sale: (i64, i64), expected: Option<&'static str>| {
        let times = ScheduleTimes {
            starts_at: at(show.0),
            ends_at: at(show.1),
            sale_starts_at: at(sale.0),
            sale_ends_at: at(sale.1),
        };
        let refusal = expected.map(|field| Refusal::InvalidSchedule { field });
        assert_eq!(times.check().err(), refusal);
    };
    check((100, 200), (10, 100), None);
    check((100, 200), (10, 200), None);
    check((100, 100), (10, 50), Some("endsAt"));
    check((100, 200), (50, 50), Some("saleEndsAt"));
    check((100, 200), (10, 201), Some("saleEndsAt"));
}

#[test]
fn the_status_follows_the_sale_and_the_show_status_the_show() {
    let times = ScheduleTimes {
        starts_at: at(100),
        ends_at: at(200),
        sale_starts_at: at(10),
        sale_ends_at: at(120),
    };
    assert_eq!(times.sale(), SaleWindow { starts_at: at(10), ends_at: at(120) });
    let check = |seconds, status, show| {
        for stored in [ScheduleStatus::Upcoming, ScheduleStatus::Ongoing, ScheduleStatus::Ended] {
            assert_eq!(stored.at(&times, at(seconds)), status);
        }
        assert_eq!(ScheduleStatus::Cancelled.at(&times, at(seconds)), ScheduleStatus::Cancelled);
        assert_eq!(times.show_at(at(seconds)), show);
    };
    check(9, ScheduleStatus::Upcoming, ShowStatus::NotStarted);
    check(10, ScheduleStatus::Ongoing, ShowStatus::NotStarted);
    check(100, ScheduleStatus::Ongoing, ShowStatus::Running);
    check(120, ScheduleStatus::Ended, ShowStatus::Running);
    check(200, ScheduleStatus::Ended, ShowStatus::Finished);
}

#[test]
fn a_grid_numbers_its_seats_row_by_row() {
    let plan = plan(json!({"layoutType": "grid", "rows": ["A", "B"], "seatsPerRow": 2,
                           "gradeMapping": {"A": "VIP", "B": "S"}}))
    .unwrap();
    let seats: Vec<_> = plan
        .seats
        .iter()
        .map(|seat| (seat.number.as_str(), seat.grade.as_str(), seat.x, seat.y))
        .collect();
    assert_eq!(
        seats,
        [("A-1", "VIP", 0, 0), ("A-2", "VIP", 10, 0), ("B-1", "S", 0, 10), ("B-2", "S", 10, 10)]
    );
}

#[test]
fn sections_keep_their_drawing_and_lend_their_grade() {
    let plan = plan(json!({"layoutType": "sections",
        "stage": {"x": -50, "y": -100, "width": 100, "height": 40},
        "sections": [{"name": "107", "grade": "R", "rows": [{"label": "5", "seats": [
            {"number": 7, "x": 3, "y": 4, "accessible": true},
            {"number": "8", "x": 13, "y": 4, "grade": "VIP", "companion": true,
             "restrictedView": true}]}]}]}))
    .unwrap();
    let [seven, eight] = &plan.seats[..] else { panic!("{plan:?}") };
    assert_eq!((seven.number.as_str(), seven.grade.as_str()), ("107-5-7", "R"));
    assert_eq!((seven.section.as_deref(), seven.row.as_str()), (Some("107"), "5"));
    assert!(seven.accessible && !seven.companion && !seven.restricted_view);
    assert_eq!((eight.number.as_str(), eight.grade.as_str(), eight.x), ("107-5-8", "VIP", 13));
    assert!(!eight.accessible && eight.companion && eight.restricted_view);
    assert_eq!(plan.stage, Some(Stage { x: -50, y: -100, width: 100, height: 40 }));
}

#[test]
fn a_grid_that_cannot_be_sold_is_refused_where_it_is_wrong() {
    check_refused(grid(&["A", "B", "A"], 2), "row A", "twice");
    check_refused(grid(&["A", " "], 2), "row   (number 2)", "blank");
    check_refused(grid(&["A", "B "], 2), "row B  (number 2)", "space");
    check_refused(grid(&[], 2), "seats", "none");
    check_refused(grid(&["A"], 0), "seats", "none");
    check_refused(grid(&["A"], 60_001), "seats", "60,000");
    check_refused(grid(&["A", "B"], u32::MAX), "seats", "60,000");
    check_refused(grid(&["ABCDEFGHIJKLMNOPQRST"], 1), "seat ABCDEFGHIJKLMNOPQRST-1", "longer");

    let mut no_grade = grid(&["A", "B"], 2);
    no_grade["gradeMapping"] = json!({"A": "S"});
    check_refused(no_grade, "row B", "no grade");
    let mut no_row = grid(&["A"], 2);
    no_row["gradeMapping"] = json!({"A": "S", "Z": "S"});
    check_refused(no_row, "gradeMapping Z", "no such row");
    let mut long_grade = grid(&["A"], 2);
    long_grade["gradeMapping"] = json!({"A": "x".repeat(21)});
    check_refused(long_grade, "grade of row A", "longer");
}

#[test]
fn sections_that_cannot_be_sold_are_refused_where_they_are_wrong() {
    let seat = |number: &str| json!({"number": number, "x": 0, "y": 0});
    let row = |label: &str, seats| json!({"label": label, "seats": seats});
    let twice = json!([row("5", json!([seat("7"), seat("7")]))]);
    check_refused(section(twice), "seat 107-5-7", "twice");
    let rows = json!([row("5", json!([seat("7")])), row("5", json!([seat("8")]))]);
    check_refused(section(rows), "section 107: row 5", "twice");
    let dashes = json!([row("5", json!([seat("7-1")])), row("5-7", json!([seat("1")]))]);
    check_refused(section(dashes), "seat 107-5-7-1", "twice");
    check_refused(section(json!([])), "seats", "none");
    let empty = json!([row("5", json!([seat("7")])), row("6", json!([]))]);
    check_refused(section(empty), "section 107: row 6", "no seats");
    check_refused(section(json!([row("5", json!([seat("")]))])), "seat 107-5-", "blank");

    let mut no_grade = section(json!([row("5", json!([seat("7")]))]));
    no_grade["sections"][0]["grade"] = json!(null);
    check_refused(no_grade, "seat 107-5-7", "grade");
}

#[test]
fn a_misspelled_field_is_not_swallowed() {
    let read = |value| serde_json::from_value::<SeatTemplate>(value).is_ok();
    let mut template = grid(&["A"], 2);
    assert!(read(template.clone()));
    template["seatPerRow"] = json!(3);
    assert!(!read(template));
    assert!(!read(json!({"layoutType": "circle"})));
}

#[test]
fn a_template_survives_being_stored() {
    for template in [grid(&["A"], 2), section(json!([{"label": "1", "seats": []}]))] {
        let read: SeatTemplate = serde_json::from_value(template).unwrap();
        let again = serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
        assert_eq!(read, again);
    }
}

#[test]
fn every_grade_has_one_price_and_no_seat_is_free() {
    let plan = plan(json!({"layoutType": "grid", "rows": ["A", "B"], "seatsPerRow": 1,
                           "gradeMapping": {"A": "VIP", "B": "S"}}))
    .unwrap();
    let price = |prices: &[(&str, i64)]| {
        let won = |(grade, amount): &(&str, i64)| ((*grade).to_owned(), Won::new(*amount).unwrap());
        price_seats(&plan, &prices.iter().map(won).collect(), Currency::Krw)
    };
    let check_refused = |prices: &[(&str, i64)], grade: &str| match price(prices) {
        Err(Refusal::InvalidTemplate { at, .. }) => assert_eq!(at, format!("price of {grade}")),
        other => panic!("{other:?}"),
    };
    let won = |amount| Won::new(amount).unwrap();
    assert_eq!(price(&[("VIP", 150_000), ("S", 1)]), Ok(vec![won(150_000), won(1)]));
    check_refused(&[("VIP", 150_000)], "S");
    check_refused(&[("VIP", 150_000), ("S", 0)], "S");
    check_refused(&[("VIP", 100_000_001), ("S", 1)], "VIP");
    check_refused(&[("VIP", 1), ("S", 1), ("A", 1)], "A");
}

proptest! {
    #[test]
    fn every_grid_has_all_its_seats_once(n_rows in 1_usize..30, seats_per_row in 1_u32..60) {
        let labels: Vec<String> = (1..=n_rows).map(|row| format!("R{row}")).collect();
        let rows: Vec<&str> = labels.iter().map(String::as_str).collect();
        let plan = plan(grid(&rows, seats_per_row)).unwrap();
        prop_assert_eq!(plan.seats.len(), n_rows * seats_per_row as usize);
        let numbers: std::collections::BTreeSet<_> =
            plan.seats.iter().map(|seat| &seat.number).collect();
        prop_assert_eq!(numbers.len(), plan.seats.len());
    }
}
