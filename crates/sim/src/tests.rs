//! The rules hold over many seeds, and the checker notices when one is taken away.

use super::*;

const SEEDS: u64 = 100;

#[test]
fn every_rule_holds_and_every_rare_moment_was_seen() {
    let mut sightings = Sightings::default();
    for seed in 0..SEEDS {
        match simulate(seed, Mutation::None) {
            Ok(run) => sightings.add(&run.sightings),
            Err(violation) => panic!("{violation}"),
        }
    }
    assert_eq!(sightings.missing(), Vec::new(), "never seen in {SEEDS} seeds");
}

#[test]
fn a_seed_replays_its_run_exactly() {
    let trace = |seed| simulate(seed, Mutation::None).unwrap().trace;
    assert_eq!(trace(3), trace(3));
    assert_ne!(trace(3), trace(4));
}

/// The first rule that is seen broken within the seeds, if any is.
fn first_broken(mutation: Mutation) -> Option<&'static str> {
    (0..SEEDS).find_map(|seed| simulate(seed, mutation).err()).map(|violation| violation.rule)
}

#[test]
fn a_sweeper_that_takes_seats_under_payment_is_caught() {
    assert_eq!(first_broken(Mutation::SweeperTakesPaying), Some("Q1"));
}

#[test]
fn taking_no_answer_for_a_no_is_caught() {
    let broken = first_broken(Mutation::TimeoutIsFailure);
    assert!(matches!(broken, Some("Q1" | "I11")), "{broken:?}");
}

#[test]
fn an_old_claim_left_behind_is_caught() {
    assert_eq!(first_broken(Mutation::TakeoverLeavesOldClaim), Some("I1"));
}

#[test]
fn accepting_any_amount_is_caught() {
    assert_eq!(first_broken(Mutation::AnyAmountWillDo), Some("I11"));
}

#[test]
fn asking_for_a_refund_under_a_new_name_is_caught() {
    assert_eq!(first_broken(Mutation::RefundUnderNewName), Some("I7"));
}

#[test]
fn money_that_should_go_back_and_does_not_is_caught() {
    assert_eq!(first_broken(Mutation::RefundForgotten), Some("I8"));
}

#[test]
fn seats_that_stay_behind_their_reservation_are_caught() {
    assert_eq!(first_broken(Mutation::ReleaseForgetsSeats), Some("I2"));
}

#[test]
fn two_payments_under_way_at_once_are_caught() {
    assert_eq!(first_broken(Mutation::TwoPaymentsAtOnce), Some("I9"));
}
