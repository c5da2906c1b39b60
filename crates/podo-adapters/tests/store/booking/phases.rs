//! Sale phases: who may hold what when, and how fans become eligible.

use crate::identity::support::{has, lines};
use crate::world::{Fan, Plan, SALE_S, World, at, broken, refusal};
use futures::future::join_all;
use podo_adapters::sql::Guard;
use podo_app::booking::port::reservations::{Held, HoldSeats, Reservations};
use podo_app::catalog::phases::port::{
    AddCodes, AddMembers, KeyHash, LineProblem, MemberWebhook, PhaseProof, Phases,
    SetMemberWebhook, SetPhases, StartImport, Verify,
};
use podo_app::catalog::port::{Catalog, ChangeSchedule, Remove, Unwanted};
use podo_app::identity::support::port::{SupportSubject, TimelineKind};
use podo_app::messaging::port::messages::Messages;
use podo_app::waiting_room::port::history::QueueHistory;
use podo_app::waiting_room::port::queue::Admission;
use podo_app::{Error, Result};
use podo_domain::catalog::phases::{Inventory, Phase, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::catalog::{SaleWindow, ScheduleChange};
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{ImportId, PhaseId, Refusal, Timestamp};
use std::collections::BTreeSet;

/// The first phase is over after ten minutes, the second begins five minutes later.
const FIRST_S: i64 = 600;
const SECOND_S: i64 = 900;

fn terms(from: i64, to: i64, audience: PhaseAudience) -> PhaseTerms {
    PhaseTerms {
        name: "선예매".to_owned(),
        name_en: "Presale".to_owned(),
        window: SaleWindow { starts_at: at(from), ends_at: at(to) },
        audience,
        seats_per_person: 2,
        seats_per_order: None,
        inventory: Inventory::default(),
    }
}

async fn set(world: &World, phases: Vec<PhaseInput>, now: Timestamp) -> Result<Vec<Phase>> {
    let (actor, schedule) = (world.admin, world.schedule);
    world.store.set_phases(SetPhases { actor, schedule, phases, now }).await
}

/// A presale for this audience, then a sale for everybody.
async fn two_phases(world: &World, audience: PhaseAudience) -> Vec<Phase> {
    let second = terms(SECOND_S, SALE_S, PhaseAudience::Everybody);
    let asked = [terms(0, FIRST_S, audience), second];
    let asked = asked.map(|terms| PhaseInput { id: None, terms }).to_vec();
    set(world, asked, at(-100)).await.unwrap()
}

fn hold_command(
    world: &World,
    fan: &Fan,
    phase: &Phase,
    seats: &[SeatIndex],
    now: Timestamp,
) -> HoldSeats {
    HoldSeats { room: phase.id.room(), ..world.hold_command(fan, seats, now) }
}

async fn hold(
    world: &World,
    fan: &Fan,
    (phase, seats): (&Phase, &[SeatIndex]),
    now: Timestamp,
) -> Result<Held> {
    let command = hold_command(world, fan, phase, seats, now);
    world.store.hold_seats(command).await.map(crate::world::fresh)
}

async fn add_codes(world: &World, phase: PhaseId, codes: &[KeyHash], uses_max: u32) -> u64 {
    let (actor, codes, now) = (world.admin, codes.to_vec(), at(-90));
    world.store.add_codes(AddCodes { actor, phase, codes, uses_max, now }).await.unwrap()
}

/// As the fan asks for it, before the opening.
async fn verify(world: &World, fan: &Fan, phase: PhaseId, proof: PhaseProof) -> Result<()> {
    world.store.verify(Verify { phase, user: fan.id, proof, is_asked: true, now: at(-50) }).await
}

async fn import(
    world: &World,
    phase: PhaseId,
    members: Vec<Vec<KeyHash>>,
) -> podo_app::catalog::phases::port::ImportView {
    let (actor, import, now) = (world.admin, ImportId::new(world.id()), at(-80));
    world.store.start_import(StartImport { actor, phase, import, now }).await.unwrap();
    let problem =
        LineProblem { line: 3, field: "email".to_owned(), problem: "not_an_email".to_owned() };
    let (problems, is_last) = (vec![problem], true);
    let command = AddMembers { phase, import, members, problems, is_last, now };
    world.store.add_members(command).await.unwrap()
}

#[tokio::test]
async fn a_hold_needs_an_entry_of_the_running_phase_and_eligibility() {
    let world = World::new().await;
    let phases = two_phases(&world, PhaseAudience::Code).await;
    let [first, second] = phases.as_slice() else { panic!("{phases:?}") };
    let (fan, stranger) = (world.fan().await, world.fan().await);
    add_codes(&world, first.id, &[[1; 32]], 1).await;
    verify(&world, &fan, first.id, PhaseProof::Code([1; 32])).await.unwrap();

    let not_open = Refusal::SaleNotOpen { opens_at: at(SECOND_S) };
    assert_eq!(refusal(hold(&world, &fan, (first, &[0]), at(FIRST_S)).await), not_open);
    let audience = PhaseAudience::Code;
    let not_eligible = Refusal::NotEligible { phase: first.id, audience };
    assert_eq!(refusal(hold(&world, &stranger, (first, &[0]), at(1)).await), not_eligible);
    assert_eq!(refusal(hold(&world, &fan, (second, &[0]), at(1)).await), Refusal::EntryRequired);
    let no_phase = world.hold(&fan, &[0], at(1)).await;
    assert_eq!(refusal(no_phase), Refusal::EntryRequired, "an entry of the date itself");

    hold(&world, &fan, (first, &[0]), at(1)).await.unwrap();
    let carried_over = hold(&world, &stranger, (first, &[1]), at(SECOND_S)).await;
    assert_eq!(refusal(carried_over), Refusal::EntryRequired, "an entry of the first phase");
    hold(&world, &stranger, (second, &[1]), at(SECOND_S)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn the_same_number_in_two_rooms_is_two_entries() {
    let world = World::new().await;
    let phases = two_phases(&world, PhaseAudience::Everybody).await;
    let (one, other) = (world.fan().await, world.fan().await);
    let other = Fan { entry: one.entry, ..other };
    hold(&world, &one, (&phases[0], &[0]), at(1)).await.unwrap();
    hold(&world, &other, (&phases[1], &[1]), at(SECOND_S)).await.unwrap();
    let admissions = vec![Admission { fan: other.id, entry: other.entry }];
    world.store.record_admissions(phases[0].id.room(), admissions, at(2)).await.unwrap();
    let in_room = world.store.live_entries(phases[0].id.room(), at(3)).await.unwrap();
    assert_eq!(in_room.iter().map(|it| it.fan).collect::<Vec<_>>(), [one.id]);
    world.finish().await;
}

#[tokio::test]
async fn a_purchase_ends_the_entry_in_its_own_room() {
    let world = World::new().await;
    let phases = two_phases(&world, PhaseAudience::Everybody).await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = hold(&world, &fan, (&phases[0], &[0]), at(1)).await.unwrap();
    let wallet = podo_domain::payments::PaymentMethod::Wallet;
    let ready = world.request(&fan, held.reservation_id, wallet, at(2)).await.unwrap();
    world.confirm(&fan, &ready, at(3)).await.unwrap();
    assert!(world.store.live_entries(phases[0].id.room(), at(4)).await.unwrap().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_phase_sells_only_its_inventory() {
    let world = World::new().await;
    let inventory =
        Inventory { grades: Some(BTreeSet::from(["R".to_owned()])), ..Inventory::default() };
    let everybody = PhaseAudience::Everybody;
    let asked =
        PhaseInput { id: None, terms: PhaseTerms { inventory, ..terms(0, 100, everybody) } };
    let phases = set(&world, vec![asked], at(-1)).await.unwrap();
    let fan = world.fan().await;
    // Row A is VIP.
    let refused = hold(&world, &fan, (&phases[0], &[9, 10]), at(1)).await;
    let seats = vec![world.schedule.seat(9)];
    assert_eq!(refusal(refused), Refusal::SeatNotInPhase { seats });
    hold(&world, &fan, (&phases[0], &[10, 11]), at(1)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn an_order_is_as_large_as_the_date_or_the_phase_permits() {
    let world = World::planned(Plan { seats_per_person: 20, ..Plan::default() }).await;
    let change = ScheduleChange { seats_per_order: Some(10), ..ScheduleChange::default() };
    let (actor, schedule) = (world.admin, world.schedule);
    let seats: Vec<SeatIndex> = (10..21).collect();
    let fan = world.fan().await;
    let too_many = |max: usize| Refusal::TooManySeats { max };
    assert_eq!(refusal(world.hold(&fan, &seats[..5], at(1)).await), too_many(4));
    let command = ChangeSchedule { actor, schedule, change, now: at(2) };
    world.store.change_schedule(command).await.unwrap();
    let held = world.hold(&fan, &seats[..10], at(3)).await.unwrap();
    assert_eq!(held.seats.len(), 10);
    world.finish().await;

    let world = World::planned(Plan { seats_per_person: 20, ..Plan::default() }).await;
    let terms = PhaseTerms {
        seats_per_person: 20,
        seats_per_order: Some(6),
        ..terms(0, SALE_S, PhaseAudience::Everybody)
    };
    let phases = set(&world, vec![PhaseInput { id: None, terms }], at(-1)).await.unwrap();
    let fan = world.fan().await;
    let refused = hold(&world, &fan, (&phases[0], &seats[..7]), at(1)).await;
    assert_eq!(refusal(refused), too_many(6));
    hold(&world, &fan, (&phases[0], &seats[..6]), at(1)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn a_date_whose_phases_were_removed_is_sold_as_before() {
    let world = World::new().await;
    let phases = two_phases(&world, PhaseAudience::Code).await;
    let removed = phases[0].clone();
    set(&world, Vec::new(), at(-50)).await.unwrap();
    let stale = hold(&world, &world.fan().await, (&removed, &[0]), at(1)).await;
    assert_eq!(refusal(stale), Refusal::EntryRequired, "an entry of a phase that is gone");
    world.hold(&world.fan().await, &[0], at(1)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn a_sale_keeps_its_phases_and_a_removed_date_takes_them_along() {
    let world = World::new().await;
    two_phases(&world, PhaseAudience::Code).await;
    let change = ScheduleChange { sale_starts_at: Some(at(1)), ..ScheduleChange::default() };
    let (actor, schedule) = (world.admin, world.schedule);
    let command = ChangeSchedule { actor, schedule, change, now: at(-10) };
    let outside = Refusal::PhaseOutsideSale { field: "saleStartsAt".to_owned() };
    assert_eq!(refusal(world.store.change_schedule(command).await), outside);
    let what = Unwanted::Schedule(schedule);
    world.store.remove(Remove { actor, what, now: at(-5) }).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn what_was_stored_is_read_back_with_the_date() {
    let world = World::new().await;
    let phases = two_phases(&world, PhaseAudience::Members).await;
    let record = world.store.schedule(world.schedule).await.unwrap().unwrap();
    assert_eq!(record.phases, phases);
    assert_eq!(record.room_at(at(1)), phases[0].id.room());
    assert_eq!(record.room_at(at(FIRST_S)), phases[1].id.room());
    let alive = world.store.schedules_alive(at(1)).await.unwrap();
    assert_eq!(alive[0].rooms().len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn a_member_verifies_one_account_and_lists_add_each_member_once() {
    let world = World::new().await;
    let phase = two_phases(&world, PhaseAudience::Members).await[0].id;
    // The second line names the first member again, the third is new.
    let members = vec![vec![[1; 32], [2; 32]], vec![[2; 32]], vec![[3; 32]]];
    let view = import(&world, phase, members.clone()).await;
    assert_eq!((view.lines, view.added, view.known, view.wrong), (4, 2, 1, 1));
    assert_eq!(view.problems.len(), 1);
    let again = import(&world, phase, members).await;
    assert_eq!((again.added, again.known), (0, 3));
    let (one, other) = (world.fan().await, world.fan().await);
    let unknown = verify(&world, &one, phase, PhaseProof::Member([9; 32])).await;
    assert_eq!(refusal(unknown), Refusal::MemberUnknown);
    verify(&world, &one, phase, PhaseProof::Member([1; 32])).await.unwrap();
    let taken = verify(&world, &other, phase, PhaseProof::Member([2; 32])).await;
    assert_eq!(refusal(taken), Refusal::MemberTaken, "the same member by another key");
    assert_eq!(world.store.eligible_phases(one.id, world.schedule).await.unwrap(), [phase]);
    let told = lines(&world, SupportSubject::Person(one.id)).await;
    assert!(has(&told, TimelineKind::Phase, "VERIFIED"), "{told:?}");
    let people = world.store.phase_people(world.schedule).await.unwrap();
    assert_eq!((people[0].n_members, people[0].n_eligible), (2, 1));
    assert_eq!(people[0].imports.len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn a_code_of_two_uses_serves_two_fans_and_a_repeated_request_costs_none() {
    let world = World::new().await;
    let phase = two_phases(&world, PhaseAudience::Code).await[0].id;
    assert_eq!(add_codes(&world, phase, &[[1; 32], [2; 32]], 2).await, 2);
    assert_eq!(add_codes(&world, phase, &[[2; 32], [3; 32]], 9).await, 1);
    let fans = world.fans(3).await;
    let code = PhaseProof::Code([1; 32]);
    for fan in [&fans[0], &fans[0], &fans[1]] {
        verify(&world, fan, phase, code).await.unwrap();
    }
    assert_eq!(refusal(verify(&world, &fans[2], phase, code).await), Refusal::PhaseCodeUsed);
    let due = world.store.due_messages(at(0), 1_000).await.unwrap();
    let told: Vec<_> =
        due.iter().filter(|message| message.kind == MessageKind::PhaseVerified).collect();
    assert_eq!(told.len(), 2, "one for each fan");
    assert!(told[0].payload.contains("Presale"), "{}", told[0].payload);
    let wrong = verify(&world, &fans[2], phase, PhaseProof::Code([8; 32])).await;
    assert_eq!(refusal(wrong), Refusal::PhaseCodeWrong);
    let unknown = world.schedule.phase(99);
    assert_eq!(refusal(verify(&world, &fans[2], unknown, code).await), Refusal::NotFound);
    world.finish().await;
}

const FANS: usize = 40;

/// Many fans enter one code at once. Returns the answers.
async fn race_for_a_code(off: Vec<Guard>, uses_max: u32) -> (World, Vec<Result<()>>) {
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let phase = two_phases(&world, PhaseAudience::Code).await[0].id;
    add_codes(&world, phase, &[[1; 32]], uses_max).await;
    let fans = world.fans(FANS).await;
    let code = PhaseProof::Code([1; 32]);
    let answers = join_all(fans.iter().map(|fan| verify(&world, fan, phase, code))).await;
    (world, answers)
}

#[tokio::test]
async fn of_many_fans_with_one_code_exactly_as_many_as_its_uses_are_served() {
    for uses_max in [1, 7] {
        let (world, answers) = race_for_a_code(Vec::new(), uses_max).await;
        let n_served = answers.iter().filter(|answer| answer.is_ok()).count();
        assert_eq!(n_served, uses_max as usize);
        for error in answers.into_iter().filter_map(Result::err) {
            assert!(matches!(error, Error::Refused(Refusal::PhaseCodeUsed)), "{error}");
        }
        world.finish().await;
    }
}

#[tokio::test]
async fn without_the_count_one_code_serves_every_fan() {
    let (world, answers) = race_for_a_code(vec![Guard::CodeUseIsCounted], 1).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), FANS);
    world.abandon("one code served everybody");
}

#[tokio::test]
async fn of_many_accounts_with_one_membership_exactly_one_is_verified() {
    let world = World::new().await;
    let phase = two_phases(&world, PhaseAudience::Members).await[0].id;
    import(&world, phase, vec![vec![[1; 32]]]).await;
    let fans = world.fans(FANS).await;
    let member = PhaseProof::Member([1; 32]);
    let answers = join_all(fans.iter().map(|fan| verify(&world, fan, phase, member))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    for error in answers.into_iter().filter_map(Result::err) {
        assert!(matches!(error, Error::Refused(Refusal::MemberTaken)), "{error}");
    }
    world.finish().await;
}

/// Sets the organiser's server of a phase.
async fn set_webhook(world: &World, phase: PhaseId, previous: Option<Vec<u8>>) -> Result<()> {
    let (url, secret) = ("https://club.example/".to_owned(), vec![1, 2]);
    let webhook = MemberWebhook { phase, url, secret, previous_secret: previous };
    let (actor, now) = (world.admin, at(-70));
    world.store.set_member_webhook(SetMemberWebhook { actor, webhook, now }).await
}

#[tokio::test]
async fn with_a_webhook_the_list_decides_nothing() {
    let world = World::new().await;
    let phase = two_phases(&world, PhaseAudience::Members).await[0].id;
    import(&world, phase, vec![vec![[1; 32]], vec![[2; 32]]]).await;
    assert!(world.store.has_free_member(phase, [1; 32]).await.unwrap());
    assert!(!world.store.has_free_member(phase, [9; 32]).await.unwrap());
    assert_eq!(world.store.member_webhook(phase).await.unwrap(), None);
    set_webhook(&world, phase, None).await.unwrap();
    set_webhook(&world, phase, Some(vec![3])).await.unwrap();
    let stored = world.store.member_webhook(phase).await.unwrap().unwrap();
    assert_eq!((stored.secret, stored.previous_secret), (vec![1, 2], Some(vec![3])));
    let (one, other) = (world.fan().await, world.fan().await);
    assert!(!world.store.has_free_member(phase, [1; 32]).await.unwrap());
    let by_list = verify(&world, &one, phase, PhaseProof::Member([1; 32])).await;
    assert_eq!(refusal(by_list), Refusal::MemberUnknown);
    verify(&world, &one, phase, PhaseProof::Confirmed([5; 32])).await.unwrap();
    let taken = verify(&world, &other, phase, PhaseProof::Confirmed([5; 32])).await;
    assert_eq!(refusal(taken), Refusal::MemberTaken);
    let people = world.store.phase_people(world.schedule).await.unwrap();
    assert_eq!(people[0].webhook_url.as_deref(), Some("https://club.example/"));
    let (actor, now) = (world.admin, at(-60));
    world.store.remove_member_webhook(phase, actor, now).await.unwrap();
    let again = world.store.remove_member_webhook(phase, actor, now).await;
    assert_eq!(refusal(again), Refusal::NoMemberWebhook);
    verify(&world, &other, phase, PhaseProof::Member([1; 32])).await.unwrap();
    assert!(!world.store.has_free_member(phase, [1; 32]).await.unwrap(), "it is taken");
    let unknown = set_webhook(&world, world.schedule.phase(99), None).await;
    assert_eq!(refusal(unknown), Refusal::NotFound);
    world.finish().await;
}

#[tokio::test]
async fn of_many_accounts_with_one_confirmed_membership_exactly_one_is_verified() {
    let world = World::new().await;
    let phase = two_phases(&world, PhaseAudience::Members).await[0].id;
    set_webhook(&world, phase, None).await.unwrap();
    let fans = world.fans(FANS).await;
    let proof = PhaseProof::Confirmed([1; 32]);
    let answers = join_all(fans.iter().map(|fan| verify(&world, fan, phase, proof))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    world.finish().await;
}

/// Holds one seat after another from `first` on, all at once; returns how many succeed.
async fn reach_for_seats(
    world: &World,
    fan: &Fan,
    (phase, first): (&Phase, SeatIndex),
    now: Timestamp,
) -> usize {
    let seats = first..first + 6;
    let commands = seats.map(|seat| hold_command(world, fan, phase, &[seat], now));
    let held = join_all(commands.map(|command| world.store.hold_seats(command))).await;
    for error in held.iter().filter_map(|answer| answer.as_ref().err()) {
        assert!(matches!(error, Error::Refused(Refusal::SeatLimit { .. })), "{error}");
    }
    held.iter().filter(|answer| answer.is_ok()).count()
}

#[tokio::test]
async fn a_fans_seats_count_in_each_phase_and_over_all() {
    let world = World::planned(Plan { seats_per_person: 3, ..Plan::default() }).await;
    let phases = two_phases(&world, PhaseAudience::Everybody).await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    assert_eq!(reach_for_seats(&world, &fan, (&phases[0], 0), at(1)).await, 2, "the phase's limit");
    let wallet = podo_domain::payments::PaymentMethod::Wallet;
    for view in world.store.reservations_of(fan.id, page()).await.unwrap() {
        let ready = world.request(&fan, view.id, wallet, at(2)).await.unwrap();
        let paid = world.confirm(&fan, &ready, at(2)).await;
        paid.unwrap();
    }
    let entry = world.entry(world.number());
    let again = Fan { entry, ..fan };
    let n_held = reach_for_seats(&world, &again, (&phases[1], 20), at(SECOND_S)).await;
    assert_eq!(n_held, 1, "the date's limit counts the seats of the first phase");
    world.finish().await;
}

fn page() -> podo_app::store::PageRequest {
    podo_app::store::PageRequest { limit: 10, after: None }
}

#[tokio::test]
async fn a_hold_without_eligibility_breaks_an_invariant() {
    let off = vec![Guard::EligibilityIsChecked];
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let phases = two_phases(&world, PhaseAudience::Members).await;
    let fan = world.fan().await;
    hold(&world, &fan, (&phases[0], &[0]), at(1)).await.unwrap();
    assert_eq!(broken(&world.store, at(1)).await, ["I25"]);
    world.abandon("a fan who isn't eligible holds a seat");
}

#[tokio::test]
async fn codes_and_members_are_deleted_after_the_show_but_not_what_fans_proved() {
    let world = World::new().await;
    let phase = two_phases(&world, PhaseAudience::Code).await[0].id;
    add_codes(&world, phase, &[[1; 32]], 1).await;
    import(&world, phase, vec![vec![[1; 32]]]).await;
    set_webhook(&world, phase, None).await.unwrap();
    let fan = world.fan().await;
    verify(&world, &fan, phase, PhaseProof::Code([1; 32])).await.unwrap();
    assert_eq!(world.store.forget_phase_people(world.schedule, 10).await.unwrap(), 1);
    assert_eq!(world.store.forget_phase_people(world.schedule, 10).await.unwrap(), 0);
    let people = world.store.phase_people(world.schedule).await.unwrap();
    assert_eq!((people[0].n_codes, people[0].n_members, people[0].n_eligible), (0, 0, 1));
    assert_eq!(people[0].webhook_url, None, "its secret is deleted too");
    world.finish().await;
}

/// A fan reaches for seats of a phase again and again, after having as many as the date permits.
async fn hold_over_phases(off: Vec<Guard>) -> (World, usize) {
    let world = World::planned(Plan { off, seats_per_person: 3, ..Plan::default() }).await;
    let phases = two_phases(&world, PhaseAudience::Everybody).await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = hold(&world, &fan, (&phases[0], &[0, 1]), at(1)).await.unwrap();
    let wallet = podo_domain::payments::PaymentMethod::Wallet;
    let ready = world.request(&fan, held.reservation_id, wallet, at(2)).await.unwrap();
    world.confirm(&fan, &ready, at(3)).await.unwrap();
    let attempts = (10..16).map(|seat: SeatIndex| {
        let (world, fan, phase) = (&world, &fan, &phases[1]);
        async move { hold(world, fan, (phase, &[seat]), at(SECOND_S)).await.is_ok() }
    });
    let n_more = join_all(attempts).await.into_iter().filter(|is_held| *is_held).count();
    (world, n_more)
}

#[tokio::test]
async fn a_person_s_limit_holds_over_phases_under_a_race() {
    let (world, n_more) = hold_over_phases(Vec::new()).await;
    assert_eq!(n_more, 1, "two of three seats are from the first phase");
    world.finish().await;
}

/// The control: without the count a person gets as many as they reach for.
#[tokio::test]
async fn without_the_count_a_person_exceeds_the_limit_over_phases() {
    let (world, n_more) = hold_over_phases(vec![Guard::SeatsOfFanAreCounted]).await;
    assert!(n_more > 1);
    assert!(broken(&world.store, at(SECOND_S)).await.contains(&"I4"));
    world.abandon("a person has more seats than permitted");
}
