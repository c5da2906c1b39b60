//! Rules for places: the lobby, the draw, the queue and restoring places.

use crate::waiting_room::port::contract::stage::{SECOND, Stage, fan, number_of};
use crate::waiting_room::port::queue::{FanPlace, PlaceProof, Queue};
use podo_domain::Timestamp;
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{QueueMode, QueuePosition, RETURN_WINDOW};

pub async fn entering_again_answers_the_same_place(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let mut stage = Stage::new(queue, (seed, 1), 1, now).await;
    stage.set_mode(QueueMode::Paused);
    assert_eq!(stage.position(1, now).await, QueuePosition::Absent, "the fan has not entered");
    let first = stage.enter(1, now).await;
    stage.enter(2, now).await;
    let number = number_of(first);
    let again = stage.enter(1, now.plus(SECOND)).await;
    assert_eq!(again, QueuePosition::Waiting { number, ahead: 0, behind: 1 }, "the same place");
    let proof = Some(PlaceProof::Line { number: number + 1 });
    let other_device = stage.enter_with(1, proof, now.plus(SECOND)).await;
    assert_eq!(number_of(other_device), number, "whatever proof another device brings");
    let asked = stage.position(1, now.plus(SECOND)).await;
    assert_eq!(asked, again, "asking says the same as entering");
}

pub async fn a_position_shrinks_as_those_ahead_leave_or_are_let_in(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let mut stage = Stage::new(queue, (seed, 2), 2, now).await;
    stage.set_mode(QueueMode::Paused);
    let numbers = stage.line_up(10, now).await;
    assert!(numbers.is_sorted() && numbers[0] < numbers[9], "numbers go by arrival");
    for number in 1..=10 {
        assert_eq!(stage.ahead(number, now).await, number - 1, "every fan is counted once");
    }
    stage.leave(4, now).await;
    assert_eq!(stage.ahead(3, now).await, 2, "a fan behind left: nothing changes");
    let tenth = stage.position(10, now).await;
    let expected = QueuePosition::Waiting { number: numbers[9], ahead: 8, behind: 0 };
    assert_eq!(tenth, expected, "a fan ahead left: one fewer, and the number stays");
    stage.set_mode(QueueMode::Auto);
    assert_eq!(stage.admit(now).await.len(), 2, "there is room for two");
    assert_eq!(stage.ahead(10, now).await, 6, "two of those ahead are inside");
    stage.enter(11, now).await;
    assert_eq!(stage.ahead(10, now).await, 6, "a later fan is behind");
}

pub async fn the_lobby_is_drawn_from_the_seed_once(queue: &dyn Queue, seed: u64, now: Timestamp) {
    const N_FANS: u32 = 20;
    let opens_at = now.plus(SECOND);
    let mut stage = Stage::new(queue, (seed, 3), 1, opens_at).await;
    stage.set_mode(QueueMode::Paused);
    for index in 0..N_FANS {
        let position = stage.enter(index.into(), now).await;
        let expected = QueuePosition::Lobby { index, n_gathered: u64::from(index) + 1 };
        assert_eq!(position, expected, "fans gather before the opening");
    }
    let gathered = QueuePosition::Lobby { index: 3, n_gathered: N_FANS.into() };
    assert_eq!(stage.enter(3, now).await, gathered, "entering again changes nothing");
    let late = stage.enter(100, opens_at).await;
    assert!(
        matches!(late, QueuePosition::Waiting { ahead: 20, behind: 0, .. }),
        "a fan who arrives after the draw is behind all who gathered: {late:?}"
    );
    let ranks = draw::permutation(&stage.rules.draw_seed, N_FANS);
    stage.rules.draw_seed = [8; 32];
    for (number, rank) in (0..).zip(ranks) {
        let ahead = stage.ahead(number, opens_at).await;
        assert_eq!(ahead, u64::from(rank), "the place of fan {number} can be recomputed");
    }
    assert_eq!(stage.counts(opens_at).await.drawn, u64::from(N_FANS), "the draw is published");
}

pub async fn no_fan_is_admitted_before_the_opening(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let opens_at = now.plus(SECOND);
    let stage = Stage::new(queue, (seed, 4), 10, opens_at).await;
    for number in 1..=4 {
        stage.enter(number, now).await;
    }
    stage.leave(2, now).await;
    assert_eq!(stage.admit(now).await, [], "the sale is not open");
    let (gathered, inside) = (stage.counts(now).await.gathered, stage.counts(now).await.inside);
    assert_eq!((gathered, inside), (3, 0), "three fans are in the lobby");
    let admitted = stage.admit(opens_at).await;
    assert_eq!(admitted.len(), 3, "the first round draws and admits, without the fan who left");
    assert!(admitted.iter().all(|admission| admission.fan != fan(2)), "fan 2 has left");
}

pub async fn a_postponed_opening_admits_no_fan(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let mut stage = Stage::new(queue, (seed, 9), 1, now).await;
    stage.set_mode(QueueMode::Paused);
    stage.line_up(2, now).await;
    stage.set_mode(QueueMode::Auto);
    stage.rules.opens_at = now.plus(SECOND);
    assert_eq!(stage.admit(now).await, [], "the opening was postponed");
    assert_eq!(stage.ahead(2, now).await, 1, "places are kept until then");
    assert_eq!(stage.admit(stage.rules.opens_at).await.len(), 1, "then it goes on");
}

pub async fn who_left_the_lobby_goes_to_the_end(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let opens_at = now.plus(SECOND);
    let mut stage = Stage::new(queue, (seed, 10), 1, opens_at).await;
    stage.set_mode(QueueMode::Paused);
    for number in 0..5 {
        stage.enter(number, now).await;
    }
    for number in 0..3 {
        stage.leave(number, now).await;
    }
    for (number, ahead) in (0..3).zip(2..) {
        let proof = Some(PlaceProof::Lobby { index: number });
        stage.enter_with(number.into(), proof, opens_at).await;
        assert_eq!(stage.ahead(number.into(), opens_at).await, ahead, "behind those who stayed");
    }
}

pub async fn a_place_outlives_the_engines_memory(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let mut stage = Stage::new(queue, (seed, 5), 1, now).await;
    stage.set_mode(QueueMode::Paused);
    let numbers = stage.line_up(5, now).await;
    let later = now.plus(SECOND);
    stage.forget(later).await;
    assert_eq!(
        stage.position(1, later).await,
        QueuePosition::Absent,
        "the engine forgot everything"
    );
    let newcomer = number_of(stage.enter(9, later).await);
    assert!(numbers[4] < newcomer, "no number is issued twice");
    for number in [4, 2, 5, 1, 3] {
        let had = numbers[number as usize - 1];
        let proof = Some(PlaceProof::Line { number: had });
        let position = stage.enter_with(number, proof, later).await;
        assert_eq!(number_of(position), had, "fan {number} is back at the same number");
    }
    for number in 1..=5 {
        assert_eq!(stage.ahead(number, later).await, number - 1, "in the same order");
    }
    assert_eq!(stage.ahead(9, later).await, 5, "and ahead of later arrivals");
    stage.set_mode(QueueMode::Auto);
    let first = stage.admit(later.plus(RETURN_WINDOW)).await;
    assert_eq!(first.first().map(|admission| admission.fan), Some(fan(1)), "fan 1 is first");
}

pub async fn a_number_that_is_spent_does_not_come_back(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let mut stage = Stage::new(queue, (seed, 6), 1, now).await;
    stage.set_mode(QueueMode::Paused);
    let numbers = stage.line_up(3, now).await;
    let proof = |number: u64| Some(PlaceProof::Line { number: numbers[number as usize - 1] });
    stage.leave(1, now).await;
    let back = stage.enter_with(1, proof(1), now).await;
    assert!(numbers[2] < number_of(back), "a fan who left goes to the end");

    let later = now.plus(SECOND);
    stage.forget(later).await;
    stage.enter_with(2, proof(2), later).await;
    stage.enter_with(3, proof(3), later).await;
    stage.leave(2, later).await;
    let back = stage.enter_with(2, proof(2), later).await;
    assert!(numbers[2] < number_of(back), "a number that came back and left is spent too");
    let stranger = stage.enter_with(4, proof(3), later).await;
    assert!(numbers[2] < number_of(stranger), "no two fans share a number");
}

pub async fn a_place_in_the_lobby_outlives_the_engines_memory(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let opens_at = now.plus(10 * SECOND);
    let mut stage = Stage::new(queue, (seed, 7), 1, opens_at).await;
    stage.set_mode(QueueMode::Paused);
    for number in 0..4 {
        stage.enter(number, now).await;
    }
    let later = now.plus(SECOND);
    stage.forget(later).await;
    for index in [2, 0, 3] {
        let proof = Some(PlaceProof::Lobby { index });
        let position = stage.enter_with(index.into(), proof, later).await;
        let same =
            matches!(position, QueuePosition::Lobby { index: now_at, .. } if now_at == index);
        assert!(same, "fan {index} is back in the lobby at the same number: {position:?}");
    }
    let newcomer = stage.enter(4, later).await;
    let is_new = matches!(newcomer, QueuePosition::Lobby { index, .. } if 3 < index);
    assert!(is_new, "no index is issued twice: {newcomer:?}");
    let QueuePosition::Lobby { index: last, .. } = newcomer else { return };
    let late = Some(PlaceProof::Lobby { index: 1 });
    stage.enter_with(1, late, opens_at).await;
    let n_drawn = u32::try_from(stage.counts(opens_at).await.drawn).expect("an index is a u32");
    let ranks = draw::permutation(&stage.rules.draw_seed, n_drawn);
    let rank = |number: u32| ranks[if number == 4 { last } else { number } as usize];
    for number in 0..=4 {
        let n_ahead = (0..=4).filter(|other| rank(*other) < rank(number)).count() as u64;
        let ahead = stage.ahead(number.into(), opens_at).await;
        assert_eq!(ahead, n_ahead, "the draw goes by the numbers of the lobby, late or not");
    }
}

pub async fn leaving_is_harmless_and_final(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let mut stage = Stage::new(queue, (seed, 8), 1, now).await;
    stage.leave(1, now).await;
    stage.set_mode(QueueMode::Paused);
    stage.line_up(2, now).await;
    stage.leave(1, now).await;
    stage.leave(1, now).await;
    assert_eq!(stage.position(1, now).await, QueuePosition::Absent, "a fan who left is absent");
    assert_eq!(stage.ahead(2, now).await, 0, "the next is first");
    let back = stage.enter(1, now).await;
    assert!(
        matches!(back, QueuePosition::Waiting { ahead: 1, .. }),
        "a fan who left goes to the end"
    );
}

pub async fn a_room_that_was_not_opened_admits_no_fan(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let stage = Stage::closed(queue, (seed, 11), 10, now);
    let entered = queue.enter(&stage.rules, fan(1), None, now).await;
    assert_eq!(
        entered.expect("the engine answers"),
        None,
        "the room does not know who is inside yet"
    );
    let proof = PlaceProof::Line { number: 1 };
    let back = queue.come_back(&stage.rules, fan(1), proof, now).await;
    assert_eq!(back.expect("the engine answers"), None, "no place is restored either");
    let admitted = queue.admit(&stage.rules, now).await;
    assert_eq!(admitted.expect("the engine answers"), None, "the job learns it too");
    assert_eq!(stage.position(1, now).await, QueuePosition::Absent, "and asking is harmless");
    stage.open(now).await;
    let position = stage.enter(1, now).await;
    assert!(matches!(position, QueuePosition::Inside(_)), "now there is room: {position:?}");
}

pub async fn who_comes_back_stands_where_they_stood_or_nowhere(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let mut stage = Stage::new(queue, (seed, 12), 1, now).await;
    stage.set_mode(QueueMode::Paused);
    let numbers = stage.line_up(3, now).await;
    let proof = |number: u64| PlaceProof::Line { number: numbers[number as usize - 1] };
    let same = stage.come_back(2, proof(2), now).await;
    assert!(matches!(same, QueuePosition::Waiting { ahead: 1, .. }), "nothing was lost: {same:?}");
    stage.leave(1, now).await;
    assert_eq!(
        stage.come_back(1, proof(1), now).await,
        QueuePosition::Absent,
        "a fan who left is absent"
    );

    let later = now.plus(SECOND);
    stage.forget(later).await;
    // The queue is closed to new fans; these already have a place.
    stage.set_mode(QueueMode::Closed);
    for number in [3, 2] {
        let position = stage.come_back(number, proof(number), later).await;
        assert_eq!(number_of(position), numbers[number as usize - 1], "the same number");
    }
    assert_eq!(stage.ahead(3, later).await, 1, "and the same order");
    stage.leave(2, later).await;
    let gone = stage.come_back(2, proof(2), later).await;
    assert_eq!(gone, QueuePosition::Absent, "a fan who left after the loss is absent too");
    stage.set_mode(QueueMode::Auto);
    let later = later.plus(RETURN_WINDOW);
    assert_eq!(stage.admit(later).await.len(), 1);
    stage.leave(3, later).await;
    let gone = stage.come_back(3, proof(3), later).await;
    assert_eq!(gone, QueuePosition::Absent, "and so is an admitted fan");
}

pub async fn the_proof_answers_what_the_name_answers(queue: &dyn Queue, seed: u64, now: Timestamp) {
    let opens_at = now.plus(SECOND);
    let mut stage = Stage::new(queue, (seed, 13), 1, opens_at).await;
    stage.set_mode(QueueMode::Paused);
    for number in 0..6 {
        stage.enter(number, now).await;
    }
    stage.leave(2, now).await;
    for at in [now, opens_at] {
        for index in 0..6 {
            let proof = Some(PlaceProof::Lobby { index });
            let seen = queue.position(&stage.rules, fan(index.into()), proof, at).await;
            let seen = seen.expect("the engine answers");
            assert_eq!(
                (seen.position, seen.is_live),
                (stage.position(index.into(), at).await, true)
            );
        }
    }
    let late = number_of(stage.enter(7, opens_at).await);
    stage.set_mode(QueueMode::Auto);
    assert_eq!(stage.admit(opens_at).await.len(), 1);
    let proof = Some(PlaceProof::Line { number: late });
    let seen = queue.position(&stage.rules, fan(7), proof, opens_at).await;
    let expected = QueuePosition::Waiting { number: late, ahead: 4, behind: 0 };
    assert_eq!(seen.expect("the engine answers").position, expected);
    let at_once = queue.cached_position(
        stage.rules.schedule,
        FanPlace { number: late, fan: fan(7) },
        opens_at,
    );
    assert!(at_once.is_none_or(|position| position == expected), "{at_once:?}");
    let gone = queue.cached_position(
        stage.rules.schedule,
        FanPlace { number: late + 1, fan: fan(7) },
        opens_at,
    );
    assert_eq!(gone, None, "no fan has this number");
}

pub async fn after_a_loss_fans_who_could_not_return_yet_are_not_overtaken(
    queue: &dyn Queue,
    seed: u64,
    now: Timestamp,
) {
    let mut stage = Stage::new(queue, (seed, 14), 1, now).await;
    stage.set_mode(QueueMode::Paused);
    let numbers = stage.line_up(2, now).await;
    let proof = |number: u64| PlaceProof::Line { number: numbers[number as usize - 1] };
    stage.set_mode(QueueMode::Auto);
    let lost_at = now.plus(SECOND);
    stage.forget(lost_at).await;
    let second = stage.come_back(2, proof(2), lost_at).await;
    assert_eq!(number_of(second), numbers[1], "the slot is free, but fan 1 may still return");
    assert_eq!(stage.admit(lost_at).await, [], "a round admits no fan either");
    let late = lost_at.plus(RETURN_WINDOW).minus(SECOND);
    stage.come_back(1, proof(1), late).await;
    assert_eq!(stage.admit(late).await, [], "every fan has the same time to return");
    let admitted = stage.admit(lost_at.plus(RETURN_WINDOW)).await;
    assert_eq!(admitted.first().map(|admission| admission.fan), Some(fan(1)), "in order");
}
