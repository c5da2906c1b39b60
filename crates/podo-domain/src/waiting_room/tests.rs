use crate::waiting_room::*;
use proptest::prelude::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn in_mode(mode: QueueMode) -> QueueSettings {
    QueueSettings { mode, ..QueueSettings::default() }
}

#[test]
fn fans_are_let_in_up_to_the_smallest_limit() {
    let check = |mode, inside, waiting, budget, expected| {
        let settings = QueueSettings { max_active: 10, ..in_mode(mode) };
        let n = fans_to_admit(&settings, inside, waiting, budget);
        assert_eq!(n, expected, "{mode:?} {inside} {waiting} {budget}");
    };
    check(QueueMode::Auto, 0, 100, 100, 10);
    check(QueueMode::Auto, 7, 100, 100, 3);
    check(QueueMode::Auto, 0, 100, 4, 4);
    check(QueueMode::Auto, 0, 2, 100, 2);
    check(QueueMode::Auto, 10, 100, 100, 0);
    check(QueueMode::Auto, 12, 100, 100, 0);
    check(QueueMode::Auto, 0, 0, 100, 0);
    check(QueueMode::Auto, 0, 100, 0, 0);
    check(QueueMode::Draining, 7, 100, 100, 3);
    check(QueueMode::Paused, 0, 100, 100, 0);
    check(QueueMode::Closed, 0, 100, 100, 0);
}

#[test]
fn the_budget_saves_up_one_second_and_no_more() {
    let mut budget = AdmitBudget::full(10, at(0));
    assert_eq!(budget.fans(10, at(60_000)), 10);
    budget.spend(10);
    assert_eq!(budget.fans(10, at(60_000)), 0);
    assert_eq!(budget.fans(10, at(60_099)), 0);
    assert_eq!(budget.fans(10, at(60_100)), 1);
}

#[test]
fn the_budget_forgets_no_fraction_of_a_fan() {
    let mut budget = AdmitBudget::full(3, at(0));
    let mut n_admitted = 0;
    for ms in 0..=10_000 {
        let n = budget.fans(3, at(ms));
        budget.spend(n);
        n_admitted += n;
    }
    assert_eq!(n_admitted, 3 + 30);
}

#[test]
fn a_clock_that_jumps_neither_floods_nor_shuts_the_door() {
    let mut budget = AdmitBudget::full(10, at(10_000));
    budget.spend(10);
    for _ in 0..1_000 {
        budget.fans(10, at(10_000));
        budget.fans(10, at(9_999));
    }
    assert_eq!(budget.fans(10, at(10_000)), 0, "requests that overtake each other add nothing");
    assert_eq!(budget.fans(10, at(0)), 0);
    assert_eq!(budget.fans(10, at(1_000)), 10, "a clock that was set back goes on from there");
}

#[test]
fn far_back_fans_ask_less_often() {
    let middle = |ahead| poll_after_ms(ahead, 100, u64::from(2_000_u32 / 5));
    assert_eq!(middle(0), 2_000);
    assert_eq!(
        (poll_after_ms(20_000, 100, 0), poll_after_ms(20_000, 100, 6_000)),
        (12_000, 18_000)
    );
    assert_eq!(poll_after_ms(20_001, 100_000, 0), 12_000, "the line moves fast");
    assert_eq!(poll_after_ms(60_000, 500, 0), 24_000, "a quarter of two minutes, less a fifth");
    assert_eq!(poll_after_ms(u64::MAX, 1, u64::from(2 * 45_000_u32 / 5)), 54_000);
}

#[test]
fn a_lobby_comes_back_at_the_opening_and_a_crowd_spreads() {
    let ms = Duration::from_millis;
    assert_eq!(lobby_poll_after_ms(10, 100, ms(600_000), 0), 12_000);
    assert_eq!(lobby_poll_after_ms(10, 100, ms(3_000), 700), 3_700);
    assert_eq!(lobby_poll_after_ms(10, 100, ms(0), 0), 500);
    assert_eq!(lobby_poll_after_ms(1_000_000, 500, ms(0), 19_999), 19_999);
    assert_eq!(lobby_poll_after_ms(1_000_000, 500, ms(0), 20_000), 500);
}

#[test]
fn a_wait_estimate_is_a_range_in_round_numbers() {
    let check = |ahead, rate, expected: Option<(u32, u32, u32)>| {
        let told = estimate_wait(ahead, rate).map(|wait| (wait.low, wait.seconds, wait.high));
        assert_eq!(told, expected, "{ahead} ahead at {rate}");
    };
    check(0, 100.0, Some((0, 5, 5)));
    check(999, 100.0, Some((5, 10, 15)));
    check(9_999, 100.0, Some((60, 120, 150)));
    check(99_999, 100.0, Some((720, 1_020, 1_500)));
    check(10, 0.0, None);
    check(10, f64::NAN, None);
    check(10, -1.0, None);
    check(10, f64::INFINITY, None);
}

#[test]
fn a_draining_or_closed_queue_refuses_new_fans() {
    assert_eq!(may_enter(&in_mode(QueueMode::Auto)), Ok(()));
    assert_eq!(may_enter(&in_mode(QueueMode::Paused)), Ok(()));
    assert_eq!(may_enter(&in_mode(QueueMode::Draining)), Err(Refusal::QueueClosed));
    assert_eq!(may_enter(&in_mode(QueueMode::Closed)), Err(Refusal::QueueClosed));
}

#[test]
fn an_entry_ends_at_its_last_moment_not_after() {
    let entry = Entry::starting(1, &QueueSettings::default(), at(0));
    assert!(entry.is_live(at(599_999)));
    assert!(!entry.is_live(at(600_000)));
}

#[test]
fn an_entry_is_extended_twice_and_only_while_it_lives() {
    let settings = QueueSettings::default();
    let entry = Entry::starting(1, &settings, at(0));
    let once = entry.extended(&settings, at(1)).unwrap();
    let twice = once.extended(&settings, at(1)).unwrap();
    assert_eq!((once.expires_at, once.extensions_left), (at(1_200_000), 1));
    assert_eq!((twice.expires_at, twice.extensions_left), (at(1_800_000), 0));
    assert_eq!(twice.extended(&settings, at(1)), Err(Refusal::NoExtensionsLeft));
    assert_eq!(entry.extended(&settings, at(600_000)), Err(Refusal::EntryExpired));
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let check = |change: fn(&mut QueueSettings), expected: Option<&str>| {
        let mut settings = QueueSettings::default();
        change(&mut settings);
        let field = match settings.check() {
            Ok(()) => None,
            Err(Refusal::Invalid { field, .. }) => Some(field),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(field, expected);
    };
    check(|_| (), None);
    check(|settings| settings.max_active = 0, Some("maxActive"));
    check(|settings| settings.max_active = 1_000_001, Some("maxActive"));
    check(|settings| settings.admit_per_second = 0, Some("admitPerSecond"));
    check(|settings| settings.admit_per_second = 100_001, Some("admitPerSecond"));
    check(|settings| settings.entry_ttl_seconds = 0, Some("entryTtlSeconds"));
    check(|settings| settings.entry_ttl_seconds = 3_601, Some("entryTtlSeconds"));
    check(|settings| settings.message = Some("포".repeat(500)), None);
    check(|settings| settings.message = Some("포".repeat(501)), Some("message"));
}

proptest! {
    #[test]
    fn admission_stays_within_every_limit(
        max_active in 1_u32..2_000, inside in 0_u32..2_000, waiting in 0_u64..5_000, budget: u32,
    ) {
        let settings = QueueSettings { max_active, ..QueueSettings::default() };
        let n = fans_to_admit(&settings, inside, waiting, budget);
        prop_assert!(n <= budget && u64::from(n) <= waiting);
        prop_assert!(n == 0 || inside + n <= max_active);
        let more = u64::from(n) < waiting && n < budget && inside + n < max_active;
        prop_assert!(!more, "a free slot stays empty");
    }

    #[test]
    fn the_budget_never_passes_its_rate(
        rate in 1_u32..500, steps in prop::collection::vec(0_i64..3_000, 1..60),
    ) {
        let mut budget = AdmitBudget::full(rate, at(0));
        let (mut now, mut n_admitted) = (0, 0_u64);
        for step in steps {
            now += step;
            let n = budget.fans(rate, at(now));
            budget.spend(n);
            n_admitted += u64::from(n);
            let n_max = u64::from(rate) * (1_000 + now as u64) / 1_000;
            prop_assert!(n_admitted <= n_max);
        }
    }

    #[test]
    fn the_next_question_comes_in_time(ahead: u64, rate in 1_u32..100_000, random: u64) {
        let ms = poll_after_ms(ahead, rate, random);
        prop_assert!((1_600..=54_000).contains(&ms));
        prop_assert!(u128::from(ms) < CLAIM_WINDOW.as_millis());
        let within_return_window = u128::from(ms) < RETURN_WINDOW.as_millis();
        let admitted_meanwhile = u64::from(ms) * u64::from(rate) / 1_000;
        prop_assert!(within_return_window || admitted_meanwhile < ahead / 2);
    }

    #[test]
    fn a_range_holds_its_estimate(ahead in 0_u64..2_000_000, rate in 0.001_f64..10_000.0) {
        let wait = estimate_wait(ahead, rate).expect("the outflow is known");
        prop_assert!(wait.low <= wait.seconds && wait.seconds <= wait.high);
    }
}

#[test]
fn the_outlook_goes_by_the_seats_for_those_up_to_the_fan() {
    assert_eq!(outlook(0, 0, 0), Outlook::None);
    assert_eq!(outlook(0, 0, 3), Outlook::Slim, "a hold may end");
    assert_eq!(outlook(99, 200, 0), Outlook::Good);
    assert_eq!(outlook(99, 199, 0), Outlook::Fair);
    assert_eq!(outlook(99, 99, 0), Outlook::Slim);
    assert_eq!(outlook(u64::MAX, u32::MAX, 0), Outlook::Slim);
}

#[test]
fn a_stream_rests_longer_far_back() {
    for random in [0, 1, 7_919, u64::MAX] {
        assert!((400..=600).contains(&tell_after_ms(0, random)));
        assert!((4_000..=6_000).contains(&tell_after_ms(u64::MAX, random)));
    }
}
