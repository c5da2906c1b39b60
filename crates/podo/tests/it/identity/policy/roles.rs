//! Every role and every kind of API key, with and without a limit to an event, on every route of the
//! organisers.

use crate::identity::policy::{Route, code_of, routes};
use crate::support::client::{Answer, Api, text};
use crate::support::world::{Plan, World};
use podo_domain::EventId;
use podo_domain::identity::permissions::{EventScope, Grant, Membership, Permission, TeamRole};
use serde_json::json;
use std::collections::BTreeSet;

/// What a route answers to a caller who may not use it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    NoPermission,
    /// The unknown id of the path is outside every scope.
    NotFound,
}

pub(super) fn verdict(answer: &Answer) -> Verdict {
    match code_of(answer) {
        (403, code) if code == "PERMISSION_MISSING" => Verdict::NoPermission,
        (404, _) => Verdict::NotFound,
        _ => Verdict::Passed,
    }
}

/// The rule of the domain, applied to what a route declares.
pub(super) fn expected(route: &Route, grant: &Grant) -> Verdict {
    let permission = route.permission.unwrap();
    if !grant.permissions.contains(&permission) {
        return Verdict::NoPermission;
    }
    match (&grant.events, route.scope.as_deref().unwrap()) {
        (EventScope::All, _) | (EventScope::Only(_), "own-events") => Verdict::Passed,
        (EventScope::Only(_), "everywhere") => Verdict::NoPermission,
        (EventScope::Only(_), "event" | "schedule" | "phase" | "payment" | "reservation") => {
            Verdict::NotFound
        }
        (EventScope::Only(_), other) => panic!("{}: unknown scope {other}", route.name()),
    }
}

/// Compares each route with what the rule of the domain says for this grant; returns how many.
async fn check((name, caller): (&str, &Api), grant: &Grant, routes: &[Route]) -> usize {
    let guarded = || routes.iter().filter(|route| route.policy.is_some());
    for route in guarded() {
        let (path, answer) = (route.name(), route.call(caller).await);
        let should = expected(route, grant);
        let is_same = match should {
            // Behind the policy anything but a missing permission may happen.
            Verdict::Passed => verdict(&answer) != Verdict::NoPermission,
            Verdict::NoPermission | Verdict::NotFound => verdict(&answer) == should,
        };
        assert!(is_same, "{name} on {path}: {should:?}, but {}", answer.text);
    }
    guarded().count()
}

/// Without a limit, and limited to the event.
fn scopes(event: EventId) -> [Option<BTreeSet<EventId>>; 2] {
    [None, Some(BTreeSet::from([event]))]
}

async fn world_with_event() -> (World, EventId, Vec<Route>) {
    let world = World::with(&[("PODO_ADMIN_PROOF_MINUTES", "0")]).await;
    let show = world.show(Plan::default()).await;
    let routes = routes(&world).await;
    (world, show.event.parse().unwrap(), routes)
}

/// Whether a route with an existing id of another event refuses is tested in `events.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn every_role_reaches_the_routes_of_its_permissions_and_scope() {
    let (world, event, routes) = world_with_event().await;
    let mut n_checked = 0;
    for role in TeamRole::ALL.into_iter().filter(|role| *role != TeamRole::Custom) {
        for events in scopes(event) {
            let Ok(membership) = Membership::new(role, None, events) else { continue };
            let member = world.member(membership.clone()).await;
            let name = format!("{role:?}");
            n_checked += check((&name, &member), &membership.grant, &routes).await;
        }
    }
    assert!(n_checked > 13 * 60, "{n_checked} pairs");
}

/// Sets of permissions that distinguish any two permissions: a set for each bit of their
/// numbers.
fn chosen_sets() -> Vec<BTreeSet<Permission>> {
    let n_bits = usize::BITS - Permission::ALL.len().leading_zeros();
    let set = |bit: u32| {
        let numbered = Permission::ALL.iter().enumerate();
        let has_bit = numbered.filter(|(number, _)| (number + 1) >> bit & 1 == 1);
        has_bit.map(|(_, permission)| *permission).collect::<BTreeSet<Permission>>()
    };
    (0..n_bits).map(set).collect()
}

#[test]
fn the_chosen_sets_tell_any_two_permissions_apart() {
    let sets = chosen_sets();
    let marks = |permission| sets.iter().map(|set| set.contains(permission)).collect::<Vec<_>>();
    let all: BTreeSet<Vec<bool>> = Permission::ALL.iter().map(marks).collect();
    assert_eq!(all.len(), Permission::ALL.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_custom_role_reaches_the_routes_of_its_chosen_permissions() {
    let (world, event, routes) = world_with_event().await;
    for permissions in chosen_sets() {
        for events in scopes(event) {
            let chosen = Some(permissions.clone());
            let membership = Membership::new(TeamRole::Custom, chosen, events).unwrap();
            let member = world.member(membership.clone()).await;
            let name = format!("a custom role with {permissions:?}");
            check((&name, &member), &membership.grant, &routes).await;
        }
    }
}

/// A key reaches what a member with the same grant does, but not what needs a person.
#[tokio::test(flavor = "multi_thread")]
async fn an_api_key_reaches_the_routes_of_its_role_that_need_no_person() {
    let (world, event, routes) = world_with_event().await;
    for role in TeamRole::ALL {
        for events in scopes(event) {
            let permissions = (role == TeamRole::Custom).then(|| chosen_sets().remove(0));
            let made = Membership::new(role, permissions.clone(), events.clone());
            let Ok(membership) = made else { continue };
            let mut body = json!({ "name": format!("{role:?}"), "role": role, "days": 1 });
            if let Some(events) = events {
                body["events"] = json!(events);
            }
            if let Some(permissions) = permissions {
                body["permissions"] = json!(permissions);
            }
            let made = world.organiser.post("/api/admin/keys", &body).await.expect(201);
            let key = world.stranger.with_token(&text(&made, "key"));
            let name = format!("a key of {role:?}");
            check((&name, &key), &membership.grant, &routes).await;
            let by_people = routes.iter().filter(|it| it.policy.as_deref() == Some("recent-auth"));
            for route in by_people {
                let answer = route.call(&key).await;
                let is_passed = expected(route, &membership.grant) == Verdict::Passed;
                let needs_person = code_of(&answer) == (403, "PERSON_REQUIRED".to_owned());
                assert_eq!(needs_person, is_passed, "{name} on {}: {}", route.name(), answer.text);
            }
        }
    }
}
