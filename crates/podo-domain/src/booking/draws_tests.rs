//! Who wins a draw, and which terms it may have.

use super::*;
use crate::catalog::phases::{Inventory, PhaseTerms, SeatRanges};
use crate::catalog::{PlannedSeat, SaleWindow};
use crate::id::ScheduleId;
use crate::waiting_room::draw::permutation;
use proptest::prelude::*;
use uuid::Uuid;

const fn of(grade: u16, n_seats: u8) -> Application {
    Application { grade, n_seats, is_withdrawn: false }
}

#[test]
fn seats_go_by_place_and_not_by_arrival() {
    // Index 2 has the first place, index 0 the second, index 1 the third.
    let ranks = [1, 2, 0];
    let wins = winners(&ranks, &[of(0, 2), of(0, 2), of(0, 1)], &[3]);
    assert_eq!(wins, [true, false, true]);
}

#[test]
fn each_grade_has_its_own_quantity() {
    let applications = [of(0, 1), of(1, 1), of(0, 1), of(1, 1)];
    assert_eq!(winners(&[0, 1, 2, 3], &applications, &[1, 2]), [true, true, false, true]);
}

/// The one who wants two is first in line for the last seat: if an offer lapses, they get it.
#[test]
fn a_smaller_application_does_not_jump_the_line() {
    assert_eq!(winners(&[0, 1, 2], &[of(0, 2), of(0, 2), of(0, 1)], &[3]), [true, false, false]);
}

#[test]
fn a_withdrawn_application_is_skipped() {
    let withdrawn = Application { is_withdrawn: true, ..of(0, 4) };
    assert_eq!(winners(&[0, 1], &[withdrawn, of(0, 1)], &[1]), [false, true]);
}

fn some_applications() -> impl Strategy<Value = Vec<Application>> {
    let one = (0_u16..3, 1_u8..=4, proptest::bool::weighted(0.2));
    let application =
        one.prop_map(|(grade, n_seats, is_withdrawn)| Application { grade, n_seats, is_withdrawn });
    proptest::collection::vec(application, 0..200)
}

proptest! {
    #[test]
    fn quantities_are_never_exceeded_and_the_order_is_kept(
        seed: [u8; 32],
        applications in some_applications(),
        quantities: [u8; 3],
    ) {
        let n = u32::try_from(applications.len()).unwrap();
        let ranks = permutation(&seed, n);
        let quantities = quantities.map(u32::from);
        let wins = winners(&ranks, &applications, &quantities);
        prop_assert_eq!(&wins, &winners(&ranks, &applications, &quantities), "deterministic");
        for grade in 0..3_u16 {
            let of_grade = |index: &usize| {
                applications[*index].grade == grade && !applications[*index].is_withdrawn
            };
            let mut order: Vec<usize> = (0..applications.len()).filter(of_grade).collect();
            order.sort_by_key(|index| ranks[*index]);
            let n_won = order.iter().take_while(|index| wins[**index]).count();
            prop_assert!(order.iter().skip(n_won).all(|index| !wins[*index]), "a line without gaps");
            let seats = |index: &usize| u32::from(applications[*index].n_seats);
            let taken: u32 = order.iter().take(n_won).map(seats).sum();
            let quantity = quantities[usize::from(grade)];
            prop_assert!(taken <= quantity);
            prop_assert!(order.get(n_won).is_none_or(|next| quantity < taken + seats(next)), "full");
        }
        prop_assert!(wins.iter().zip(&applications).all(|(wins, it)| !wins || !it.is_withdrawn));
    }
}

#[test]
fn a_list_with_one_changed_line_has_another_hash() {
    let hash = |lines: &[Option<(&str, u32)>]| {
        let mut hash = ListHash::default();
        (0..).zip(lines).for_each(|(index, line)| hash.add(index, *line));
        hash.finish()
    };
    let list = hash(&[Some(("VIP", 2)), None]);
    assert_ne!(list, hash(&[Some(("VIP", 1)), None]));
    assert_ne!(list, hash(&[Some(("VIP", 2))]));
    // As `printf '0,VIP,2\n1,,\n' | sha256sum` says.
    let hex: String = list.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, EXPECTED_LIST_HASH);
}

const EXPECTED_LIST_HASH: &str = "f8f805085a47b445e75923fb117b4c21a381126c74f89778c6489b5c7d40d45b";

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn seat(grade: &str) -> PlannedSeat {
    PlannedSeat {
        number: String::new(),
        section: None,
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

/// Two VIP seats and three R seats, one of which the phase doesn't sell.
fn plan() -> SeatPlan {
    let seats = ["VIP", "VIP", "R", "R", "R"].map(seat).to_vec();
    SeatPlan { seats, zones: BTreeMap::new(), stage: None, focus: None }
}

fn phase() -> Phase {
    Phase {
        id: ScheduleId::with_room_for_seats(Uuid::from_u128(9 << 64)).phase(1),
        terms: PhaseTerms {
            name: "추첨".to_owned(),
            name_en: "Draw".to_owned(),
            window: SaleWindow { starts_at: at(100), ends_at: at(900) },
            audience: PhaseAudience::Drawn,
            seats_per_person: 3,
            seats_per_order: None,
            inventory: Inventory::default(),
        },
        seats: Some(SeatRanges::of(0..4)),
        draw_seed: [1; 32],
    }
}

fn terms() -> DrawTerms {
    DrawTerms {
        apply_from: at(10),
        apply_until: at(90),
        seats_max: 2,
        offer_minutes: 60,
        quantities: BTreeMap::from([("VIP".to_owned(), 2), ("R".to_owned(), 1)]),
    }
}

fn check(phase: &Phase, terms: &DrawTerms) -> Result<(), Refusal> {
    terms.check(&DrawnPhase { phase, seats_per_order: 4, plan: &plan() })
}

#[test]
fn wrong_terms_name_their_field() {
    let with = |change: &dyn Fn(&mut DrawTerms)| {
        let mut changed = terms();
        change(&mut changed);
        check(&phase(), &changed)
    };
    assert_eq!(check(&phase(), &terms()), Ok(()));
    assert_eq!(with(&|it| it.apply_until = at(100)), Ok(()), "the draw and the sale may touch");
    let more = |grade: &str, n: u32| BTreeMap::from([(grade.to_owned(), n)]);
    assert_eq!(with(&|it| it.apply_until = at(10)), Err(invalid("applyUntil")));
    assert_eq!(with(&|it| it.apply_until = at(101)), Err(invalid("applyUntil")));
    assert_eq!(with(&|it| it.seats_max = 0), Err(invalid("seatsMax")));
    assert_eq!(with(&|it| it.seats_max = 4), Err(invalid("seatsMax")), "more than a person");
    assert_eq!(with(&|it| it.offer_minutes = 9), Err(invalid("offerMinutes")));
    assert_eq!(with(&|it| it.quantities.clear()), Err(invalid("quantities")));
    assert_eq!(with(&|it| it.quantities = more("VIP", 0)), Err(invalid("quantities.VIP")));
    assert_eq!(with(&|it| it.quantities = more("R", 3)), Err(invalid("quantities.R")));
    assert_eq!(with(&|it| it.quantities = more("S", 1)), Err(invalid("quantities.S")));
    let mut other = phase();
    other.terms.audience = PhaseAudience::Members;
    assert_eq!(check(&other, &terms()), Err(invalid("audience")));
    other = phase();
    other.terms.seats_per_order = Some(1);
    assert_eq!(check(&other, &terms()), Err(invalid("seatsMax")), "more than an order");
}

#[test]
fn from_the_first_moment_of_the_window_terms_only_grow() {
    let change = |now: i64, is_closed: bool, change: &dyn Fn(&mut DrawTerms)| {
        let mut next = terms();
        change(&mut next);
        terms().check_change(&next, is_closed, at(now))
    };
    let more = |it: &mut DrawTerms| *it.quantities.get_mut("R").unwrap() = 2;
    let less = |it: &mut DrawTerms| *it.quantities.get_mut("VIP").unwrap() = 1;
    assert_eq!(change(9, false, &less), Ok(()));
    assert_eq!(change(10, false, &less), Err(Refusal::DrawBegun));
    assert_eq!(change(10, false, &more), Ok(()));
    assert_eq!(change(95, true, &more), Err(Refusal::DrawBegun), "the draw is over");
    assert_eq!(change(20, false, &|it| it.apply_until = at(95)), Ok(()));
    assert_eq!(change(20, false, &|it| it.apply_until = at(80)), Err(Refusal::DrawBegun));
    assert_eq!(change(90, false, &|it| it.apply_until = at(95)), Err(Refusal::DrawBegun));
    assert_eq!(change(20, false, &|it| it.seats_max = 1), Err(Refusal::DrawBegun));
    let without_r = |it: &mut DrawTerms| it.quantities.retain(|grade, _| grade != "R");
    assert_eq!(change(20, false, &without_r), Err(Refusal::DrawBegun));
}

#[test]
fn a_phase_keeps_what_fans_applied_for() {
    let plan = plan();
    let becomes = |now: i64, change: &dyn Fn(&mut Phase)| {
        let mut next = phase();
        change(&mut next);
        let next = DrawnPhase { phase: &next, seats_per_order: 4, plan: &plan };
        terms().check_phase(&phase(), &next, at(now))
    };
    assert_eq!(becomes(50, &|it| it.terms.name = "Other".to_owned()), Ok(()));
    assert_eq!(
        becomes(50, &|it| it.terms.window.starts_at = at(89)),
        Err(invalid("applyUntil")),
        "the sale would begin before the draw"
    );
    let everybody = |it: &mut Phase| it.terms.audience = PhaseAudience::Everybody;
    assert_eq!(becomes(50, &everybody), Err(Refusal::DrawBegun));
    assert_eq!(becomes(5, &everybody), Err(invalid("audience")));
}

#[test]
fn fans_apply_within_the_window() {
    let check = |now: i64, is_closed: bool| terms().check_window(is_closed, at(now));
    assert_eq!(check(9, false), Err(Refusal::DrawNotOpen { opens_at: at(10) }));
    assert_eq!((check(10, false), check(89, false)), (Ok(()), Ok(())));
    assert_eq!(check(90, false), Err(Refusal::DrawClosed));
    assert_eq!(check(89, true), Err(Refusal::DrawClosed));
    assert_eq!(terms().check_application("VIP", 2), Ok(()));
    assert_eq!(terms().check_application("VIP", 0), Err(Refusal::NoSeats));
    assert_eq!(terms().check_application("VIP", 3), Err(Refusal::TooManySeats { max: 2 }));
    assert_eq!(terms().check_application("S", 1), Err(Refusal::UnknownGrade));
}

#[test]
fn an_offer_ends_with_its_phase_and_leaves_time_to_pay() {
    let minutes = |n: i64| at(n * 60_000);
    assert_eq!(offer_until(30, minutes(100), minutes(10)), Some(minutes(40)));
    assert_eq!(offer_until(30, minutes(100), minutes(80)), Some(minutes(100)));
    assert_eq!(offer_until(30, minutes(100), minutes(90)), Some(minutes(100)));
    assert_eq!(offer_until(30, minutes(100), minutes(91)), None);
}

#[test]
fn states_are_spelled_alike_and_an_offer_is_declined_by_its_seats() {
    use ApplicationState::{Applied, Drawn, Offered, Passed, Taken, Withdrawn};
    for state in ApplicationState::ALL {
        assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        assert_eq!(ApplicationState::parse(state.as_str()), Some(state));
    }
    assert_eq!((Applied.give_up(), Drawn.give_up()), (Ok(Withdrawn), Ok(Passed)));
    assert_eq!(Offered.give_up(), Err(Refusal::DrawOffered));
    assert_eq!(Taken.give_up(), Err(Refusal::NotFound));
}
