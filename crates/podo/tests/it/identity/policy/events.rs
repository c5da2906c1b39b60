//! A caller who is limited to an event, on every route about something of an event: with ids of that
//! event and with ids of another.

use crate::identity::policy::roles::{Verdict, verdict};
use crate::identity::policy::{Route, routes};
use crate::support::client::{Api, text};
use crate::support::fan::Bought;
use crate::support::world::{PRICE, Plan, Show, World, until};
use podo_domain::identity::permissions::{Membership, Permission, TeamRole};
use podo_domain::{EventId, UserId};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// What the desk of a date has: an order that it issued, and an allocation.
struct IssuedByHand {
    order: String,
    allocation: String,
}

/// An event with a purchase, and with a later date that is sold in phases.
pub(super) struct Side {
    pub(super) show: Show,
    /// The buyer.
    pub(super) fan: UserId,
    pub(super) bought: Bought,
    phase: String,
    desk: Option<IssuedByHand>,
}

impl Side {
    /// With an order of the desk.
    async fn of(world: &World) -> Side {
        let side = Side::with(world, Plan::default()).await;
        let desk = Some(desk_of(world, &side.show).await);
        Side { desk, ..side }
    }

    /// With a show whose gates are open.
    pub(super) async fn tonight(world: &World) -> Side {
        Side::with(world, Plan::tonight()).await
    }

    async fn with(world: &World, plan: Plan) -> Side {
        let show = world.show(plan).await;
        let fan = world.fan_inside(&show).await;
        let bought = fan.buy(&show, 0).await;
        let phase = phase_of(world, &show).await;
        Side { show, fan: fan.id, bought, phase, desk: None }
    }

    /// The event and its dates, without the moment of the answer.
    async fn seen(&self, world: &World) -> Value {
        let path = format!("/api/admin/events/{}", self.show.event);
        let mut seen = world.organiser.get(&path).await.expect(200);
        for date in seen["schedules"].as_array_mut().unwrap() {
            date.as_object_mut().unwrap().remove("now");
        }
        seen
    }

    /// The path of a route about this id, with the allocation where it names one.
    fn path(&self, route: &Route, id: &str) -> String {
        let allocation = self.desk.as_ref().map_or(id, |desk| &desk.allocation);
        let fill = |part: &str| match part {
            "{allocation}" => allocation.to_owned(),
            part if part.starts_with('{') => id.to_owned(),
            part => part.to_owned(),
        };
        route.template.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    /// The id that a route of this scope is about; `None` if it is about no single event.
    fn id(&self, route: &Route) -> Option<String> {
        match route.scope.as_deref()? {
            "event" => Some(self.show.event.clone()),
            "schedule" => Some(self.show.schedule.to_string()),
            "phase" => Some(self.phase.clone()),
            "payment" => Some(self.bought.payment.clone()),
            "reservation" => match &self.desk {
                Some(desk) if route.template.ends_with(ISSUED_ONLY) => Some(desk.order.clone()),
                Some(_) | None => Some(self.bought.reservation.clone()),
            },
            "everywhere" | "own-events" => None,
            other => panic!("{}: unknown scope {other}", route.name()),
        }
    }
}

/// Keeps a seat of the date and issues an order of another.
async fn desk_of(world: &World, show: &Show) -> IssuedByHand {
    let path = |what: &str| format!("/api/admin/schedules/{}/{what}", show.schedule);
    let body = json!({ "name": "아티스트", "kind": "ARTIST", "seatIds": [show.seat(10)] });
    let made = world.organiser.post(&path("allocations"), &body).await.expect(201);
    let body = json!({ "seatIds": [show.seat(11)], "name": "초대 손님" });
    let given = world.organiser.post_new(&path("complimentary"), &body).await.expect(201);
    IssuedByHand { order: text(&given, "reservationId"), allocation: text(&made, "id") }
}

/// Adds a date with two phases to the event; returns the first.
async fn phase_of(world: &World, show: &Show) -> String {
    let now = world.context().now();
    let at = |hours: u32| now.plus(HOUR * hours);
    let date = json!({ "startsAt": at(48), "endsAt": at(50), "saleStartsAt": at(1),
        "saleEndsAt": at(40), "prices": { "VIP": PRICE } });
    let path = format!("/api/admin/events/{}/schedules", show.event);
    let made = world.organiser.post(&path, &date).await.expect(201);
    let phase = |from: u32, to: u32, audience: &str| {
        json!({ "name": "선예매", "nameEn": "Presale", "startsAt": at(from), "endsAt": at(to),
            "audience": audience, "seatsPerPerson": 2 })
    };
    let phases = json!({ "phases": [phase(1, 2, "MEMBERS"), phase(2, 40, "EVERYBODY")] });
    let path = format!("/api/admin/schedules/{}/phases", text(&made, "id"));
    text(&world.organiser.put(&path, &phases).await.expect(200)["items"][0], "id")
}

/// The refunds of a date, which begin a moment after an earlier call of the test canceled it.
const BEGINS_LATER: &str = "GET /api/admin/schedules/{id}/refunds";

/// A promotion code of the date, or a picture of the event. Here it is none, and the first caller
/// would delete a real one.
const SECOND_IDS: [&str; 3] =
    ["/{promotion}", "/gallery/{hash}", "DELETE /api/admin/events/{id}/poster"];

/// Prints the tickets of an order of the desk, and of no other.
const ISSUED_ONLY: &str = "/tickets.pdf";

/// A caller whose grant is limited to an event.
pub(super) struct Limited {
    pub(super) name: String,
    pub(super) api: Api,
    pub(super) permissions: BTreeSet<Permission>,
}

/// A member with every permission, a key with every permission, and a member of each preset role.
pub(super) async fn limited_callers(world: &World, event: &str) -> Vec<Limited> {
    let all: BTreeSet<Permission> = Permission::ALL.iter().copied().collect();
    let events: BTreeSet<EventId> = BTreeSet::from([event.parse().unwrap()]);
    let body = json!({ "name": "all", "role": "CUSTOM", "permissions": all, "events": events,
        "days": 1 });
    let made = world.organiser.post("/api/admin/keys", &body).await.expect(201);
    let api = world.stranger.with_token(&text(&made, "key"));
    let mut callers = vec![Limited { name: "a key".to_owned(), api, permissions: all.clone() }];
    for role in TeamRole::ALL {
        let chosen = (role == TeamRole::Custom).then(|| all.clone());
        // An owner has no limit.
        let Ok(membership) = Membership::new(role, chosen, Some(events.clone())) else { continue };
        let permissions = membership.grant.permissions.clone();
        let api = world.member(membership).await;
        callers.push(Limited { name: format!("{role:?}"), api, permissions });
    }
    callers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limited_caller_reaches_ids_of_its_event_and_no_others() {
    let world = World::with(&[("PODO_ADMIN_PROOF_MINUTES", "0")]).await;
    let (ours, theirs) = (Side::of(&world).await, Side::of(&world).await);
    let callers = limited_callers(&world, &ours.show.event).await;
    let mut n_checked = 0;
    for route in routes(&world).await {
        let (Some(own), Some(foreign)) = (ours.id(&route), theirs.id(&route)) else { continue };
        if route.name() == BEGINS_LATER {
            let path = ours.path(&route, &own);
            until("the refunds begin", async || {
                (route.call_at(&world.organiser, &path).await.status == 200).then_some(())
            })
            .await;
        }
        for Limited { name, api, permissions } in &callers {
            let name = format!("{name} on {}", route.name());
            let (of_foreign, of_own) = match permissions.contains(&route.permission.unwrap()) {
                true if SECOND_IDS.iter().any(|end| route.name().ends_with(end)) => {
                    (Verdict::NotFound, Verdict::NotFound)
                }
                true => (Verdict::NotFound, Verdict::Passed),
                false => (Verdict::NoPermission, Verdict::NoPermission),
            };
            let answer = route.call_at(api, &theirs.path(&route, &foreign)).await;
            assert_eq!(verdict(&answer), of_foreign, "{name}, foreign: {}", answer.text);
            if route.template.ends_with("/{allocation}/release") {
                // The own date with an allocation of another.
                let answer = route.call_at(api, &theirs.path(&route, &own)).await;
                assert_eq!(verdict(&answer), of_foreign, "{name}, mixed: {}", answer.text);
            }
            let answer = route.call_at(api, &ours.path(&route, &own)).await;
            assert_eq!(verdict(&answer), of_own, "{name}, own: {}", answer.text);
            assert!(answer.status < 500, "{name}: {}", answer.text);
        }
        n_checked += 1;
    }
    assert!(n_checked >= 35 && callers.len() == 8, "{n_checked} routes");
}

/// The other organisers' purchases are as they were: no refused call had an effect.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_changes_nothing_of_another_event() {
    let world = World::with(&[("PODO_ADMIN_PROOF_MINUTES", "0")]).await;
    let (ours, theirs) = (Side::of(&world).await, Side::of(&world).await);
    let limited = crate::identity::team::limited(TeamRole::Manager, &ours.show);
    let member = world.member(limited).await;
    let before = theirs.seen(&world).await;
    for route in routes(&world).await {
        let Some(foreign) = theirs.id(&route) else { continue };
        route.call_at(&member, &theirs.path(&route, &foreign)).await;
    }
    assert_eq!(theirs.seen(&world).await, before);
    world.finish().await;
}
