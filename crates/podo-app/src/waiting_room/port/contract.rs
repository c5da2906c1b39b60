//! The contract of every queue engine. Each rule uses a fresh schedule derived from `seed`, so that
//! the suite can run repeatedly against a shared engine.

mod places;
mod slots;
mod stage;
mod tail;

use crate::waiting_room::port::queue::Queue;
use podo_domain::Timestamp;

pub use places::*;
pub use slots::*;
pub use tail::{LosesTail, check_lost_tails};

/// Runs every rule. `seed` must differ between runs if the engine outlives them.
pub async fn check(queue: &dyn Queue, seed: u64, now: Timestamp) {
    entering_again_answers_the_same_place(queue, seed, now).await;
    a_position_shrinks_as_those_ahead_leave_or_are_let_in(queue, seed, now).await;
    the_lobby_is_drawn_from_the_seed_once(queue, seed, now).await;
    no_fan_is_admitted_before_the_opening(queue, seed, now).await;
    a_postponed_opening_admits_no_fan(queue, seed, now).await;
    who_left_the_lobby_goes_to_the_end(queue, seed, now).await;
    a_place_outlives_the_engines_memory(queue, seed, now).await;
    a_number_that_is_spent_does_not_come_back(queue, seed, now).await;
    a_place_in_the_lobby_outlives_the_engines_memory(queue, seed, now).await;
    leaving_is_harmless_and_final(queue, seed, now).await;
    a_room_that_was_not_opened_admits_no_fan(queue, seed, now).await;
    who_comes_back_stands_where_they_stood_or_nowhere(queue, seed, now).await;
    after_a_loss_fans_who_could_not_return_yet_are_not_overtaken(queue, seed, now).await;
    the_proof_answers_what_the_name_answers(queue, seed, now).await;

    an_empty_queue_admits_at_once_up_to_the_cap(queue, seed, now).await;
    no_fan_overtakes_a_waiting_fan(queue, seed, now).await;
    admission_goes_by_number_within_cap_and_rate(queue, seed, now).await;
    the_mode_decides_who_moves(queue, seed, now).await;
    an_entry_ends_at_its_very_millisecond(queue, seed, now).await;
    an_unclaimed_entry_is_given_back(queue, seed, now).await;
    an_entry_that_was_bought_with_ends_alone(queue, seed, now).await;
    an_entry_is_extended_twice(queue, seed, now).await;
    restored_entries_fill_their_slots(queue, seed, now).await;
    a_number_that_came_back_is_not_restored(queue, seed, now).await;
    late_entries_come_back_while_slots_are_free(queue, seed, now).await;
    an_entry_of_a_drawn_number_is_restored(queue, seed, now).await;
    counts_add_up(queue, seed, now).await;
}
