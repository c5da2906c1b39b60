//! Accounts, sessions, and single-use refresh tokens.

use crate::world::{Fan, World, at, refusal};
use futures::future::join_all;
use podo_app::identity::port::accounts::{
    Accounts, ChangePassword, CreateUser, LoginAttempt, RotateRefresh, Rotation, StartSession,
};
use podo_domain::identity::{Failures, REFRESH_GRACE};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{LoginId, Refusal, SessionId, Timestamp, UserId};
use std::time::Duration;

fn attempt(world: &World, fan: &Fan, success: bool) -> LoginAttempt {
    LoginAttempt {
        login: LoginId::new(world.id()),
        user: success.then_some(fan.id),
        method: "EMAIL",
        email_hash: [1; 32],
        ip: Some("203.0.113.7".into()),
        network: Some("203.0.113.7".into()),
        agent: None,
        budget: None,
        success,
        reason: (!success).then_some("PASSWORD"),
        now: at(0),
    }
}

/// A session whose first refresh token is `[1; 32]`.
async fn log_in(world: &World, fan: &Fan) -> SessionId {
    let session = SessionId::new(world.id());
    let command = StartSession {
        session,
        attempt: attempt(world, fan, true),
        user: fan.id,
        refresh_hash: [1; 32],
        expires_at: at(1_000),
    };
    world.store.start_session(command).await.unwrap();
    session
}

async fn rotate(world: &World, spent: u8, next: u8, now: Timestamp) -> Rotation {
    let command = RotateRefresh {
        spent_hash: [spent; 32],
        next_hash: [next; 32],
        expires_at: now.plus(std::time::Duration::from_secs(1_000)),
        organisers_idle_max: None,
        now,
    };
    world.store.rotate_refresh(command).await.unwrap()
}

#[tokio::test]
async fn an_address_has_one_account() {
    let world = World::new().await;
    let command = world.user_command();
    world.store.create_user(command.clone()).await.unwrap();
    let second = CreateUser { user: UserId::new(world.id()), ..command.clone() };
    assert_eq!(refusal(world.store.create_user(second.clone()).await), Refusal::EmailTaken);
    let found = world.store.user_by_email(command.email_hash).await.unwrap().unwrap();
    assert_eq!(found.user, command.user);
    assert!(world.store.user(command.user).await.unwrap().is_some());
    world.store.create_users(vec![second.clone()]).await.unwrap();
    assert!(world.store.user(second.user).await.unwrap().is_none(), "known ones are skipped");
    assert_eq!(world.told(command.user.uuid()).await, [MessageKind::UserSignedUp]);
    world.finish().await;
}

#[tokio::test]
async fn failed_log_ins_are_kept_even_for_unknown_addresses() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.store.record_failed_login(attempt(&world, &fan, false)).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn a_refresh_token_is_spent_once_and_gives_the_next() {
    let world = World::new().await;
    let fan = world.fan().await;
    let session = log_in(&world, &fan).await;
    let first = rotate(&world, 1, 2, at(1)).await;
    assert!(
        matches!(&first, Rotation::Rotated { user, session: of } if user.user == fan.id && *of == session),
        "{first:?}"
    );
    assert!(matches!(rotate(&world, 1, 3, at(2)).await, Rotation::Retry), "a lost answer");
    assert!(matches!(rotate(&world, 2, 4, at(3)).await, Rotation::Rotated { .. }));
    assert!(
        matches!(rotate(&world, 99, 5, at(3)).await, Rotation::Invalid),
        "the token is unknown"
    );
    world.finish().await;
}

#[tokio::test]
async fn a_refresh_token_ends_at_its_last_moment() {
    let world = World::new().await;
    let fan = world.fan().await;
    log_in(&world, &fan).await;
    assert!(matches!(rotate(&world, 1, 2, at(1_000)).await, Rotation::Invalid));
    let a_moment_before = Timestamp::from_ms(at(1_000).ms() - 1);
    assert!(matches!(rotate(&world, 1, 2, a_moment_before).await, Rotation::Rotated { .. }));
    world.finish().await;
}

#[tokio::test]
async fn of_fifty_tabs_exactly_one_rotates_and_the_rest_try_again() {
    let world = World::new().await;
    let fan = world.fan().await;
    log_in(&world, &fan).await;
    let answers = join_all((2..52).map(|next| rotate(&world, 1, next, at(1)))).await;
    let n_rotated =
        answers.iter().filter(|answer| matches!(answer, Rotation::Rotated { .. })).count();
    let n_retry = answers.iter().filter(|answer| matches!(answer, Rotation::Retry)).count();
    assert_eq!((n_rotated, n_retry), (1, 49));
    world.finish().await;
}

#[tokio::test]
async fn a_token_shown_again_after_the_grace_ends_the_whole_family() {
    let world = World::new().await;
    let fan = world.fan().await;
    let session = log_in(&world, &fan).await;
    rotate(&world, 1, 2, at(0)).await;
    let grace_ends = at(0).plus(REFRESH_GRACE);
    let within = Timestamp::from_ms(grace_ends.ms() - 1);
    assert!(matches!(rotate(&world, 1, 3, within).await, Rotation::Retry));
    let reused = rotate(&world, 1, 3, grace_ends).await;
    assert!(matches!(reused, Rotation::Reused { session: of } if of == session), "{reused:?}");
    assert!(matches!(rotate(&world, 2, 4, grace_ends).await, Rotation::Invalid));
    assert!(matches!(rotate(&world, 1, 4, grace_ends).await, Rotation::Invalid));
    assert_eq!(world.told(session.uuid()).await, [MessageKind::SessionCopied], "once");
    world.finish().await;
}

#[tokio::test]
async fn after_log_out_nothing_of_the_family_works() {
    let world = World::new().await;
    let fan = world.fan().await;
    let session = log_in(&world, &fan).await;
    rotate(&world, 1, 2, at(1)).await;
    world.store.end_session(session, at(2)).await.unwrap();
    world.store.end_session(session, at(3)).await.unwrap();
    for token in [1, 2] {
        assert!(matches!(rotate(&world, token, 9, at(4)).await, Rotation::Invalid));
    }
    world.finish().await;
}

#[tokio::test]
async fn failures_count_from_the_last_log_in_that_worked() {
    let world = World::new().await;
    let fan = world.fan().await;
    let failed = async |n: u32| {
        for _ in 0..n {
            world.store.record_failed_login(attempt(&world, &fan, false)).await.unwrap();
        }
        world.store.failures([1; 32], None, at(0).minus(Duration::from_secs(60))).await.unwrap()
    };
    assert_eq!(failed(0).await, Failures::default());
    assert_eq!(failed(3).await, Failures { n: 3, last_at: Some(at(0)) });
    log_in(&world, &fan).await;
    assert_eq!(failed(0).await, Failures::default());
    assert_eq!(failed(2).await.n, 2);
    let later = world.store.failures([1; 32], None, at(1)).await.unwrap();
    assert_eq!(later, Failures::default(), "old ones are forgiven");
    world.finish().await;
}

#[tokio::test]
async fn failures_of_one_budget_are_not_those_of_another() {
    let world = World::new().await;
    let fan = world.fan().await;
    let budget = Some("network:203.0.113.7".to_owned());
    let since = at(0).minus(Duration::from_secs(60));
    for budget in [None, None, budget.clone()] {
        let attempt = LoginAttempt { budget, ..attempt(&world, &fan, false) };
        world.store.record_failed_login(attempt).await.unwrap();
    }
    let failures = async |budget| world.store.failures([1; 32], budget, since).await.unwrap().n;
    assert_eq!((failures(None).await, failures(budget.clone()).await), (2, 1));
    let knows = async |network: &str, since| {
        world.store.knows_network([1; 32], network.to_owned(), since).await.unwrap()
    };
    assert!(!knows("203.0.113.7", since).await, "there was no log-in from there");
    // A log-in under the shared budget resets that budget only.
    log_in(&world, &fan).await;
    assert_eq!((failures(None).await, failures(budget).await), (0, 1));
    assert!(knows("203.0.113.7", since).await);
    assert!(!knows("203.0.113.8", since).await);
    assert!(!knows("203.0.113.7", at(1)).await, "that was too long ago");
    world.finish().await;
}

#[tokio::test]
async fn a_withdrawn_account_is_erased_after_its_time_and_its_address_is_free() {
    let world = World::new().await;
    let command = world.user_command();
    world.store.create_user(command.clone()).await.unwrap();
    assert_eq!(world.store.withdraw(command.user, at(1)).await.unwrap(), []);
    assert_eq!(
        refusal(world.store.withdraw(command.user, at(2)).await),
        Refusal::LoginRequired,
        "once"
    );
    assert!(world.store.user_by_email(command.email_hash).await.unwrap().is_none());
    let again = CreateUser { user: UserId::new(world.id()), ..command };
    world.store.create_user(again.clone()).await.unwrap();
    assert_eq!(world.store.erase_withdrawn(at(1), 10, at(9)).await.unwrap(), 0, "not yet");
    assert_eq!(world.store.erase_withdrawn(at(2), 10, at(9)).await.unwrap(), 1);
    assert_eq!(world.store.erase_withdrawn(at(2), 10, at(9)).await.unwrap(), 0, "once");
    assert!(world.store.user(again.user).await.unwrap().is_some(), "the new one stays");
    world.finish().await;
}

#[tokio::test]
async fn an_unused_account_is_dormant_until_its_owner_logs_in() {
    let world = World::new().await;
    let fan = world.fan().await;
    let (unused_since, now) = (Timestamp::from_ms(at(10_000).ms()), at(10_000));
    assert_eq!(world.store.make_dormant(unused_since, 10, now).await.unwrap(), 1);
    assert_eq!(world.store.make_dormant(unused_since, 10, now).await.unwrap(), 0, "asleep");
    assert!(world.store.user(fan.id).await.unwrap().is_some(), "nothing is lost");
    log_in(&world, &fan).await;
    assert_eq!(world.store.make_dormant(at(0), 10, now).await.unwrap(), 0, "awake");
    assert_eq!(world.store.make_dormant(unused_since, 10, now).await.unwrap(), 1, "and tired");
    world.finish().await;
}

#[tokio::test]
async fn a_password_changes_only_from_the_one_that_is_known() {
    let world = World::new().await;
    let command = world.user_command();
    world.store.create_user(command.clone()).await.unwrap();
    let change = |known: &str, new: &str| ChangePassword {
        user: command.user,
        known_hash: known.into(),
        new_hash: new.into(),
        keep: SessionId::new(world.id()),
        now: at(1),
    };
    world.store.change_password(change(&command.password_hash, "new")).await.unwrap();
    let late = world.store.change_password(change(&command.password_hash, "other")).await;
    assert!(matches!(late, Err(podo_app::Error::Conflict(_))), "{late:?}");
    let found = world.store.user(command.user).await.unwrap().unwrap();
    assert_eq!(found.password_hash, "new");
    world.finish().await;
}
