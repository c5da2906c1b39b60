//! Routes that filter by event themselves, by callers who are limited to an event: what belongs to
//! another event is neither shown nor changed.

use crate::identity::policy::events::{Limited, Side, limited_callers};
use crate::identity::policy::roles::{Verdict, verdict};
use crate::identity::policy::{Route, routes};
use crate::support::client::{Answer, Api};
use crate::support::world::World;
use podo_app::tickets::holders;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A route called about one event, and how the answer shows that the call reached it.
struct Case {
    path: String,
    /// `None` for a `GET`.
    body: Option<Value>,
    /// Part of an answer that reached the event.
    shows: String,
}

impl Case {
    fn list(path: &str, shows: &str) -> Case {
        Case { path: format!("/api/admin/{path}"), body: None, shows: format!("\"{shows}\"") }
    }

    async fn call(&self, api: &Api) -> Answer {
        match &self.body {
            None => api.get(&self.path).await,
            Some(body) => api.post(&self.path, body).await,
        }
    }

    fn reached(&self, answer: &Answer) -> bool {
        (200..300).contains(&answer.status) && answer.text.contains(&self.shows)
    }
}

const CHECK_IN: &str = "POST /api/admin/checkin";
const UNDO: &str = "POST /api/admin/checkin/undo";

/// Each route of this kind, in an order in which a check-in comes before its undo.
async fn cases(world: &World, side: &Side) -> BTreeMap<&'static str, Case> {
    let (show, bought) = (&side.show, &side.bought);
    let ticket = bought.ticket.parse().unwrap();
    let view = holders::my_ticket(world.context(), side.fan, ticket).await.unwrap();
    let code = holders::qr_text(world.context(), &view);
    let scan = json!({ "code": code, "scheduleId": show.schedule, "gate": "1" });
    let undo = json!({ "ticketId": ticket, "scheduleId": show.schedule, "gate": "1",
        "reason": "test" });
    let number = &bought.booking_number;
    BTreeMap::from([
        ("GET /api/admin/events", Case::list("events", &show.event)),
        ("GET /api/admin/gate/shows", Case::list("gate/shows", &show.schedule.to_string())),
        ("GET /api/admin/payments", Case::list("payments", &bought.payment)),
        ("GET /api/admin/reservations", Case::list("reservations", &bought.reservation)),
        (
            "GET /api/admin/support/search",
            Case::list(&format!("support/search?query={number}"), number),
        ),
        (CHECK_IN, Case { body: Some(scan), ..Case::list("checkin", &bought.ticket) }),
        (
            UNDO,
            Case {
                path: "/api/admin/checkin/undo".to_owned(),
                body: Some(undo),
                shows: String::new(),
            },
        ),
    ])
}

async fn check(caller: &Limited, route: &Route, own: &Case, foreign: &Case) {
    let name = format!("{} on {}", caller.name, route.name());
    let (of_own, of_foreign) = (own.call(&caller.api).await, foreign.call(&caller.api).await);
    if caller.permissions.contains(&route.permission.unwrap()) {
        assert!(own.reached(&of_own), "{name}, own: {}", of_own.text);
        assert!(!foreign.reached(&of_foreign), "{name}, foreign: {}", of_foreign.text);
        let expected = match route.name().as_str() {
            CHECK_IN => (409, "TICKET_ELSEWHERE"),
            UNDO => (404, "NOT_FOUND"),
            _ => {
                of_foreign.expect(200);
                return;
            }
        };
        of_foreign.refused(expected.0, expected.1);
    } else {
        assert_eq!(verdict(&of_own), Verdict::NoPermission, "{name}: {}", of_own.text);
        assert_eq!(verdict(&of_foreign), Verdict::NoPermission, "{name}: {}", of_foreign.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limited_caller_sees_and_changes_its_own_event_on_routes_that_filter() {
    let world = World::start().await;
    let (ours, theirs) = (Side::tonight(&world).await, Side::tonight(&world).await);
    let callers = limited_callers(&world, &ours.show.event).await;
    let (own, foreign) = (cases(&world, &ours).await, cases(&world, &theirs).await);
    let routes = routes(&world).await;
    let filters = |route: &&Route| route.scope.as_deref() == Some("own-events");
    let found: BTreeMap<String, &Route> =
        routes.iter().filter(filters).map(|route| (route.name(), route)).collect();
    assert!(found.keys().eq(own.keys()), "a route without a case: {:?}", found.keys());

    // An undo of the foreign ticket would have an effect.
    let admitted = foreign[CHECK_IN].call(&world.organiser).await;
    assert!(foreign[CHECK_IN].reached(&admitted), "{}", admitted.text);
    for caller in &callers {
        for (name, route) in &found {
            check(caller, route, &own[name.as_str()], &foreign[name.as_str()]).await;
        }
    }
    foreign[CHECK_IN].call(&world.organiser).await.refused(409, "TICKET_USED");
    world.finish().await;
}
