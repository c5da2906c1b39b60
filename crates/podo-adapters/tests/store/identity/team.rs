//! The team and API keys.

use crate::world::{World, at, refusal};
use futures::future::join;
use podo_app::identity::port::accounts::{Accounts, CreateUser};
use podo_app::identity::port::api_keys::{ApiKeys, CreateApiKey};
use podo_app::identity::port::team::{ChangeMembership, Team};
use podo_domain::identity::Role;
use podo_domain::identity::permissions::{EventScope, Grant, Membership, Permission, TeamRole};
use podo_domain::{ApiKeyId, EventId, Refusal, UserId};

async fn account(world: &World, role: Role) -> UserId {
    let command = CreateUser { role, ..world.user_command() };
    world.store.create_user(command.clone()).await.unwrap();
    command.user
}

fn owner() -> Grant {
    Membership::preset(TeamRole::Owner).grant
}

fn change(actor: UserId, user: UserId, membership: Option<Membership>) -> ChangeMembership {
    ChangeMembership { actor, by: owner(), user, membership, now: at(1) }
}

#[tokio::test]
async fn the_roles_before_the_team_stay_what_they_were() {
    let world = World::new().await;
    for (role, expected) in [
        (Role::User, None),
        (Role::Staff, Some(TeamRole::Viewer)),
        (Role::Admin, Some(TeamRole::Owner)),
    ] {
        let user = account(&world, role).await;
        let found = world.store.membership(user).await.unwrap();
        assert_eq!(found, expected.map(Membership::preset), "{role:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn every_role_is_read_as_it_was_written() {
    let world = World::new().await;
    let (boss, user) = (account(&world, Role::Admin).await, account(&world, Role::User).await);
    let events = || Some([EventId::new(world.id()), EventId::new(world.id())].into());
    let chosen = || Some([Permission::ViewSales, Permission::Operate].into());
    let memberships = [
        Membership::new(TeamRole::Manager, None, None),
        Membership::new(TeamRole::Gate, None, events()),
        Membership::new(TeamRole::Custom, chosen(), None),
        Membership::new(TeamRole::Custom, chosen(), events()),
        Membership::new(TeamRole::Owner, None, None),
    ];
    for membership in memberships {
        let membership = membership.unwrap();
        let command = change(boss, user, Some(membership.clone()));
        world.store.change_membership(command).await.unwrap();
        assert_eq!(world.store.membership(user).await.unwrap(), Some(membership.clone()));
        // The previous version reads the account's own columns: only an owner may write.
        let role = world.store.user(user).await.unwrap().unwrap().role;
        let expected = if membership.role == TeamRole::Owner { Role::Admin } else { Role::Staff };
        assert_eq!(role, expected, "{:?}", membership.role);
    }
    assert_eq!(world.store.team().await.unwrap().len(), 2);
    world.store.change_membership(change(boss, user, None)).await.unwrap();
    assert_eq!(world.store.membership(user).await.unwrap(), None);
    assert_eq!(world.store.user(user).await.unwrap().unwrap().role, Role::User);
    world.finish().await;
}

#[tokio::test]
async fn one_of_two_owners_stays_whatever_they_do_at_once() {
    let world = World::new().await;
    let mut last = account(&world, Role::Admin).await;
    for _ in 0..10 {
        let next = account(&world, Role::Admin).await;
        let remove = |actor, user| world.store.change_membership(change(actor, user, None));
        let answers = join(remove(last, next), remove(next, last)).await;
        let n_removed = u32::from(answers.0.is_ok()) + u32::from(answers.1.is_ok());
        assert_eq!(n_removed, 1, "{answers:?}");
        last = if answers.0.is_ok() { last } else { next };
        assert_eq!(refusal(remove(next, last).await), Refusal::LastOwner);
        assert_eq!(refusal(world.store.withdraw(last, at(2)).await), Refusal::LastOwner);
        let lowered = change(next, last, Some(Membership::preset(TeamRole::Viewer)));
        assert_eq!(refusal(world.store.change_membership(lowered).await), Refusal::LastOwner);
    }
    world.finish().await;
}

#[tokio::test]
async fn no_role_beyond_the_actors_own_is_given_or_taken() {
    let world = World::new().await;
    let (boss, user) = (account(&world, Role::Admin).await, account(&world, Role::User).await);
    let by = Membership::preset(TeamRole::Gate).grant;
    for (whom, membership) in [(boss, None), (user, Some(Membership::preset(TeamRole::Viewer)))] {
        let command = ChangeMembership { by: by.clone(), ..change(user, whom, membership) };
        assert_eq!(refusal(world.store.change_membership(command).await), Refusal::GrantTooWide);
    }
    world.finish().await;
}

#[tokio::test]
async fn a_key_lives_until_it_expires_is_revoked_or_its_creator_leaves() {
    let world = World::new().await;
    let (boss, creator) = (account(&world, Role::Admin).await, account(&world, Role::Admin).await);
    let create = async |hash: u8| {
        let id = ApiKeyId::new(world.id());
        let command = CreateApiKey {
            id,
            name: "robot".to_owned(),
            prefix: "podo_live_abc".to_owned(),
            key_hash: [hash; 32],
            membership: Membership::preset(TeamRole::Viewer),
            created_by: creator,
            expires_at: at(100),
            now: at(0),
        };
        world.store.create_api_key(command).await.unwrap();
        id
    };
    let (first, _) = (create(1).await, create(2).await);
    let find = async |hash: u8, s: i64| world.store.live_api_key([hash; 32], at(s)).await.unwrap();
    let found = find(1, 99).await.unwrap();
    assert_eq!((found.id, found.name.as_str()), (first, "robot"));
    assert_eq!(found.grant.events, EventScope::All);
    assert!(find(1, 100).await.is_none(), "expired");
    assert!(find(3, 1).await.is_none(), "unknown");
    assert!(world.store.revoke_api_key(first, boss, at(5)).await.unwrap());
    assert!(!world.store.revoke_api_key(first, boss, at(6)).await.unwrap(), "once");
    assert!(find(1, 6).await.is_none(), "revoked");
    let gate = Membership::preset(TeamRole::Gate);
    world.store.change_membership(change(boss, creator, Some(gate))).await.unwrap();
    let grant = find(2, 7).await.unwrap().grant;
    assert_eq!(grant.permissions, [Permission::ViewAttendance].into(), "what both may do");
    world.store.change_membership(change(boss, creator, None)).await.unwrap();
    assert!(find(2, 8).await.is_none(), "its creator left");
    assert_eq!(world.store.api_keys().await.unwrap().len(), 2, "they stay listed");
    world.finish().await;
}
