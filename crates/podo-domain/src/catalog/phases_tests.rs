//! Phases as organisers change them, and the one that runs at a moment.

use super::*;
use crate::catalog::PlannedSeat;
use std::collections::BTreeMap;
use uuid::Uuid;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn schedule() -> ScheduleId {
    ScheduleId::with_room_for_seats(Uuid::from_u128(9 << 64))
}

fn seat(section: &str, grade: &str) -> PlannedSeat {
    PlannedSeat {
        number: String::new(),
        section: Some(section.to_owned()),
        row: String::new(),
        grade: grade.to_owned(),
        x: 0,
        y: 0,
        accessible: false,
        companion: false,
        restricted_view: false,
        standing: false,
    }
}

/// Sections 1 (VIP, R) and 2 (R, R).
fn plan() -> SeatPlan {
    let seats = [("1", "VIP"), ("1", "R"), ("2", "R"), ("2", "R")];
    let seats = seats.map(|(section, grade)| seat(section, grade)).to_vec();
    SeatPlan { seats, zones: BTreeMap::new(), stage: None, focus: None }
}

fn terms(starts: i64, ends: i64) -> PhaseTerms {
    PhaseTerms {
        name: "선예매".to_owned(),
        name_en: "Presale".to_owned(),
        window: SaleWindow { starts_at: at(starts), ends_at: at(ends) },
        audience: PhaseAudience::Members,
        seats_per_person: 2,
        seats_per_order: None,
        inventory: Inventory::default(),
    }
}

fn ask(terms: PhaseTerms) -> PhaseInput {
    PhaseInput { id: None, terms }
}

fn change(before: &[Phase], asked: Vec<PhaseInput>, now: i64) -> Result<Vec<Phase>, Refusal> {
    let plan = plan();
    let last_number = before.iter().map(|phase| phase.id.number()).max().unwrap_or(0);
    let sale = SaleWindow { starts_at: at(100), ends_at: at(900) };
    let date = PhasedDate {
        schedule: schedule(),
        sale,
        seats_per_person: 4,
        seats_per_order: 4,
        plan: &plan,
        last_number,
    };
    change_phases(&date, before, asked, at(now), || [7; 32])
}

fn two() -> Vec<Phase> {
    change(&[], vec![ask(terms(300, 900)), ask(terms(100, 200))], 0).unwrap()
}

fn same(phases: &[Phase]) -> Vec<PhaseInput> {
    phases
        .iter()
        .map(|phase| PhaseInput { id: Some(phase.id), terms: phase.terms.clone() })
        .collect()
}

fn names(grades: &[&str]) -> Option<BTreeSet<String>> {
    Some(grades.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn phases_are_ordered_by_their_windows_and_numbered_for_ever() {
    let phases = two();
    assert_eq!(phases.iter().map(|phase| phase.id.number()).collect::<Vec<_>>(), [2, 1]);
    let removed = change(&phases, same(&phases[..1]), 0).unwrap();
    let plan = plan();
    let sale = SaleWindow { starts_at: at(100), ends_at: at(900) };
    let date = PhasedDate {
        schedule: schedule(),
        sale,
        seats_per_person: 4,
        seats_per_order: 4,
        plan: &plan,
        last_number: 2,
    };
    let asked = [same(&removed), vec![ask(terms(300, 400))]].concat();
    let again = change_phases(&date, &removed, asked, at(0), || [8; 32]).unwrap();
    assert_eq!(again[1].id.number(), 3, "the number of a removed phase isn't used again");
}

#[test]
fn bad_phases_are_refused_by_field() {
    let refused =
        |asked: Vec<PhaseTerms>| change(&[], asked.into_iter().map(ask).collect(), 0).unwrap_err();
    let field = |name: &str| name.to_owned();
    let invalid = |name: &str| Refusal::InvalidPhase { field: field(name) };
    let outside = |name: &str| Refusal::PhaseOutsideSale { field: field(name) };
    assert_eq!(refused(vec![terms(99, 200)]), outside("phases[0].startsAt"));
    assert_eq!(refused(vec![terms(100, 901)]), outside("phases[0].endsAt"));
    assert_eq!(refused(vec![terms(200, 200)]), invalid("phases[0].endsAt"));
    let overlap = Refusal::PhasesOverlap { field: field("phases[0].startsAt") };
    assert_eq!(refused(vec![terms(199, 300), terms(100, 200)]), overlap);
    let greedy = PhaseTerms { seats_per_person: 5, ..terms(100, 200) };
    assert_eq!(refused(vec![greedy]), invalid("phases[0].seatsPerPerson"));
    for size in [0, 11] {
        let order = PhaseTerms { seats_per_order: Some(size), ..terms(100, 200) };
        assert_eq!(refused(vec![order]), invalid("phases[0].seatsPerOrder"));
    }
    for (inventory, name) in [
        (Inventory { grades: names(&[]), sections: None }, "phases[0].grades"),
        (Inventory { grades: names(&["X"]), sections: None }, "phases[0].grades"),
        (Inventory { grades: None, sections: names(&["9"]) }, "phases[0].sections"),
        (Inventory { grades: names(&["VIP"]), sections: names(&["2"]) }, "phases[0].sections"),
    ] {
        assert_eq!(refused(vec![PhaseTerms { inventory, ..terms(100, 200) }]), invalid(name));
    }
    let many = (0..21).map(|nr| terms(100 + nr, 101 + nr)).collect();
    assert_eq!(refused(many), invalid("phases"));
    let stranger = PhaseInput { id: Some(schedule().phase(9)), terms: terms(100, 200) };
    assert_eq!(change(&[], vec![stranger], 0), Err(invalid("phases[0].id")));
    let twice = [same(&two()[..1]), same(&two()[..1])].concat();
    assert_eq!(change(&two(), twice, 0), Err(invalid("phases[1].id")));
}

#[test]
fn phases_may_touch() {
    assert!(change(&[], vec![ask(terms(100, 200)), ask(terms(200, 300))], 0).is_ok());
}

#[test]
fn a_phase_sells_the_seats_that_both_lists_name() {
    let sold = |inventory: Inventory| {
        let asked = vec![ask(PhaseTerms { inventory, ..terms(100, 200) })];
        let phase = change(&[], asked, 0).unwrap().remove(0);
        (0..4).filter(|seat| phase.sells(*seat)).collect::<Vec<_>>()
    };
    assert_eq!(sold(Inventory::default()), [0, 1, 2, 3]);
    assert_eq!(sold(Inventory { grades: names(&["R"]), sections: None }), [1, 2, 3]);
    assert_eq!(sold(Inventory { grades: None, sections: names(&["1"]) }), [0, 1]);
    assert_eq!(sold(Inventory { grades: names(&["R"]), sections: names(&["1"]) }), [1]);
}

#[test]
fn ranges_contain_what_they_were_made_of() {
    let ranges = SeatRanges::of([0, 1, 2, 5, 9, 10]);
    let inside: Vec<SeatIndex> = (0..12).filter(|seat| ranges.contains(*seat)).collect();
    assert_eq!(inside, [0, 1, 2, 5, 9, 10]);
    assert!(!SeatRanges::default().contains(0));
}

#[test]
fn the_clock_decides_which_phase_runs() {
    let phases = two();
    let running = |now| phase_at(&phases, at(now)).running().map(|phase| phase.id.number());
    assert_eq!(running(99), Err(Refusal::SaleNotOpen { opens_at: at(100) }));
    assert_eq!(running(100), Ok(2));
    assert_eq!(running(200), Err(Refusal::SaleNotOpen { opens_at: at(300) }));
    assert_eq!(running(899), Ok(1));
    assert_eq!(running(900), Err(Refusal::SaleClosed));
}

#[test]
fn the_standby_list_gets_only_what_everybody_may_buy() {
    assert!(is_for_everybody(&[], 0, at(0)), "a date without phases");
    let inventory = Inventory { grades: names(&["R"]), sections: None };
    let open = PhaseTerms { audience: PhaseAudience::Everybody, inventory, ..terms(300, 900) };
    let phases = change(&[], vec![ask(terms(100, 200)), ask(open)], 0).unwrap();
    let seats = |now| (0..4).filter(|seat| is_for_everybody(&phases, *seat, at(now))).count();
    assert_eq!([50, 150, 250, 350, 950].map(seats), [0, 0, 0, 3, 0]);
}

#[test]
fn a_phase_that_has_begun_keeps_its_rules() {
    let phases = two();
    let check = |edit: fn(&mut PhaseTerms), is_allowed: bool| {
        let mut asked = same(&phases);
        edit(&mut asked[0].terms);
        assert_eq!(change(&phases, asked, 150).is_ok(), is_allowed);
    };
    check(|terms| terms.name = "팬클럽".to_owned(), true);
    check(|terms| terms.window.ends_at = at(250), true);
    check(|terms| terms.window.ends_at = at(150), true);
    check(|terms| terms.window.ends_at = at(149), false);
    check(|terms| terms.seats_per_person = 3, true);
    check(|terms| terms.seats_per_person = 1, false);
    check(|terms| terms.seats_per_order = Some(4), true);
    check(|terms| terms.seats_per_order = Some(5), true);
    check(|terms| terms.seats_per_order = Some(3), false);
    check(|terms| terms.audience = PhaseAudience::Everybody, false);
    check(|terms| terms.inventory.grades = names(&["R"]), false);
    check(|terms| terms.window.starts_at = at(101), false);
    assert_eq!(change(&phases, same(&phases[1..]), 150), Err(Refusal::PhaseBegun));
    assert!(change(&phases, same(&phases[..1]), 150).is_ok(), "the second has not begun");
}

#[test]
fn a_phase_that_is_over_stays_over() {
    let phases = two();
    let mut asked = same(&phases);
    asked[0].terms.window.ends_at = at(260);
    assert_eq!(change(&phases, asked, 250), Err(Refusal::PhaseBegun));
}

#[test]
fn an_open_sale_without_phases_is_not_divided_and_no_phase_begins_in_the_past() {
    assert_eq!(change(&[], vec![ask(terms(500, 600))], 150), Err(Refusal::PhaseBegun));
    let phases = two();
    let late = [same(&phases), vec![ask(terms(210, 220))]].concat();
    assert_eq!(change(&phases, late.clone(), 215), Err(Refusal::PhaseBegun));
    assert!(change(&phases, late, 205).is_ok());
}

#[test]
fn a_sale_keeps_its_phases_inside() {
    let sale = |from, to| SaleWindow { starts_at: at(from), ends_at: at(to) };
    assert_eq!(check_sale(&two(), sale(100, 900)), Ok(()));
    let outside = |name: &str| Err(Refusal::PhaseOutsideSale { field: name.to_owned() });
    assert_eq!(check_sale(&two(), sale(101, 900)), outside("saleStartsAt"));
    assert_eq!(check_sale(&two(), sale(100, 899)), outside("saleEndsAt"));
}
